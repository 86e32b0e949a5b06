"""Configuration of all tests and examples: as users run programs, but for the options of XLA.

Calls of eager mode may be compiled, and compiled programs are kept in a cache on disk. A test that needs
something else says so with a marker, ``eager`` or ``no_disk_cache``, which pyproject.toml explains.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from mindgrad.core.ir import settings
from tests.instruction_set import with_instruction_set
from tests.numpy_programs import compile_ahead, evaluated_ahead, is_sample, select
from tests.process_state import process_stays

UNIT = Path(__file__).parent / "tests" / "unit"

#: how calls of eager mode run where no marker says it: "" as users have them, which compiles calls that take
#: long; "numpy" operator by operator; "compiled" as programs from the second call on
EAGER = os.environ.get("MINDGRAD_EAGER", "")

# Compiled programs are kept in a folder of this run, which its worker processes inherit with the environment.
# The process that made it removes it. A folder that MINDGRAD_CACHE_DIR names is used instead, and kept.
_OWN_CACHE = "MINDGRAD_CACHE_DIR" not in os.environ
if _OWN_CACHE:
    os.environ["MINDGRAD_CACHE_DIR"] = tempfile.mkdtemp(prefix="mindgrad-tests-")
_MADE_BY = os.getpid()
CACHE = os.environ["MINDGRAD_CACHE_DIR"]

# SciPy's threads for linear algebra wait actively, which blocks the other processes of a run.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

#: XLA ends the process over an option that it does not know: those of one version are for that version only
FAST_COMPILATION = ["--xla_backend_optimization_level=0"]
if version("jaxlib").startswith("0.10."):
    FAST_COMPILATION += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]
    LOOP_PASSES = "simplify-while-loops,while-loop-invariant-code-motion,while-loop-iteration-count-annotator"
    FAST_COMPILATION.append(f"--xla_disable_hlo_passes={LOOP_PASSES}")

# Nearly every program of the tests runs a few times only: optimising its machine code takes longer than it
# saves (docs/decisions/0017-time-of-the-tests.md). With XLA_FLAGS= in the environment XLA compiles the
# programs of all tests, as users have them; tests/programs/test_as_users_compile.py always does so.
# A process that has these flags from one that has loaded jax has the limit on loops behind them.
_FLAGS = " ".join(FAST_COMPILATION)
os.environ["XLA_FLAGS"] = with_instruction_set(os.environ.get("XLA_FLAGS", _FLAGS))
IS_FAST = os.environ["XLA_FLAGS"].startswith(_FLAGS)


@pytest.fixture(autouse=True)
def examples_leave_no_trace(request: pytest.FixtureRequest) -> Iterator[None]:
    """Restore what an example of ``install`` or ``set_recursion_limit`` changes."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    with process_stays():
        yield


def pytest_unconfigure() -> None:
    """Remove the folder of compiled programs that this process has made."""
    if _OWN_CACHE and os.getpid() == _MADE_BY:
        shutil.rmtree(CACHE, ignore_errors=True)


def configure(item: pytest.Item) -> None:
    """Set eager mode and the cache on disk as the markers of a test say, or as users have them."""
    eager = item.get_closest_marker("eager")
    switch = EAGER if eager is None else eager.args[0]
    if settings.get("eager") != switch:
        settings.store("eager", switch)
    os.environ["MINDGRAD_CACHE_DIR"] = "" if item.get_closest_marker("no_disk_cache") else CACHE


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Choose who runs the compiled programs of a test and its fixtures (``tests/numpy_programs.py``)."""
    configure(item)
    is_evaluated = IS_FAST and (item.path.is_relative_to(UNIT) or item.get_closest_marker("numpy"))
    if is_evaluated and not item.get_closest_marker("xla") and not is_sample(item.nodeid):
        select(evaluated_ahead)
    else:
        select(compile_ahead)
