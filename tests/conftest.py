"""What every test run shares: the order of the tests, and settings that have to be made first.

Smoke tests run first: those marked `smoke`, and everything in tests/smoke. The kill timer of each
test and "warnings are errors" are in pyproject.toml.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import mindgrad as ms
from mindgrad.core import settings as options
from mindgrad.core import verify

SMOKE = Path(__file__).parent / "smoke"

# Two workers may share one GPU: neither may reserve most of its memory when jax starts.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# Nearly every program of the tests runs a few times only: optimising its machine code takes longer than it
# saves. With XLA_FLAGS= in the environment the programs are compiled as users have them.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=1")

# When calls of eager mode become hot is a matter of time, and results before and after differ in the last bits:
# tests of tiers turn them on. With MINDGRAD_EAGER=compiled in the environment all tests run with them.
if not os.environ.get("MINDGRAD_EAGER"):
    options.store("eager", "numpy")

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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the smoke tests first; the sort is stable, so the rest keeps its order."""
    items.sort(key=lambda item: item.get_closest_marker("smoke") is None and SMOKE not in item.path.parents)
