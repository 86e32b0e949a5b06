"""Linear algebra where the laws do not look: singular and repeated values, failures, composites, errors."""

import itertools
import math

import jax
import numpy as np
import pytest

from mindgrad.core.backend.xla import compile_graph
from mindgrad.core.ir import build
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives.determinant import det, slogdet
from mindgrad.core.primitives.eigh_svd import eigh, eigvalsh, svd, svdvals
from mindgrad.core.primitives.elementwise import log
from mindgrad.core.primitives.linalg import cholesky, inverse, qr, solve, triangular_solve
from mindgrad.core.primitives.linalg_rules import (
    columns,
    diagonal,
    identity,
    matmul,
    sum_of_products,
    swapped,
)
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from tests.tolerances import assert_close

generator = np.random.default_rng(7)
LOWER = dict(left=True, lower=True, transpose=False, unit_diagonal=False)


def graph_of(function, *arrays):
    builder = build.Builder()
    with build.building(builder):
        outputs = function(*[builder.input(type_of(a)) for a in arrays])
        return builder.close(list(outputs) if isinstance(outputs, (tuple, list)) else [outputs])


def run(graph, *arrays):
    """The outputs, after a check that both executors agree on them."""
    found = evaluate(graph, arrays)
    for a, b in zip(found, compile_graph(graph)(arrays), strict=True):
        assert_close(np.asarray(b), a, kind="ill-conditioned")
    return found


def gradient(function, *arrays):
    """The gradients of a scalar function, as a function."""
    graph = graph_of(function, *arrays)
    count = len(arrays)
    one = np.ones((), arrays[0].dtype)
    pulled = reverse(graph, range(count))

    def pull(*xs):
        seed = build.current().constant(one)
        return build.current().inline(pulled, [*xs, seed])[1:]

    return pull


def orthogonal(n):
    return np.linalg.qr(generator.normal(size=(n, n)))[0]


# --- composites against jax --------------------------------------------------------------------------


def test_gradient_of_the_gradient_of_a_log_density_is_jaxs():
    """log N(b | 0, A Aᵀ + I) by cholesky and triangular_solve, and by solve and slogdet."""
    a, b = generator.normal(size=(3, 3)), generator.normal(size=(3, 1))

    def by_cholesky(a, b):
        factor = cholesky(matmul(a, swapped(a)) + identity(a.type))
        white = triangular_solve(factor, b, **LOWER)
        return -reduce_sum(log(diagonal(factor)), axes=(0,)) - 0.5 * sum_of_products(white, white)

    def by_solve(a, b):
        covariance = matmul(a, swapped(a)) + identity(a.type)
        return -0.5 * (slogdet(covariance)[1] + sum_of_products(b, solve(covariance, b)))

    def reference(a, b):
        covariance = a @ a.T + jax.numpy.eye(3)
        quadratic = (b * jax.numpy.linalg.solve(covariance, b)).sum()
        return -0.5 * (jax.numpy.linalg.slogdet(covariance)[1] + quadratic)

    def squared(of):
        return lambda a, b: sum((g * g).sum() for g in jax.grad(of, (0, 1))(a, b))

    with jax.enable_x64(True):
        first = jax.jit(jax.grad(reference, (0, 1)))(a, b)
        second = jax.jit(jax.grad(squared(reference), (0, 1)))(a, b)
    for function in (by_cholesky, by_solve):
        once = gradient(function, a, b)

        def squares(a, b, once=once):
            da, db = once(a, b)
            return sum_of_products(da, da) + sum_of_products(db, db)

        twice = gradient(squares, a, b)
        found = run(graph_of(lambda a, b: [*once(a, b), *twice(a, b)], a, b), a, b)  # noqa: B023
        for x, y in zip(found, (*first, *second), strict=True):
            assert_close(x, y, kind="ill-conditioned")


# --- the determinant ---------------------------------------------------------------------------------


def derivatives_of_determinant(a, x, orders):
    """d^k/dt^k det(A + t X) at t = 0 by Leibniz' formula, exact for matrices of integers."""
    n = len(a)
    total = [0] * (n + 1)
    for permutation in itertools.permutations(range(n)):
        inversions = sum(i > j for i, j in itertools.combinations(permutation, 2))
        terms = [(-1) ** inversions]
        for i, j in enumerate(permutation):
            constant, slope = int(a[i, j]), int(x[i, j])
            shifted = [0, *(slope * c for c in terms)]
            terms = [constant * c + s for c, s in zip([*terms, 0], shifted, strict=True)]
        total = [p + q for p, q in zip(total, terms, strict=True)]
    return [math.factorial(k) * total[k] if k <= n else 0 for k in range(1, orders + 1)]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_derivatives_of_a_determinant_are_exact_at_singular_matrices(n):
    """Of every rank, up to the third order, forward over forward and in both executors."""
    x = generator.integers(-2, 3, (n, n)).astype(np.float64)
    graph = graph_of(lambda a, x: det(a), x, x)
    outputs = []
    for _ in range(3):
        pushed = forward(graph, [0])
        graph = graph_of(lambda a, x, g=pushed: build.current().inline(g, [a, x, x])[1:], x, x)
        outputs.append(graph)
    every = graph_of(lambda a, x: [build.current().inline(g, [a, x])[0] for g in outputs], x, x)
    compiled = compile_graph(every)
    for rank in range(n + 1):
        left, right = generator.integers(-3, 4, (n, rank)), generator.integers(-3, 4, (rank, n))
        a = (left @ right).astype(np.float64)
        expected = derivatives_of_determinant(a, x, 3)
        scale = 1e-13 * (1 + np.linalg.norm(a)) ** n * (1 + np.linalg.norm(x)) ** 3
        np.testing.assert_allclose(evaluate(every, [a, x]), expected, rtol=1e-12, atol=scale)
        found = [np.asarray(y) for y in compiled([a, x])]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=scale)


def test_the_gradient_of_a_determinant_is_the_cofactor_matrix():
    """In a batch of a regular, a singular and a zero matrix, also in single precision."""
    regular = generator.normal(size=(4, 4))
    singular = regular.copy()
    singular[3] = singular[0] + singular[1]
    a = np.stack([regular, singular, np.zeros((4, 4))])
    minors = np.empty_like(a)
    for i, j in np.ndindex(4, 4):
        minor = np.delete(np.delete(a, i, -2), j, -1)
        minors[:, i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    graph = reverse(graph_of(det, a), [0])
    _, actual = run(graph, a, np.ones(3))
    assert_close(actual, minors, kind="contraction")
    single = a.astype(np.float32)
    graph = reverse(graph_of(det, single), [0])
    _, actual = evaluate(graph, [single, np.ones(3, np.float32)])
    assert_close(actual, minors, kind="program")


def test_the_determinant_of_an_empty_matrix_is_one():
    a = np.zeros((2, 0, 0))
    value, pulled = run(reverse(graph_of(det, a), [0]), a, np.ones(2))
    np.testing.assert_array_equal(value, [1.0, 1.0])
    assert pulled.shape == a.shape


def test_the_logarithm_of_a_zero_determinant():
    a = np.stack([np.eye(3), np.ones((3, 3))])
    graph = reverse(graph_of(lambda a: slogdet(a)[1], a), [0])
    for value, pulled in (evaluate(graph, [a, np.ones(2)]), compile_graph(graph)([a, np.ones(2)])):
        np.testing.assert_array_equal(value, [0.0, -math.inf])
        np.testing.assert_array_equal(pulled[0], np.eye(3))
        assert not np.isfinite(pulled[1]).any()


# --- matrices without a result -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "bad"),
    [
        (cholesky, np.diag([1.0, -1.0])),
        (inverse, np.ones((2, 2))),
        (lambda a: solve(a, a), np.zeros((2, 2))),
        (eigvalsh, np.full((2, 2), np.nan)),
        (lambda a: eigh(a)[1], np.full((2, 2), np.nan)),
        (svdvals, np.full((2, 2), np.nan)),
        (lambda a: svd(a)[0], np.full((2, 2), np.nan)),
    ],
)
def test_a_failure_is_not_finite_and_stays_alone(function, bad):
    good = np.array([[2.0, 1.0], [1.0, 3.0]])
    a = np.stack([good, bad, good])[None]
    graph = graph_of(function, a)
    for (actual,) in (evaluate(graph, [a]), compile_graph(graph)([a])):
        actual = np.asarray(actual)
        assert not np.isfinite(actual[0, 1]).all()
        assert np.isfinite(actual[0, 0]).all()
        np.testing.assert_array_equal(actual[0, 0], actual[0, 2])


# --- repeated eigenvalues and singular values --------------------------------------------------------


def test_vectors_of_a_repeated_eigenvalue_have_no_derivative_and_say_so():
    """At λ = (1, 1, 3): NaN for what uses the vectors of 1, never a finite number that is wrong."""
    q = orthogonal(3)
    a = q @ np.diag([1.0, 1.0, 3.0]) @ q.T

    def root(a):  # V √Λ Vᵀ has a derivative, which this factorization cannot give
        values, v = eigh(a)
        return reduce_sum(matmul(v * columns(values * values, v), swapped(v)) * a, axes=(0, 1))

    (found,) = run(graph_of(gradient(root, a), a), a)
    assert np.isnan(found).all()


def test_the_other_vectors_and_all_values_have_theirs():
    """v₃ v₃ᵀ at λ = (1, 1, 3), and the sum of the eigenvalues: the difference quotient, the identity."""
    q = orthogonal(3)
    a = q @ np.diag([1.0, 1.0, 3.0]) @ q.T
    t, pick = generator.normal(size=(3, 3)), np.diag([0.0, 0.0, 1.0])

    def weighted(a, pick, weight):
        v = eigh(a)[1]
        return reduce_sum(matmul(matmul(v, pick), swapped(v)) * weight, axes=(0, 1))

    weight = generator.normal(size=(3, 3))
    graph = graph_of(weighted, a, pick, weight)
    pulled = run(reverse(graph, [0]), a, pick, weight, np.array(1.0))[1]
    h = 1e-5
    (up,), (down,) = (evaluate(graph, [a + s * h * t, pick, weight]) for s in (1, -1))
    assert_close(np.sum(pulled * t), (up - down) / (2 * h), kind="iteration")
    for function in (eigvalsh, lambda a: eigh(a)[0]):
        once = gradient(lambda a, f=function: reduce_sum(f(a), axes=(0,)), np.eye(3))
        (found,) = run(graph_of(once, np.eye(3)), np.eye(3))
        assert_close(found, np.eye(3), kind="ill-conditioned")


def test_vectors_of_equal_singular_values_have_no_derivative_and_say_so():
    a = 2 * orthogonal(3)

    def polar(a):
        u, _, vh = svd(a)
        return reduce_sum(matmul(u, vh) * a, axes=(0, 1))

    (found,) = run(graph_of(gradient(polar, a), a), a)
    assert np.isnan(found).all()


def test_the_nuclear_norm_has_the_smallest_subgradient():
    """Of a matrix of rank 2, Σ s has the gradient U₂ V₂ᵀ; of the zero matrix, zero."""
    u, v = orthogonal(4)[:, :2], orthogonal(3)[:, :2]
    a = np.stack([(u * [3.0, 1.0]) @ v.T, np.zeros((4, 3))])
    for function in (svdvals, lambda a: svd(a)[1]):
        once = gradient(lambda a, f=function: reduce_sum(f(a), axes=(0, 1)), a)
        (found,) = run(graph_of(once, a), a)
        assert_close(found, [u @ v.T, np.zeros((4, 3))], kind="ill-conditioned")


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_of_all_eigenvectors_one_is_chosen(dtype):
    """The first component that is not small is positive, whatever the sign LAPACK gives."""
    a = generator.normal(size=(20, 4, 4)).astype(dtype)
    if dtype is np.complex128:
        a = a + 1j * generator.normal(size=a.shape)
    values, v = eigh.numpy(a)
    u, s, vh = svd.numpy(a)
    hermitian = (a + np.conj(np.swapaxes(a, -1, -2))) / 2
    assert_close(hermitian @ v, v * values[:, None, :], kind="ill-conditioned")
    assert_close((u * s[:, None, :]) @ vh, a, kind="ill-conditioned")
    for vectors in (v, u):
        size = np.abs(vectors)
        first = np.argmax(size >= 0.37 * size.max(-2, keepdims=True), axis=-2)[:, None, :]
        pivot = np.take_along_axis(vectors, first, -2)
        assert (pivot.real > 0).all()
        assert_close(pivot.imag, 0, kind="contraction", scale=1)


# --- structure ---------------------------------------------------------------------------------------


def test_one_matrix_with_a_batch_of_right_hand_sides_is_factored_once():
    a, b = generator.normal(size=(3, 3)) + 3 * np.eye(3), generator.normal(size=(3, 2))
    for graph, side in (
        (graph_of(lambda a, b: solve(a, b), a, b), b),
        (graph_of(lambda a, b: triangular_solve(a, b, **LOWER), a, b), b),
        (graph_of(lambda a, b: triangular_solve(a, b, **{**LOWER, "left": False}), a, b.T), b.T),
    ):
        many = batch(graph, [None, 0], 5)
        assert [e.inputs[0].shape for e in many.equations if "solve" in e.primitive.name] == [(3, 3)]
        sides = generator.normal(size=(5, *side.shape))
        (found,) = evaluate(many, [a, sides])
        assert_close(found, [evaluate(graph, [a, s])[0] for s in sides], kind="ill-conditioned")


def test_the_gradient_of_a_system_solves_one_more():
    a, b = np.eye(3), np.ones((3, 1))
    assert reverse(graph_of(lambda a, b: solve(a, b), a, b), [0, 1]).count()["solve"] == 2


def test_only_the_named_triangle_is_read():
    a, b = generator.normal(size=(3, 3)) + 3 * np.eye(3), np.ones((3, 1))
    graph = reverse(graph_of(lambda a, b: triangular_solve(a, b, **LOWER), a, b), [0, 1])
    polluted = a + np.triu(np.full((3, 3), np.nan), 1)
    clean, dirty = run(graph, a, b, b), run(graph, polluted, b, b)
    for x, y in zip(clean, dirty, strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(np.triu(clean[1], 1), 0)


# --- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [cholesky, inverse, det, slogdet, qr, eigh, eigvalsh, svd, svdvals])
def test_element_types_and_vectors_are_refused(row):
    with pytest.raises(TypeError, match=f"For '{row.name}', .* got Int32"):
        graph_of(row, np.ones((2, 2), np.int32))
    with pytest.raises(TypeError, match=r"must be Float32, .* but got Float16: convert it first"):
        graph_of(row, np.ones((2, 2), np.float16))
    with pytest.raises(ValueError, match=r"of shape \(…, m, n\), but got the shapes? \(3,\)"):
        graph_of(row, np.ones(3))


@pytest.mark.parametrize("row", [cholesky, inverse, det, slogdet, eigh, eigvalsh])
def test_a_matrix_must_be_square(row):
    with pytest.raises(ValueError, match=r"must be square, .* but got \(2, 3\)"):
        graph_of(row, np.ones((2, 3)))


@pytest.mark.parametrize(
    ("function", "shapes", "message"),
    [
        (lambda a, b: solve(a, b), ((3, 3), (2, 1)), "as many rows as the matrix"),
        (lambda a, b: solve(a, b), ((2, 3, 3), (3, 1)), "the same batch axes"),
        (lambda a, b: triangular_solve(a, b, **{**LOWER, "left": False}), ((3, 3), (3, 1)), "columns"),
        (lambda a, b: qr(a), ((2, 3), (1, 1)), "factor its first 2 columns"),
    ],
)
def test_shapes_that_do_not_fit(function, shapes, message):
    with pytest.raises(ValueError, match=message):
        graph_of(function, *(np.ones(shape) for shape in shapes))


def test_operands_of_two_element_types_are_refused():
    with pytest.raises(TypeError, match="the same for all operands"):
        graph_of(lambda a, b: solve(a, b), np.eye(2), np.ones((2, 1), np.float32))
