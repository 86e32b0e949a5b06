"""Law 6: a row, and its gradient, on a batch is the row on each element, stacked."""

import pytest

from mindgrad.core.ir.dtype import bool_, complex128, float64, int32
from tests.laws.checks import batched_is_stacked
from tests.laws.harness import ROWS, accepted, calls


@pytest.mark.parametrize("name", ROWS)
def test_batched_is_stacked(name):
    dtype = next(d for d in (float64, int32, bool_, complex128) if d in accepted(name))
    assert batched_is_stacked(name, dtype) == len(calls(name, dtype))
