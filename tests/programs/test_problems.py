"""The solved problems of examples/ run from the command line, and their checks against the truth hold.

Their `--quick` runs, compiled as users compile them: the whole ones take minutes, and code that is not optimised
takes twice as long here, where programs run for long.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mindgrad
from tests.instruction_set import with_instruction_set

EXAMPLES = Path(__file__).parents[2] / "examples"


def said(tmp_path, *command: str) -> str:
    """What the program prints; it must end well and complain of nothing."""
    pytest.importorskip("matplotlib", reason="the examples draw with matplotlib")
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(Path(mindgrad.__file__).parents[1]), "XLA_FLAGS": with_instruction_set()},
        cwd=tmp_path, capture_output=True, text=True, timeout=110,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def number(text: str, before: str) -> float:
    """The number that stands behind ``before``."""
    return float(re.search(re.escape(before) + r"\s+(-?[\d.]+(e[-+]\d+)?)", text)[1])


def quick(tmp_path, name: str) -> str:
    options, path = ["--figure", "figure.png"], tmp_path / "figure.png"
    if name != "burgers":
        options, path = ["--figures", "some/folder"], tmp_path / "some" / "folder" / f"{name}.png"
    text = said(tmp_path, str(EXAMPLES / f"{name}.py"), "--quick", *options)
    picture = path.read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000
    return text


def test_burgers(tmp_path):
    text = quick(tmp_path, "burgers")
    assert number(text, "mean squared residual") < 0.6
    assert number(text, "error against the exact solution") < 0.6


def test_argon(tmp_path):
    text = quick(tmp_path, "argon")
    assert number(text, "forces against the formula") < 1e-10
    assert number(text, "total energy, largest change") < 1e-4
    assert number(text, "forces, root mean square") < 0.9
    assert number(text, "total energy of a trajectory") < 1e-3


def test_newton_with_conjugate_gradients(tmp_path):
    text = quick(tmp_path, "newton_cg")
    assert number(text, "above the minimum by at most") < 1e-12
    worst = min(
        number(line, "above the minimum by") for line in text.splitlines() if "evaluations, above" in line
    )
    assert worst > 1e-9  # which Newton's method is far below by then


def test_pinn_second_order(tmp_path):
    lines = quick(tmp_path, "pinn_second_order").splitlines()
    adam, lbfgs, kfac, levenberg = [
        number(line, ": error") for line in lines if ": error" in line and " after " in line
    ]
    assert levenberg < 1e-3
    assert 10 * levenberg < min(adam, lbfgs, kfac)


def test_burgers_in_plain_mindspore(tmp_path):
    text = said(tmp_path, "-m", "mindgrad", str(EXAMPLES / "mindspore" / "burgers.py"), "300")
    assert number(text, "relative L2 error") < 0.6
