"""Law 4: NumPy and XLA compute the same, values and derivative graphs, in every element type.

The samples of a row are two compiled programs, one of the types of 64 bits and one of the others, as jax has two
ways to compile.
"""

import zlib

import pytest

from mindgrad.core.ir.dtype import (
    DTYPES,
    DType,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint8,
    uint64,
)
from tests.laws.checks import Program, add_call, executors_agree
from tests.laws.harness import ROWS, Call, accepted, calls
from tests.thorough import THOROUGH

#: how many orders of derivatives are compared: compiling is what these tests cost
ORDERS = {float64: 2, float32: 1, bfloat16: 1, float16: 1, complex128: 1, complex64: 0}

WIDE = (float64, complex128, int64, uint64)
WIDTHS = {"wide": WIDE, "narrow": tuple(dtype for dtype in DTYPES if dtype not in WIDE)}


def orders_of(name: str, dtype: DType) -> int:
    """Orders of derivatives that are compared.

    An ordinary run compares derivatives in float16 for half of the operators and in bfloat16 for the others,
    and second derivatives for every fourth operator.
    """
    most = ORDERS.get(dtype, 0)
    if THOROUGH:
        return most
    number = zlib.crc32(name.encode())
    if dtype in (float16, bfloat16):
        return most * ((dtype is float16) == number % 2)
    return 1 if most == 2 and number % 4 else most


def compared(name: str, dtype: DType) -> list[Call]:
    """The samples that are compared: one is enough for most integer types."""
    many = dtype.kind not in ("int", "uint") or dtype in (int32, uint8)
    return calls(name, dtype)[: None if many else 1]


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        pytest.param(name, dtypes, id=f"{name}-{width}")
        for name in ROWS
        for width, listed in WIDTHS.items()
        if (dtypes := [dtype for dtype in listed if dtype in accepted(name)])
    ],
)
def test_compiled_is_eager(name, dtypes):
    program = Program()
    for dtype in dtypes:
        for call in compared(name, dtype):
            # derivative graphs of the first sample only: XLA's time goes with their number
            orders = 0 if call.index else orders_of(name, dtype)
            add_call(program, call, dtype, orders)
    results = program.run()
    for dtype in dtypes:
        assert executors_agree(results, name, dtype) >= len(compared(name, dtype))
