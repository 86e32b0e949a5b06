"""Laws 2 and 3: forward is the difference quotient, reverse its transpose, second order all ways."""

import numpy as np
import pytest

from mindgrad.core.ir.dtype import complex128, float64
from mindgrad.core.ir.primitive import REGISTRY
from tests.laws.checks import (
    forward_is_finite_difference,
    reverse_is_transposed_forward,
    second_order_agrees,
    third_order_is_finite_difference,
)
from tests.laws.harness import ROWS, calls, derivatives

#: (row, element type) pairs with something to differentiate
SMOOTH = [
    pytest.param(name, dtype, id=f"{name}-{dtype}")
    for name in ROWS
    for dtype in (float64, complex128)
    if any(call.active for call in calls(name, dtype))
]
#: rows whose derivative is left out, with the reason; each must really differ from the quotient
NOT_A_DIFFERENCE_QUOTIENT = {
    "stop_gradient": "its derivative is zero by definition",
}


def active_calls(name, dtype):
    return [call for call in calls(name, dtype) if call.active]


@pytest.mark.parametrize(("name", "dtype"), SMOOTH)
def test_forward_is_the_difference_quotient(name, dtype):
    if name in NOT_A_DIFFERENCE_QUOTIENT:
        with pytest.raises(AssertionError, match="off by"):
            forward_is_finite_difference(active_calls(name, dtype)[0], dtype)
        return
    for call in active_calls(name, dtype):
        forward_is_finite_difference(call, dtype)


@pytest.mark.parametrize(("name", "dtype"), SMOOTH)
def test_reverse_is_forward_transposed(name, dtype):
    for call in active_calls(name, dtype):
        reverse_is_transposed_forward(call, dtype)


@pytest.mark.parametrize(("name", "dtype"), SMOOTH)
def test_second_order_agrees_in_all_ways(name, dtype):
    for call in active_calls(name, dtype):
        second_order_agrees(call, dtype)


@pytest.mark.parametrize(("name", "dtype"), SMOOTH)
def test_third_order_is_the_difference_quotient(name, dtype):
    for call in active_calls(name, dtype):
        third_order_is_finite_difference(call, dtype)


def test_the_exceptions_are_rows():
    assert set(NOT_A_DIFFERENCE_QUOTIENT) <= set(ROWS)


def test_the_samples_have_derivatives():
    """The laws compare numbers other than zero for every row that has a derivative."""
    for name in ROWS:
        primitive = REGISTRY[name]
        if primitive.jvp is None or name in NOT_A_DIFFERENCE_QUOTIENT:
            continue
        dtype = float64 if calls(name, float64) else complex128
        its = [derivatives(call, dtype) for call in active_calls(name, dtype)]
        gradients = [g for it in its for g in it.gradient(it.call.arrays)]
        assert any(np.any(g != 0) for g in gradients), f"every derivative of '{name}' is zero"
