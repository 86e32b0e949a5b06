"""Collected only in a process that sees eight devices, which tests/unit/distributed/test_sharding.py starts."""

import os

import pytest

from mindgrad import context

collect_ignore_glob = [] if "device_count=8" in os.environ.get("XLA_FLAGS", "") else ["test_*.py"]


@pytest.fixture(autouse=True)
def division_stays():
    """What a test does to the division among devices ends with it."""
    yield
    context.reset_auto_parallel_context()
