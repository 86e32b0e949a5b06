"""``scripts/score`` runs the tests of a checkout that count, each file in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rich")
RUN = Path(__file__).parents[3] / "bench" / "score" / "run.py"
CPU = "import os, sys, pytest\n"

FILES = {
    "st/good/test_plain.py": CPU
    + """
import mindspore as ms
@cpu
@pytest.mark.parametrize("x", [1.0, 2.0])
def test_passes(x): assert ms.grad(lambda x: x * x)(ms.Tensor(x)).asnumpy() == 2 * x
@cpu
def test_fails(): assert 1 + 1 == 3, "one and one is 2 at 0xabc"
@cpu
def test_outdated():
    import numpy
    numpy.NINF
@cpu
def test_outdated_argument():
    import scipy.linalg as linalg
    assert linalg.eigh([[1.0]],
                       turbo=True)
@cpu
def test_outdated_scalar():
    import numpy
    if numpy.lib.NumpyVersion(numpy.__version__) < "2.4.0": numpy.NINF  # takes it still
    complex(numpy.ones((1, 1)), 0)
@cpu
def test_scalar_of_ours(): float(ms.ops.ones((1, 2)).asnumpy())
@cpu
def test_argument_of_ours(): ms.ops.exp(ms.Tensor(1.0), turbo=True)
@cpu
def test_name_of_ours(): ms.numpy.asanyarray
@cpu
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.platform_x86_gpu_training
def test_of_a_gpu(): raise RuntimeError
""",
    "st/good/test_later.py": """
import pytest
def arg_mark(plat_marks, card_mark):
    return lambda test: [test := getattr(pytest.mark, m)(test) for m in [*plat_marks, card_mark]][-1]
@arg_mark(plat_marks=['cpu_linux', 'platform_gpu'], card_mark='onecard')
def test_one(): pass
@arg_mark(plat_marks=['cpu_linux'], card_mark='allcards')
def test_several_devices(): raise RuntimeError
""",
    "st/bad/test_process.py": CPU
    + """
@cpu
def test_before(): pass
@cpu
def test_crash(): os.abort()
@cpu
def test_exit(): os._exit(3)
@cpu
def test_hang():
    import time
    while True: time.sleep(0.01)
@cpu
def test_behind(): assert os.listdir(".") == ["output"]  # an empty folder, but for what the tests print
""",
    "st/bad/test_lost.py": CPU
    + """
from mindspore.nowhere import nothing
@cpu
@pytest.mark.parametrize("x", (1, 2, 3))
def test_lost(x): pass
""",
    "st/bad/test_outdated_import.py": CPU
    + """
from numpy import float_
@cpu
@pytest.mark.parametrize("x", (1, 2))
def test_old(x): pass
""",
    "st/gradient/test_elsewhere.py": CPU
    + """
@pytest.mark.platform_arm_ascend_training
def test_of_another_device(): pass
def test_of_mindgrad_only(): assert "mindgrad" in sys.modules
""",
    "st/inside/test_kernels.py": CPU
    + "from mindspore.ops.operations import _grad_ops\n@cpu\ndef test_inside(): pass\n",
    "st/inside/test_core.py": CPU
    + "from mindspore._c_expression import Graph\n@cpu\ndef test_inside(): pass\n",
    "st/inside/test_operator.py": CPU
    + "class Shift(PrimitiveWithInfer): pass\n@cpu\ndef test_inside(): pass\n",
    "st/inside/test_type.py": CPU
    + "from mindspore._c_expression import typing\n@cpu\ndef test_type(): pass\n",
    "st/inside/test_file.py": CPU + "@cpu\ndef test_inside(): open('net.mindir')\n",
    "ut/test_without_marks.py": "def test_of_no_platform(): raise RuntimeError\n",
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("MindSpore")
    for name, text in FILES.items():
        path = folder / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("@cpu", "@pytest.mark.platform_x86_cpu"))
    return folder


def scored(checkout, *options):
    """The output and the JSON of a run."""
    file = checkout / "result.json"
    command = [sys.executable, RUN, checkout, "--test-limit", "8", "--json", file, *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(file.read_text())


def test_every_outcome_is_told_and_no_file_ends_the_run(checkout):
    before = sorted(checkout.rglob("*"))
    output, result = scored(checkout, "--record", checkout / "scores.json")
    outcomes = {name.split("::")[1]: test["outcome"] for name, test in result["tests"].items()}
    assert outcomes == {
        "test_passes[1.0]": "passed",
        "test_passes[2.0]": "passed",
        "test_fails": "failed",
        "test_skipped": "skipped",
        "test_outdated": "outdated",
        "test_outdated_argument": "outdated",
        "test_outdated_scalar": "outdated",
        "test_old[0]": "outdated",
        "test_old[1]": "outdated",
        "test_scalar_of_ours": "failed",
        "test_argument_of_ours": "failed",
        "test_name_of_ours": "failed",
        "test_one": "passed",
        "test_before": "passed",
        "test_crash": "error",
        "test_exit": "error",
        "test_hang": "error",
        "test_behind": "passed",
        "test_lost[0]": "not collected",
        "test_lost[1]": "not collected",
        "test_lost[2]": "not collected",
        "test_type": "passed",
    }
    reasons = {name.split("::")[1]: test["reason"] for name, test in result["tests"].items()}
    assert reasons["test_crash"] == "the process was ended by SIGABRT"
    assert reasons["test_exit"] == "the process ended with status 3"
    assert reasons["test_hang"] == "not done in 8 s"
    assert "nowhere" in reasons["test_lost[0]"]
    assert {name.split("_")[-1]: reason for name, reason in result["left_out"].items()} == {
        "kernels.py": "kernels of MindSpore's derivatives (_grad_ops)",
        "operator.py": "operators that the test declares for kernels of MindSpore's",
        "core.py": "MindSpore's compiled part",
        "file.py": "files of exported graphs (MINDIR)",
    }
    assert "6 of 16 pass, 6 of 21 with outdated tests" in output
    assert "one and one is N at 0x…" in output
    (score,) = json.loads((checkout / "scores.json").read_text()).values()
    assert (score["passed"], score["counted"], score["outdated"], score["against_mindspore"]) == (
        6,
        16,
        5,
        False,
    )
    assert max(score["causes"].values()) == 3
    assert len(score["failing"]) == 10
    written = {path.name for path in checkout.rglob("*")} - {path.name for path in before}
    assert written == {"result.json", "scores.json"}  # nothing else is left in the checkout


def test_a_suite_a_reference_and_an_earlier_score(checkout):
    name = "tests/st/gradient/test_elsewhere.py::test_of_another_device"
    earlier = checkout / "earlier.json"
    earlier.write_text(json.dumps({"tests": {name: {"outcome": "failed", "reason": "", "seconds": 0}}}))
    output, result = scored(checkout, "--suite=gradient", "--reference", sys.executable, "--since", earlier)
    assert list(result["tests"]) == [name]  # on every platform; the other test fails in the reference
    assert "1 of 1 pass" in output
    assert f"newly passing: 1\n  {name}" in output
    assert "newly failing" not in output
    reference = result["reference"]
    reference["tests/st/gradient/test_elsewhere.py"][f"{name}[missing]"] = {"outcome": "passed"}
    file = checkout / "reference.json"
    file.write_text(json.dumps({"reference": reference}))
    output, result = scored(checkout, "tests/st/gradient", "--suite=gradient", "--reference", file)
    assert {test["outcome"] for test in result["tests"].values()} == {"passed", "not collected"}
    assert "1 of 2 pass" in output
