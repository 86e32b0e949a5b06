"""Complex roots, fixed points, minima and linear systems: against closed forms and central differences."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

RANDOM = np.random.default_rng(5)
MATRIX = RANDOM.normal(size=(3, 3)) + 1j * RANDOM.normal(size=(3, 3)) + 4 * np.eye(3)
HERMITIAN = MATRIX @ MATRIX.conj().T
VECTOR = RANDOM.normal(size=3) + 1j * RANDOM.normal(size=3)
POINT = np.array([1 + 1j, 2 - 1j, -1 + 0.5j])


def number(z):
    return Tensor(z, ms.complex128)


@pytest.fixture(autouse=True, params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=before)


def real_number(z):
    return (z.real() * Tensor([1.0, 2.0, 3.0], ms.float64) + z.imag() ** 2).sum()


def by_diagonal(matvec, b):
    return b / matvec(b * 0 + 1)


@pytest.mark.parametrize("how", [None, "dense", "diagonal", "bicgstab", by_diagonal])
def test_roots_have_the_derivatives_of_the_formula(how):
    def root(a):
        return real_number(
            ms.custom_root(lambda z: z * z - a, number(np.sqrt(POINT) + 0.1), tangent_solve=how)
        )

    def formula(a):
        return real_number(ops.sqrt(a))

    a, direction = number(POINT), number(VECTOR)
    assert_close(root(a), formula(a), kind="ill-conditioned")
    assert_close(ms.grad(root)(a), ms.grad(formula)(a), kind="ill-conditioned")
    for f in (lambda f: ms.jvp(f, a, direction)[1], lambda f: ms.jvp(ms.grad(f), a, direction)[1]):
        assert_close(f(root), f(formula), kind="ill-conditioned")


def test_a_root_that_is_not_holomorphic_against_central_differences():
    def root(a):
        return real_number(ms.custom_root(lambda z: z + 0.2 * z.conj() * z - a, number(POINT)))

    step, gradient = 1e-6, ms.grad(root)(number(POINT)).asnumpy()
    for k in range(3):
        for unit, part in ((1, gradient[k].real), (1j, gradient[k].imag)):
            shift = step * unit * np.eye(3)[k]
            difference = (root(number(POINT + shift)) - root(number(POINT - shift))).item() / (2 * step)
            assert_close(part, difference, kind="difference")


def test_real_and_complex_unknowns_together_by_a_solver_of_ones_own():
    def solve(f, x):
        for _ in range(60):
            residual = f(x)
            x = {"z": x["z"] - 0.3 * residual["z"], "r": x["r"] - 0.3 * residual["r"]}
        return x

    def root(a):
        def equation(x):
            return {"z": x["z"] - a * x["r"], "r": x["r"] - 0.5 * (a.conj() * a).real()}

        guess = {"z": number(1j), "r": Tensor(1.0, ms.float64)}
        return [ms.custom_root(equation, guess, s) for s in (None, solve)]

    for found in root(number(1 + 2j)):
        assert (found["z"].dtype, found["r"].dtype) == (ms.complex128, ms.float64)
        assert_close(found["z"], 2.5 * (1 + 2j), kind="difference")
    for k in range(2):  # |a|^2/2 (Re a + Im a)
        slope = ms.grad(lambda a, k=k: root(a)[k]["z"].real() + root(a)[k]["z"].imag())(number(1 + 2j))
        assert_close(slope, (1 * 3 + 2.5) + 1j * (2 * 3 + 2.5), kind="iteration")


def test_fixed_points_and_minima():
    def fixed(a):  # z = a / (1 - (0.3 + 0.2j))
        return real_number(ms.fixed_point(lambda z: (0.3 + 0.2j) * z + a, number(VECTOR)))

    def least(a):  # z = a / (1 + 0.5)
        def objective(z):
            return (((z - a) * (z - a).conj()).real() + 0.5 * (z * z.conj()).real()).sum()

        return real_number(ms.argmin(objective, number(VECTOR)))

    a = number(POINT)
    for f, factor in ((fixed, 1 / (0.7 - 0.2j)), (least, 1 / 1.5)):
        value, slope = ms.value_and_grad(f)(a)
        exact, of_exact = ms.value_and_grad(lambda a, factor=factor: real_number(a * factor))(a)
        assert_close(value, exact, kind="law")
        assert_close(slope, of_exact, kind="law")


@pytest.mark.parametrize("how", ["auto", "bicgstab", "cg", lambda matvec, b: by_inverse(matvec, b)])
def test_linear_systems_agree_with_the_inverse(how):
    matrix = HERMITIAN if how == "cg" else MATRIX

    def solved(a, b):
        x, info = ms.custom_linear_solve(
            lambda x: ops.matmul(a, x), b, how, symmetric=how == "cg", has_aux=True
        )
        return real_number(x), info

    def inverted(a, b):
        return real_number(ops.matmul(ops.inverse(a), b))

    a, b = number(matrix), number(VECTOR)
    assert solved(a, b)[1].converged.item()
    pairs = zip(ms.grad(solved, (0, 1), has_aux=True)(a, b)[0], ms.grad(inverted, (0, 1))(a, b), strict=True)
    of_matrix, of_vector = pairs
    assert_close(of_vector[0], of_vector[1], kind="ill-conditioned")
    if how != "cg":  # the gradient is that of Hermitian matrices
        assert_close(of_matrix[0], of_matrix[1], kind="ill-conditioned")


def by_inverse(matvec, b):
    columns = [matvec(Tensor(column)) for column in np.eye(3, dtype=complex)]
    return ops.matmul(ops.inverse(ops.stack(columns, 1)), b)


def test_batches_and_single_precision():
    roots = ms.vmap(lambda a: ms.custom_root(lambda z: z * z - a, a * 0 + 1))(number(POINT[:2]))
    assert_close(roots, np.sqrt(POINT[:2]), kind="ill-conditioned")
    single = ms.custom_root(lambda z: z * z - (1 + 1j), Tensor(1 + 0.5j, ms.complex64))
    assert single.dtype is ms.complex64
    assert_close(single, np.sqrt(1 + 1j))


def test_a_complex_objective_has_no_minimum():
    with pytest.raises(TypeError, match=r"must return a real number, .* got Complex128"):
        ms.argmin(lambda z: z.sum(), number(POINT))
