"""Collectives of XLA on several devices are those of the definition, in values and derivatives."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.timeout(180)
def test_ranks_on_virtual_devices():
    command = [sys.executable, "-m", "tests.unit.ranks_on_devices"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=170, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert ran.stdout.split() == [
        "values", "derivatives", "numbers_and_integers", "groups", "groups_of_any_size", "order_of_collectives",
        "one_message_of_all_gradients",
    ]  # fmt: skip
