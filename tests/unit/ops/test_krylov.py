"""``scipy.sparse.linalg``: ``cg`` and ``gmres`` against dense solutions, their derivatives, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse.linalg

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.scipy.ops import Cholesky, EighNet, EigNet
from mindgrad.scipy.sparse.linalg import cg, gmres
from mindgrad.scipy.utils import _safe_normalize
from tests.tolerances import assert_close

MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]


def matrix(n, seed=0, symmetric=False):
    a = np.random.default_rng(seed).normal(size=(n, n))
    return a @ a.T + n * np.eye(n) if symmetric else a + 3 * np.eye(n)


def vector(n, seed=1):
    return np.random.default_rng(seed).normal(size=n)


@pytest.fixture(params=MODES, ids=["pynative", "graph"], autouse=True)
def mode(request):
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("preconditioned", [None, "exact", "diagonal"])
@pytest.mark.parametrize("solver", [cg, gmres])
def test_the_solution(solver, preconditioned):
    a, b = matrix(7, symmetric=solver is cg), vector(7)
    inverse = {None: None, "exact": np.linalg.inv(a), "diagonal": np.diag(1 / np.diag(a))}[preconditioned]
    x, info = solver(Tensor(a), Tensor(b), tol=1e-12, M=None if inverse is None else Tensor(inverse))
    assert info is None
    assert_close(x, np.linalg.solve(a, b), kind="ill-conditioned")


@pytest.mark.parametrize("maxiter", [1, 3])
def test_cg_goes_the_steps_of_scipy(maxiter):
    a, b = matrix(6, symmetric=True), vector(6)
    expected, _ = scipy.sparse.linalg.cg(a, b, maxiter=maxiter, rtol=0.0, atol=1e-12)
    assert_close(cg(Tensor(a), Tensor(b), maxiter=maxiter, tol=1e-12)[0], expected, kind="ill-conditioned")


def test_gmres_begins_anew():
    a, b = matrix(9) + 4 * np.eye(9), vector(9)
    x = gmres(Tensor(a), Tensor(b), restart=4, tol=1e-10, maxiter=200)[0]
    assert_close(x, np.linalg.solve(a, b), kind="iteration")
    once = gmres(Tensor(a), Tensor(b), restart=4, tol=1e-10, maxiter=1)[0].asnumpy()
    # the smallest residual of the four dimensions that b, A b, A² b, A³ b span
    span = np.stack([np.linalg.matrix_power(a, k) @ b for k in range(4)], 1)
    best = span @ np.linalg.lstsq(a @ span, b, rcond=None)[0]
    assert_close(once, best, kind="law")


def test_a_space_that_is_used_up_early():
    b = Tensor([0.0, 2.0, 0.0])
    assert_close(gmres(Tensor(np.diag([1.0, 4.0, 5.0])), b, tol=1e-6)[0], [0, 0.5, 0])
    assert_close(gmres(Tensor(np.eye(3)), ops.zeros((3,)))[0], [0, 0, 0], kind="exact")
    assert_close(cg(Tensor(np.eye(3)), ops.zeros((3,)))[0], [0, 0, 0], kind="exact")


@pytest.mark.parametrize("solver", [cg, gmres])
def test_a_function_a_start_and_a_column(solver):
    a, b = matrix(5, symmetric=True), vector(5)
    tensor = Tensor(a)
    x = solver(
        lambda v: ops.matmul(tensor, v), Tensor(b[:, None]), x0=ops.ones((5, 1), ms.float64), tol=1e-12
    )[0]
    assert_close(x, np.linalg.solve(a, b)[:, None], kind="ill-conditioned")


@pytest.mark.parametrize("solver", [cg, gmres])
def test_derivatives_are_those_of_the_solution(solver):
    a, b = matrix(4, symmetric=True), vector(4)
    inverse = np.linalg.inv(a)
    weights = Tensor(vector(4, 5))

    def loss(a, b):
        return (solver(a, b, tol=1e-12)[0] * weights).sum()

    of_a, of_b = ms.grad(loss, (0, 1))(Tensor(a), Tensor(b))
    dual = inverse.T @ weights.asnumpy()
    assert_close(of_b, dual, kind="ill-conditioned")
    assert_close(of_a, -np.outer(dual, inverse @ b), kind="ill-conditioned")
    # the second: d/dt (a + t e)⁻¹ twice
    hessian = ms.grad(ms.grad(lambda t: loss(Tensor(a) + t * Tensor(np.eye(4)), Tensor(b))))
    expected = 2 * weights.asnumpy() @ inverse @ inverse @ inverse @ b
    assert_close(hessian(Tensor(0.0, ms.float64)), expected, kind="ill-conditioned")


def test_inside_of_a_cell():
    class Net(nn.Cell):
        def construct(self, a, b, m):
            return gmres(a, b, tol=1e-12, M=m)[0] + cg(ops.matmul(a, a.T), b, tol=1e-14)[0]

    a, b = matrix(4), vector(4)
    ours = Net()(Tensor(a), Tensor(b), Tensor(np.diag(1 / np.diag(a))))
    expected = np.linalg.solve(a, b) + np.linalg.solve(a @ a.T, b)
    assert_close(ours, expected, kind="ill-conditioned")


def test_what_is_refused():
    a, b = Tensor(matrix(3)), Tensor(vector(3))
    with pytest.raises(ValueError, match="'solve_method' must be one of 'batched', 'incremental'"):
        gmres(a, b, solve_method="other")
    with pytest.raises(NotImplementedError, match="'callback' is not supported"):
        cg(a, b, callback=print)
    with pytest.raises(ValueError, match=r"'A' must have the shape \(4, 4\)"):
        cg(a, Tensor(vector(4)))
    with pytest.raises(ValueError, match=r"'b' must have the shape \(n,\) or \(n, 1\)"):
        gmres(a, Tensor(matrix(3)))
    with pytest.raises(ValueError, match="'x0' must have the shape of 'b'"):
        gmres(a, b, x0=Tensor(vector(2)))


def test_cells_of_eigenvalues_and_factors():
    a = matrix(4, symmetric=True)
    values, vectors = EighNet()(Tensor(a))
    assert_close(vectors * values @ vectors.T, a, kind="ill-conditioned")
    assert_close(EighNet(False, False)(Tensor(a)), np.linalg.eigvalsh(a), kind="ill-conditioned")
    general = matrix(4)
    values, vectors = (each.asnumpy() for each in EigNet()(Tensor(general)))
    assert_close(general @ vectors, vectors * values, kind="ill-conditioned")
    assert_close(EigNet(bv=False)(Tensor(general)), values, kind="ill-conditioned")
    assert_close(Cholesky(lower=True)(Tensor(a)), np.linalg.cholesky(a), kind="ill-conditioned")
    assert_close(Cholesky()(Tensor(a)), np.linalg.cholesky(a).T, kind="ill-conditioned")
    with pytest.raises(NotImplementedError, match="Omit 'clean'"):
        Cholesky(clean=False)(Tensor(a))


def test_a_length_of_zero_divides_nothing():
    vector_of_one, length = _safe_normalize(Tensor([0.0, 0.0]))
    assert (vector_of_one.asnumpy() == 0).all()
    assert length == 0
