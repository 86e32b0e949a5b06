"""Products of differences and of repeated values in their cheaper forms."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.rewriting import watching
from mindgrad.core.passes import distribution
from mindgrad.core.passes.distribution import distribute_products
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import compiled, on_and_off, with_costs

POINTS, CENTERS, WIDTH = 60, 8, 10


def arrays(*shapes, seed=0):
    source = np.random.default_rng(seed)
    return [source.normal(size=shape) for shape in shapes]


def mixture(x, mu, q):
    """A Gaussian mixture's log-likelihood, as it is written down."""
    y = ops.einsum("kij,nkj->nki", q, x.expand_dims(1) - mu)
    return ops.logsumexp(-0.5 * ops.square(y).sum(-1), 1).sum()


def mixture_by_matmul(x, mu, q):
    y = ops.matmul(q, ops.expand_dims(ops.expand_dims(x, 1) - mu, -1)).squeeze(-1)
    return ops.logsumexp(-0.5 * ops.square(y).sum(-1), 1).sum()


def pairwise(x, y, w):
    """All differences of two sets of points, in other coordinates."""
    z = ops.matmul(ops.expand_dims(x, 0) - ops.expand_dims(y, 1), w)
    return ops.tanh(z).sum()


def pairwise_sums(x, y, w):
    z = ops.tensor_dot(w, ops.expand_dims(x, 1) + y, ((0,), (2,)))
    return ops.square(ops.sin(z)).sum()


def other_sign(x, mu, q):
    y = ops.einsum("nkj,kij->kni", mu - x.expand_dims(1), q)
    return ops.square(ops.sin(y)).sum()


def sum_of_two(x, mu, q):
    y = ops.einsum("nkj,kij->nki", mu + x.expand_dims(1), q)
    return ops.square(ops.sin(y)).sum()


SHAPES = {
    other_sign: [(POINTS, WIDTH), (CENTERS, WIDTH), (CENTERS, WIDTH, WIDTH)],
    sum_of_two: [(POINTS, WIDTH), (CENTERS, WIDTH), (CENTERS, WIDTH, WIDTH)],
    mixture: [(POINTS, WIDTH), (CENTERS, WIDTH), (CENTERS, WIDTH, WIDTH)],
    mixture_by_matmul: [(POINTS, WIDTH), (CENTERS, WIDTH), (CENTERS, WIDTH, WIDTH)],
    pairwise: [(40, 5), (30, 5), (5, 4)],
    pairwise_sums: [(40, 5), (30, 5), (5, 4)],
}


@pytest.mark.parametrize("function", SHAPES, ids=lambda f: f.__name__)
def test_value_and_two_derivatives_are_the_same(function):
    fired = on_and_off(function, arrays(*SHAPES[function]))
    assert fired["distribution"] >= 1
    assert bool(fired["merged products"]) == (
        function in (mixture, mixture_by_matmul, other_sign, sum_of_two)
    )


def test_one_product_is_left_and_no_differences():
    x, mu, q = (Tensor(a) for a in arrays(*SHAPES[mixture]))
    with compiled(False):
        plain = trace(mixture, x, mu, q)
    better = distribute_products(plain)
    sizes = [e.outputs[0].type.size for e in better.equations if e.primitive.name == "sub"]
    assert max(sizes) < POINTS * CENTERS * WIDTH
    large = [e for e in better.equations if e.primitive.name == "dot" and e.outputs[0].type.size > 4096]
    assert [e.parameters["batch"] for e in large] == [((), ())]
    # the derivative in the centers sums before it multiplies
    with compiled():
        gradient = trace(ms.grad(mixture, 1), x, mu, q)
    products = [e for e in gradient.equations if e.primitive.name == "dot"]
    assert sum(e.outputs[0].type.size > 4096 for e in products) == 1


def test_a_captured_array_counts_as_repeated():
    x, mu, q = arrays(*SHAPES[mixture])
    points = Tensor(x)

    def of_parameters(mu, q):
        return mixture(points, mu, q)

    assert on_and_off(of_parameters, [mu, q])["distribution"] >= 1


def test_an_offset_of_the_data_costs_no_digits():
    x, mu, q = arrays(*SHAPES[mixture])
    offset = 1e6
    with compiled():
        gradient = ms.value_and_grad(mixture, (0, 1, 2))
        with watching() as fired:
            trace(gradient, Tensor(x), Tensor(mu), Tensor(q))
        assert fired["distribution"] >= 1
        near = gradient(Tensor(x), Tensor(mu), Tensor(q))
        far = gradient(Tensor(x + offset), Tensor(mu + offset), Tensor(q))
    # what x + 1e6 itself has lost is 1e-10
    assert_close(far[0], near[0], kind="iteration")
    for ours, theirs in zip(far[1], near[1], strict=True):
        np.testing.assert_allclose(ours.asnumpy(), theirs.asnumpy(), rtol=1e-6, atol=1e-6)


def test_a_row_with_an_infinite_number_spoils_no_other():
    x, mu, q = arrays(*SHAPES[mixture])

    def rows(x, mu, q):
        y = ops.einsum("kij,nkj->nki", q, x.expand_dims(1) - mu)
        return ops.square(y).sum(-1)

    with compiled(False):
        plain = trace(rows, Tensor(x), Tensor(mu), Tensor(q))
    better = distribute_products(plain)
    assert better is not plain
    for spoiled, number in ((0, np.inf), (0, np.nan), (1, np.inf), (1, np.nan)):
        given = [x.copy(), mu.copy(), q]
        given[spoiled][3, 2] = number
        with np.errstate(all="ignore"):
            (expected,), (found,) = evaluate(plain, given), evaluate(better, given)
        assert np.isfinite(found).any()
        assert np.array_equal(np.isfinite(found), np.isfinite(expected))


@pytest.mark.parametrize("width", [2, 7, 25, 32])
def test_few_or_many_columns_get_no_further_one(width):
    x, mu, q = (Tensor(a) for a in arrays((600, width), (8, width), (8, width, width)))
    with compiled(False):
        plain = trace(mixture, x, mu, q)
    with watching() as fired:
        distribute_products(plain)
    assert fired == {"distribution": 1}


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        # one term is as large as the difference: data without its mean would only lose digits
        (lambda x, m, w: ops.tanh(ops.matmul(x - m, w)).sum(), [(500, 20), (20,), (20, 20)]),
        # the result is much larger than the difference
        (
            lambda x, y, w: ops.einsum("ked,nkd->nke", w, x.expand_dims(1) - y).sum(),
            [(400, 3), (5, 3), (5, 64, 3)],
        ),
        # few numbers
        (mixture, [(5, 3), (4, 3), (4, 3, 3)]),
    ],
)
def test_where_it_does_not_pay(function, shapes):
    with compiled(False):
        plain = trace(function, *map(Tensor, arrays(*shapes)))
    assert distribute_products(plain) is plain


def test_half_precision_keeps_its_differences():
    x, mu, q = (Tensor(a.astype(np.float16)) for a in arrays(*SHAPES[mixture]))
    with compiled(False):
        plain = trace(mixture, x, mu, q)
    assert distribute_products(plain) is plain


def test_a_repeated_batch_is_one_product():
    def many(a, x):
        return ops.tanh(ops.matmul(a, ops.broadcast_to(x, (30, 20, 16)))).sum()

    a, x = arrays((30, 4, 20), (20, 16))
    assert on_and_off(many, [a, x])["repeated operands"] >= 1
    with compiled(False):
        better = distribute_products(trace(many, Tensor(a), Tensor(x)))
    (product,) = [e for e in better.equations if e.primitive.name == "dot"]
    assert product.parameters["batch"] == ((), ())


def test_a_repeated_contraction_is_a_sum():
    def summed(a, x):
        return ops.sin(ops.matmul(a, ops.broadcast_to(x, (50, 90)))).sum()

    a, x = arrays((70, 50), (1, 90))
    assert on_and_off(summed, [a / 50, x])["repeated operands"] >= 1


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_repeated_products_of_any_axes(k, seed, monkeypatch):
    """Whatever axes repeat, whatever order they are in: against NumPy."""
    with_costs(monkeypatch, distributed_elements=1)
    source = np.random.default_rng(seed)
    letters = "abcdef"
    sizes = dict(zip(letters, source.permutation([1, 2, 3, 4, 5, 2]), strict=True))
    left = [c for c in letters if source.random() < 0.7]
    right = [c for c in letters if source.random() < 0.7]
    source.shuffle(left)
    source.shuffle(right)
    kept = [c for c in letters if (c in left or c in right) and source.random() < 0.6]
    source.shuffle(kept)
    terms = [left, right]
    operands = [source.normal(size=[sizes[c] for c in term]) for term in terms]
    repeated = [c for c in terms[k] if source.random() < 0.5]
    small = [1 if c in repeated else sizes[c] for c in terms[k]]
    first, second = source.normal(size=small), source.normal(size=[1] * len(small))
    spec = f"{''.join(left)},{''.join(right)}->{''.join(kept)}"
    whole = tuple(sizes[c] for c in terms[k])

    def product(small, other):
        both = [None, None]
        both[k], both[1 - k] = ops.broadcast_to(small, whole), other
        return ops.einsum(spec, *both)

    def difference(first, second, other):
        both = [None, None]
        both[k], both[1 - k] = ops.broadcast_to(first, whole) - ops.broadcast_to(second, whole), other
        return ops.einsum(spec, *both)

    with_costs(monkeypatch, distributed_part=1, merged_columns=range(1, 9))
    monkeypatch.setattr(distribution, "_pays", lambda *_: True)
    for function, xs in (
        (product, [first, operands[1 - k]]),
        (difference, [first, second, operands[1 - k]]),
    ):
        given = [np.broadcast_to(first if function is product else first - second, whole)] * 2
        given[1 - k] = operands[1 - k]
        expected = np.einsum(spec, *given)
        with compiled(False):
            graph = distribute_products(trace(function, *map(Tensor, xs)))
        (found,) = evaluate(graph, xs)
        assert_close(found, expected, kind="program")


def test_gradients_of_parts_side_by_side_are_joined():
    x = Tensor(np.arange(24.0, dtype=np.float32).reshape(4, 6) / 10)
    wide, column = x.asnumpy(), np.arange(6)
    parts = lambda x: ops.sin(x[:, :2]).sum() + ops.exp(x[:, 2:5]).sum() + ops.cos(x[:, 5:]).sum()
    cases = [
        (parts, 0, np.select([column < 2, column < 5], [np.cos(wide), np.exp(wide)], -np.sin(wide))),
        (
            lambda x: ops.sin(x[:, :4]).sum() + ops.exp(x[:, 3:]).sum(), 2,
            np.cos(wide) * (column < 4) + np.exp(wide) * (column > 2),
        ),
        (
            lambda x: ops.sin(x[:, :1]).sum() + ops.exp(x[:, 3:]).sum(), 2,
            np.cos(wide) * (column < 1) + np.exp(wide) * (column > 2),
        ),
        (lambda x: ops.sin(x[:, 3:5]).sum() + ops.exp(x[:, 1:3]).sum(), 1,
         np.select([column < 1, column < 3, column < 5], [0 * wide, np.exp(wide), np.cos(wide)], 0 * wide)),
    ]  # fmt: skip
    for function, pads, value in cases:
        program = trace(ms.grad(function), x)
        assert sum(equation.primitive.name == "pad" for equation in program.equations) == pads
        for result in (evaluate(program, [wide])[0], ms.grad(function)(x).asnumpy()):
            assert_close(result, value, kind="program", each=True)
    second = ms.grad(lambda x: ops.square(ms.grad(parts)(x)).sum())(x).asnumpy()
    slopes = [-np.sin(2 * wide), 2 * np.exp(2 * wide)]
    expected = np.select([column < 2, column < 5], slopes, np.sin(2 * wide))
    assert_close(second, expected, kind="program", each=True, scale=0.1)
