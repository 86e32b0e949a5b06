"""Incomplete gamma and beta functions: against SciPy, at their ends, and derivatives for the shapes."""

import math

import numpy as np
import pytest
from scipy import special

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

both_modes = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])


def grid(*axes):
    return [array.ravel() for array in np.meshgrid(*axes)]


def agree(ours, expected, tolerances):
    np.testing.assert_allclose(ours.asnumpy(), expected, *tolerances)


@both_modes
@pytest.mark.parametrize(("dtype", "tolerances"), [(np.float64, (1e-9, 1e-300)), (np.float32, (2e-4, 3e-6))])
def test_values_are_those_of_scipy(run, dtype, tolerances):
    a, x = grid([1e-2, 0.3, 1, 2.5, 30, 900], [1e-3, 0.1, 1, 3, 25, 40, 870, 950])
    a, x = a.astype(dtype), x.astype(dtype)
    wide = [array.astype(np.float64) for array in (a, x)]
    agree(run(ops.igamma)(Tensor(a), Tensor(x)), special.gammainc(*wide), tolerances)
    agree(run(ops.igammac)(Tensor(a), Tensor(x)), special.gammaincc(*wide), tolerances)
    a, b, x = [array.astype(dtype) for array in grid([0.1, 1, 4.5, 60], [0.1, 1, 30], [0.01, 0.3, 0.5, 0.9])]
    wide = [array.astype(np.float64) for array in (a, b, x)]
    agree(run(ops.betainc)(Tensor(a), Tensor(b), Tensor(x)), special.betainc(*wide), tolerances)


@both_modes
def test_ends(run):
    shapes, nan = Tensor([0.5, 2.0, -1.0, 2.0]), math.nan
    lower = run(ops.igamma)(shapes, Tensor([0.0, math.inf, 1.0, -1.0]))
    np.testing.assert_array_equal(lower.asnumpy(), np.float32([0, 1, nan, nan]))
    upper = run(ops.igammac)(shapes, Tensor([0.0, math.inf, 1.0, -1.0]))
    np.testing.assert_array_equal(upper.asnumpy(), np.float32([1, 0, nan, nan]))
    part = run(ops.betainc)(shapes, Tensor([2.0, 2.0, 1.0, 1.0]), Tensor([0.0, 1.0, 0.5, 1.5]))
    np.testing.assert_array_equal(part.asnumpy(), np.float32([0, 1, nan, nan]))
    # the density at an end of the interval
    slope = run(ms.grad(lambda x, a: ops.igamma(a, x)))
    assert [float(slope(Tensor(0.0), a)) for a in (0.5, 1.0, 2.0)] == [math.inf, 1.0, 0.0]
    slope = run(ms.grad(lambda x, a: ops.betainc(a, 3.0, x)))
    assert [float(slope(Tensor(0.0), a)) for a in (0.5, 1.0, 2.0)] == [math.inf, 3.0, 0.0]


@both_modes
def test_derivatives_for_the_shapes(run):
    """Against numerical differentiation with 30 digits."""
    a = Tensor(2.5, ms.float64)
    first = ms.grad(lambda a: ops.igamma(a, Tensor(9.0, ms.float64)))
    second = ms.grad(first)
    assert_close(run(first)(a), -0.004741679548193885, kind="program")
    assert_close(run(second)(a), -0.006217598371257099, kind="program")
    assert_close(run(ms.grad(second))(a), -0.006158161590717485, kind="program")
    mixed = ms.grad(ms.grad(lambda a, b: ops.betainc(a, b, Tensor(0.4, ms.float64)), 0), 1)
    assert_close(
        run(mixed)(Tensor(2.0, ms.float64), Tensor(3.0, ms.float64)),
        0.00892340767003433,
        kind="ill-conditioned",
    )


def test_classes_and_mistakes():
    a, x = Tensor([1.0, 2.0]), Tensor([0.5, 0.25])
    np.testing.assert_array_equal(ops.Igamma()(a, x).asnumpy(), a.igamma(x).asnumpy())
    np.testing.assert_array_equal(ops.Igammac()(a, x).asnumpy(), a.igammac(x).asnumpy())
    np.testing.assert_array_equal(ops.Betainc()(a, a, x).asnumpy(), ops.betainc(a, a, x).asnumpy())
    assert ops.igamma(Tensor([1]), 1).dtype is ms.float32
    with pytest.raises(TypeError, match="Igamma"):
        ops.igamma(Tensor(1 + 1j), 1.0)
    with pytest.raises(ValueError, match="Igamma"):
        ops.igamma(ops.ones(2), ops.ones(3))
