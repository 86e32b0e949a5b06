"""The commands of `mindgrad`: what they print, their exit status, and that they read and write nothing else."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mindgrad as ms
from mindgrad._base import environment
from mindgrad.cli import _COMMANDS, main
from mindgrad.core.backend import disk
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.inspect import doctor_command, operators_command, terminal
from mindgrad.inspect.doctor_command import findings
from tests.process_state import process_stays


@pytest.fixture(autouse=True)
def process():
    """Commands make `import mindspore` mean this package: not for the tests behind these."""
    with process_stays():
        yield


SOURCE = Path(ms.__file__).parent


@pytest.fixture(autouse=True)
def stays():
    with process_stays():
        yield


def text_of(capsys, *arguments, status=0):
    assert main(arguments) == status
    return capsys.readouterr().out


def test_help_names_every_command_and_each_has_examples(capsys):
    text = text_of(capsys, "--help")
    for name in _COMMANDS:
        assert re.search(rf"^  {name} +\w", text, re.MULTILINE), name
        with pytest.raises(SystemExit, match="0") if name != "run" else process_stays():
            main([name, "--help"])
        shown = capsys.readouterr().out
        assert f"usage: mindgrad {name}" in shown
        assert "examples:" in shown
        assert "exit status" in shown.lower()


def test_an_unknown_command(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["docter"])
    assert "nearest command: 'doctor'" in capsys.readouterr().err


def test_help_without_dashes_prints_the_help(capsys):
    assert text_of(capsys, "help") == text_of(capsys, "--help")
    with pytest.raises(SystemExit, match="0"):
        main(["help", "ops"])
    assert "usage: mindgrad ops" in capsys.readouterr().out
    assert main(["help", "opsx"]) == 2
    assert "no command is called 'opsx'; nearest: 'ops'" in capsys.readouterr().err


def test_a_program_with_the_name_of_a_command_is_run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops").mkdir()  # a folder without a program is none
    monkeypatch.setattr("mindgrad.cli._run_command", lambda module, arguments: 7)
    assert main(["ops"]) == 7
    (tmp_path / "ops" / "__main__.py").write_text("print('the program')")
    done = subprocess.run(
        [sys.executable, "-m", "mindgrad", "ops"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "the program\n"


def test_run_with_debug_nans(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys, mindspore as ms\nprint(sys.argv[1:])\nms.ops.log(ms.Tensor([0.0]))\n")
    run = [sys.executable, "-m", "mindgrad", "run"]
    done = subprocess.run([*run, "--debug-nans", program, "--debug-nans"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "['--debug-nans']\n")
    assert f'{program}", line 3' in done.stderr
    assert "the operator 'log' returned -inf" in done.stderr
    assert main(["run", "--debug-nan", str(program)]) == 2


# --- ops ----------------------------------------------------------------------------------------------


def test_the_row_of_an_operator(capsys):
    text = text_of(capsys, "ops", "tanh")
    for part in (
        "numpy.tanh", "jax.lax.tanh", "float, complex", "core/primitives/elementwise.py:", "dy = sech_squared(x) * dx",
        "cotangent of x = sech_squared(x) * ct", 'tanh = elementwise(', "Tensor.tanh mint.tanh numpy.tanh ops.tanh",
    ):  # fmt: skip
        assert part in text
    text = text_of(capsys, "ops", "maximum")
    assert re.search(r"maximum\(x, y\) +1.5, 1.5 +\[0.5, 0.5\] +0 +ties share the derivative equally", text)
    assert "dy = reduce_sum(dx" in text_of(capsys, "ops", "mindspore.Tensor.sum")
    record = json.loads(text_of(capsys, "ops", "dot", "--json"))
    assert record["name"] == "dot"
    assert record["tangent"] == [
        "dy = dot(dx1, x2, contract=((1, 2), (1, 0))) + dot(x1, dx2, contract=((1, 2), (1, 0)))"
    ]


def test_an_operator_that_is_not_there(capsys):
    assert main(["ops", "tahn"]) == 1
    assert "no operator or public name 'tahn'; nearest: tan, tanh, atan. List" in capsys.readouterr().err


def test_ops_with_a_longer_word_or_an_abbreviation_suggests_the_operator(capsys):
    assert main(["ops", "cosinus"]) == main(["ops", "logarithm"]) == main(["ops", "convol"]) == 1
    cosine, logarithm, convolution = capsys.readouterr().err.splitlines()
    assert "'cosinus'; nearest: cos. List" in cosine
    assert "'logarithm'; nearest: log. List" in logarithm
    assert "'convol'; nearest: conv, numpy.convolve. List" in convolution


def test_ops_without_a_close_match_suggests_the_list(capsys):
    assert main(["ops", "foo"]) == 1
    err = capsys.readouterr().err
    assert err == (
        "mindgrad ops: there is no operator or public name 'foo'. List all operators: mindgrad ops\n"
    )


def test_ops_with_a_name_without_operator_refers_to_its_documentation(capsys):
    assert main(["ops", "nn.Adam"]) == 1
    assert capsys.readouterr().err == (
        "mindgrad ops: no operator is listed for 'nn.Adam'. Show its documentation: "
        "python -m pydoc mindgrad.nn.Adam\n"
    )


def test_all_rows_are_listed_and_can_be_described(capsys):
    listed = json.loads(text_of(capsys, "ops", "--json"))
    assert sorted(name for names in listed.values() for name in names) == sorted(REGISTRY)
    text = text_of(capsys, "ops")
    for name, primitive in REGISTRY.items():
        assert f" {name}" in text
        described = operators_command.describe(primitive)
        assert described["location"], name
        has_tangent = primitive.jvp is not None and primitive.samples is not None
        assert bool(described["tangent"]) == has_tangent, name


def value_of(expression, names):
    from mindgrad import ops

    spelled = {"cos": ops.cos, "exp": ops.exp, "masked_multiply": ops.mul, "rsqrt": ops.rsqrt, "log": ops.log,
               "safe_reciprocal": ops.reciprocal, "hypot": ops.hypot, "sigmoid": ops.sigmoid, "sinh": ops.sinh,
               "cosh": ops.cosh, "sin": ops.sin, "digamma": ops.digamma,
               "sech_squared": lambda x: 1 / ops.square(ops.cosh(x))}  # fmt: skip
    return eval(expression, {**spelled, **names})


@pytest.mark.parametrize(
    "name", ["tanh", "exp", "log", "sin", "cos", "sqrt", "asinh", "atan2", "div", "sigmoid", "erf"]
)
def test_the_formulas_are_the_derivatives(name):
    row, operator = REGISTRY[name], getattr(ms.ops, name)
    count = len(operators_command.describe(row)["cotangents"][-1:]) and row.samples[1]
    generator = np.random.default_rng(3)
    xs = [ms.Tensor(generator.uniform(0.3, 0.9, 3)) for _ in range(count)]
    dxs = [ms.Tensor(generator.normal(size=3)) for _ in range(count)]
    y, expected = ms.jvp(operator, tuple(xs), tuple(dxs))
    names = {"y": y} | {f"x{k + 1}" if count > 1 else "x": x for k, x in enumerate(xs)}
    names |= {f"dx{k + 1}" if count > 1 else "dx": t for k, t in enumerate(dxs)}
    for line in operators_command.tangent_rule(row):
        label, _, expression = line.partition(" = ")
        names[label] = value_of(expression, names)
    np.testing.assert_allclose(names["dy"].asnumpy(), expected.asnumpy(), rtol=1e-4)


# --- cache --------------------------------------------------------------------------------------------


def test_the_cache_is_shown_and_cleared(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv(disk.DIRECTORY_VARIABLE, str(tmp_path))
    tmp_path.chmod(0o700)
    (tmp_path / "one.executable").write_bytes(b"x" * 2048)
    (tmp_path / "mine.txt").write_text("stays")
    text = text_of(capsys, "cache")
    assert str(tmp_path) in text
    assert "2.0 KiB of 1.0 GiB" in text
    facts = json.loads(text_of(capsys, "cache", "info", "--json"))
    assert (facts["programs"], facts["bytes"], facts["off"]) == (1, 2048, "")
    assert text_of(capsys, "cache", "clear") == f"Removed 1 program (2.0 KiB) from {tmp_path}.\n"
    assert os.listdir(tmp_path) == ["mine.txt"]
    monkeypatch.setenv(disk.SIZE_VARIABLE, "0")
    assert "not stored on disk: MINDGRAD_CACHE_SIZE=0" in text_of(capsys, "cache")


# --- doctor -------------------------------------------------------------------------------------------


def test_doctor_of_a_sick_installation():
    environment = os.environ | {"MINDGRAD_OTP": "0", "XLA_FLAGS": "--xla_nonsense=1", "HOME": "/nonexistent"}
    environment = {k: v for k, v in environment.items() if k not in ("MINDGRAD_CACHE_DIR", "XDG_CACHE_HOME")}
    command = [sys.executable, "-m", "mindgrad", "doctor"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, env=environment)
    assert done.returncode == 1, done.stderr
    found = {finding["name"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert found["jax"]["state"] == "problem"
    assert "Unknown flag" in found["jax"]["value"]
    assert "XLA_FLAGS" in found["jax"]["advice"]
    assert found["MINDGRAD_OTP"]["value"] == "no such variable; nearest: 'MINDGRAD_OPT'"
    assert found["cache"]["state"] == "problem"


def test_doctor_of_a_healthy_installation(monkeypatch, capsys, tmp_path):
    answer = subprocess.CompletedProcess([], 0, 'a line\n[["CPU 0", "cpu"]]\n', "")
    monkeypatch.setattr(doctor_command.subprocess, "run", lambda *_, **__: answer)
    monkeypatch.setattr(doctor_command, "_NVIDIA", ())
    monkeypatch.setenv(disk.DIRECTORY_VARIABLE, str(tmp_path))
    for name in list(os.environ):
        if name.startswith("MINDGRAD_") and name != disk.DIRECTORY_VARIABLE:
            monkeypatch.delenv(name)
    text = text_of(capsys, "doctor")
    assert text.endswith("no problems\n")
    assert re.search(rf"numpy +ok +{np.__version__}", text)
    monkeypatch.setattr(doctor_command, "_version_of", lambda name: "0.1.0" if name == "jax" else None)
    monkeypatch.setattr(doctor_command, "_requirements", lambda: {"jax": ">=0.10,<0.12", "numpy": ">=2.0"})
    monkeypatch.setattr(doctor_command, "_NVIDIA", (__file__,))
    advice = {finding.name: finding.advice for finding in findings() if finding.state == "problem"}
    assert advice["jax"].endswith("-m pip install 'jax>=0.10,<0.12'")
    assert advice["numpy"].endswith("-m pip install 'numpy>=2.0'")
    assert advice["GPU"].endswith("'mindgrad[gpu]'")


def test_the_probe_says_what_is_there(capsys):
    doctor_command.probe()
    lines = capsys.readouterr().out.splitlines()
    assert ["CPU 0", "cpu"] in json.loads(lines[-1])


def test_every_variable_of_the_environment_is_known():
    read = {
        name
        for path in SOURCE.rglob("*.py")
        for name in re.findall(r"MINDGRAD_[A-Z_]+[A-Z]", path.read_text())
    }
    assert read - {"MINDGRAD_OTP"} == set(environment.VARIABLES)


def test_mistakes_of_an_invalid_value_list_all_values():
    wrong = environment.mistakes({"MINDGRAD_EAGER": "off", "MINDGRAD_OPT": "no", "MINDGRAD_CLUSTER": "pbs"})
    assert wrong == {
        "MINDGRAD_EAGER": "'off' is not a valid value; write numpy, compiled, or deferred",
        "MINDGRAD_OPT": "'no' is not a valid value; write 0 or 1",
        "MINDGRAD_CLUSTER": "'pbs' is not a valid value; write slurm, ompi, k8s, or mpi4py",
    }


@pytest.mark.parametrize("command", ["check", "explain", "source"])
def test_command_without_arguments_requires_only_the_function(command, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([command])
    assert capsys.readouterr().err.endswith(
        f"mindgrad {command}: error: the following arguments are required: script.py:function\n"
    )


# --- the terminal ---------------------------------------------------------------------------------------


def test_a_pipe_gets_plain_lines_and_a_terminal_colors(capsys, monkeypatch):
    rows = [("a", "ok", "[bold]"), ("longer", "problem", "x" * 300)]
    terminal.print_table(rows, ("name", "state", "value"))
    plain = capsys.readouterr().out
    assert plain.splitlines()[1:] == ["  a       ok       [bold]", "  longer  problem  " + "x" * 300]
    pytest.importorskip("rich", reason="colors need rich")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal.print_table(rows)
    terminal.print_title("[title]")
    colored = capsys.readouterr().out
    assert "\x1b[" in colored
    assert "[bold]" in colored
    assert "[title]" in colored
    monkeypatch.setattr(terminal, "rich", None)
    terminal.print_table(rows)
    assert "\x1b[" not in capsys.readouterr().out


def test_lists_of_names_are_as_wide_as_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    assert max(map(len, text_of(capsys, "ops").splitlines())) > 80, "in a pipe as ever"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    lines = [line for line in text_of(capsys, "ops").splitlines() if line.startswith("  ")]
    assert max(map(len, lines)) <= 50


ERRONEOUS = """\
from mindgrad import Tensor, nn, ops
x = Tensor([1.0, 2.0])
number = 3.0
class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 1)
    def construct(self, x):
        return self.dense(x)
class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def construct(self, x):
        return self.inner(x)
net = Outer()
def square(x, scale=2.0):
    return (scale * x * x).sum()
def needs(x, mask):
    return x * mask
"""


def test_errors_of_commands_end_at_the_script_or_are_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text(ERRONEOUS)
    Path("unclosed.py").write_text("def f(x:\n    return x\n")
    cases = [
        (1, ["check", "script.py:net"], ["line 9, in construct", "in the Cell Outer.inner.dense (Dense)"]),
        (1, ["explain", "script.py:net", "--order", "1"], ["line 9, in construct", "in_channels = 3"]),
        (1, ["source", "unclosed.py:f", "x"], ["line 1", "SyntaxError"]),
        (2, ["source", "script.py:square", "x", "x", "x"], ["mindgrad source: TypeError: square() takes"]),
        (2, ["source", "script.py:squar"], ["has no 'squar'; nearest: 'square'"]),
        (2, ["source", "script.py:number"], ["'number' of script.py is not a function or Cell"]),
        (2, ["check", "script.py:Outer"], ["Outer' of script.py is a class. Write net = Outer(...)"]),
        (2, ["draw", "script.py:needs", "-o", "a.svg"], ["values are missing for mask"]),
        (2, ["check", "script.py:square", "xx"], ["NameError: name 'xx' is not defined; nearest: 'x'"]),
    ]
    for status, arguments, words in cases:
        with pytest.raises(SystemExit, match=str(status)):
            main(arguments)
        text = capsys.readouterr().err
        assert str(SOURCE) not in text
        for word in words:
            assert word in text, (arguments, text)


def test_arguments_are_defaults_and_variables_of_the_script(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text(ERRONEOUS + "print('of the script')\n")
    listed = json.loads(
        text_of(capsys, "explain", "script.py:square", "--json")
    )  # without what the script prints
    assert listed["function"] == "square"
    assert "def grad_of_square(x, scale):" in text_of(capsys, "source", "script.py:square", "--order", "1")


@pytest.mark.parametrize("command", ["draw -o", "source -o", "check --plot"])
def test_a_file_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    Path("wave.py").write_text("from mindgrad import ops\n\ndef u(x):\n    return ops.sin(x).sum()\n")
    name, option = command.split()
    with pytest.raises(SystemExit, match="2"):
        main([name, "wave.py:u", "ops.ones(2)", option, "missing/u.png"])
    text = capsys.readouterr().err
    assert text.splitlines()[-1] == (
        f"mindgrad {name}: error: cannot write 'missing/u.png': No such file or directory"
    )
    assert "Traceback" not in text
