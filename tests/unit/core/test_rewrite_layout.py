"""Transposed values carried along as what they are transposed from."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.passes import layout
from mindgrad.core.passes.layout import remove_transposes, transpose_narrow_products
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import compiled, on_and_off, with_and_without, with_costs


def arrays(*shapes, seed=0):
    source = np.random.default_rng(seed)
    return [source.normal(size=shape) for shape in shapes]


def transposed_sizes(graph):
    return [e.outputs[0].type.size for e in graph.equations if e.primitive.name == "transpose"]


def attention(q, k, v):
    """Heads are split, transposed, multiplied, and put together again."""
    n, heads, width = 24, 4, 8
    q, k, v = (ops.transpose(ops.reshape(2.0 * x, (n, heads, width)), (1, 0, 2)) for x in (q, k, v))
    q, k = ops.sin(q), ops.sin(k)
    weights = ops.softmax(ops.matmul(q, k.swapaxes(1, 2)), -1)
    return ops.square(ops.reshape(ops.transpose(ops.matmul(weights, v), (1, 0, 2)), (n, heads * width))).sum()


def channels_last(x, w, b):
    y = ops.transpose(ops.tensor_dot(w, x, ((1,), (1,))), (1, 2, 3, 0)) + b
    mean = y.mean((1, 2), keep_dims=True)
    return (ops.relu(y - mean) * ops.exp(-ops.abs(y))).max(axis=-1).sum()


def rows_and_columns(x, w):
    y = ops.tanh(ops.transpose(ops.matmul(x, w), (1, 0)))
    z = ops.concat((y, 2.0 * y, ops.transpose(ops.sin(x), (1, 0))), 0)
    best = ops.cast(ops.argmax(z, 0), z.dtype)
    return (ops.logsumexp(z, 0) * best).sum() + (
        y.reshape((8, 10, 70)).sum(1) * y.reshape((8, 700))[:, :70]
    ).sum()


SHAPES = {
    attention: [(24, 32), (24, 32), (24, 32)],
    channels_last: [(3, 5, 18, 20), (4, 5), (4,)],
    rows_and_columns: [(70, 80), (80, 80)],
}


@pytest.mark.parametrize("function", SHAPES, ids=lambda f: f.__name__)
def test_value_and_two_derivatives_are_the_same(function, monkeypatch):
    with_costs(monkeypatch, transposed_elements=512)
    fired = on_and_off(function, [x / 4 for x in arrays(*SHAPES[function])])
    assert fired["layout"] >= 1


def test_transformed_axes_stay_last():
    """A Fourier transform would move them back itself."""

    def spectrum(x):
        return ops.real(ops.fft(ops.exp(ops.transpose(ops.tanh(x), (1, 0))))).sum()

    x = Tensor(arrays((70, 80))[0])
    with compiled(False):
        plain = trace(spectrum, x)
    for graph in (plain, remove_transposes(plain)):
        assert {e.parameters["axes"] for e in graph.equations if e.primitive.name == "fft"} == {(1,)}


def test_no_large_transposition_is_left():
    x, w, b = map(Tensor, arrays(*SHAPES[channels_last]))
    with compiled(False):
        plain = trace(channels_last, x, w, b)
    assert max(transposed_sizes(plain)) == 3 * 18 * 20 * 4
    assert max(transposed_sizes(remove_transposes(plain)), default=0) < 1000


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: ops.tanh(ops.matmul(x, ops.transpose(w, (1, 0)))).sum(),  # a weight, for a product
        lambda x, w: ops.transpose(ops.matmul(x, w), (1, 0)),  # at the end
        lambda x, w: ops.transpose(ops.tanh(x[:8, :8]), (1, 0)) * w[:8, :8],  # small
    ],
)
def test_where_nothing_is_to_be_gained(function):
    x, w = map(Tensor, arrays((90, 90), (90, 90)))
    with compiled(False):
        plain = trace(function, x, w)
    assert remove_transposes(plain) is plain


@pytest.mark.parametrize("seed", range(60))
def test_any_program_of_moves(seed, monkeypatch):
    """Pointwise operators, sums, products and moves in any order: against the program as it stands."""
    monkeypatch.setattr(layout, "_is_worth_while", lambda _: True)
    source = np.random.default_rng(seed)
    start = tuple(int(n) for n in source.permutation([1, 2, 3, 4]))
    constant = Tensor(np.broadcast_to(source.normal(size=(1, start[1], 1, start[3])), start))

    def program(x):
        draw = np.random.default_rng(seed)
        values = [x, ops.sin(x * constant)]
        for _ in range(14):
            y = values[int(draw.integers(len(values)))]
            kind = int(draw.integers(10))
            if kind == 0:
                values.append(ops.transpose(y, tuple(int(n) for n in draw.permutation(y.ndim))))
            elif kind == 1 and y.ndim > 1:
                values.append(ops.tanh(y.sum(int(draw.integers(y.ndim)))))
            elif kind == 2:
                others = [z for z in values if z.shape == y.shape]
                values.append(y * others[int(draw.integers(len(others)))] + 0.5)
            elif kind == 3:
                sizes = list(y.shape)
                if len(sizes) > 1 and draw.random() < 0.6:
                    at = int(draw.integers(len(sizes) - 1))
                    sizes[at : at + 2] = [sizes[at] * sizes[at + 1]]
                else:
                    sizes.insert(int(draw.integers(len(sizes) + 1)), 1)
                values.append(ops.reshape(y, tuple(sizes)))
            elif kind == 4:
                axis = int(draw.integers(y.ndim))
                values.append(ops.concat((y, ops.cos(y)), axis) / 2)
            elif kind == 5:
                axis = int(draw.integers(y.ndim))
                values.append(ops.logsumexp(y, axis, True) - y)
            elif kind == 6 and y.ndim < 4:
                values.append(ops.broadcast_to(y, (int(draw.integers(1, 4)), *y.shape)))
            elif kind == 7:
                index = tuple(slice(int(draw.integers(2)), None, int(draw.integers(1, 3))) for _ in y.shape)
                if 0 not in y[index].shape:
                    values.append(ops.pad(y[index], (int(draw.integers(2)), 1)))
            elif kind == 8:
                other = values[int(draw.integers(len(values)))]
                pairs = [(i, j) for i, n in enumerate(y.shape) for j, m in enumerate(other.shape) if n == m]
                if pairs and y.ndim + other.ndim < 7:
                    i, j = pairs[int(draw.integers(len(pairs)))]
                    values.append(ops.tensor_dot(y, other, ((i,), (j,))) / 4)
            else:
                values.append(ops.cast(ops.argmax(y, int(draw.integers(y.ndim))), y.dtype))
        return [z for z in values[2:] if z.size < 10_000]

    x = source.normal(size=start)
    with compiled(False):
        plain = trace(program, Tensor(x))
    better = remove_transposes(plain)
    assert [v.type for v in better.outputs] == [v.type for v in plain.outputs]
    turned = layout._carried_along(plain, {e for e in plain.equations if e.primitive.name == "dot"})
    for graph in (better, turned):
        for found, expected in zip(evaluate(graph, [x]), evaluate(plain, [x]), strict=True):
            assert_close(found, expected, kind="program")


def test_parts_and_paddings_of_what_is_transposed():
    def moved(x):
        y = ops.sin(ops.transpose(ops.cos(x), (2, 0, 1)))
        return ops.pad(y[1:, :1, ::2], (1, 2)), ops.concat((y, 2 * ops.transpose(x, (2, 0, 1))), 2)

    (x,) = arrays((2, 3, 4))
    with compiled(False):
        plain = trace(moved, Tensor(x))
    better = layout._carried_along(plain, set())
    assert better.equations[-1].primitive.name == "transpose"
    for found, expected in zip(evaluate(better, [x]), evaluate(plain, [x]), strict=True):
        np.testing.assert_array_equal(found, expected)


def narrow_network(x, a, b, c):
    h = ops.tanh(ops.matmul(x, a) + b)
    h = ops.tanh(ops.matmul(h, c) - h)
    return ops.square(ops.matmul(h, c)).sum() + ops.exp(h).mean(0).max()


NARROW = [(300, 7), (7, 12), (12,), (12, 12)]


def test_narrow_layers_have_their_rows_last():
    assert on_and_off(narrow_network, [x / 2 for x in arrays(*NARROW)])["narrow products"] >= 3
    with compiled(False):
        plain = trace(narrow_network, *map(Tensor, arrays(*NARROW)))
    better = transpose_narrow_products(plain)
    shapes = [e.outputs[0].shape for e in better.equations if e.primitive.name in ("tanh", "dot")]
    assert shapes == [(12, 300)] * 5
    assert transposed_sizes(better) == []


@pytest.mark.parametrize("shapes", [[(200, 7), *NARROW[1:]], [(300, 7), (7, 32), (32,), (32, 32)]])
def test_what_is_short_or_wide_stays(shapes):
    with compiled(False):
        plain = trace(narrow_network, *map(Tensor, arrays(*shapes)))
    assert transpose_narrow_products(plain) is plain


def test_a_product_alone_stays():
    with compiled(False):
        plain = trace(lambda x, w: ops.tanh(ops.matmul(x, w)), *map(Tensor, arrays((300, 7), (7, 12))))
    assert transpose_narrow_products(plain) is plain


def pictures(x, w, v, u, b):
    """Convolutions with strides, padding and groups; between them pictures are shifted, pooled and joined."""
    y = ops.relu(ops.conv2d(x, w, stride=2, pad_mode="pad", padding=1))
    y = (y - y.mean((0, 2, 3), keep_dims=True)) * b.reshape((1, 4, 1, 1))
    z = ops.conv2d(y, v, pad_mode="same", groups=2) + ops.conv2d(y, u, dilation=2)
    z = ops.concat((ops.max_pool2d(z, 2, 2), ops.avg_pool2d(ops.sin(z), 2, 2)), 1)
    return ops.square(z.reshape((z.shape[0], -1))).sum()


PICTURES = [(2, 3, 16, 16), (4, 3, 3, 3), (6, 2, 3, 3), (6, 4, 1, 1), (4,)]


def test_convolutions_have_their_channels_last(monkeypatch):
    with_costs(monkeypatch, vector_channels=4)
    fired = on_and_off(pictures, [x / 2 for x in arrays(*PICTURES)])
    assert fired["channels last"] >= 1


def test_pictures_are_turned_at_the_ends_alone():
    """The input, and the gradient in it: neither between convolutions nor in any of them."""

    def chain(x, w, v):
        y = ops.relu(ops.conv2d(x, w, pad_mode="same"))
        y = y - y.mean((0, 2, 3), keep_dims=True)
        return ops.square(ops.conv2d(ops.pad(y, (1, 1, 1, 1)), v, stride=2)).sum()

    x, w, v = map(Tensor, arrays((4, 8, 10, 10), (8, 8, 3, 3), (6, 8, 3, 3)))
    graph = trace(ms.grad(chain), x, w, v)
    assert {e.parameters.get("channels_last") for e in graph.equations if e.primitive.name == "conv"} == {
        True
    }
    assert [size for size in transposed_sizes(graph) if size >= x.size] == [x.size, x.size]


@pytest.mark.parametrize("outputs", [4, 8])
def test_few_channels_stay_in_front(outputs):
    x, w, v = map(Tensor, arrays((2, 16, 9, 9), (outputs, 16, 3, 3), (9, outputs, 3, 3)))
    with compiled(False):
        plain = trace(lambda x, w, v: ops.conv2d(ops.relu(ops.conv2d(x, w)), v, stride=2), x, w, v)
    assert (remove_transposes(plain) is plain) == (outputs < 8)


def test_weights_and_moments_keep_their_order(monkeypatch):
    """A kernel's gradient is turned once, not each value that is computed from it."""
    with_costs(monkeypatch, vector_channels=2)

    def step(x, w, m, v):
        slope = ms.grad(lambda w: ops.square(ops.conv2d(x, w)).sum())(w)
        m, v = 0.9 * m + 0.1 * slope, 0.99 * v + 0.01 * slope * slope
        return w - m / ops.sqrt(v + 1.0), m, v

    w = arrays((3, 4, 3, 3))[0]
    graph = trace(step, Tensor(arrays((2, 4, 6, 6))[0]), Tensor(w), Tensor(w), Tensor(w * w))
    # the kernel for the convolution, and its gradient
    assert transposed_sizes(graph).count(w.size) == 2


def least_distances(x, y):
    square = ops.square(y).sum(1)[:, None] + ops.square(x).sum(1)
    return ops.sin(ops.amin(square - 2 * ops.matmul(y, x.T), 0)).sum()


def sums_of_powers(x, y):
    return ops.square(ops.exp(-0.1 * ops.matmul(y, x.T)).sum(0)).sum()


@pytest.mark.parametrize("function", [least_distances, sums_of_powers])
def test_a_product_is_turned_for_a_reduction_over_its_first_axis(function, monkeypatch):
    with_costs(monkeypatch, turned_elements=512)
    inputs = list(map(Tensor, arrays((90, 5), (40, 5))))
    with compiled():
        assert with_and_without(function, *inputs)[0]["reduced axis last"] == 1
        graph = trace(function, *inputs)
    large = [e.outputs[0].shape for e in graph.equations if e.outputs[0].type.size == 90 * 40]
    assert set(large) == {(90, 40)}


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: ops.amin(ops.matmul(y, x.T), 1).sum(),
        lambda x, y: ops.amin(ops.matmul(y[:20], x.T), 0).sum(),
        lambda x, y: ops.amin(ops.matmul(y, x[:50].T), 0).sum(),
        lambda x, y: ops.amin(ops.matmul(y, x.T), 0).sum() + ops.sin(ops.matmul(y, x.T)).mean(),
        lambda x, y: ops.amin(
            ops.matmul(y, x.T) + ops.sin(ops.arange(3600.0).reshape(40, 90) * y[0, 0]), 0
        ).sum(),
    ],
    ids=["the last axis", "few terms", "few results", "read besides", "a large operand"],
)
def test_other_products_stay_as_they_are(function, monkeypatch):
    with_costs(monkeypatch, turned_elements=512)
    with compiled():
        fired, _ = with_and_without(function, *map(Tensor, arrays((90, 5), (40, 5))))
    assert not fired["reduced axis last"]
