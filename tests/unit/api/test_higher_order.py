"""Derivatives of derivatives: every mixture, in both modes, against jax and against formulas.

The last part holds the places where MindSpore is silently wrong; each is right here.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close

MODES = {"graph": ms.GRAPH_MODE, "pynative": ms.PYNATIVE_MODE}


@pytest.fixture(params=MODES.values(), ids=MODES)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def t(*values, dtype=ms.float64):
    return Tensor(np.array(values), dtype)


def close(found, wanted, kind="program"):
    assert_close(found, wanted, kind)


# --- every mixture --------------------------------------------------------------------------------

X = np.array([0.3, -0.7])
V = np.array([1.0, 0.5])
W = np.array([-0.2, 1.5])
A = np.array([[1.0, 0.4], [-0.3, 0.8]])


def program(m, a):
    """R² → R², neither pointwise nor linear; ``m`` is mindgrad.ops or jax.numpy."""
    return lambda x: m.sin(m.matmul(a, x)) * x * x


def jvp_cell(f):
    net = nn.Jvp(f)
    return lambda x: net(x, t(*V))[1]


def vjp_cell(f):
    net = nn.Vjp(f)
    return lambda x: net(x, t(*W))[1]


def jax_grad(f):
    return jax.grad(lambda x: f(x).sum())


def jax_jvp(f):
    return lambda x: jax.jvp(f, (x,), (jnp.asarray(V),))[1]


def jax_vjp(f):
    return lambda x: jax.vjp(f, x)[1](jnp.asarray(W))[0]


def jax_value(f):
    return lambda x: f(x) + jax_grad(f)(x)


#: name: what it makes of a function R² → R², here and in jax
STEPS = {
    "grad": (ms.grad, jax_grad),
    "operation": (
        lambda f: lambda x: ops.GradOperation(get_all=True, sens_param=True)(f)(x, t(*W))[0],
        jax_vjp,
    ),
    "value": (lambda f: lambda x: sum(ms.value_and_grad(f)(x), t(0.0)), jax_value),
    "jvp": (lambda f: lambda x: ms.jvp(f, x, t(*V))[1], jax_jvp),
    "linearize": (lambda f: lambda x: ms.linearize(f, x)[1](t(*V)), jax_jvp),
    "jvp cell": (jvp_cell, jax_jvp),
    "vjp": (lambda f: lambda x: ms.vjp(f, x, v=t(*W))[1], jax_vjp),
    "vjp function": (lambda f: lambda x: ms.vjp(f, x)[1](t(*W))[0], jax_vjp),
    "vjp cell": (vjp_cell, jax_vjp),
    "jacfwd": (lambda f: lambda x: ops.matmul(ms.jacfwd(f)(x), t(*V)), jax_jvp),
    "jacrev": (lambda f: lambda x: ops.matmul(t(*W), ms.jacrev(f)(x)), jax_vjp),
}

# of the triples a part: each step stands in each place, next to different others
TRIPLES = [
    tuple(list(STEPS)[(k + shift) % len(STEPS)] for shift in shifts)
    for k in range(len(STEPS))
    for shifts in ((0, 3, 7), (0, 5, 1))
]


def mixed(chain):
    f, oracle = program(ops, t(*A)), program(jnp, A)
    for name in chain:
        here, there = STEPS[name]
        f, oracle = here(f), there(oracle)
    return f, oracle


@pytest.fixture(scope="module")
def wanted():
    """jax's numbers; chains that are the same mathematics are computed once."""
    known = {}

    def value(chain):
        meaning = tuple(STEPS[name][1] for name in chain)
        if meaning not in known:
            with jax.enable_x64(True):
                known[meaning] = np.asarray(mixed(chain)[1](jnp.asarray(X)))
        return known[meaning]

    return value


def traced(f):
    """The program that is compiled for ``f`` in GRAPH_MODE, run with the reference executor."""
    return Tensor(evaluate(trace(f, t(*X)), [X])[0])


@pytest.mark.parametrize("outer", STEPS)
def test_two_derivatives_eager(outer, wanted):
    for inner in STEPS:
        close(mixed((inner, outer))[0](t(*X)), wanted((inner, outer)))


@pytest.mark.parametrize("outer", STEPS)
def test_two_derivatives_in_a_program(outer, wanted):
    for inner in STEPS:
        close(traced(mixed((inner, outer))[0]), wanted((inner, outer)))


@pytest.mark.parametrize("chain", TRIPLES, ids="-".join)
def test_three_derivatives(chain, wanted):
    f = mixed(chain)[0]
    close(f(t(*X)), wanted(chain))
    close(traced(f), wanted(chain))


@pytest.mark.parametrize("outer", STEPS)
def test_top_level_calls_in_graph_mode(outer, wanted):
    """Each gradient function compiled by itself, as a user calls them."""
    inner = list(STEPS)[list(STEPS).index(outer) - 4]
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        close(mixed((inner, outer))[0](t(*X)), wanted((inner, outer)))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_order_six(mode):
    f = ops.sin
    x = t(0.5, 1.25)
    for order in range(1, 7):
        f = ms.grad(f)
        close(f(x), np.sin(x.asnumpy() + order * np.pi / 2))


# --- several inputs, outputs and weights ----------------------------------------------------------


def test_mixed_partials_of_several_inputs(mode):
    f = lambda x, y: x * x * x * y * y
    x, y = t(2.0), t(3.0)
    dx, dy = ms.grad(f, (0, 1)), ms.grad(f, 1)
    close(ms.grad(lambda x, y: dx(x, y)[1], 0)(x, y), [6 * 4 * 3.0])  # ∂²/∂x∂y = 6 x² y
    close(ms.grad(dy, 0)(x, y), [6 * 4 * 3.0])
    close(ms.grad(ms.grad(dy, 0), 0)(x, y), [12 * 2 * 3.0])
    everything = ops.GradOperation(get_all=True)
    found = everything(everything(f))(x, y)  # the gradient of dx + dy
    close(found[0], [6 * 2 * 9 + 6 * 4 * 3.0])
    close(found[1], [6 * 4 * 3.0 + 2 * 8])


def test_second_order_of_several_outputs_with_a_tuple_of_sens(mode):
    f = lambda x, y: (x * x * y, x * y * y)
    x, y, s, u = t(2.0), t(5.0), t(10.0), t(0.1)
    op = ops.GradOperation(get_all=True, sens_param=True)
    actual = op(op(f))(x, y, (s, u), (t(1.0), t(100.0)))
    # first: (2xy s + y² u, x² s + 2xy u); second with sens 1 and 100, for x, y, s, u
    close(actual[0], [2 * 5 * 10 + 100 * (2 * 2 * 10 + 2 * 5 * 0.1)])
    close(actual[1], [2 * 2 * 10 + 2 * 5 * 0.1 + 100 * (2 * 2 * 0.1)])
    assert [type(each) for each in actual] == [Tensor, Tensor]  # a plain tuple of sens is a constant


class Energy(nn.Cell):
    """k (r − r₀)² + w sin(r), summed"""

    def __init__(self):
        super().__init__()
        self.k = Parameter(t(3.0), name="k")
        self.r0 = Parameter(t(0.5), name="r0")
        self.w = Parameter(t(0.25), name="w")

    def construct(self, r):
        return ops.sum(self.k * (r - self.r0) * (r - self.r0) + self.w * ops.sin(r))


class Force(nn.Cell):
    def __init__(self, energy):
        super().__init__()
        self.energy = energy
        self.gradient = ops.GradOperation()

    def construct(self, r):
        return -self.gradient(self.energy)(r)


def test_force_matching(mode):
    """The gradient with respect to weights of a loss that holds gradients of inputs."""
    energy = Energy()
    force = Force(energy)
    r, target = t(0.2, 1.0, 2.0), t(1.0, 0.0, -1.0)

    def loss(r, target):
        return ops.sum((force(r) - target) * (force(r) - target))

    weights = ParameterTuple(energy.trainable_params())
    value, found = ms.value_and_grad(loss, None, weights)(r, target)
    k, r0, w = 3.0, 0.5, 0.25
    rr = r.asnumpy()
    residual = -(2 * k * (rr - r0) + w * np.cos(rr)) - target.asnumpy()
    close(value, (residual**2).sum())
    close(found[0], [(2 * residual * -2 * (rr - r0)).sum()])
    close(found[1], [(2 * residual * 2 * k).sum()])
    close(found[2], [(2 * residual * -np.cos(rr)).sum()])
    close(ops.GradOperation(get_by_list=True)(loss, weights)(r, target)[1], found[1].asnumpy())


class Network(nn.Cell):
    """A small tanh network u(t, x)."""

    def __init__(self, seed=0):
        super().__init__()
        numbers = np.random.default_rng(seed)
        self.a = Parameter(Tensor(numbers.normal(size=(2, 4)), ms.float64), name="a")
        self.b = Parameter(Tensor(numbers.normal(size=(4,)), ms.float64), name="b")
        self.c = Parameter(Tensor(numbers.normal(size=(4, 1)), ms.float64), name="c")

    def construct(self, z):
        return ops.matmul(ops.tanh(ops.matmul(z, self.a) + self.b), self.c)


class Residual(nn.Cell):
    """u_z + (u_z)_z of a network, each by a gradient inside a Cell, squared and summed"""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.first = ops.GradOperation()

    def construct(self, z):
        slope = self.first(self.net)(z)
        curvature = self.first(lambda z: self.first(self.net)(z))(z)
        rest = slope + curvature * self.net(z)
        return ops.sum(rest * rest)


def residual_in_jax(weights, z):
    def net(z):
        return jnp.tanh(z @ weights["a"] + weights["b"]) @ weights["c"]

    slope = jax_grad(net)
    rest = slope(z) + jax_grad(slope)(z) * net(z)
    return (rest * rest).sum()


Z = np.linspace(-1, 1, 6).reshape(3, 2)


def jax_gradients(weights):
    with jax.enable_x64(True):
        return {
            k: np.asarray(g) for k, g in jax.jit(jax.grad(residual_in_jax))(weights, jnp.asarray(Z)).items()
        }


def test_weights_of_a_loss_of_nested_gradients_inside_cells(mode):
    net = Network()
    loss = Residual(net)
    weights = ParameterTuple(net.trainable_params())
    found = ms.grad(loss, None, weights)(t(*Z))
    expected = jax_gradients({p.name.split(".")[-1]: p.asnumpy() for p in weights})
    for parameter, gradient in zip(weights, found, strict=True):
        close(gradient, expected[parameter.name.split(".")[-1]])


def test_a_gradient_of_weights_inside_a_gradient_of_inputs(mode):
    """d/dx of Σ dL/dw: the Parameter is bound twice, once per derivative."""
    w = Parameter(t(3.0), name="w")
    f = lambda x: w * w * x * x
    inner = lambda x: ms.grad(f, None, w)(x)  # 2 w x²
    close(inner(t(2.0)), [24.0])
    close(ms.grad(inner)(t(2.0)), [4 * 3 * 2.0])
    close(ms.grad(inner, None, w)(t(2.0)), [2 * 4.0])  # d/dw of 2 w x²
    both = ms.grad(lambda x: ms.grad(inner)(x) * w, (0,), [w])(t(2.0))  # 4 w² x
    close(both[0], [4 * 9.0])
    close(both[1][0], [8 * 3 * 2.0])


def test_stop_gradient_inside(mode):
    x = t(3.0)
    stop = ops.stop_gradient
    close(ms.grad(lambda x: x * stop(x * x))(x), [9.0])
    close(ms.grad(ms.grad(lambda x: x * stop(x) * x))(x), [2 * 3.0])
    close(ms.grad(lambda x: stop(ms.grad(lambda z: z * z * z)(x)) * x)(x), [27.0])
    close(ms.grad(lambda x: ms.grad(lambda z: z * z * stop(x))(x))(x), [6.0])
    close(ms.jvp(lambda x: x * stop(x), x, t(1.0))[1], [3.0])
    close(ms.grad(ms.grad(lambda x: stop(x)))(x), [0.0])


def test_perturbations_are_not_confused(mode):
    x = t(2.0)
    # d/dx x · d/dy (x + y) at y = 1: 1, and not 2
    close(ms.grad(lambda x: x * ms.grad(lambda y: x + y)(t(1.0)))(x), [1.0])
    close(ms.grad(lambda x: x * ms.jvp(lambda y: x * y, t(1.0), t(1.0))[1])(x), [4.0])
    # the inner function computes on the outer variable only
    close(ms.grad(lambda x: ms.grad(lambda y: y * ops.sin(x))(x))(x), [np.cos(2.0)])
    close(ms.jvp(lambda x: ms.jvp(lambda y: x * y * y, x, x)[1], x, t(1.0))[1], [6 * 4.0])


def test_hessian_vector_products_agree(mode):
    f = lambda x: ops.sum(ops.sin(x) * x * x)
    x, v = t(0.3, -0.7, 1.1), t(1.0, 0.5, -2.0)
    n = x.asnumpy()
    wanted = (2 * np.sin(n) + 4 * n * np.cos(n) - n * n * np.sin(n)) * v.asnumpy()
    close(ms.jvp(ms.grad(f), x, v)[1], wanted)
    close(ms.vjp(ms.grad(f), x, v)[1], wanted)
    close(ms.grad(lambda x: ops.sum(ms.grad(f)(x) * v))(x), wanted)
    close(ms.grad(lambda x: ms.jvp(f, x, v)[1])(x), wanted)
    close(ops.matmul(ms.jacfwd(ms.jacrev(f))(x), v), wanted)


# --- where MindSpore is silently wrong ------------------------------------------------------------

VIEWS = {
    "reshape": lambda x: ops.reshape(x, (4, 1)) * ops.reshape(x, (1, 4)),
    "expand_dims": lambda x: ops.expand_dims(x, 0) * ops.expand_dims(x, 1),
    "squeeze": lambda x: ops.squeeze(ops.reshape(x, (4, 1)) * ops.reshape(x, (1, 4))),
    "transpose": lambda x: ops.transpose(ops.reshape(x, (4, 1)), (1, 0)) * ops.reshape(x, (4, 1)),
    "concat": lambda x: ops.reshape(ops.concat((x, x)), (8, 1))[:4] * ops.reshape(x, (1, 4)),
}


@pytest.mark.parametrize("view", VIEWS)
def test_second_order_through_views(view, mode):
    """(Σ x)² has the gradient 2 Σ x and the gradient of its sum 8; MindSpore PYNATIVE says 0."""
    f = VIEWS[view]
    x = t(1.0, 2.0, 3.0, 4.0, dtype=ms.float32)
    close(ms.grad(f)(x), [20.0] * 4, "elementwise")
    close(ms.grad(ms.grad(f))(x), [8.0] * 4, "elementwise")
    op = ops.GradOperation(sens_param=True)
    close(op(ops.GradOperation()(f))(x, Tensor([1.0, 0.0, 0.0, 0.0])), [2.0] * 4, "elementwise")


def test_numpy_numbers_stay_in_the_derivative(mode):
    x = t(3.0, 4.0)
    two = np.float64(2)
    for f, wanted in [
        (lambda x: two * x, [2.0, 2.0]),
        (lambda x: x * two, [2.0, 2.0]),
        (lambda x: two + x * x, [6.0, 8.0]),
        (lambda x: two - x, [-1.0, -1.0]),
        (lambda x: two / x, [-2 / 9, -2 / 16]),
        (lambda x: np.float32(2) * x * np.int64(3), [6.0, 6.0]),
        (lambda x: np.array([2.0, 5.0]) * x, [2.0, 5.0]),
        (lambda x: two * (two * x) * x, [24.0, 32.0]),
    ]:
        close(ms.grad(f)(x), wanted)
    close(ms.grad(ms.grad(lambda x: two * x * x))(x), [4.0, 4.0])
    assert ms.grad(lambda x: two * x)(t(1.0, dtype=ms.float32)).dtype is ms.float32


def test_python_inside_a_program_keeps_the_derivative(mode):
    close(ms.grad(lambda a: dict(p=a)["p"] * a)(t(3.0)), [6.0])
    close(ms.grad(lambda a: [a, a * a][1])(t(3.0)), [6.0])
    close(ms.grad(lambda a: sum([a, a, a * a]))(t(3.0)), [8.0])


def test_an_attribute_set_inside_a_program(mode):
    """MindSpore's compiled programs give gradient 0."""

    class Sets(nn.Cell):
        def construct(self, a):
            self.k = 3.0 * a
            return a * self.k

    net = Sets()
    close(ms.grad(net)(t(2.0)), [12.0])
    close(net.k, [6.0])
    close(ms.grad(ms.grad(net))(t(2.0)), [6.0])


def test_reading_a_value_while_compiling_is_an_error():
    fn = lambda a: a * Tensor(np.sin(a.asnumpy()))
    with pytest.raises(RuntimeError, match="asnumpy"):
        ms.grad(ms.jit(fn))(t(2.0))


def trained(loss, parameters, steps, rate, *inputs):
    """Plain gradient descent; the gradients of every step."""
    step = ms.value_and_grad(loss, None, ParameterTuple(parameters))
    history = []
    for _ in range(steps):
        _, gradients = step(*inputs)
        history.append([g.asnumpy() for g in gradients])
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.set_data(parameter.value() - rate * gradient)
    return history


def test_training_with_nested_gradients_never_uses_stale_ones(mode):
    """MindSpore PYNATIVE uses the true gradient in step 1 and stale ones from step 2 on."""
    net = Network(seed=1)
    weights = {p.name: p.asnumpy().copy() for p in net.trainable_params()}
    history = trained(Residual(net), net.trainable_params(), 4, 0.05, t(*Z))
    for gradients in history:
        expected = jax_gradients({name.split(".")[-1]: value for name, value in weights.items()})
        for name, gradient in zip(weights, gradients, strict=True):
            assert_close(gradient, expected[name.split(".")[-1]], kind="program")
            weights[name] = weights[name] - 0.05 * gradient


def test_first_order_training_uses_true_gradients(mode):
    w = Parameter(t(2.0, -1.0), name="w")
    value = w.asnumpy().copy()
    x = t(1.0, 3.0)
    for gradients in trained(lambda x: ops.sum(w * w * w * x), [w], 5, 0.01, x):
        assert_close(gradients[0], 3 * value**2 * x.asnumpy(), kind="program")
        value = value - 0.01 * gradients[0]
    close(w.value(), value)


def test_arguments_are_not_changed(mode):
    """MindSpore's compiled ``a += 1`` changes the caller's tensor."""

    def f(a, b):
        a += 1.0
        a *= b
        b -= 1.0
        return a * b

    a, b = t(2.0), t(3.0)
    close(ms.grad(f, (0, 1))(a, b)[0], [6.0])  # (a + 1) b (b − 1)
    close(ms.grad(f, 0)(a, b), [6.0])
    close(ms.jvp(f, (a, b), (t(1.0), t(0.0)))[1], [6.0])
    close(ms.vjp(f, (a, b), t(1.0))[1][1], [15.0])
    close(ms.grad(ms.grad(f, 1), 0)(a, b), [5.0])
    close(a, [2.0])
    close(b, [3.0])


def test_items_assigned_to_an_argument(mode):
    def f(a, b):
        a[0] = b[1] * 2.0
        b[0] = 7.0
        return ops.sum(a * a * b)

    a, b = t(2.0, 3.0), t(5.0, 11.0)
    da, db = ms.grad(f, (0, 1))(a, b)  # (2 b₁)² · 7 + a₁² b₁
    close(da, [0.0, 2 * 3 * 11.0])
    close(db, [0.0, 8 * 11 * 7 + 9.0])
    close(ms.grad(f)(a, b), [0.0, 66.0])
    close(a, [2.0, 3.0])
    close(b, [5.0, 11.0])


def test_numbers_marked_mutable(mode):
    """MindSpore 2.10 compiled: gradient 0."""
    assert ms.grad(lambda k, x: ops.sum(k * k * x))(ms.mutable(3.0), t(1.0, 2.0, dtype=ms.float32)) == 18.0


def test_losses_of_numpy_numbers(mode):
    """A weight of type np.float64 in a loss, with which MindSpore PYNATIVE stops."""
    area = np.float64(0.25)
    close(ms.grad(lambda x: area * ops.sum(x * x) + area)(t(2.0, 3.0)), [1.0, 1.5])
