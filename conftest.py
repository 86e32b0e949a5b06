"""Examples in docstrings and pages leave the process as they found it, whatever runs behind them."""

import os
from collections.abc import Iterator

import pytest

from tests.process_state import process_stays

# Tests compile anew and leave the user's compile cache alone; tests of the cache have folders of their own.
os.environ.setdefault("MINDGRAD_CACHE_DIR", "")


@pytest.fixture(autouse=True)
def examples_leave_no_trace(request: pytest.FixtureRequest) -> Iterator[None]:
    """Restore what an example of ``install`` or ``set_recursion_limit`` changes."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    with process_stays():
        yield
