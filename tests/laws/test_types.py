"""Law 1: a row's type rule tells the truth about both kernels, and refuses with a reason."""

import pytest

from mindgrad.core.ir.dtype import (
    DTYPES,
    as_dtype,
    bool_,
    complex64,
    complex128,
    float32,
    float64,
    int32,
    uint8,
)
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.primitives.kinds import ACCEPTS
from tests.laws.checks import type_rule_is_true
from tests.laws.harness import ROWS, calls, drawn, refusal

#: a row that declares their kind takes these
COMMON = (bool_, int32, uint8, float32, float64, complex64, complex128)


@pytest.mark.parametrize("name", ROWS)
def test_type_rule_is_true_or_refuses_with_a_reason(name):
    for dtype in DTYPES:
        for call in drawn(name, dtype):
            reason = refusal(call)
            if reason is None:
                type_rule_is_true(call)
            else:
                assert f"'{name}'" in reason, f"a refusal must name the row: {reason}"


@pytest.mark.parametrize("name", ROWS)
def test_a_row_takes_the_types_that_its_samples_declare(name):
    given = REGISTRY[name].samples
    if isinstance(given, tuple):
        operands = [array for dtype in DTYPES for call in calls(name, dtype) for array in call.arrays]
        assert {as_dtype(array.dtype).kind for array in operands} == set(ACCEPTS[given[2]])
    else:
        for dtype in DTYPES:
            declared = [case for case in given if dtype.kind in ACCEPTS[case.accepts]]
            taken = len(calls(name, dtype))
            # narrow and unusual types may be refused, but then all samples of them
            refused = taken == 0 and dtype not in COMMON
            assert refused or taken >= len(declared), f"'{name}' refuses declared {dtype}"


def test_only_control_rows_have_no_samples():
    for name, primitive in REGISTRY.items():
        assert (primitive.samples is None) == (primitive.kind == "control"), name
    assert len(ROWS) > 100, "the registry is not filled"
