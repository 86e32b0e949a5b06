"""Some of the corpus with XLA's options as users have them: the other tests compile cheaper code."""

import os
import subprocess
import sys
from pathlib import Path

from tests.programs.test_control_corpus import COMPILED
from tests.programs.test_corpus import PROGRAMS
from tests.unit.core.test_kernel_conventions import STEPS
from tests.unit.nn.test_schedules import ENDS

ROOT = Path(__file__).parents[2]
TESTS = [
    *[f"test_corpus.py::test_eager_and_compiled_agree[{name}]" for name in list(PROGRAMS)[::16]],
    *[f"test_control_corpus.py::test_compiled_is_eager[{name}]" for name in COMPILED[::80]],
    *[f"../unit/nn/test_schedules.py::test_a_compiled_rate_at_the_end_of_a_period[{name}]" for name in ENDS],
    *[
        f"../unit/core/test_kernel_conventions.py::test_a_compiled_step_of_a_quotient[{name}]"
        for name in STEPS
    ],
]


def test_compiled_is_eager_with_the_options_of_users():
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS],
        cwd=ROOT / "tests" / "programs",
        env=os.environ | {"XLA_FLAGS": ""},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{len(TESTS)} passed" in run.stdout
