"""Some of the corpus with XLA's options as users have them: the other tests compile cheaper code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs.test_corpus import PROGRAMS

ROOT = Path(__file__).parents[2]
SAMPLE = list(PROGRAMS)[::16]


@pytest.mark.parametrize("half", [0, 1])
def test_compiled_is_eager_with_the_options_of_users(half):
    tests = [
        f"tests/programs/test_corpus.py::test_eager_and_compiled_agree[{name}]" for name in SAMPLE[half::2]
    ]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env=os.environ | {"XLA_FLAGS": ""},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{len(tests)} passed" in run.stdout
