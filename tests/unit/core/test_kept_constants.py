"""Constants whose product or sum leaves the range of a type are not combined by the compiler."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.backend.kept_constants import kept_constants
from mindgrad.frontend.programs.compiled import trace
from tests.tiers import eager, is_compiled

pytestmark = pytest.mark.xla

BIG, SMALL = 1e20, 1e-20

#: an expression, the element type, and an x at which its value is finite
CASES = {
    "factors that underflow": (lambda x: x * SMALL * SMALL, "float32", 1e30),
    "factors that underflow, at infinity": (lambda x: x * SMALL * SMALL, "float32", np.inf),
    "factors that overflow": (lambda x: x * BIG * BIG, "float32", 1e-30),
    "factors before x": (lambda x: SMALL * (SMALL * x), "float32", 1e30),
    "divisors that overflow": (lambda x: x / BIG / BIG, "float32", 1e30),
    "a factor and a divisor": (lambda x: x * SMALL / BIG, "float32", 1e30),
    "an array and a number": (
        lambda x: x * Tensor(np.array([1e-20, 1e-21], np.float32)) * SMALL, "float32", 1e30
    ),
    "elements moved in between": (lambda x: ops.reshape(x * SMALL, (2, 1)) * SMALL, "float32", 1e30),
    "a sum in between": (lambda x: (x * SMALL + x * SMALL) * SMALL, "float32", 1e30),
    "three factors": (lambda x: x * 1e-15 * 1e-15 * 1e-15, "float32", 1e30),
    "the logarithm of a product": (lambda x: ops.log(x * SMALL * SMALL), "float32", 1e30),
    "a reciprocal that is subnormal": (lambda x: x / 3e38, "float32", 3e38),
    "terms that overflow": (lambda x: x + 3e38 + 3e38, "float32", -3e38),
    "subtracted terms that overflow": (lambda x: x - 3e38 - 3e38, "float32", 3e38),
    "terms that cancel": (lambda x: x + 1e30 - 1e30, "float32", 1.0),
    "terms that nearly cancel": (lambda x: (x + 1e10) - 1.0001e10, "float32", 1.0),
    "half precision": (lambda x: x * 1e-3 * 1e-3 * 1e-3, "float16", 6e4),
    "double precision": (lambda x: x * 1e-200 * 1e-200, "float64", 1e300),
    "a derivative": (ms.grad(lambda x: (x * SMALL * 1e30 * SMALL).sum()), "float32", 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_compiled_constants_out_of_range_agree_with_operators(name):
    function, dtype, at = CASES[name]
    x = Tensor(np.array([at, at / 2], dtype))
    with eager("numpy"):
        expected = function(x).asnumpy().astype(np.float64)
    with eager("compiled"):
        cell = nn.Cell()
        cell.construct = function
        deferred = [cell(x) for _ in range(4)][-1]
        assert is_compiled(cell)
    tiny = float(np.finfo(dtype).tiny)  # subnormal numbers are zero in compiled programs
    for result in (deferred, ms.jit(function)(x)):
        assert result.dtype == x.dtype
        np.testing.assert_allclose(
            result.asnumpy().astype(np.float64),
            expected,
            rtol=2e-3 if dtype == "float16" else 2e-6,
            atol=tiny,
        )


def test_constants_in_range_are_left_to_the_compiler():
    def usual(x):
        y = (x - 0.1307) / 0.3081 * 2.0 - 1.0
        return ops.gelu(y / 1e-5 * 1e-3 + 1.0) * 0.5 / 3.0

    x = Tensor(np.ones(3, np.float32))
    assert kept_constants(trace(ms.value_and_grad(lambda x: usual(x).sum()), x)) == set()
