"""Programs in the style of MindSpore's guide, one for each thing that its text describes.

Each guide/NAME.py is a MindSpore program, guide/NAME.txt what it prints: numbers that were computed
with another library in float64, or by hand. Every program runs in both modes in this process, and
some through the launcher as well, in a process of their own.
"""

from pathlib import Path

import pytest

from mindgrad import context

PROGRAMS = sorted((Path(__file__).parent / "guide").glob("*.py"))
MODES = {"graph": context.GRAPH_MODE, "pynative": context.PYNATIVE_MODE}


def expected(program: Path) -> str:
    return program.with_suffix(".txt").read_text()


def test_there_is_a_program_for_everything_that_the_guide_describes():
    assert {program.stem for program in PROGRAMS} >= {
        "input_gradient", "all_inputs", "weights", "inputs_and_weights", "scaled_output",
        "one_output", "stopped", "second_order", "second_order_vector", "second_order_inputs",
        "operators", "jvp_cell", "vjp_cell", "grad_position", "grad_scaled", "jvp_function",
        "vjp_function",
    }  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_prints_what_it_says(program, mode, run_here, compare):
    compare(run_here(program, MODES[mode]), expected(program), layout="exact")


@pytest.mark.parametrize("name", ["inputs_and_weights", "second_order_inputs", "vjp_cell"])
def test_a_launched_program_prints_the_same(name, launch, compare):
    program = Path(__file__).parent / "guide" / f"{name}.py"
    done = launch(program)
    assert (done.returncode, done.stderr) == (0, "")
    compare(done.stdout, expected(program), layout="exact")
