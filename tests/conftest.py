"""What every test run shares: the order of the tests, and settings that have to be made first.

Smoke tests run first: those marked `smoke`, and everything in tests/smoke. The kill timer of each
test and "warnings are errors" are in pyproject.toml.
"""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import mindgrad as ms
from mindgrad.core.ir import verify

SMOKE = Path(__file__).parent / "smoke"

# Two workers may share one GPU: neither may reserve most of its memory when jax starts.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# Objects of the collected tests, of jax and of scipy live until the end. The garbage collector does not run while
# they are made, is told afterwards to leave them alone, and then looks at what tests leave less often than by default.
gc.disable()

# Whatever a transform or rewrite makes of a program is a graph that means something.
verify.always(True)

# The first example of a property may compile a program, so time says nothing about it. In CI the
# examples are the same in every run; elsewhere each run tries new ones.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(autouse=True)
def mode_stays():
    """What a test does to the mode ends with it."""
    before = ms.get_context("mode")
    yield
    ms.set_context(mode=before)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Of a file of tests, its tests: looking for examples in its docstrings takes as long again."""
    collectors = yield
    return [each for each in collectors if type(each).__name__ != "DoctestModule"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the smoke tests first; the sort is stable, so the rest keeps its order."""
    items.sort(key=lambda item: "smoke" not in item.keywords and item.path.parent != SMOKE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None):
    """Behind the last test of a file, let the garbage collector leave alone what is still there: caches, mostly."""
    result = yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect(1)
        gc.freeze()
    return result


def pytest_collection_finish() -> None:
    """Let the garbage collector begin behind the collected tests."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()
