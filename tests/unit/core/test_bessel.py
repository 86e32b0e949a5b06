"""Bessel functions against SciPy, with two derivatives, near and far."""

import numpy as np
import pytest
import scipy.special

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

NEAR, FAR = np.array([-7.5, -0.3, 0.8, 4.0, 24.9]), np.array([-31.0, 25.2, 60.0])


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (ops.bessel_j0, scipy.special.j0),
        (ops.bessel_j1, scipy.special.j1),
        (ops.bessel_i0e, scipy.special.i0e),
        (ops.bessel_i1e, scipy.special.i1e),
    ],
)
def test_values_and_derivatives(function, reference):
    check(function, reference, NEAR)
    check(function, reference, FAR)
    x = np.linspace(-80, 80, 1001)
    for compute in (function, ms.jit(function)):
        assert_close(compute(Tensor(x)), reference(x), kind="program")
        single = compute(Tensor(x.astype(np.float32))).asnumpy()
        assert_close(single, reference(x), kind="program")
    assert function(Tensor(np.inf)).asnumpy() == 0
    assert np.isnan(function(Tensor(np.nan)).asnumpy())


def test_without_scale():
    check(ops.bessel_i0, scipy.special.i0, NEAR[:4])
    check(ops.bessel_i1, scipy.special.i1, NEAR[:4])
    # derivatives at 0: I0'' = 1/2, I1' = 1/2, J0'' = -1/2
    zero = Tensor(np.zeros(()))
    second = lambda f: ms.grad(ms.grad(f))(zero).asnumpy()
    assert_close([second(ops.bessel_i0), second(ops.bessel_j0)], [0.5, -0.5], kind="program")
    assert_close(ms.grad(ops.bessel_i1)(zero), 0.5, kind="program")


@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("n", [0, 1])
def test_scaled_functions_keep_all_digits_in_derivatives_far_out(n, compile):
    """Up to 1 / x², the third derivative of the scaled functions is its limit for x → ∞."""
    for function, size in (
        ((ops.bessel_i0e, ops.bessel_i1e)[n], 1 / np.pi),
        ((ops.bessel_k0e, ops.bessel_k1e)[n], np.pi),
    ):
        third = compile(ms.grad(ms.grad(ms.grad(lambda x, f=function: f(x).sum()))))
        x = np.array([1e6, 1e9])
        right = -15 / 8 * np.sqrt(size / 2) * x**-3.5
        np.testing.assert_allclose(third(Tensor(x)).asnumpy(), right, rtol=1e-5)


@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("function", "limit"),
    [
        (ops.bessel_j1, lambda x: x / 2),
        (ops.bessel_i1e, lambda x: x / 2),
        (ops.bessel_k0e, lambda x: np.log(2) - np.euler_gamma - np.log(x)),
        (ops.bessel_k1e, lambda x: 1 / x),
        (ops.bessel_k1, lambda x: 1 / x),
        (ops.bessel_y0, lambda x: 2 / np.pi * (np.log(x / 2) + np.euler_gamma)),
        (ops.bessel_y1, lambda x: -2 / np.pi / x),
    ],
)
def test_values_next_to_zero_are_the_first_term_of_the_series(function, limit, compile):
    x = np.array([1e-250, 1e-100, 1e-30, 1e-20, 2e-17])
    assert_close(compile(function)(Tensor(x)), limit(x), kind="ill-conditioned", each=True)
    single = x[2:].astype(np.float32)
    assert_close(compile(function)(Tensor(single)), limit(single), kind="contraction")


@pytest.mark.parametrize("compile", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_derivatives_of_modified_functions_do_not_cancel_next_to_zero(compile):
    """I₀' = x / 2, I₀''' = 3 x / 8 and I₁'' = 3 x / 8, but for terms in x³."""
    slope = lambda f: ms.grad(lambda x: f(x).sum())
    for function, factor in (
        (slope(ops.bessel_i0), 1 / 2),
        (slope(slope(slope(ops.bessel_i0))), 3 / 8),
        (slope(slope(ops.bessel_i1)), 3 / 8),
    ):
        x = np.array([-1e-8, 1e-8, 1e-20])
        assert_close(compile(function)(Tensor(x)), factor * x, kind="program", each=True)


def test_modified_functions_grow_to_infinity():
    assert ops.bessel_i0(Tensor(-np.inf)).asnumpy() == np.inf
    assert ops.bessel_i1(Tensor(-np.inf)).asnumpy() == -np.inf
    assert np.isnan(ops.bessel_i1(Tensor(np.nan)).asnumpy())
