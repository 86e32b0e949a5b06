"""Law 4: NumPy and XLA compute the same, values and derivative graphs, in every element type.

All rows of one element type are one compiled program.
"""

from functools import cache

import pytest

from mindgrad.core.dtype import DTYPES, DType, complex64, complex128, float32, float64, int32, uint8
from tests.laws.checks import Program, add_call, executors_agree
from tests.laws.harness import ROWS, Call, accepted, calls

#: how many orders of derivatives are compared: compiling is what these tests cost
ORDERS = {float64: 2, float32: 1, complex128: 1, complex64: 0}


def compared(name: str, dtype: DType) -> list[Call]:
    """The samples that are compared: one is enough for most integer types."""
    many = dtype.kind not in ("int", "uint") or dtype in (int32, uint8)
    return calls(name, dtype)[: None if many else 1]


@cache
def results(dtype: DType) -> tuple[dict, dict]:
    """What both executors give, and for each row that could not be built why."""
    program, broken = Program(), {}
    for name in ROWS:
        for call in compared(name, dtype):
            # derivative graphs of the first sample only: XLA's time goes with their number
            orders = 0 if call.index else ORDERS.get(dtype, int(dtype.is_inexact))
            try:
                add_call(program, call, dtype, orders)
            except Exception as error:
                broken[name] = error
    return program.run(), broken


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        pytest.param(name, dtype, id=f"{name}-{dtype}")
        for dtype in DTYPES
        for name in ROWS
        if dtype in accepted(name)
    ],
)
def test_compiled_is_eager(name, dtype):
    found, broken = results(dtype)
    if name in broken:
        raise broken[name]
    assert executors_agree(found, name, dtype) >= len(compared(name, dtype))
