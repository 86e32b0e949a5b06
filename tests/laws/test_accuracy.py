"""Errors of operators and their derivatives stay below those that docs/accuracy.md lists."""

import os
import subprocess
import sys
from pathlib import Path

from tests.instruction_set import with_instruction_set
from tests.laws import accuracy

ROOT = Path(__file__).parents[2]


# each format compiles for 10 to 20 s: the nightly job accuracy-of-operators checks every operator in every format
def test_errors_of_operators_stay_within_the_listed_ones():
    # in a process that compiles as users do: the options of the tests make XLA's functions less exact
    environment = {**os.environ, "XLA_FLAGS": with_instruction_set(), "MINDGRAD_EAGER": "numpy"}
    command = [sys.executable, "-m", "tests.laws.accuracy", "--check", "float32", "float64"]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert (ended.stdout.strip(), ended.returncode) == ("", 0), ended.stderr


def test_every_listed_operator_is_measured():
    assert {name for name, *_ in accuracy.listed()} == set(accuracy.OPERATORS)


def test_worst_listed_error_of_a_first_derivative_is_small():
    """A first derivative has lost no more than two digits, in any type."""
    assert max(errors[1] for errors in accuracy.listed().values()) < 100
