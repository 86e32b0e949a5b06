"""Second derivatives of functions of eigenvalues, at equal eigenvalues too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

WRAPS = {"eager": lambda d: d, "compiled": ms.jit}
VALUES = {"eigvalsh": ops.eigvalsh, "eigh": lambda a: ops.eigh(a)[0]}

#: functions of eigenvalues, and the same functions of the matrix without eigenvalues
FUNCTIONS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "sum of squares": (lambda v: (v * v).sum(), lambda a: (a @ a).trace()),
    "sum of cubes": (lambda v: (v**3).sum(), lambda a: (a @ a @ a).trace()),
    "logarithm of the determinant": (lambda v: ops.log(v).sum(), lambda a: ops.slogdet(a)[1]),
    "trace of the inverse": (lambda v: (1 / v).sum(), lambda a: ops.inverse(a).trace()),
    "square of the trace": (lambda v: v.sum() ** 2, lambda a: a.trace() ** 2),
    "trace by trace of squares": (lambda v: v.sum() * (v * v).sum(), lambda a: a.trace() * (a @ a).trace()),
    "norm": (ops.norm, ops.norm),
    "root of a scaled sum of cubes": (
        lambda v: ops.sqrt((0.5 * (v / v.mean()) ** 3).sum()),
        lambda a: ops.sqrt(0.5 * (a @ a @ a).trace() / (a.trace() / a.shape[0]) ** 3),
    ),
    "product of vectors": (lambda v: ops.matmul(v, v), lambda a: (a @ a).trace()),
}
RANDOM = np.random.default_rng(3)
ROTATION = np.linalg.qr(RANDOM.normal(size=(4, 4)))[0]
SPECTRA = {
    "all equal": [0.7] * 4,
    "a pair": [0.7, 0.7, 1.3, 2.0],
    "two pairs": [0.7, 0.7, 1.3, 1.3],
    "almost equal": [0.7, 0.7 + 3e-11, 1.3, 1.3 + 1e-7],
    "distinct": [0.7, 0.9, 1.3, 2.0],
}


def matrix(spectrum: str) -> np.ndarray:
    values = np.array(SPECTRA[spectrum])
    return values[0] * np.eye(4) if spectrum == "all equal" else (ROTATION * values) @ ROTATION.T


def symmetric(a: Tensor) -> Tensor:
    return (a + ops.swapaxes(a, -1, -2)) / 2


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_hessian_of_a_symmetric_function_of_eigenvalues_is_that_of_the_matrix(name, spectrum, wrap):
    of_values, of_matrix = FUNCTIONS[name]
    a = Tensor(matrix(spectrum))
    right = ms.hessian(lambda a: of_matrix(symmetric(a)))(a).asnumpy()
    found = WRAPS[wrap](ms.hessian(lambda a: of_values(ops.eigvalsh(a))))(a).asnumpy()
    assert_close(found, right, kind="difference")


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivative_by_one_number_is_the_derivative_of_the_matrix(name, spectrum, wrap):
    """The pullback of a scalar is forward mode otherwise, whose second derivative is NaN at equal eigenvalues."""
    a, direction = Tensor(matrix(spectrum)), symmetric(Tensor(RANDOM.normal(size=(4, 4))))
    of_values, of_matrix = FUNCTIONS[name]
    along = lambda f: ms.grad(ms.grad(lambda t: f(a + t * direction)))
    start = Tensor(0.0, ms.float64)
    found = WRAPS[wrap](along(lambda m: of_values(ops.eigvalsh(m))))(start)
    assert_close(found, along(of_matrix)(start), "iteration")


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_every_order_of_modes_over_reverse_mode_has_the_second_derivative(spectrum, values):
    def f(a: Tensor) -> Tensor:
        return ops.exp(VALUES[values](a)).sum()

    def power_series(a: Tensor) -> Tensor:
        total = term = ops.eye(4, dtype=a.dtype)
        for k in range(1, 30):
            term = symmetric(a) @ term / k
            total = total + term
        return total.trace()

    a, t = Tensor(matrix(spectrum)), Tensor(RANDOM.normal(size=(4, 4)))
    right = ms.hvp(power_series)(a, t).asnumpy()
    forward_over_reverse = ms.jvp(ms.grad(f), a, t)[1].asnumpy()
    reverse_over_reverse = ms.grad(lambda a: (ms.grad(f)(a) * t).sum())(a).asnumpy()
    batch = ms.vmap(ms.grad(lambda a: (ms.grad(f)(a) * t).sum()))(ops.stack((a, 2.0 * a)))[0].asnumpy()
    for found in (forward_over_reverse, reverse_over_reverse, batch, ms.hvp(f)(a, t).asnumpy()):
        assert_close(found, right, kind="iteration")


def test_hessian_of_a_batch_of_matrices():
    batch = Tensor(np.stack([matrix(name) for name in ("all equal", "a pair")]))

    def slope(function: Callable[[Tensor], Tensor]) -> np.ndarray:
        t = Tensor(RANDOM.normal(size=(2, 4, 4)) * 0 + np.arange(32.0).reshape(2, 4, 4))
        return ms.hvp(function)(batch, t).asnumpy()

    found = slope(lambda a: (ops.log(ops.eigvalsh(a)).sum(-1) ** 2).sum())
    right = slope(lambda a: (ops.slogdet(symmetric(a))[1] ** 2).sum())
    assert_close(found, right, kind="ill-conditioned")


def test_hessian_of_a_hermitian_matrix():
    a = 0.6 * np.eye(2) + 0j
    t = np.array([[1.0, 2 - 1j], [2 + 1j, -1.0]])

    def second(function: Callable[[Tensor], Tensor]) -> np.ndarray:
        line = lambda s: function(Tensor(a) + ops.cast(s, ms.complex128) * Tensor(t))
        return ms.grad(ms.grad(line))(Tensor(0.0, ms.float64)).asnumpy()

    found = second(lambda a: ops.log(ops.eigvalsh(a)).sum())
    assert_close(found, second(lambda a: ops.slogdet(a)[1]), kind="ill-conditioned")


ORDERED: dict[str, Callable[[Tensor], Tensor]] = {
    "largest": lambda v: v[-1] ** 2,
    "largest by max": lambda v: v.max() ** 2,
    "weighted": lambda v: (v * v * Tensor([1.0, 2.0, 3.0, 4.0], v.dtype)).sum(),
    "weighted sum": lambda v: ((v - 0.7) * Tensor([1.0, 2.0, 3.0, 4.0], v.dtype)).sum() ** 2,
    "square of the first, which is zero": lambda v: (v[0] - 0.7) ** 2,
    "running sums": lambda v: ops.cumsum(v, 0).prod(),
    "a split": lambda v: v[:2].sum() * v[2:].sum(),
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", ORDERED)
def test_hessian_of_a_function_that_depends_on_the_order_is_nan_at_equal_eigenvalues(name, wrap):
    hessian = WRAPS[wrap](ms.hessian(lambda a: ORDERED[name](ops.eigvalsh(a))))
    assert np.isnan(hessian(Tensor(matrix("all equal"))).asnumpy()).any()
    assert np.isfinite(hessian(Tensor(matrix("distinct"))).asnumpy()).all()


def test_a_vector_from_outside_is_not_taken_for_a_function_of_eigenvalues():
    a = Tensor(matrix("all equal"))
    hessian = ms.hessian(lambda a: (ops.diag(a) * ops.eigvalsh(a)).sum())(a)
    assert np.isnan(hessian.asnumpy()).any()


def test_third_derivatives_at_equal_eigenvalues_are_not_finite_and_wrong():
    a, t = Tensor(matrix("all equal")), Tensor(RANDOM.normal(size=(4, 4)))
    found = ms.grad(lambda a: (ms.hvp(lambda a: ops.exp(ops.eigvalsh(a)).sum())(a, t) * t).sum())(a).asnumpy()
    s = symmetric(t).asnumpy()
    right = np.exp(0.7) * s @ s
    assert np.isnan(found).all() or np.allclose(found, right)


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("function", [lambda v: ops.exp(v).sum(), lambda v: ops.square(v).sum()])
def test_second_forward_derivatives_at_equal_eigenvalues_are_nan(function, wrap):
    """The Hessian exists, but two forward derivatives do not lead to it: NaN, never a wrong number."""
    a, t = Tensor(matrix("all equal")), Tensor(RANDOM.normal(size=(4, 4)))
    f = lambda a: function(ops.eigvalsh(a))
    twice = lambda a: ms.jvp(lambda a: ms.jvp(f, a, t)[1], a, t)[1]
    series = lambda a: ms.jet(f, a, ops.stack((t, ops.zeros_like(t))))[1][1]
    assert np.isnan(WRAPS[wrap](twice)(a).asnumpy())
    assert np.isnan(WRAPS[wrap](series)(a).asnumpy())
    right = (ms.hvp(f)(a, t) * t).sum().asnumpy()
    assert np.isfinite(right)
