"""The programs of ``docs/gallery.md``: fifteen tasks of users who come from MindSpore, JAX and PyTorch.

Each program proves its own result with assertions. It runs in this process, with `import mindspore` meaning mindgrad.
"""

import ast
import contextlib
import io
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from mindgrad.core.ir import settings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "tasks"

#: for each task, the lines of the first programs of new users: imports, data and the task's own lines, if one
#: program tried several tasks
LINES_BEFORE = {
    "digits": 32, "training_step": 43, "checkpoint": 27, "sink_mode": 29, "refusals": 58,
    "poisson": 30, "pytree": 20, "branches": None, "lanczos": 9, "neural_ode": 25,
    "force_matching": 43, "vibrations": 14, "dynamics": 22, "masked_distance": 19, "other_frameworks": 30,
}  # fmt: skip
#: a number or a text that the last lines of the output hold
LAST_WORDS = {
    "digits": r"accuracy on images that the net has not seen: (0\.9|1\.0)",
    "training_step": r"59 hits, 1 misses, 1 programs",
    "checkpoint": r"'0\.weight': \(32, 64\), '0\.bias': \(32,\), '2\.weight': \(10, 32\)",
    "sink_mode": r"y = (2\.999|3\.000)\d x \+ 0\.\d{4}",
    "refusals": r"from mindspore import ops\n[\s\S]*sech_squared\(ops, ",
    "poisson": r"The trace or diagonal of a Hessian is computed without the matrix[\s\S]*relative error of u: 0\.0[01]",
    "pytree": r"params\[1\]\[0\] +Float32\[16,1\] +1  reverse .* ok ",
    "branches": r"carry = 0\.5 \* \(carry \+ v3",
    "lanczos": r"\[1\.7754195\d* +2\.36051875\d* +2\.42849915\d*\]",
    "neural_ode": r"root 0\.682327804, derivatives -0\.284693080, 0\.099123035",
    "force_matching": r"<drawing of The derivative of Potential .*[\s\S]*sum of forces \d\.\de-0[5-9]",
    "vibrations": r"85\.719657\s+85\.719657\s+171\.439314",
    "dynamics": r"energy -2\.8742\d+ → -2\.8742",
    "masked_distance": r"the operator 'log' returned nan at \[1\] from finite operands",
    "other_frameworks": r"In mindgrad: assign to elements: x\[0\] = value",
}


@pytest.fixture
def run_task(standing_in, monkeypatch):
    """A function that runs a program here and gives what it prints; options and NumPy's numbers stay as they were."""

    monkeypatch.delenv("MINDGRAD_STRICT_DEVICE", raising=False)

    def run(program):
        printed = io.StringIO()
        options, random = dict(settings.options), np.random.get_state()  # noqa: NPY002 (initializers draw from it)
        try:
            with (
                standing_in(),
                contextlib.redirect_stdout(printed),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                runpy.run_path(str(program), run_name="__main__")
        finally:
            for name in settings.options.keys() - options.keys():
                del settings.options[name]
            for name, value in options.items():
                settings.store(name, value)
            np.random.set_state(random)  # noqa: NPY002
        return printed.getvalue()

    return run


def lines_of_code(program: Path) -> int:
    """The number of lines that are neither blank nor a comment nor of a docstring."""
    text = program.read_text()
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            skipped.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(
        number not in skipped and bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in lines
    )


def test_there_are_fifteen_tasks():
    assert {program.stem for program in FOLDER.glob("*.py")} == LINES_BEFORE.keys() == LAST_WORDS.keys()
    assert len(LINES_BEFORE) == 15


@pytest.mark.parametrize("task", LINES_BEFORE)
def test_a_task_runs_and_proves_its_result(task, run_task):
    assert re.search(LAST_WORDS[task], run_task(FOLDER / f"{task}.py"))


@pytest.mark.parametrize("task", [task for task, lines in LINES_BEFORE.items() if lines])
def test_a_task_is_shorter_than_before(task):
    assert lines_of_code(FOLDER / f"{task}.py") < LINES_BEFORE[task]


def test_examples_page_lists_every_task():
    page = (ROOT / "docs" / "gallery.md").read_text()
    listed = re.findall(r"\]\(\.\./examples/tasks/(\w+)\.py\) \|$", page, re.M)
    assert sorted(listed) == sorted(LINES_BEFORE)


def test_lines_of_code_are_counted_without_texts(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        '"""A text\n\nof three lines."""\n\nimport a  # a comment\n\n# a comment\ndef f():\n    """A text."""\n    return """\n    2"""\n'
    )
    assert lines_of_code(program) == 4
