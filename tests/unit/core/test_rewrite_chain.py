"""Products of products in the order that costs least."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.passes import matmul_order
from mindgrad.core.passes.matmul_order import reorder_matmuls
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import compiled, on_and_off, with_costs


def arrays(*shapes, seed=0):
    source = np.random.default_rng(seed)
    return [source.normal(size=shape) / shape[-1] ** 0.5 for shape in shapes]


def largest_product(graph):
    return max(e.outputs[0].type.size for e in graph.equations if e.primitive.name in ("dot", "mul"))


def multiplications(graph):
    total = 0
    for e in graph.equations:
        if e.primitive.name == "dot":
            contracted = [e.inputs[0].shape[axis] for axis in e.parameters["contract"][0]]
            total += e.outputs[0].type.size * int(np.prod(contracted))
    return total


def of_vector(a, b, c, v):
    return ops.sin(ops.matmul(ops.matmul(ops.matmul(a, b), c), v)).sum()


def of_transposes(a, b, v):
    return ops.sin(ops.matmul(ops.transpose(ops.matmul(a, b), (1, 0)), v)).sum()


def outer(u, w, x):
    return ops.tanh(ops.matmul(u.expand_dims(1) * w, x)).sum()


def outer_by_matmul(u, w, x):
    return ops.tanh(ops.matmul(ops.matmul(u.expand_dims(1), w.expand_dims(0)), x)).sum()


def scaled_rows(d, a, x):
    return ops.cos(ops.matmul(d.expand_dims(1) * a, x)).sum()


def batched(a, b, x):
    return ops.sin(ops.matmul(ops.matmul(a, b), x)).sum()


def long_chain(a, b, c, d, e, f, g, v):
    y = ops.matmul(ops.matmul(ops.matmul(a, b), ops.matmul(c, d)), ops.matmul(ops.matmul(e, f), g))
    return ops.square(ops.matmul(y, v)).sum()


SQUARE = (60, 60)
SHAPES = {
    of_vector: [SQUARE, SQUARE, SQUARE, (60,)],
    of_transposes: [(70, 40), (40, 90), (70, 2)],
    outer: [(300,), (200,), (200, 3)],
    outer_by_matmul: [(300,), (200,), (200, 3)],
    batched: [(8, 50, 4), (8, 4, 50), (8, 50, 3)],
    long_chain: [(40, 40)] * 7 + [(40,)],
}


@pytest.mark.parametrize("function", SHAPES, ids=lambda f: f.__name__)
def test_value_and_two_derivatives_are_the_same(function):
    assert on_and_off(function, arrays(*SHAPES[function]))["chain"] >= 1


@pytest.mark.parametrize(
    ("function", "largest"),
    [(of_vector, 60), (of_transposes, 180), (outer, 900), (batched, 8 * 50 * 3), (long_chain, 40)],
)
def test_no_large_product_is_left(function, largest):
    with compiled(False):
        plain = trace(function, *map(Tensor, arrays(*SHAPES[function])))
    assert largest_product(plain) > 2 * largest
    assert largest_product(reorder_matmuls(plain)) <= largest


def test_the_gradient_inherits_the_order():
    xs = list(map(Tensor, arrays(*SHAPES[of_vector])))
    of_all = ms.grad(of_vector, (0, 1, 2, 3))
    with compiled(False):
        plain = multiplications(trace(of_all, *xs))
    with compiled():
        better = multiplications(trace(of_all, *xs))
    # products with vectors, three there, three back, and three outer products
    assert plain > 4 * 60**3
    assert better == 9 * 60**2


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda a, b, v: ops.matmul(ops.matmul(a, b), v), [(6, 6), (6, 6), (6,)]),  # small
        (lambda a, b, v: ops.matmul(a, ops.matmul(b, v)), [SQUARE, SQUARE, (60,)]),  # as it should be
        (lambda a, b, c: ops.matmul(ops.matmul(a, b), c), [(20, 200), (200, 90), (90, 80)]),
        (scaled_rows, [(90,), (90, 80), (80, 85)]),  # both orders cost the same
    ],
)
def test_what_is_well_ordered_stays(function, shapes):
    with compiled(False):
        plain = trace(function, *map(Tensor, arrays(*shapes)))
    assert reorder_matmuls(plain) is plain


def test_a_product_that_is_used_twice_is_computed_once():
    def both(a, b, v, w):
        y = ops.matmul(a, b)
        return ops.matmul(y, v), ops.matmul(y, w), y

    with compiled(False):
        plain = trace(both, *map(Tensor, arrays(SQUARE, SQUARE, (60,), (60,))))
    assert reorder_matmuls(plain) is plain


@pytest.mark.parametrize("seed", range(40))
def test_any_tree_of_products(seed, monkeypatch):
    """Contractions, batches, outer products and scaled factors, of few leaves and of many."""
    with_costs(monkeypatch, reordered_flops=0, reordered_part=1e9)
    monkeypatch.setattr(matmul_order, "_ALL", 3 + seed % 4)
    source = np.random.default_rng(seed)
    sizes = dict(zip("abcdefg", (int(n) for n in source.permutation([1, 2, 3, 4, 2, 3, 5])), strict=True))
    terms = [
        "".join(source.permutation(list("abcdefg"))[: int(source.integers(1, 4))])
        for _ in range(int(source.integers(3, 8)))
    ]
    xs = [source.normal(size=[sizes[c] for c in term]) for term in terms]
    steps, have = [], list(terms)
    while len(have) > 1:
        left, right = have.pop(int(source.integers(len(have)))), have.pop(int(source.integers(len(have))))
        kept = [c for c in dict.fromkeys(left + right) if any(c in t for t in have) or source.random() < 0.3]
        source.shuffle(kept)
        steps.append((left, right, "".join(kept[:5])))
        have.append(steps[-1][2])

    def program(*xs):
        values = list(zip(terms, xs, strict=True))
        for left, right, kept in steps:
            a = values.pop([t for t, _ in values].index(left))[1]
            b = values.pop([t for t, _ in values].index(right))[1]
            values.append((kept, ops.einsum(f"{left},{right}->{kept}", a, b)))
        return values[0][1]

    with compiled(False):
        plain = trace(program, *map(Tensor, xs))
    better = reorder_matmuls(plain)
    (found,), (expected,) = evaluate(better, xs), evaluate(plain, xs)
    assert found.shape == expected.shape
    assert_close(found, expected, kind="program")
