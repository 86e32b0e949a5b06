"""``vmap``: the law vmap(f)(x)[b] = f(x[b]), jax as oracle, every mixture, and what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close

MODES = {"graph": ms.GRAPH_MODE, "pynative": ms.PYNATIVE_MODE}


@pytest.fixture(autouse=True)
def eager():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


@pytest.fixture(params=MODES.values(), ids=MODES)
def mode(request, eager):
    ms.set_context(mode=request.param)
    return request.param


def t(*values):
    return Tensor(np.array(values), ms.float64)


def close(found, wanted, kind="program"):
    assert_close(found, wanted, kind)


RNG = np.random.default_rng(5)
X, Y, A = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2)), np.array([[1.0, 0.4], [-0.3, 0.8]])


def stacked(f, *arrays):
    """One call for each element."""
    return np.stack([f(*[Tensor(part) for part in parts]).asnumpy() for parts in zip(*arrays, strict=True)])


# --- the law --------------------------------------------------------------------------------------------


def looped(x):
    """Another number of iterations for each element, and a branch."""
    while x.sum() < 20.0:
        x = x * x + 1.0 if x.max() > 1.5 else x * 2.0 + 1.0
    return x


def scanned(x):
    s = x
    for i in range(12):
        s = ops.tanh(ops.matmul(t(*A), s)) + x * i
    return s


def assigned(x):
    y = ops.zeros_like(x)
    y[0] = x[1] * x[1]
    y[1:] += x[:1]
    return y


def branched(x):
    if x[0] > 0:
        return ops.sqrt(x * x + 1)
    return x[::-1]


def held(x):
    pair = {"a": x, "b": [x.sum()]}
    return pair["a"] * pair["b"][0] if x.shape == (2,) else pair["b"][0]


class Layers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(2, 4)
        self.norm = nn.LayerNorm((4,))

    def construct(self, x):
        return ops.softmax(self.norm(ops.tanh(self.first(x.astype(ms.float32).reshape((1, 2))))))


ELEMENTS = {
    "pointwise": lambda x: ops.sin(x) * x,
    "scalar": lambda x: (x * x).sum(),
    "matmul": lambda x: ops.matmul(t(*A), x),
    "constant": lambda x: t(1.0, 2.0),
    "sort": lambda x: ops.sort(x)[0] * x.argmax(),
    "gather": lambda x: ops.gather(t(*A), x.argmax(), 0),
    "loop": looped,
    "scan": scanned,
    "branch": branched,
    "assigned": assigned,
    "held": held,
    "grad": ms.grad(lambda x: (ops.sin(x) * x[0]).sum()),
    "jvp": lambda x: ms.jvp(lambda x: x * x[0], x, x)[1],
    "vjp": lambda x: ms.vjp(lambda x: x * x[0], x)[1](x)[0],
    "linearize": lambda x: ms.linearize(lambda x: x * x[0], x)[1](x),
    "jacrev": ms.jacrev(lambda x: ops.sin(x) * x[0]),
    "jacfwd": ms.jacfwd(lambda x: ops.sin(x) * x[0]),
    "hessian": ms.hessian(lambda x: (ops.sin(x) * x[0]).sum()),
    "hvp": lambda x: ms.hvp(lambda x: (ops.sin(x) * x[0]).sum())(x, x),
    "ggnvp": lambda x: ms.ggnvp(lambda x: x * x[0], lambda z: (z**3).sum())(x, x),
    "derivative": lambda x: ops.derivative(lambda x: ops.sin(x) * x[0], x, 3)[1],
    "gradient of a loop": ms.grad(looped),
    "hessian of a loop": ms.hessian(lambda x: looped(x).sum()),
    "gradient of a scan": ms.grad(scanned),
    "gradient of a branch": ms.grad(branched),
    "jit": ms.jit(lambda x: ops.sin(x) * x[0]),
    "vmap": ms.vmap(lambda x: ops.sin(x) * 2),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_a_batch_is_its_elements(name):
    f = ELEMENTS[name]
    close(ms.vmap(f)(t(*X)), stacked(f, X))


def test_everything_in_one_program():
    chosen = [f for name, f in ELEMENTS.items() if name not in ("constant", "hessian of a loop")]

    def all_of_them(x):
        return sum([f(x).sum() for f in chosen], t(0.0)[0])

    wanted = stacked(all_of_them, X)
    ms.set_context(mode=ms.GRAPH_MODE)
    close(ms.vmap(all_of_them)(t(*X)), wanted)


def test_layers(mode):
    net = Layers()
    wanted = np.stack([net(Tensor(x)).asnumpy() for x in X])
    close(ms.vmap(net)(t(*X)), wanted, "elementwise")


# --- axes -------------------------------------------------------------------------------------------------


def test_in_axes(mode):
    f = lambda x, y: x * y.sum() - x[0]
    close(ms.vmap(f)(t(*X), t(*Y)), stacked(f, X, Y))
    close(ms.vmap(f, (0, None))(t(*X), t(*A)), stacked(lambda x: f(x, t(*A)), X))
    close(ms.vmap(f, [1, -1])(t(*X.T), t(*Y.T)), stacked(f, X, Y))
    close(ms.vmap(f, (0, None))(t(*X), y=t(*A)), stacked(lambda x: f(x, t(*A)), X))


def test_containers_in_and_out():
    def f(given, scale):
        return {"sum": given["x"] + given["y"][0] * scale, "pair": (given["x"][0], 3, None)}

    given = {"x": t(*X), "y": [t(*Y.T)]}
    for axes in ({"x": 0, "y": 1}, {"y": [1], "x": 0}, {"x": 0, "y": (1,)}):
        actual = ms.vmap(f, (axes, None), {"sum": 1, "pair": 0})(given, 2.0)
        close(actual["sum"], (X + 2 * Y).T)
        close(actual["pair"][0], X[:, 0])
        assert actual["pair"][1:] == (3, None)


def test_out_axes():
    f = lambda x: (x * 2, x.sum(), t(7.0))
    doubled, total, constant = ms.vmap(f, out_axes=(-1, 0, None))(t(*X))
    close(doubled, 2 * X.T)
    close(total, X.sum(1))
    close(constant, [7.0])
    assert ms.vmap(lambda x: t(7.0), out_axes=1)(t(*X)).shape == (1, 3)


def test_nested(mode):
    f = lambda x, y: (x * y).sum() + x[0]
    wanted = np.array([[(x * y).sum() + x[0] for y in Y] for x in X])
    close(ms.vmap(ms.vmap(f, (None, 0)), (0, None))(t(*X), t(*Y)), wanted)
    close(ms.vmap(ms.vmap(f, (0, None)), (None, 0), out_axes=1)(t(*X), t(*Y)), wanted)


def test_a_decorated_function_and_a_closure():
    y = t(*Y[0])

    @ms.vmap
    def f(x):
        return x * y

    close(f(t(*X)), X * Y[0])
    close(ms.grad(lambda y: ms.vmap(lambda x: (x * y).sum())(t(*X)))(y), X.sum(0))
    assert ops.vmap is ms.vmap


# --- derivatives ------------------------------------------------------------------------------------------


def energy(m):
    return lambda x, y: m.sin(x * y).sum() * x[0] + m.exp(y[1] * x[1])


#: what each makes of vmap(f): the same in both
OF_VMAP = {
    "grad": (lambda f: ms.grad(f, (0, 1)), lambda f: jax.grad(lambda x, y: f(x, y).sum(), (0, 1))),
    "jacrev": (lambda f: ms.jacrev(f, (0, 1)), lambda f: jax.jacrev(f, (0, 1))),
    "jvp": (
        lambda f: lambda x, y: ms.jvp(f, (x, y), (y, x)),
        lambda f: lambda x, y: jax.jvp(f, (x, y), (y, x)),
    ),
    "vjp": (
        lambda f: lambda x, y: ms.vjp(f, x, y, has_aux=False)[1](x[:, 0]),
        lambda f: lambda x, y: jax.vjp(f, x, y)[1](x[:, 0]),
    ),
    "hessian": (lambda f: ms.hessian(f), lambda f: jax.hessian(f)),
}


def compare(found, wanted):
    if isinstance(wanted, tuple):
        for a, b in zip(found, wanted, strict=True):
            compare(a, b)
    else:
        assert found.shape == wanted.shape
        close(found, wanted)


def of_jax(f, *arrays):
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, jax.jit(f)(*map(jnp.asarray, arrays)))


@pytest.mark.parametrize("name", OF_VMAP)
def test_derivatives_of_vmap(name):
    here, there = OF_VMAP[name]
    compare(here(ms.vmap(energy(ops)))(t(*X), t(*Y)), of_jax(there(jax.vmap(energy(jnp))), X, Y))


def test_triples(mode):
    """grad of vmap of grad, vmap of grad of vmap, each one program in GRAPH_MODE."""
    f, g = energy(ops), energy(jnp)
    here = ms.grad(lambda x, y: (ms.vmap(ms.grad(f))(x, y) ** 2).sum())
    there = jax.grad(lambda x, y: (jax.vmap(jax.grad(g))(x, y) ** 2).sum())
    compare(here(t(*X), t(*Y)), of_jax(there, X, Y))
    here = ms.vmap(ms.grad(lambda y, x: (ms.vmap(f, (0, None))(x, y) ** 2).sum()), (0, None))
    there = jax.vmap(jax.grad(lambda y, x: (jax.vmap(g, (0, None))(x, y) ** 2).sum()), (0, None))
    compare(here(t(*Y), t(*X)), of_jax(there, Y, X))


def test_per_sample_gradients_by_weights(mode):
    net, loss = nn.Dense(2, 1), nn.MSELoss()
    weights = net.trainable_params()
    x, y = Tensor(X, ms.float32), Tensor(Y[:, :1], ms.float32)
    one = ms.grad(lambda x, y: loss(net(x.reshape(1, 2)), y.reshape(1, 1)), None, weights)
    found = ms.vmap(one)(x, y)
    residual = x.asnumpy() @ net.weight.asnumpy().T + net.bias.asnumpy() - y.asnumpy()
    close(found[0], 2 * residual[:, :, None] * x.asnumpy()[:, None])
    close(found[1], 2 * residual)
    # their sum is the gradient of the batch, also where vmap is inside
    batch = ms.grad(lambda x, y: ms.vmap(lambda x, y: loss(net(x), y))(x, y).sum(), None, weights)(x, y)
    close(batch[0], found[0].asnumpy().sum(0))


class Doubled(nn.Cell):
    """A derivative of its own: ten times as much."""

    def construct(self, x):
        return 2 * x

    def bprop(self, x, out, dout):
        return (20 * dout * x,)


def test_own_derivatives_and_stops():
    cell = Doubled()
    close(ms.vmap(ms.grad(cell))(t(*X)), 20 * X)
    close(ms.grad(ms.vmap(cell))(t(*X)), 20 * X)
    close(ms.vmap(ms.grad(lambda x: ops.stop_gradient(x) * x))(t(*X)), X)


# --- refusals -----------------------------------------------------------------------------------------------


def test_values_are_not_known():
    with pytest.raises(RuntimeError, match="float\\(\\) reads the value") as caught:
        ms.vmap(lambda x: x * float(x.sum()))(t(*X))
    assert "vmap traces its function as if it were compiled, even in PYNATIVE_MODE." in caught.value.__notes__


def test_errors_of_axes(mode):
    f, two, x = lambda x: x * 2, lambda x, y: x * y, t(*X)
    for name in ("in_axes", "out_axes"):
        for wrong in ("a", 1.0, True, (0, "b"), [[0.5]]):
            with pytest.raises(RuntimeError, match=f"the elements of '{name}' must be an int or None"):
                ms.vmap(f, **{name: wrong})
        with pytest.raises(RuntimeError, match=f"'{name}' must not be empty"):
            ms.vmap(f, **{name: ()})
    for none in (None, (None, None), ({"a": None},)):
        with pytest.raises(RuntimeError, match="at least one element of 'in_axes' must not be None"):
            ms.vmap(f, none)
    cases = [
        (lambda: ms.vmap(two, (0,))(x, x), "it has 1 elements, .* number of arguments is 2"),
        (lambda: ms.vmap(f, 2)(x), r"axis 2 in 'in_axes' is out of bounds for argument 0 'x' .*\[-2, 2\)"),
        (lambda: ms.vmap(f)(x[0, 0]), "out of bounds for argument 0 'x' .* has no axes"),
        (lambda: ms.vmap(f, out_axes=3)(x), "axis 3 in 'out_axes' is out of bounds for the result"),
        (lambda: ms.vmap(two)(x, x[:2]), "argument 0 'x' has 3 along axis 0 .* argument 1 'y' has 2"),
        (lambda: ms.vmap(two)(x, 2.0), r"argument 1 'y' is the float 2\.0, which has no axis 0"),
        (lambda: ms.vmap(f, out_axes=None)(x), "'out_axes' of the result is None, but"),
        (
            lambda: ms.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(x),
            "the result is a tuple of 2, but got 3 axes",
        ),
        (lambda: ms.vmap(f, ({"a": 0},))(x), "not a container of 1"),
        (lambda: ms.vmap(lambda d: d["a"], ({"b": 0},))({"a": x}), r"has the keys \['b'\], but"),
        (lambda: ms.vmap(lambda d, e: e, (0, None))(None, x), "nothing is mapped"),
    ]
    for call, text in cases:
        with pytest.raises(RuntimeError, match=text):
            call()
    with pytest.raises(TypeError, match="must be a 'Function' or 'Cell'"):
        ms.vmap(3)
    with pytest.raises(
        TypeError, match="number of the function is 1, but the number of provided arguments is 2"
    ):
        ms.vmap(f)(x, x)
