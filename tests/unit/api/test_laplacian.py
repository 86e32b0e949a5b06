"""Laplacian and its relatives against jax, known functions, and nested derivatives of our own."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.structural import broadcast_in_dim
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import with_costs

RANDOM = np.random.default_rng(1)
D, HIDDEN, ROWS = 3, 5, 4
W1, B1 = RANDOM.normal(size=(D, HIDDEN)), RANDOM.normal(size=HIDDEN)
W2, W3 = RANDOM.normal(size=(HIDDEN, HIDDEN)), RANDOM.normal(size=(HIDDEN, 1))
X = RANDOM.normal(size=(ROWS, D))


def network(x, w1=None, w2=None):
    hidden = ops.tanh(ops.matmul(x, Tensor(W1) if w1 is None else w1) + Tensor(B1))
    hidden = ops.sin(ops.matmul(hidden, Tensor(W2) if w2 is None else w2)) * hidden
    return ops.matmul(hidden, Tensor(W3))


def jax_network(x, w1=W1, w2=W2):
    hidden = jnp.tanh(x @ w1 + B1)
    return ((jnp.sin(hidden @ w2) * hidden) @ W3)[..., 0]


def hessians(x):
    return jax.vmap(jax.hessian(jax_network))(x)


def jax_laplacian(x, w1=W1, w2=W2):
    return jnp.trace(jax.hessian(jax_network)(x, w1, w2))


@cache
def jax_everything():
    """Laplacians, their gradients in the points and, squared and summed, in the weights; their Laplacians."""

    def everything(w1, w2):
        loss = lambda w1, w2: jnp.sum(jax.vmap(lambda x: jax_laplacian(x, w1, w2))(X) ** 2)
        return (
            jax.vmap(jax_laplacian)(X),
            jax.vmap(jax.grad(jax_laplacian))(X),
            jax.grad(loss, (0, 1))(w1, w2),
            jax.vmap(lambda x: jnp.trace(jax.hessian(jax_laplacian)(x)))(X),
        )

    return jax.jit(everything)(W1, W2)


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "compiled"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


@pytest.fixture(autouse=True)
def doubles():
    with jax.enable_x64(True):
        yield


def close(found, wanted):
    assert_close(found, wanted, "law", scale=1)


def test_values_gradients_and_nesting(mode):
    """One program: Laplacian, its gradient in the points and in the weights, and Laplacian of Laplacian."""

    def everything(x, w1, w2):
        f = lambda x: network(x, w1, w2)
        loss = lambda w1, w2: ops.square(ms.laplacian(lambda x: network(x, w1, w2))(x)).sum()
        return (
            ms.laplacian(f)(x),
            ms.grad(lambda x: ms.laplacian(f)(x).sum())(x),
            ms.grad(loss, (0, 1))(w1, w2),
            ms.laplacian(ms.laplacian(f))(x),
            ms.biharmonic(f)(x),
            ms.jvp(ms.laplacian(f), x, ops.ones_like(x))[1],
        )

    call = ms.jit(everything) if mode == ms.GRAPH_MODE else everything
    actual = call(Tensor(X), Tensor(W1), Tensor(W2))
    values, slope, by_weights, fourth = jax_everything()
    close(actual[0], values)
    assert actual[0].shape == (ROWS,)
    close(actual[1], slope)
    for g, wanted in zip(actual[2], by_weights, strict=True):
        close(g, wanted)
    close(actual[3], fourth)
    close(actual[4], fourth)
    close(actual[5], slope.sum(1))


@pytest.mark.parametrize("shape", [(D,), (D, D), (ROWS, D, D)])
def test_coefficients(shape):
    a = RANDOM.normal(size=shape)
    full = np.diag(a) if a.ndim == 1 else a
    expected = np.sum(full * hessians(X), axis=(1, 2))
    operator = ms.second_order(network)
    close(operator(Tensor(X), Tensor(a)), expected)
    # linear in the coefficients, so the derivative along them is the operator with them
    derivative = ms.grad(lambda a: operator(Tensor(X), a).sum())(Tensor(a))
    assert_close(np.sum(derivative.asnumpy() * a), expected.sum(), kind="ill-conditioned")


@pytest.mark.parametrize("shape", [(D, 2), (ROWS, D, 2)])
def test_a_factor(shape):
    s = RANDOM.normal(size=shape)
    wanted = np.sum((s @ np.swapaxes(s, -1, -2)) * hessians(X), axis=(1, 2))
    close(ms.second_order(network, factored=True)(Tensor(X), Tensor(s)), wanted)


def test_tiles(monkeypatch):
    """With a small cache the directions go in tiles, of which the last is not full."""
    with_costs(monkeypatch, direction_tile_bytes=2 * 8 * HIDDEN * ROWS, direction_tiles=0)
    a, x = RANDOM.normal(size=(D, D)), Tensor(X)
    program = trace(ms.laplacian(network), x)
    assert [e.parameters["length"] for e in program.equations if e.primitive.name == "scan"] == [2]

    def everything(x, a):
        diagonal = Tensor(np.diagonal(a.asnumpy()).copy())
        return (
            ms.laplacian(network)(x),
            ms.second_order(network)(x, a),
            ms.second_order(network)(x, diagonal),
            ms.grad(lambda x: ms.laplacian(network)(x).sum())(x),
            ms.laplacian(ms.laplacian(network))(x),
        )

    found = everything(x, Tensor(a))
    close(found[0], jax_everything()[0])
    close(found[1], np.sum(a * hessians(X), axis=(1, 2)))
    close(found[2], np.sum(np.diag(np.diagonal(a)) * hessians(X), axis=(1, 2)))
    close(found[3], jax_everything()[1])
    close(found[4], jax_everything()[3])


def test_harmonic_functions_and_polynomials():
    x = Tensor(RANDOM.normal(size=(6, 2)))
    a, b = x[..., 0], x[..., 1]
    zero, one = np.zeros(6), np.ones(6)
    close(ms.laplacian(lambda p: ops.exp(p[..., 0]) * ops.sin(p[..., 1]))(x), zero)
    close(ms.laplacian(lambda p: ops.log((p * p).sum(-1)))(x), zero)
    close(ms.laplacian(lambda p: p[..., 0] ** 3 * p[..., 1])(x), 6 * a.asnumpy() * b.asnumpy())
    # Δ²(x⁴ + 3 x² y² + y⁴) = 24 + 24 + 2·12 = 72, and r² log r is biharmonic in the plane
    close(
        ms.biharmonic(lambda p: p[..., 0] ** 4 + 3 * p[..., 0] ** 2 * p[..., 1] ** 2 + p[..., 1] ** 4)(x),
        72 * one,
    )
    close(ms.biharmonic(lambda p: (p * p).sum(-1) * ops.log((p * p).sum(-1)))(x), zero)
    three = Tensor(RANDOM.normal(size=(6, 3)))
    close(ms.laplacian(lambda p: 1 / ops.sqrt((p * p).sum(-1)))(three), zero)


def test_shapes():
    x = Tensor(X.reshape(2, 2, D))
    wanted = np.asarray(jax_everything()[0])
    close(ms.laplacian(network)(x), wanted.reshape(2, 2))
    close(ms.laplacian(network)(x[0, 1]), wanted[1])
    close(ms.laplacian(lambda x: x.sum(-1))(x), np.zeros((2, 2)))
    two = ms.laplacian(lambda x: (ops.concat((network(x), 2 * network(x)), -1), {"u": network(x)}))(x)
    close(two[0], np.stack([wanted, 2 * wanted], -1).reshape(2, 2, 2))
    close(two[1]["u"], wanted.reshape(2, 2))
    constant = ms.laplacian(lambda x: ops.ones((2, 2), ms.float64))(x)
    close(constant, np.zeros((2, 2)))


def test_where_a_derivative_is_infinite():
    root = lambda x: ops.select(x > 0, ops.sqrt(x), ops.zeros_like(x)).sum(-1)
    close(ms.laplacian(root)(Tensor([[0.0, 4.0]], ms.float64)), [-1 / 32])


def test_branches_and_loops():
    def stepped(x):
        k = 0
        y = x
        while k < 3:
            y = ops.sin(y) * x
            k = k + 1
        return y.sum(-1)

    def jax_stepped(x):
        y = x
        for _ in range(3):
            y = jnp.sin(y) * x
        return jnp.sum(y)

    def traced(x, n):
        y = x
        while n > 0:
            y = ops.sin(y) * x
            n = n - 1
        return y.sum(-1)

    wanted = jax.jit(jax.vmap(lambda x: jnp.trace(jax.hessian(jax_stepped)(x))))(X)
    close(ms.laplacian(stepped)(Tensor(X)), wanted)
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        close(ms.laplacian(traced)(Tensor(X), Tensor(3)), wanted)
    finally:
        ms.set_context(mode=before)


def test_several_inputs():
    f = lambda x, t: ops.sin(x) * ops.exp(-2.0 * t)
    x, t = Tensor(X[:, :1]), Tensor(X[:, 1:2])
    u = np.sin(X[:, 0]) * np.exp(-2 * X[:, 1])
    in_x, in_t = ms.laplacian(f, (0, 1))(x, t)
    close(in_x, -u)
    close(in_t, 4 * u)
    close(ms.laplacian(f, 1)(x, t), 4 * u)
    fourth = ms.biharmonic(f, (0, 1))(x, t)
    close(fourth[0], u)
    close(fourth[1], 16 * u)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(2, 8)
        self.second = nn.Dense(8, 1)

    def construct(self, x):
        return self.second(ops.tanh(self.first(x)))


def test_a_burgers_residual_of_a_cell(mode):
    """u_t + u u_x − ν u_xx with its gradient in the weights, against nested gradients."""
    net = Net()
    points = Tensor(RANDOM.uniform(-1, 1, (7, 2)).astype(np.float32))
    along_x, along_t, a = Tensor([1.0, 0.0]), Tensor([0.0, 1.0]), Tensor([0.01, 0.0])

    def swept():
        u_x = ms.directional_derivative(net)(points, along_x)
        u_t = ms.directional_derivative(net)(points, along_t)
        residual = u_t + net(points)[:, 0] * u_x - ms.second_order(net)(points, a)
        return ops.square(residual).mean()

    def nested():
        slope = ms.grad(lambda p: net(p).sum())
        first = slope(points)
        second = ms.grad(lambda p: slope(p)[:, 0].sum())(points)
        residual = first[:, 1] + net(points)[:, 0] * first[:, 0] - 0.01 * second[:, 0]
        return ops.square(residual).mean()

    ours, theirs = (ms.value_and_grad(f, None, net.trainable_params())() for f in (swept, nested))
    close(ours[0], theirs[0].asnumpy())
    for g, wanted in zip(ours[1], theirs[1], strict=True):
        close(g, wanted.asnumpy())
        assert np.abs(wanted.asnumpy()).max() > 1e-6 or wanted.shape == (1,)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_directional_derivatives(order):
    v = RANDOM.normal(size=(ROWS, D))
    g = lambda x, v: lambda s: jax_network(x + s * v)

    def wanted(x, v):
        f = g(x, v)
        for _ in range(order):
            f = jax.grad(f)
        return f(0.0)

    close(ms.directional_derivative(network, order)(Tensor(X), Tensor(v)), jax.jit(jax.vmap(wanted))(X, v))
    close(
        ms.directional_derivative(network, order)(Tensor(X), Tensor(v[0])),
        jax.jit(jax.vmap(wanted, (0, None)))(X, v[0]),
    )


def test_divergence():
    a = RANDOM.normal(size=(D, D))
    field = lambda x: ops.sin(ops.matmul(x, Tensor(a))) * x
    jax_field = lambda x: jnp.sin(x @ a) * x
    wanted = jax.jit(jax.vmap(lambda x: jnp.trace(jax.jacfwd(jax_field)(x))))(X)
    close(ms.divergence(field)(Tensor(X)), wanted)
    close(ms.divergence(field)(Tensor(X[0])), wanted[0])
    # Δ = div grad
    gradient = ms.grad(lambda x: network(x).sum())
    close(ms.divergence(gradient)(Tensor(X)), jax_everything()[0])


def test_estimates(mode):
    ms.set_seed(3)
    x = Tensor(X)
    exact = np.asarray(jax_everything()[0])
    close(ops.estimate_laplacian(network, D, "coordinates")(x), exact)
    close(ops.estimate_laplacian(network, D, "coordinates", per_sample=True)(x), exact)
    for distribution in ("rademacher", "normal"):
        estimate = ops.estimate_laplacian(network, 4000, distribution, seed=5)
        ms.set_seed(7)
        first = estimate(x).asnumpy()
        np.testing.assert_allclose(first, exact, atol=0.15 * np.abs(exact).max())
        again = estimate(x).asnumpy()
        assert np.abs(first - again).max() > 1e-6, "each call draws anew"
        ms.set_seed(7)
        assert_close(estimate(x), first, kind="contraction", length=4000 * D)
    field = lambda x: ops.sin(x) * x[..., :1]
    expected = ms.divergence(field)(x).asnumpy()
    np.testing.assert_allclose(
        ops.estimate_divergence(field, 4000)(x).asnumpy(), expected, atol=0.15 * np.abs(expected).max()
    )
    close(ops.estimate_divergence(field, D, "coordinates", per_sample=True)(x), expected)


def test_the_sum_of_squares_is_made_once_and_the_first_layer_for_one_row():
    """No equation holds a stack for every row of the first product, and each layer has one product of stacks."""
    program = trace(ms.laplacian(network), Tensor(X))
    stacks = [e for e in program.equations if e.primitive.name == "dot" and e.outputs[0].type.rank == 3]
    assert len(stacks) == 1, program


def test_a_product_of_repeated_rows_is_a_repeated_product():
    with building(Builder()) as builder:
        x, w = (builder.input(tensor_type(float64, shape)) for shape in ((3, 4), (4, 5)))
        y = broadcast_in_dim(x, shape=(3, 2, 4), dims=(0, 2))
        left = dot(y, w, contract=((2,), (0,)), batch=((), ()))
        right = dot(w, y, contract=((0,), (2,)), batch=((), ()))
        batched = dot(y, y, contract=((2,), (2,)), batch=((0,), (0,)))
        assert left.shape == (3, 2, 5)
        assert left.made_by.primitive is broadcast_in_dim
        assert right.shape == (5, 3, 2)
        assert right.made_by.primitive is broadcast_in_dim
        assert batched.shape == (3, 2, 2)
        program = builder.close([left, right, batched])
    xs, ws = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(4, 5))
    ys = np.broadcast_to(xs[:, None], (3, 2, 4))
    actual = evaluate(program, [xs, ws])
    assert_close(actual[0], ys @ ws, kind="program")
    assert_close(actual[1], np.einsum("kn,abk->nab", ws, ys), kind="program")
    assert_close(actual[2], np.einsum("abk,ack->abc", ys, ys), kind="program")


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ms.laplacian(3), TypeError, "'Function' or 'Cell'"),
        (lambda: ms.laplacian(network)(3.0), TypeError, "must be a Tensor of points"),
        (lambda: ms.laplacian(network)(Tensor([1, 2, 3])), TypeError, "real floating-point"),
        (lambda: ms.laplacian(lambda x: x)(Tensor(1.0)), ValueError, "must contain the coordinates"),
        (lambda: ms.laplacian(lambda x: x.sum())(Tensor(X)), ValueError, "a value for each point"),
        (lambda: ms.laplacian(network, 1)(Tensor(X)), IndexError, "out of range"),
        (lambda: ms.second_order(network)(Tensor(X), Tensor(X)), ValueError, "must have shape"),
        (lambda: ms.second_order(network)(Tensor(X), 1.0), TypeError, "must be a Tensor"),
        (lambda: ms.divergence(network)(Tensor(X)), ValueError, "a vector for each point"),
        (lambda: ms.directional_derivative(network, 0), ValueError, "at least 1"),
        (lambda: ops.estimate_laplacian(network, 0), ValueError, "samples"),
        (lambda: ops.estimate_laplacian(network, 4, "coordinates")(Tensor(X)), ValueError, "choose from"),
        (lambda: ops.estimate_laplacian(network, 4, "gauss"), ValueError, "one of rademacher"),
    ],
)
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()


def normalized(x):
    return network((x - x.mean(0)) / x.std(0))


@pytest.mark.parametrize(
    ("function", "culprit"),
    [
        (normalized, "reduce_sum"),
        (lambda x: (x * x).sum(-1) * x.max(), "reduce_max"),
        (lambda x: (ops.matmul(x, x.T) ** 2).sum(-1), "dot"),
        (lambda x: ((x.expand_dims(0) - x.expand_dims(1)) ** 2).sum(-1).sum(-1), "sub"),
        (lambda x: ops.cumsum(x, 0).sum(-1), "cumsum"),
    ],
    ids=["batch normalization", "maximum", "products", "distances", "running sum"],
)
def test_functions_that_mix_rows_are_refused(function, culprit, mode):
    message = f"input of shape \\({ROWS}, {D}\\), '{culprit}'"
    for operator in (ms.laplacian, ms.biharmonic):
        with pytest.raises(ValueError, match=message):
            operator(function)(Tensor(X))
    with pytest.raises(ValueError, match=message):
        ms.directional_derivative(function, 2)(Tensor(X), Tensor(np.ones(D)))
    # one point has no other, and neither has one in a batch of its own
    alone = ms.laplacian(function)(Tensor(X[:1]))
    assert alone.shape == (1,)


def test_the_line_that_mixes_rows_is_named():
    with pytest.raises(ValueError, match=r"test_laplacian\.py:\d+, as batch normalization"):
        ms.jit(lambda x: ms.laplacian(normalized)(x))(Tensor(X))


def test_what_only_looks_like_mixing_is_not_refused(mode):
    """Sums along the coordinates, rows turned and turned back, and what has no derivative."""
    x = Tensor(X)

    def turned(x):
        y = ops.transpose(ops.tanh(x), (1, 0))
        return ops.transpose(y * y.sum(0), (1, 0)).sum(-1) / ops.norm(x, dim=-1)

    def wanted(x):
        y = jnp.tanh(x)
        return y.sum() ** 2 / jnp.linalg.norm(x)

    close(ms.laplacian(turned)(x), jax.jit(jax.vmap(lambda x: jnp.trace(jax.hessian(wanted)(x))))(X))
    scaled = lambda x: (x * x).sum(-1) * ops.stop_gradient(x.mean())
    close(ms.laplacian(scaled)(x), np.full(ROWS, 2 * D * X.mean()))
    places = Tensor(np.arange(ROWS)[::-1].copy())
    close(
        ms.laplacian(lambda x: ops.gather(ops.gather((x * x).sum(-1), places, 0), places, 0))(x),
        [2.0 * D] * ROWS,
    )
    lone = ms.vmap(ms.laplacian(lambda x: (x * x).sum(-1) * x.mean()))(x)
    close(lone, jax.jit(jax.vmap(lambda x: jnp.trace(jax.hessian(lambda x: (x * x).sum() * x.mean())(x))))(X))


def test_parameters_are_read():
    w = Parameter(Tensor(W1), name="w")
    f = lambda x: network(x, w)
    before = ms.laplacian(f)(Tensor(X)).asnumpy()
    w.set_data(Tensor(2 * W1))
    after = ms.laplacian(f)(Tensor(X))
    close(after, jax.jit(jax.vmap(lambda x: jax_laplacian(x, 2 * W1)))(X))
    assert np.abs(after.asnumpy() - before).max() > 1e-3
