"""``hessian``, ``hvp``, ``vhp`` and ``ggnvp`` against jax, against nested gradients and against formulas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from tests.tolerances import assert_close

MODES = {"graph": ms.GRAPH_MODE, "pynative": ms.PYNATIVE_MODE}


@pytest.fixture(params=MODES.values(), ids=MODES)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


@pytest.fixture(autouse=True)
def eager():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


def t(*values):
    return Tensor(np.array(values), ms.float64)


def close(found, wanted, kind="program"):
    assert_close(found, wanted, kind)


X, Y = np.array([0.3, -0.7, 1.1]), np.array([[0.5, -0.2, 0.4], [1.5, 0.1, -0.6]])
V, W = np.array([1.0, -0.5, 0.25]), np.array([[0.1, 0.2, 0.3], [-0.4, 0.5, 0.6]])


def scalar(m):
    return lambda x, y: (m.tanh(m.matmul(y, x)) * m.sin(x).sum()).sum() + m.exp(y * x).sum()


def vector(m):
    return lambda x, y: m.sin(m.matmul(y, x)) * x[0]


def of_jax(f, *args):
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, jax.jit(f)(*map(jnp.asarray, args)))


# --- Hessians ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", [scalar, vector])
def test_blocks_are_those_of_jax(program, mode):
    actual = ms.hessian(program(ops), (0, 1))(t(*X), t(*Y))
    wanted = of_jax(jax.hessian(program(jnp), (0, 1)), X, Y)
    assert isinstance(actual, tuple)
    assert isinstance(actual[0], tuple)
    for row, wanted_row in zip(actual, wanted, strict=True):
        for block, wanted_block in zip(row, wanted_row, strict=True):
            assert block.shape == wanted_block.shape
            close(block, wanted_block)


def test_an_int_gives_one_tensor_and_a_tuple_of_one_a_tuple():
    wanted = of_jax(jax.hessian(scalar(jnp), 1), X, Y)
    close(ms.hessian(scalar(ops), 1)(t(*X), t(*Y)), wanted)
    close(ms.hessian(scalar(ops), (1,))(t(*X), t(*Y))[0][0], wanted)
    close(ms.hessian(scalar(ops), 1)(t(*X), y=t(*Y)), wanted)


def test_hessian_is_the_jacobian_of_the_jacobian():
    x = t(*X)
    f = lambda x: vector(ops)(x, t(*Y))
    for outer in (ms.jacfwd, ms.jacrev):
        for inner in (ms.jacfwd, ms.jacrev):
            close(ms.hessian(f)(x), outer(inner(f))(x).asnumpy())


def test_several_outputs_and_aux():
    f = lambda x: {"a": (x * x * x).sum(), "b": (x * x, 3)}
    actual = ms.hessian(f)(t(2.0, 3.0))
    close(actual["a"], np.diag([12.0, 18.0]))
    assert actual["b"][0].shape == (2, 2, 2)
    assert actual["b"][1] == ()
    close(actual["b"][0].sum(), 4.0)
    matrix, aux = ms.hessian(lambda x: ((x * x).sum(), x + 1, 5), has_aux=True)(t(2.0, 3.0))
    close(matrix, 2 * np.eye(2))
    close(aux[0], [3.0, 4.0])
    assert aux[1] == 5


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(t(0.5, -1.0), name="w")
        self.b = Parameter(t(0.2), name="b")

    def construct(self, x):
        return (ops.tanh(self.w * x + self.b) * x).sum()


def net_of_jax(x, w, b):
    return (jnp.tanh(w * x + b) * x).sum()


def test_weights(mode):
    net, x = Net(), np.array([0.7, 1.3])
    weights = ParameterTuple(net.trainable_params())
    point = x, net.w.asnumpy(), net.b.asnumpy()
    wanted = of_jax(jax.hessian(net_of_jax, (0, 1, 2)), *point)
    both = ms.hessian(net, 0, weights=weights)(t(*x))
    only = ms.hessian(net, None, weights=weights)(t(*x))
    for i in range(2):
        for j in range(2):
            close(only[i][j], wanted[i + 1][j + 1])
            close(both[1][i][1][j], wanted[i + 1][j + 1])
        close(both[0][1][i], wanted[0][i + 1])
        close(both[1][i][0], wanted[i + 1][0])
    close(both[0][0], wanted[0][0])
    close(ms.hessian(net, None, weights=net.w)(t(*x)), wanted[1][1])


def test_loop_and_branch_in_a_program(mode):
    def f(x):
        s = x
        while s.sum() < 10.0:
            s = s * s + x if s.max() > 1.5 else s * 1.5
        return s.sum()

    found = ms.hessian(f)(t(1.2, 0.8))

    at = np.array([1.2, 0.8])
    iterations, s = [], at
    while s.sum() < 10.0:
        iterations.append(s.max() > 1.5)
        s = s * s + at if iterations[-1] else s * 1.5
    assert len(set(iterations)) == 2

    def fixed(x):
        """The iterations at this point."""
        s = x
        for big in iterations:
            s = s * s + x if big else s * 1.5
        return s.sum()

    wanted = of_jax(jax.hessian(fixed), at)
    assert np.abs(wanted).max() > 1
    close(found, wanted)


# --- products -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("product", [ms.hvp, ms.vhp])
def test_products_are_those_with_the_hessian(product, mode):
    x, y, v, w = t(*X), t(*Y), t(*V), t(*W)
    f = scalar(ops)
    hxx, hxy, hyx, hyy = (h for row in of_jax(jax.hessian(scalar(jnp), (0, 1)), X, Y) for h in row)
    close(product(f)(x, y, v), hxx @ V)
    both = product(f, (0, 1))(x, y, (v, w))
    close(both[0], hxx @ V + np.einsum("iab,ab->i", hxy, W))
    close(both[1], np.einsum("abi,i->ab", hyx, V) + np.einsum("abcd,cd->ab", hyy, W))
    close(product(f, 1)(x, y, v=w), np.einsum("abcd,cd->ab", hyy, W))


def test_products_with_weights():
    net, x = Net(), np.array([0.7, 1.3])
    point = x, net.w.asnumpy(), net.b.asnumpy()
    h = of_jax(jax.hessian(net_of_jax, (0, 1, 2)), *point)
    vx, vw, vb = np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.array([3.0])
    weights = net.trainable_params()
    for product in (ms.hvp, ms.vhp):
        by_w, by_b = product(net, None, weights=weights)(t(*x), (t(*vw), t(*vb)))
        close(by_w, h[1][1] @ vw + h[1][2] @ vb)
        close(by_b, h[2][1] @ vw + h[2][2] @ vb)
        by_x, (by_w, _) = product(net, 0, weights=weights)(t(*x), (t(*vx), (t(*vw), t(*vb))))
        close(by_x, h[0][0] @ vx + h[0][1] @ vw + h[0][2] @ vb)
        close(by_w, h[1][0] @ vx + h[1][1] @ vw + h[1][2] @ vb)
        close(product(net, None, weights=net.w)(t(*x), t(*vw)), h[1][1] @ vw)


def test_product_with_aux():
    product, aux = ms.hvp(lambda x: ((x * x * x).sum(), x * 2), has_aux=True)(t(1.0, 2.0), t(1.0, 10.0))
    close(product, [6.0, 120.0])
    close(aux[0], [2.0, 4.0])


def softmax_loss(m, targets):
    def loss(z):
        return (m.log(m.exp(z).sum()) - (z * targets).sum()).sum()

    return loss


def gauss_newton(f, loss, x, v):
    """The matrix, made whole, times v."""
    jacobian, curvature = of_jax(lambda x: (jax.jacfwd(f)(x), jax.hessian(loss)(f(x))), x)
    return jacobian.T @ curvature @ jacobian @ v


def test_gauss_newton_product(mode):
    y, targets = t(*Y), np.array([0.0, 1.0])
    model = lambda x: ops.tanh(ops.matmul(y, x)) * x[0]
    model_of_jax = lambda x: jnp.tanh(Y @ x) * x[0]
    found = ms.ggnvp(model, softmax_loss(ops, t(*targets)))(t(*X), t(*V))
    close(found, gauss_newton(model_of_jax, softmax_loss(jnp, targets), X, V))
    found = ms.ggnvp(model)(t(*X), t(*V))
    close(found, gauss_newton(model_of_jax, lambda z: (z * z).sum() / 2, X, V))


def test_gauss_newton_of_several_results():
    """One result twice, one that depends on another, one constant, and one that the loss does not use."""
    model = lambda x: (x * x, ops.sin(x * x), x * x, 2.0 * ops.ones_like(x), x)
    loss = lambda z: (z[0] * z[1] * z[2] * z[3] + z[1] ** 3).sum()
    x, v = t(*X), t(*V)
    found = ms.ggnvp(model, loss)(x, v)
    stacked = lambda x: jnp.concatenate([x * x, jnp.sin(x * x), x * x, x])
    loss_of_jax = lambda z: (2.0 * z[:3] * z[3:6] * z[6:9] + z[3:6] ** 3).sum()
    close(found, gauss_newton(stacked, loss_of_jax, X, V))


def test_gauss_newton_by_weights_and_its_derivative():
    net, x = Net(), t(0.7, 1.3)
    loss = lambda z: (z**4).sum()
    vw, vb = t(0.5, -1.0), t(3.0)
    by_w, by_b = ms.ggnvp(net, loss, None, net.trainable_params())(x, (vw, vb))
    jacobian = np.concatenate([g.asnumpy() for g in ms.grad(net, None, net.trainable_params())(x)])
    value = net(x).asnumpy()
    wanted = 12 * value**2 * jacobian * (jacobian @ [0.5, -1.0, 3.0])
    close(by_w, wanted[:2])
    close(by_b, wanted[2:])
    # for a linear model it is the Hessian of the whole, and so are its derivatives
    linear = lambda x: ops.matmul(t(*Y), x)
    whole = lambda x: (linear(x) ** 4).sum()
    product = lambda x: ms.ggnvp(linear, lambda z: (z**4).sum())(x, t(*V))
    close(ms.jacrev(product)(t(*X)), ms.jacfwd(lambda x: ms.hvp(whole)(x, t(*V)))(t(*X)).asnumpy())


# --- mixtures -------------------------------------------------------------------------------------------

M = np.array([[1.0, 0.4, -0.2], [-0.3, 0.8, 0.5], [0.2, -0.1, 0.6]])

#: what each makes of a function R³ → R, again such a function
STEPS = {
    "hessian": (
        lambda f: lambda x: (ms.hessian(f)(x) * t(*M)).sum(),
        lambda f: lambda x: (jax.hessian(f)(x) * M).sum(),
    ),
    "hvp": (
        lambda f: lambda x: (ms.hvp(f)(x, t(*V)) * x).sum(),
        lambda f: lambda x: (jax.jvp(jax.grad(f), (x,), (jnp.asarray(V),))[1] * x).sum(),
    ),
    "vhp": (
        lambda f: lambda x: (ms.vhp(f)(x, t(*V)) * x).sum(),
        lambda f: lambda x: (jax.jvp(jax.grad(f), (x,), (jnp.asarray(V),))[1] * x).sum(),
    ),
    "grad": (
        lambda f: lambda x: (ms.grad(f)(x) * t(*V)).sum(),
        lambda f: lambda x: (jax.grad(f)(x) * V).sum(),
    ),
    "jit": (ms.jit, lambda f: f),
}


@pytest.mark.parametrize("outer", STEPS)
def test_pairs(outer):
    start, oracle = (
        lambda x: (ops.sin(x) * ops.exp(x[0] * x)).sum(),
        lambda x: (jnp.sin(x) * jnp.exp(x[0] * x)).sum(),
    )
    for inner in STEPS:
        found, wanted = start, oracle
        for name in (inner, outer):
            found, wanted = STEPS[name][0](found), STEPS[name][1](wanted)
        close(found(t(*X)), of_jax(wanted, X))


def test_a_pair_inside_one_program():
    f = lambda x: (ops.sin(x) * ops.exp(x[0] * x)).sum()
    chain = lambda x: STEPS["grad"][0](STEPS["hvp"][0](STEPS["hessian"][0](f)))(x)
    wanted = chain(t(*X)).asnumpy()
    close(ms.jit(chain)(t(*X)), wanted)
    ms.set_context(mode=ms.GRAPH_MODE)
    close(
        STEPS["hvp"][0](STEPS["hessian"][0](f))(t(*X)),
        STEPS["vhp"][0](STEPS["hessian"][0](f))(t(*X)).asnumpy(),
    )


# --- refusals -------------------------------------------------------------------------------------------


def test_errors():
    f, x = lambda x: (x * x).sum(), t(1.0, 2.0)
    for make in (ms.hessian, ms.hvp, ms.vhp):
        with pytest.raises(TypeError, match="must be a 'Function' or 'Cell'"):
            make(3)
        with pytest.raises(ValueError, match="can not be None at the same time"):
            make(f, None)
        with pytest.raises(ValueError, match="duplicate positions"):
            make(f, (0, 0))
    with pytest.raises(IndexError, match="out of range"):
        ms.hessian(f, 1)(x)
    with pytest.raises(TypeError, match="must be real"):
        ms.hessian(f)(Tensor(np.array([1j, 2.0])))
    with pytest.raises(TypeError, match="For 'hvp', the last argument, 'v', is missing"):
        ms.hvp(f)()
    with pytest.raises(TypeError, match="parameters number of the function is 1"):
        ms.hvp(f)(x)
    with pytest.raises(
        ValueError, match=r"For 'hvp', the 'v' .* shape of v should be \(2,\), but got \(1,\)"
    ):
        ms.hvp(f)(x, t(1.0))
    with pytest.raises(TypeError, match="the dtype of v should be Float64"):
        ms.vhp(f)(x, Tensor([1.0, 2.0], ms.float32))
    with pytest.raises(TypeError, match="v should be a tuple of length 1"):
        ms.hvp(f, (0,))(x, x)
    net = Net()
    with pytest.raises(ValueError, match="appears twice in 'weights'"):
        ms.hvp(net, None, weights=[net.w, net.w])
    with pytest.raises(TypeError, match="must be a 'Function' or 'Cell'"):
        ms.ggnvp(f, 3)
