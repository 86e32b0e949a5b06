"""Systems, determinants, factorizations, pseudoinverse: values, derivatives, errors, both executors."""

import numpy as np
import pytest
import scipy.linalg

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close

RNG = np.random.default_rng(5)


def normal(*shape, complex_numbers=False):
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if complex_numbers else x


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def positive(*shape, complex_numbers=False):
    x = normal(*shape, shape[-1], complex_numbers=complex_numbers)
    return x @ adjoint(x) + shape[-1] * np.eye(shape[-1])


def close(found, wanted):
    assert found.shape == np.shape(wanted)
    assert_close(found, wanted, "ill-conditioned", scale=1)


BOTH = pytest.mark.parametrize("kind", [False, True], ids=["real", "complex"])


@BOTH
def test_systems(kind):
    a, b, v = (normal(*s, complex_numbers=kind) for s in ((2, 3, 3), (2, 3, 4), (2, 3)))
    ta, tb, tv = Tensor(a), Tensor(b), Tensor(v)
    close(ops.solve(ta, tb), np.linalg.solve(a, b))
    close(ops.solve(ta, tv), np.linalg.solve(a, v[..., None])[..., 0])
    close(ops.solve(Tensor(a[0]), Tensor(v[0])), np.linalg.solve(a[0], v[0]))
    close(ops.solve(Tensor(a[0]), tb), np.linalg.solve(a[0], b))  # the batch broadcasts
    close(ops.matrix_solve(ta, tb, True), np.linalg.solve(adjoint(a), b))
    for lower in (False, True):
        triangle = np.tril(a) if lower else np.triu(a)
        for trans, matrix in ((0, triangle), ("T", np.swapaxes(triangle, -1, -2)), (2, adjoint(triangle))):
            close(ops.solve_triangular(ta, tb, trans, lower), np.linalg.solve(matrix, b))
        unit = triangle - triangle * np.eye(3) + np.eye(3)
        close(ops.solve_triangular(ta, tb, "N", lower, True), np.linalg.solve(unit, b))
    close(ops.inverse(ta), np.linalg.inv(a))
    close(ops.matrix_inverse(ta, True), adjoint(np.linalg.inv(a)))
    close(ops.MatrixTriangularSolve(adjoint=True)(ta, tb), np.linalg.solve(adjoint(np.tril(a)), b))


@BOTH
def test_determinants_and_powers(kind):
    for size in (1, 2, 3, 5):
        a = normal(2, size, size, complex_numbers=kind)
        close(ops.det(Tensor(a)), np.linalg.det(a))
        for found, expected in zip(ops.slogdet(Tensor(a)), np.linalg.slogdet(a), strict=True):
            close(found, expected)
        for n in (0, 1, 2, 5, -1, -3):
            expected = np.linalg.matrix_power(a, n)
            assert_close(ops.matrix_power(Tensor(a), n), expected, kind="ill-conditioned")
    if not kind:
        a = np.array([np.eye(2), np.diag([1.0, -1.0]), np.zeros((2, 2))])
        assert np.array_equal(ops.logdet(Tensor(a)).asnumpy(), [0.0, np.nan, -np.inf], equal_nan=True)


def test_kron():
    for shapes in (((2, 3), (3, 2)), ((2,), (3, 2)), ((2, 3), (4,)), ((2, 1, 2), (3, 2, 1))):
        a, b = (normal(*shape) for shape in shapes)
        close(ops.kron(Tensor(a), Tensor(b)), np.kron(a, b))


@BOTH
def test_factorizations(kind):
    a = positive(2, 3, complex_numbers=kind)
    factor = np.linalg.cholesky(a)
    close(ops.cholesky(Tensor(a)), factor)
    close(ops.cholesky(Tensor(a), True), adjoint(factor))
    b = normal(2, 3, 2, complex_numbers=kind)
    close(ops.cholesky_solve(Tensor(b), Tensor(factor)), np.linalg.solve(a, b))
    close(ops.cholesky_solve(Tensor(b), Tensor(adjoint(factor)), True), np.linalg.solve(a, b))
    close(ops.cholesky_inverse(Tensor(factor)), np.linalg.inv(a))
    values, vectors = ops.eigh(Tensor(a))
    close(values, np.linalg.eigvalsh(a))
    close(ops.matmul(Tensor(a), vectors), vectors.asnumpy() * values.asnumpy()[..., None, :])
    close(ops.eigvalsh(Tensor(a)), np.linalg.eigvalsh(a))
    for shape in ((4, 3), (3, 3), (3, 5), (2, 4, 2), (2, 2, 4)):
        m = normal(*shape, complex_numbers=kind)
        q, r = ops.qr(Tensor(m))
        count = min(shape[-2:])
        assert (q.shape, r.shape) == ((*shape[:-1], count), (*shape[:-2], count, shape[-1]))
        close(ops.matmul(q, r), m)
        close(
            Tensor(adjoint(q.asnumpy()) @ q.asnumpy()),
            np.broadcast_to(np.eye(count), (*shape[:-2], count, count)),
        )
        assert np.abs(np.tril(r.asnumpy(), -1)).max() < 1e-12
        s, u, v = ops.svd(Tensor(m))
        close(s, np.linalg.svd(m, compute_uv=False))
        close(Tensor((u.asnumpy() * s.asnumpy()[..., None, :]) @ adjoint(v.asnumpy())), m)
        close(ops.svd(Tensor(m), compute_uv=False), s.asnumpy())
        close(ops.svdvals(Tensor(m)), s.asnumpy())


# --- the pseudoinverse -------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_the_pseudoinverse(shape, kind):
    a = normal(*shape, complex_numbers=kind)
    close(ops.pinv(Tensor(a)), np.linalg.pinv(a))


def test_the_pseudoinverse_of_deficient_matrices():
    a = normal(4, 2) @ normal(2, 3)
    close(ops.pinv(Tensor(a)), np.linalg.pinv(a))
    assert ops.pinv(Tensor(np.zeros((3, 2)))).asnumpy().tolist() == [[0.0] * 3] * 2
    assert ops.pinv(Tensor(np.zeros((3, 0)))).shape == (0, 3)
    close(ops.pinv(Tensor(np.diag([1.0, 1e-3])), rtol=1e-2), np.diag([1.0, 0.0]))
    close(ops.pinv(Tensor(np.diag([1.0, 1e-3])), atol=1e-2), np.diag([1.0, 0.0]))


@BOTH
@pytest.mark.parametrize("case", ["square", "tall", "wide", "deficient", "equal singular values"])
def test_derivatives_of_the_pseudoinverse(case, kind):
    """First order against differences that keep the rank, second against differences of the first."""
    left, right = normal(4, 2, complex_numbers=kind), normal(2, 3, complex_numbers=kind)
    a = {
        "square": lambda: normal(3, 3, complex_numbers=kind),
        "tall": lambda: normal(4, 2, complex_numbers=kind),
        "wide": lambda: normal(2, 3, complex_numbers=kind),
        "deficient": lambda: left @ right,
        "equal singular values": lambda: np.eye(3) * (1 + 0j if kind else 1),
    }[case]()
    c = normal(*a.shape[::-1], complex_numbers=kind)
    step = 1e-5
    d_left, d_right = normal(4, 2, complex_numbers=kind), normal(2, 3, complex_numbers=kind)
    direction = normal(*a.shape, complex_numbers=kind)

    def moved(by):
        if case == "deficient":
            return (left + by * step * d_left) @ (right + by * step * d_right)
        return a + by * step * direction

    velocity = (moved(1) - moved(-1)) / (2 * step)
    gradient = ops.GradOperation(sens_param=True)(ops.pinv)
    slope = gradient(Tensor(a), Tensor(c)).asnumpy()
    difference = (np.linalg.pinv(moved(1), 1e-12) - np.linalg.pinv(moved(-1), 1e-12)) / (2 * step)
    assert_close(np.vdot(slope, velocity).real, np.vdot(c, difference).real, kind="difference")
    if case != "deficient":
        _, pushed = ops.jvp(ops.pinv, Tensor(a), Tensor(direction))
        assert_close(pushed, difference, kind="difference")
        second = ops.jvp(lambda a: gradient(a, Tensor(c)), Tensor(a), Tensor(direction))[1].asnumpy()
        ends = [gradient(Tensor(moved(by)), Tensor(c)).asnumpy() for by in (1, -1)]
        assert_close(second, (ends[0] - ends[1]) / (2 * step), kind="difference")


# --- derivatives of the rest -------------------------------------------------------------------------

SCALARS = {
    "solve": (
        lambda a: ops.sum(ops.square(ops.solve(a, ops.ones((3, 2), ms.float64)))),
        normal(3, 3) + 4 * np.eye(3),
    ),
    "solve_triangular": (
        lambda a: ops.sum(ops.square(ops.solve_triangular(a, ops.ones((3,), ms.float64), "T", True))),
        normal(3, 3) + 4 * np.eye(3),
    ),
    "inverse": (lambda a: ops.sum(ops.square(ops.inverse(a))), normal(3, 3) + 4 * np.eye(3)),
    "det": (lambda a: ops.sum(ops.det(a)), normal(2, 4, 4)),
    "slogdet": (lambda a: ops.slogdet(a)[1], normal(3, 3)),
    "logdet": (ops.logdet, positive(3)),
    "cholesky": (lambda a: ops.sum(ops.square(ops.cholesky(a, True))), positive(3)),
    "cholesky_solve": (
        lambda a: ops.sum(ops.cholesky_solve(ops.ones((3, 1), ms.float64), ops.cholesky(a))),
        positive(3),
    ),
    "qr": (lambda a: ops.sum(ops.exp(ops.qr(a)[1])), normal(3, 2)),
    "qr of a wide matrix": (lambda a: ops.sum(ops.exp(ops.qr(a)[1])), normal(2, 4)),
    "eigh": (lambda a: ops.sum(ops.exp(ops.eigh(a)[0])), positive(3)),
    "svd": (lambda a: ops.sum(ops.exp(ops.svd(a)[0])), normal(3, 2)),
    "matrix_power": (lambda a: ops.sum(ops.matrix_power(a, -3)), normal(3, 3) + 4 * np.eye(3)),
    "kron": (lambda a: ops.sum(ops.square(ops.kron(a, a))), normal(2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALARS)
def test_derivatives(name):
    function, a = SCALARS[name]
    v, step = normal(*a.shape), 1e-5

    def moved(by):
        return Tensor(a + by * step * v)

    slope = ops.grad(function)
    difference = (function(moved(1)).item() - function(moved(-1)).item()) / (2 * step)
    assert_close(np.vdot(slope(Tensor(a)).asnumpy(), v), difference, kind="difference")
    _, curvature = ops.jvp(slope, Tensor(a), Tensor(v))
    difference = (slope(moved(1)).asnumpy() - slope(moved(-1)).asnumpy()) / (2 * step)
    assert_close(curvature, difference, kind="difference", scale=1)


def test_both_executors_agree():
    names = list(SCALARS)

    def everything(samples):
        found = [SCALARS[name][0](a) for name, a in zip(names, samples, strict=True)]
        found += [ops.grad(SCALARS[name][0])(a) for name, a in zip(names, samples, strict=True)]
        found += [ops.pinv(samples[-2]), ops.grad(ops.pinv)(samples[-4])]
        return found

    samples = [Tensor(SCALARS[name][1]) for name in names]
    for eager, compiled in zip(everything(samples), Compiled(everything)(samples), strict=True):
        close(compiled, eager.asnumpy())


def test_matrices_without_result_leave_the_others_alone():
    a = np.stack([np.eye(2), np.zeros((2, 2)), -np.eye(2)])
    actual = ops.inverse(Tensor(a)).asnumpy()
    assert np.isfinite(actual[[0, 2]]).all()
    assert not np.isfinite(actual[1]).any()
    actual = ops.cholesky(Tensor(a)).asnumpy()
    assert np.isfinite(actual[0]).all()
    assert np.isnan(actual[2]).any()
    assert ops.det(Tensor(a)).asnumpy().tolist() == [1.0, 0.0, 1.0]


def test_element_types():
    whole = Tensor([[2, 0], [0, 4]])
    assert ops.inverse(whole).dtype is ms.float32
    assert ops.solve(whole, Tensor(np.ones(2))).dtype is ms.float64
    assert ops.svdvals(Tensor(np.eye(2, dtype=np.complex64))).dtype is ms.float32


X, W = Tensor(normal(3, 3)), Tensor(normal(2, 3))

ERRORS = [
    (lambda x, w: ops.inverse(w), ValueError, r"'Inverse'.*must be square.*\(2, 3\)"),
    (lambda x, w: ops.inverse(2.0), TypeError, r"'Inverse'.*must be a tensor, but got float"),
    (lambda x, w: ops.inverse(ops.cast(x, ms.float16)), TypeError, r"'Inverse'.*Float16: convert it first"),
    (lambda x, w: ops.solve(x, w), ValueError, r"'Solve'.*as many rows.*\(3, 3\).*\(2, 3\)"),
    (lambda x, w: ops.solve(w, x), ValueError, r"'Solve'.*must be square"),
    (lambda x, w: ops.solve_triangular(x, x, 3), ValueError, r"'SolveTriangular'.*'trans' must be"),
    (lambda x, w: ops.solve_triangular(x, x, lower=1), TypeError, r"'SolveTriangular'.*'lower' must be bool"),
    (lambda x, w: ops.matrix_inverse(x, "H"), TypeError, r"'MatrixInverse'.*'adjoint' must be bool"),
    (lambda x, w: ops.det(w), ValueError, r"'Det'.*must be square"),
    (lambda x, w: ops.slogdet(ops.sum(x, 0)), ValueError, r"'Slogdet'.*matrix"),
    (lambda x, w: ops.logdet(ops.complex(x, x)), TypeError, r"'Logdet'.*must be real"),
    (lambda x, w: ops.cholesky(w), ValueError, r"'Cholesky'.*must be square"),
    (lambda x, w: ops.qr(x, "full"), ValueError, r"'Qr'.*'mode' must be 'reduced'"),
    (lambda x, w: ops.qr(ops.sum(x, 0)), ValueError, r"'Qr'.*at least two axes"),
    (lambda x, w: ops.eigh(w), ValueError, r"'Eigh'.*must be square"),
    (lambda x, w: ops.pinv(x, rtol=-1.0), ValueError, r"'Pinv'.*'rtol' must not be negative"),
    (lambda x, w: ops.pinv(x, atol="0"), TypeError, r"'Pinv'.*'atol' must be a float"),
    (lambda x, w: ops.matrix_power(w, 2), ValueError, r"'MatrixPower'.*must be square"),
    (lambda x, w: ops.matrix_power(x, 2.0), TypeError, r"'MatrixPower'.*'n' must be an int"),
    (lambda x, w: ops.kron(x, 2.0), TypeError, r"'Kron'.*must be tensors"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), ERRORS)
def test_mistakes_are_errors_in_both_modes(call, kind, words):
    with pytest.raises(kind, match=words):
        call(X, W)
    with pytest.raises(kind, match=words):
        Compiled(call)(X, W)


def test_against_scipy():
    a, b = positive(4), normal(4)
    close(
        ops.solve_triangular(Tensor(a), Tensor(b), 0, True), scipy.linalg.solve_triangular(a, b, lower=True)
    )
    close(
        ops.cholesky_solve(Tensor(b[:, None]), ops.cholesky(Tensor(a))),
        scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)[:, None],
    )


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
@BOTH
def test_square_factors_of_matrices_that_are_not(kind, run):
    for shape in ((4, 2), (2, 4), (2, 3, 2), (3, 3)):
        a = normal(*shape, complex_numbers=kind)
        s, u, v = (x.asnumpy() for x in run(lambda x: ops.svd(x, True))(Tensor(a)))
        k = min(shape[-2:])
        assert (u.shape[-1], v.shape[-1]) == shape[-2:]
        for factor in (u, v):
            identity = np.broadcast_to(np.eye(factor.shape[-1]), factor.shape)
            assert_close(adjoint(factor) @ factor, identity, kind="ill-conditioned")
        assert_close((u[..., :k] * s[..., None, :]) @ adjoint(v)[..., :k, :], a, kind="ill-conditioned")
    q, r = (x.asnumpy() for x in run(lambda x: ops.qr(x, "complete"))(Tensor(normal(4, 2))))
    assert (q.shape, r.shape) == ((4, 4), (4, 2))
    assert_close(q.T @ q, np.eye(4), kind="ill-conditioned")


def test_columns_that_complete_a_basis_move_with_it():
    a, b, direction = (Tensor(normal(4, 2)) for _ in range(3))

    def outside(x):  # of the columns of x lies so much of b
        return ops.sum(ops.square(ops.matmul(ops.transpose(ops.svd(x, True)[1][:, 2:], (1, 0)), b)))

    def of_projection(x):
        product = ops.matmul(ops.transpose(x, (1, 0)), x)
        inside = ops.matmul(x, ops.solve(product, ops.matmul(ops.transpose(x, (1, 0)), b)))
        return ops.sum(ops.square(b - inside))

    def along(f):
        return lambda x: ops.sum(ms.grad(f)(x) * direction)

    ours, expected = outside, of_projection
    for _ in range(3):
        assert_close(ours(a), expected(a), kind="ill-conditioned")
        ours, expected = along(ours), along(expected)
