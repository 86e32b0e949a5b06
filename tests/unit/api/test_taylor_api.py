"""``jet``, ``derivative`` and ``taylor``: against nested gradients, jax's nested forward mode, and formulas."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import jet as jax_jet

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.frontend.programs.compiled import trace
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


# --- the results of MindSpore 2.x -------------------------------------------------------------------


def test_derivatives_of_the_sine(mode):
    out, series = ops.jet(ops.sin, Tensor(1.0), Tensor([1.0, 0.0, 0.0]))
    close(out, math.sin(1), "elementwise")
    close(series, [math.cos(1), -math.sin(1), -math.cos(1)], "elementwise")
    assert series.dtype == ms.float32
    out, third = ops.derivative(ops.sin, Tensor(1.0), 3)
    close(out, math.sin(1), "elementwise")
    close(third, -math.cos(1), "elementwise")


def test_two_inputs_move_together():
    out, second = ops.derivative(lambda x, y: x * y, (Tensor(2.0), Tensor(3.0)), 2)
    assert (float(out), float(second)) == (6.0, 2.0)


def test_integers_become_float32():
    out, series = ops.jet(lambda x: x * x, Tensor([2, 3]), Tensor([[1, 1], [0, 0]]))
    assert out.dtype == series.dtype == ms.float32
    close(series, [[4.0, 6.0], [2.0, 2.0]])
    assert ops.derivative(lambda x: x * x, Tensor([2, 3]), 1)[1].dtype == ms.float32


def test_errors():
    x = t(1.0, 2.0)
    with pytest.raises(
        ValueError, match="In series, the shape of each element must be the same as the primals"
    ):
        ops.jet(ops.sin, x, t(1.0, 0.0, 0.0))
    with pytest.raises(
        ValueError, match=r"`F\.derivative`, value of order should not be less than 1, but got 0"
    ):
        ops.derivative(ops.sin, x, 0)
    for order in (1.0, True, None):
        with pytest.raises(TypeError, match=r"For `F\.derivative`, the type of order must be int"):
            ops.derivative(ops.sin, x, order)
    with pytest.raises(
        TypeError, match="'series' must have the same type as 'primals', Tensor, but got tuple"
    ):
        ops.jet(ops.sin, x, (x,))
    with pytest.raises(
        ValueError, match="length of 'series' must equal the length of 'primals', 2, but got 1"
    ):
        ops.jet(ops.mul, (x, x), (t([1.0, 0.0]),))
    with pytest.raises(
        ValueError, match=r"all elements of 'series' must have the same order, but the orders are \[1, 2\]"
    ):
        ops.jet(ops.mul, (x, x), (t([1.0, 0.0]), t([1.0, 0.0], [0.0, 0.0])))
    with pytest.raises(
        TypeError, match="dtype of series 0 must be the dtype of its primal, Float64, but got Float32"
    ):
        ops.jet(ops.sin, x, Tensor([[1.0, 0.0]], ms.float32))
    with pytest.raises(ValueError, match="must contain at least one order"):
        ops.jet(ops.sin, x, Tensor(np.zeros((0, 2))))
    with pytest.raises(
        TypeError, match="'primals' must be a Tensor, or a tuple or list of Tensors, but got float"
    ):
        ops.jet(ops.sin, 1.0, x)
    with pytest.raises(
        TypeError, match="the elements of 'series' must be Tensors, but element 0 is of type float"
    ):
        ops.jet(ops.sin, (x,), (1.0,))
    with pytest.raises(ValueError, match="at least one input"):
        ops.derivative(lambda: x, (), 1)
    with pytest.raises(
        TypeError, match="number of the function is 1, but the number of provided arguments is 2"
    ):
        ops.derivative(lambda x: x, (x, x), 1)
    with pytest.raises(TypeError, match="must be a 'Function' or 'Cell'"):
        ops.taylor(3, x, 1)
    with pytest.raises(ValueError, match="order should not be less than 0"):
        ops.taylor(ops.sin, x, -1)
    with pytest.raises(ValueError, match=r"shape of direction should be \(2,\), but got \(1,\)"):
        ops.taylor(ops.sin, x, 1, t(1.0))


# --- formulas and oracles -----------------------------------------------------------------------------


def test_known_series(mode):
    zero = t(0.0)[0]
    f = lambda x: (ops.exp(x), ops.log(1 + x), ops.sqrt(1 + x), ops.tanh(x), 1 / (1 - x))
    exp, log, root, tanh, geometric = ops.taylor(f, zero, 6)
    close(exp, [1 / math.factorial(k) for k in range(7)])
    close(log, [0, *[(-1) ** (k + 1) / k for k in range(1, 7)]])
    close(root, [1, 1 / 2, -1 / 8, 1 / 16, -5 / 128, 7 / 256, -21 / 1024])
    close(tanh, [0, 1, 0, -1 / 3, 0, 2 / 15, 0])
    close(geometric, np.ones(7))


def test_high_order():
    """Order 40, where nested derivatives are out of reach: 1/(1 − s) has the coefficients 1."""
    close(ops.taylor(lambda x: 1 / (1 - x), t(0.0)[0], 40), np.ones(41))
    _, found = ops.derivative(ops.exp, t(0.5), 30)
    close(found, [math.exp(0.5)])


ROOTS = {
    "quotient": lambda x: 1 / (2 - x),
    "quotient of series": lambda x: x / (1 + x * x),
    "root": lambda x: ops.sqrt(1 + x),
    "logarithm": lambda x: ops.log(1 + x),
    "power": lambda x: (1 + x) ** 2.5,
    "tanh": ops.tanh,
}


@pytest.mark.parametrize("name", ROOTS)
def test_size_grows_with_the_square_of_the_order(name):
    sizes = [len(trace(lambda x: ops.taylor(ROOTS[name], x, k), t(0.3))) for k in (10, 20, 40)]  # noqa: B023
    assert sizes[2] - sizes[1] < 4.5 * (sizes[1] - sizes[0])


def test_a_quotient_that_is_not_taken():
    """Zero times infinity: where the divisor is masked the series is zero, as are nested derivatives."""

    def f(x):
        safe = ops.select(x > 0, x, ops.zeros_like(x))
        return ops.select(x > 0, ops.sqrt(safe) + 1 / safe, ops.zeros_like(x))

    wanted = [[0.0, 2.25], [0.0, 0.25 - 1 / 16], [0.0, -1 / 64 + 1 / 64]]
    close(ops.taylor(f, t(0.0, 4.0), 2), wanted)
    close(2 * ops.taylor(f, t(0.0, 4.0), 2)[2], ms.grad(ms.grad(f))(t(0.0, 4.0)).asnumpy())


def test_order_zero_is_the_value():
    found = ops.taylor(lambda x, y: (x * y, 2), (t(2.0), t(3.0)), 0)
    close(found[0], [[6.0]])


def field(m):
    """Two inputs, products, divisions, reductions and a matrix product."""
    a = np.array([[1.0, 0.4], [-0.3, 0.8]])
    return lambda x, y: m.tanh(m.matmul(ops_like(m, a), x) * y) / (2 + m.sin(x).sum()) + m.exp(-y * y)


def ops_like(m, array):
    return Tensor(array) if m is ops else jnp.asarray(array)


X, Y = np.array([0.3, -0.7]), np.array([1.1, 0.4])
RNG = np.random.default_rng(3)
DX, DY = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2))


def test_against_jax_jet(mode):
    out, series = ops.jet(field(ops), (t(*X), t(*Y)), (t(*DX), t(*DY)))
    with jax.enable_x64(True):
        run = lambda x, y, dx, dy: jax_jet.jet(field(jnp), (x, y), ([*dx], [*dy]))
        wanted, derivatives = jax.jit(run)(X, Y, DX, DY)
    close(out, wanted)
    close(series, np.stack(derivatives))


def test_derivative_is_nested_forward_mode(mode):
    f = lambda x: field(ops)(x, t(*Y))
    nested, one = f, t(1.0, 1.0)
    for _ in range(3):
        nested = (lambda g: lambda x: ms.jvp(g, x, one)[1])(nested)
    found = ops.derivative(f, t(*X), 3)[1]
    if mode == ms.PYNATIVE_MODE:
        close(found, nested(t(*X)).asnumpy())
    close(ops.taylor(f, t(*X), 3)[3] * 6, found.asnumpy())


def test_direction():
    f, v = lambda x: field(ops)(x, t(*Y)), t(0.5, -2.0)
    c = ops.taylor(f, t(*X), 2, v)
    close(c[1], ms.jvp(f, t(*X), v)[1].asnumpy())
    hessian = ms.hessian(f)(t(*X)).asnumpy()
    close(2 * c[2], np.einsum("oij,i,j->o", hessian, [0.5, -2.0], [0.5, -2.0]))
    both = ops.taylor(field(ops), (t(*X), t(*Y)), 1, (v, t(0.0, 0.0)))
    close(both[1], c[1].asnumpy())


def looped(x):
    while x.sum() < 20.0:
        x = x * x + 1.0 if x.max() > 1.5 else x * 2.0
    return x


def test_control_flow(mode):
    """Polynomials, so that derivatives are known: at 1.2 the iterations are 2 x, then (2 x)² + 1, … ."""
    one = lambda x: ((2 * x) ** 2 + 1) ** 2 + 1
    known = np.polynomial.Polynomial([0, 1])
    expected = one(known)
    assert_close(looped(t(1.2)).sum(), expected(1.2), kind="program")
    c = ops.taylor(looped, t(1.2), 4)
    close(c[:, 0], [expected.deriv(k)(1.2) / math.factorial(k) if k else expected(1.2) for k in range(5)])


def test_structure_of_the_result():
    f = lambda x: {"a": x * x, "b": [ops.sin(x), 3, None]}
    out, series = ops.jet(f, t(2.0), t([1.0], [0.0]))
    assert series["b"][1:] == [0.0, None]
    assert out["b"][1:] == [3, None]
    close(series["a"], [[4.0], [2.0]])
    series = ops.jet(f, [t(2.0)], [t([1.0], [0.0])])[1]
    close(series["a"], [[4.0], [2.0]])


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(t(0.5, -1.0), name="w")

    def construct(self, x):
        return ops.tanh(self.w * x)


def test_gradient_of_a_derivative_by_weights(mode):
    net, x = Net(), np.array([0.7, 1.3])
    loss = lambda x: (ops.derivative(net, x, 3)[1] ** 2).sum()
    value, (found,) = ms.value_and_grad(loss, None, net.trainable_params())(t(*x))

    def loss_of_jax(w):
        f = lambda x, w: jnp.tanh(w * x)
        third = jax.grad(jax.grad(jax.grad(f)))
        return (jax.vmap(third)(jnp.asarray(x), w) ** 2).sum()

    with jax.enable_x64(True):
        wanted_value, wanted = jax.jit(jax.value_and_grad(loss_of_jax))(jnp.asarray(net.w.asnumpy()))
    close(value, wanted_value)
    close(found, wanted)


# --- mixtures ---------------------------------------------------------------------------------------------

V = t(1.0, 0.5)

#: what each makes of a function R² → R² and, pointwise in u = x₀ x₁ or not, again such a function
STEPS = {
    "derivative": lambda f: lambda x: ops.derivative(f, x, 2)[1],
    "jet": lambda f: lambda x: ops.jet(f, x, ops.stack([V, x, V * x]))[1][2],
    "taylor": lambda f: lambda x: ops.taylor(f, x, 2, V)[2],
    "grad": ms.grad,
    "jvp": lambda f: lambda x: ms.jvp(f, x, V)[1],
    "vjp": lambda f: lambda x: ms.vjp(f, x)[1](V)[0],
    "jit": ms.jit,
}

#: the same by nested forward and reverse mode


def along(f, x, v):
    return lambda x: ms.jvp(f, x, v)[1]


def second(f, v):
    return lambda x: ms.jvp(lambda x: ms.jvp(f, x, v)[1], x, v)[1]


def third_of_curve(f):
    """d³/ds³ f(x + s d₁ + s²/2 d₂ + s³/6 d₃) with d = (V, x, V x), by three nested forward modes."""

    def made(x):
        d1, d2, d3 = V, x, V * x
        curve = lambda s: f(x + s * d1 + s * s / 2 * d2 + s * s * s / 6 * d3)
        zero, one = t(0.0)[0], t(1.0)[0]
        for _ in range(3):
            curve = (lambda g: lambda s: ms.jvp(g, s, one)[1])(curve)
        return curve(zero)

    return made


NESTED = {
    **STEPS,
    "derivative": lambda f: second(f, t(1.0, 1.0)),
    "jet": third_of_curve,
    "taylor": lambda f: lambda x: second(f, V)(x) / 2,
    "jit": lambda f: f,
}


def start(x):
    return ops.sin(ops.matmul(t([1.0, 0.4], [-0.3, 0.8]), x)) * x * x


@pytest.mark.parametrize("outer", STEPS)
def test_pairs(outer):
    for inner in STEPS:
        found = STEPS[outer](STEPS[inner](start))(t(*X))
        close(found, NESTED[outer](NESTED[inner](start))(t(*X)).asnumpy())


def test_triples_in_one_program():
    """Compiled as one program: each in every place."""
    chains = [("jet", "grad", "derivative"), ("derivative", "taylor", "vjp"), ("grad", "jet", "jvp")]

    def made(steps):
        def all_of_them(x):
            total = x
            for chain in chains:
                f = start
                for name in chain:
                    f = steps[name](f)
                total = total + f(x)
            return total

        return all_of_them

    close(ms.jit(made(STEPS))(t(*X)), made(NESTED)(t(*X)).asnumpy())
