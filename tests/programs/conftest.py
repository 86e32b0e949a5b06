"""What the program tests share: starting programs, running them in this process, comparing text."""

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import mindgrad
from mindgrad import cli, context
from tests.process_state import process_stays

SOURCE = Path(mindgrad.__file__).parents[1]
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\binf\b|\bnan\b)")

# MindSpore programs: test_guide.py, test_training_runs.py and test_parallel.py run them
collect_ignore_glob = ["guide/*", "training/*", "parallel/*"]


def launch(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """`python -m mindgrad` with the arguments, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "mindgrad", *map(str, arguments)],
        env=environment, capture_output=True, text=True, timeout=110, **options,
    )  # fmt: skip


@contextlib.contextmanager
def standing_in() -> Iterator[None]:
    """`import mindspore` means mindgrad inside, and means what it meant before afterwards."""
    with process_stays():
        cli.install()
        yield


def run_here(program: Path, mode: int) -> str:
    """What the program prints when it is run in this process, in the given mode."""
    printed = io.StringIO()
    module = ModuleType("__main__")
    module.__file__ = str(program)
    before = sys.modules["__main__"]
    with standing_in(), contextlib.redirect_stdout(printed):
        context.set_context(mode=mode)
        sys.modules["__main__"] = module
        try:
            exec(compile(program.read_text(), program, "exec", dont_inherit=True), vars(module))
        finally:
            sys.modules["__main__"] = before
    return printed.getvalue()


def skeleton(text: str, layout: str) -> str:
    """The text with N in the place of every number, I in that of every whole number.

    `layout` says which blanks count. "exact": all of them. "lines": line ends, and whether blanks
    stand between two things, but not how many (NumPy aligns columns, and how wide a column is
    depends on the last digits). "none": no blanks at all, and a number is a number.
    """
    text = NUMBER.sub(lambda found: "I" if found[0].lstrip("+-").isdigit() else "N", text.strip())
    if layout == "exact":
        return text
    if layout == "lines":
        return re.sub(r" (?=[\]\n])|(?<=\[) ", "", re.sub(r"[ \t]+", " ", text))
    assert layout == "none", layout
    return re.sub(r"\s+", "", text).replace("I", "N")


def unit_of_last_digit(number: str) -> float:
    """1e-3 for "2.211", 1e-7 for "4.50e-05", 1 for "10"."""
    mantissa, _, exponent = number.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def compare(
    printed: str,
    expected: str,
    layout: str = "lines",
    rounded: bool = False,
    structure: bool = True,
) -> None:
    """Fail unless the texts have one skeleton and their numbers agree to a few float32 roundings.

    `rounded` allows as well what the expected text was rounded to (half a unit of its last digit).
    Without `structure` only the numbers and their order are compared.
    """
    if structure:
        assert skeleton(printed, layout) == skeleton(expected, layout), f"printed:\n{printed}"
    found, wanted = NUMBER.findall(printed), NUMBER.findall(expected)
    assert len(found) == len(wanted), f"printed:\n{printed}"
    for ours, theirs in zip(found, wanted, strict=True):
        value, target = float(ours), float(theirs)
        if value == target or (value != value and target != target):
            continue
        allowed = 2e-6 * max(abs(target), 0.1)
        if rounded:
            allowed = max(allowed, 0.51 * unit_of_last_digit(theirs))
        assert abs(value - target) <= allowed, f"{ours} is not {theirs}; printed:\n{printed}"


@pytest.fixture(name="launch", scope="session")
def launch_fixture() -> Callable[..., subprocess.CompletedProcess[str]]:
    return launch


@pytest.fixture(name="run_here", scope="session")
def run_here_fixture() -> Callable[..., str]:
    return run_here


@pytest.fixture(name="compare", scope="session")
def compare_fixture() -> Callable[..., None]:
    return compare


@pytest.fixture(name="standing_in", scope="session")
def standing_in_fixture() -> Callable[..., object]:
    return standing_in
