"""SciPy's linear algebra: against SciPy, two derivatives, compiled."""

import numpy as np
import pytest
import scipy.linalg

import mindgrad as ms
import mindgrad.scipy.linalg as ours
from mindgrad import Tensor, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

RNG = np.random.default_rng(4)
A = RNG.normal(size=(3, 3))
P = A @ A.T + 2 * np.eye(3)
Q = np.diag([1.0, 2.0, 3.0]) + 0.1 * np.ones((3, 3))
B = RNG.normal(size=(3, 2))


def symmetric(a):
    return (a + a.T) / 2


def ours_of_symmetric(function):
    return lambda a, *rest: function((a + a.T) / 2, *rest)


@pytest.mark.parametrize(
    ("function", "reference", "inputs"),
    [
        (ours.inv, scipy.linalg.inv, (A,)),
        (ours.det, scipy.linalg.det, (A,)),
        (ours.solve, scipy.linalg.solve, (A, B)),
        (ours.expm, scipy.linalg.expm, (A,)),
        (ours.expm, scipy.linalg.expm, (9 * A,)),
        (ours_of_symmetric(ours.cholesky), lambda a: scipy.linalg.cholesky(symmetric(a)), (P,)),
        (ours_of_symmetric(lambda a, b: ours.cho_solve(ours.cho_factor(a), b)), lambda a, b: np.linalg.solve(symmetric(a), b), (P, B)),
        (ours_of_symmetric(lambda a, b: ours.cho_solve(ours.cho_factor(a, True), b[:, 0])), lambda a, b: np.linalg.solve(symmetric(a), b[:, 0]), (P, B)),
        (lambda a, b: ours.solve_triangular(a, b, trans="T", lower=True), lambda a, b: scipy.linalg.solve_triangular(a, b, trans="T", lower=True), (P, B)),
        (lambda a: ours.eigh(a, eigvals_only=True), lambda a: scipy.linalg.eigh(a, eigvals_only=True), (P,)),
        (lambda a, b: ours.eigh(a, b)[0], lambda a, b: scipy.linalg.eigh(a, b)[0], (P, Q)),
        (lambda a, b: ours.eigh(a, b, lower=False)[1] ** 2, lambda a, b: scipy.linalg.eigh(a, b, lower=False)[1] ** 2, (P, Q)),
        (lambda a, b: ours.lstsq(a, b)[0], lambda a, b: scipy.linalg.lstsq(a, b)[0], (RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3)))),
        (ours.block_diag, scipy.linalg.block_diag, (A, B)),
    ],
)  # fmt: skip
def test_against_scipy(function, reference, inputs):
    check(function, reference, *inputs)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_eigenvalues_of_integers_are_float32(dtype):
    values, vectors = ours.eigh(Tensor(np.array([[2, 1], [1, 2]], dtype)))
    assert vectors.dtype is ms.float32
    assert_close(values, [1, 3])


def test_exponential_of_a_batch_compiled():
    batch = np.stack([0.1 * A, 20 * A, np.zeros((3, 3))])
    slope = ms.value_and_grad(lambda a: ops.matrix_exp(a).sum())
    eager, compiled = slope(Tensor(batch)), ms.jit(slope)(Tensor(batch))
    for one, two in zip(eager, compiled, strict=True):
        assert_close(one, two, kind="ill-conditioned", each=True)
    expected = np.stack([scipy.linalg.expm(a) for a in batch])
    assert_close(ms.jit(ops.matrix_exp)(Tensor(batch)), expected, kind="law", each=True)
    assert_close(ops.MatrixExp()(Tensor(A.astype(np.float32))), scipy.linalg.expm(A), kind="program")


def test_what_is_not_there_says_so():
    with pytest.raises(ValueError, match="'type' must be 1"):
        ours.eigh(Tensor(P), type=2)
    with pytest.raises(ValueError, match="must be square"):
        ours.expm(Tensor(B))
    with pytest.raises(AttributeError, match=r"has no attribute 'cho_factors'.*nearest: 'cho_factor'"):
        ours.cho_factors  # noqa: B018
