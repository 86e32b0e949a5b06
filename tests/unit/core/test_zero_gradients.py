"""Gradients that are zero only because of a comparison, rounding, index, or draw are warned of, at the line."""

import warnings

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, mint, nn, ops

X = Tensor([0.5, 0.25])
T = Tensor(0.5)
MATRIX = Tensor([[1.0, 2.0], [3.0, -4.0]])
TIMES = Tensor(np.linspace(0, 2, 5).astype("f"))


def _branch(x):
    if ops.floor(x).sum() > 0.5:
        y = ops.ones(2)
    else:
        y = ops.zeros(2)
    return y.sum()


def _loop(x):
    total = ops.zeros(2)
    for _ in range(3):
        total = total + ops.floor(x) * X
    return total.sum()


def _while(x):
    total, iterations = ops.zeros(2), Tensor(0)
    while iterations < 3:
        total = total + ops.ceil(x)
        iterations = iterations + 1
    return total.sum()


def _carry(x):
    for _ in range(3):
        x = ops.floor(x)
    return (x * X).sum()


def _decay(x):
    for _ in range(3):
        x = ops.where(x > 0, x, 0.1 * x)
    return x.sum()


def _solution(x):
    rate = lambda y, t: ops.where(t < x.sum(), 1.0, 3.0) + 0 * y  # its jump takes many small steps
    return ms.odeint(rate, Tensor(0.0), TIMES, rtol=1e-2, atol=1e-2)[-1]


class Straight(nn.Cell):
    def construct(self, x):
        return ops.round(x)

    def bprop(self, x, out, dout):
        return (dout,)


STEPS = {
    "less": lambda x: ops.where(x.sum() > X, 1.0, 3.0).sum(),
    "integer": lambda x: (ops.rand(2) < x).sum(),
    "bernoulli": lambda x: ops.bernoulli(ops.ones(2), x).sum(),
    "mint": lambda x: mint.bernoulli(x).sum(),
    "floor": lambda x: ops.floor(x).sum(),
    "ceil": lambda x: ops.ceil(x).sum(),
    "round": lambda x: ops.round(x).sum(),
    "trunc": lambda x: ops.trunc(x).sum(),
    "sign": lambda x: (2 * x.sign()).sum(),
    "floordiv": lambda x: (x // 0.3).sum(),
    "argmax": lambda x: x.argmax().astype(ms.float32),
    "argsort": lambda x: ops.sort(x)[1].astype(ms.float32).sum(),
    "vmap": lambda x: ms.vmap(ops.floor)(x).sum(),
    "loop": _loop,
    "while": _while,
    "ode": _solution,
    "sum of mask": lambda x: (x > 0.3).astype(ms.float32).sum(),
    "logical": lambda x: ops.logical_and(x > 0.1, x < 0.4).astype(ms.float32).sum(),
    "searchsorted": lambda x: ops.searchsorted(X, x).astype(ms.float32).sum(),
    "histogram": lambda x: ops.histc(x, 4, 0.0, 1.0).sum(),
    "one-hot": lambda x: (ops.one_hot(x.argmax(), 2, Tensor(1.0), Tensor(0.0)) * X).sum(),
    "poisson": lambda x: ops.poisson((2,), x).sum(),
    "multinomial": lambda x: ops.multinomial(x, 3).astype(ms.float32).sum(),
    "categorical": lambda x: ops.random_categorical(x.reshape(1, 2), 3).astype(ms.float32).sum(),
    "heaviside": lambda x: ops.heaviside(x, Tensor(0.5)).sum(),
    "masked_fill": lambda x: ops.masked_fill(X, x > 0.3, 0.0).sum(),
    "carry": _carry,
}
SMOOTH = {
    "constant": lambda x: Tensor(1.0),
    "stopped": lambda x: ops.floor(ops.stop_gradient(x)).sum(),
    "straight through": lambda x: (x + ops.stop_gradient(ops.round(x) - x)).sum(),
    "fraction": lambda x: (x - ops.floor(x)).sum(),
    "masked": lambda x: (x * (x > 0.3)).sum(),
    "relu": lambda x: ops.relu(x).sum(),
    "abs": lambda x: ops.abs(x).sum(),
    "max": lambda x: x.max(),
    "sort": lambda x: (ops.sort(x)[0] * X).sum(),
    "dropout": lambda x: ops.dropout(x, 0.5).sum(),
    "kink": lambda x: ops.where(x > 0, x, 0.0).sum(),
    "ode": lambda x: ms.odeint(lambda y, t: -x.sum() * y, Tensor(1.0), TIMES)[-1],
    "by hand": lambda x: Straight()(x).sum(),
    "root of square": lambda x: (ops.sqrt(x) ** 2).sum(),
    "integer": lambda x: x.astype(ms.int32).astype(ms.float32).sum(),  # its derivative is 1, as in MindSpore
    "loop": _decay,
    "clip": lambda x: ops.clip(x, 0.1, 0.4).sum(),
    "leaky": lambda x: ops.leaky_relu(x).sum(),
    "rounded factor": lambda x: (x * ops.floor(x)).sum(),
    "gather": lambda x: x[x.argmax()],
    "topk": lambda x: ops.topk(x, 1)[0].sum(),
    "network": lambda x: ops.relu(MATRIX @ ops.relu(MATRIX @ x)).sum(),
}
MODES = {
    "eager": ms.grad,
    "jit": lambda f: ms.jit(ms.grad(f)),
    "inside": lambda f: ms.grad(ms.jit(f)),
}


def caught_of(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            function(*args)
    return [each for each in caught if each.category is ms.ZeroGradientWarning]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STEPS)
def test_zero_gradient_of_step_warns_once_at_its_line(name, mode):
    (warning,) = caught_of(MODES[mode](STEPS[name]), X)
    assert warning.filename == __file__
    assert warning.lineno in {line for *_, line in STEPS[name].__code__.co_lines()}
    assert "apply stop_gradient to" in str(warning.message)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_without_step_is_quiet(name, mode):
    assert not caught_of(MODES[mode](SMOOTH[name]), X)


@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivative_of_kink_is_quiet(name):
    f = SMOOTH[name]
    assert not caught_of(ms.hessian(f), X)
    assert not caught_of(ms.grad(lambda x: ms.grad(f)(x).sum()), X)
    assert not caught_of(ms.jit(ms.grad(lambda x: ms.grad(f)(x).sum())), X)
    assert not caught_of(ms.jacfwd(ms.jacrev(f)), X)


@pytest.mark.parametrize("wrapper", [lambda f: f, ms.jit])
@pytest.mark.parametrize("name", ["masked", "kink", "rounded factor", "root of square", "topk", "network"])
def test_derivative_inside_other_programs_is_quiet(name, wrapper):
    gradient = ms.grad(SMOOTH[name])
    batch = ops.stack([X, X])
    assert not caught_of(wrapper(ms.grad(lambda x: ms.vmap(gradient)(x).sum())), batch)
    assert not caught_of(wrapper(ms.grad(lambda x: ms.recompute(gradient, x).sum())), X)
    assert not caught_of(wrapper(ms.grad(lambda x: sum(gradient(x).sum() for _ in range(20)))), X)
    pulled = lambda x: ms.vjp(SMOOTH[name], x)[1](Tensor(1.0))[0].sum()
    assert not caught_of(wrapper(ms.grad(pulled)), X)
    inner = lambda x: ms.grad(lambda y: (y * gradient(x)).sum())(X).sum()
    assert not caught_of(wrapper(ms.grad(inner)), X)


DERIVATIVES = {
    "value_and_grad": lambda f: ms.value_and_grad(f)(X),
    "vjp": lambda f: ms.vjp(f, X)[1](Tensor(1.0)),
    "compiled vjp": lambda f: ms.jit(lambda x: ms.vjp(f, x)[1](Tensor(1.0)))(X),
    "jvp": lambda f: ms.jvp(f, X, X),
    "jacfwd": lambda f: ms.jacfwd(f)(X),
    "jacrev": lambda f: ms.jacrev(f)(X),
    "linearize": lambda f: ms.linearize(f, X)[1](X),
    "hessian": lambda f: ms.hessian(f)(X),
    "compiled hessian": lambda f: ms.jit(ms.hessian(f))(X),
    "hvp": lambda f: ms.hvp(f)(X, X),
    "laplacian": lambda f: ms.laplacian(f)(X),
    "grad of grad": lambda f: ms.grad(lambda x: ms.grad(f)(x).sum())(X),
    "mixed": lambda f: ms.grad(lambda x: ms.grad(lambda y: (y * y).sum() * f(x))(X).sum())(X),
    "compiled mixed": lambda f: ms.jit(ms.grad(lambda x: ms.grad(lambda y: (y * y).sum() * f(x))(X).sum()))(
        X
    ),
    "vmap": lambda f: ms.vmap(ms.grad(f))(ops.stack([X, X])),
    "recompute": lambda f: ms.grad(lambda x: ms.recompute(f, x))(X),
}


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("name", DERIVATIVES)
def test_every_derivative_of_step_warns_once_at_its_line(name, mode):
    ms.set_context(mode=mode)
    scale = 2.0 + list(DERIVATIVES).index(name)  # a new program each
    step = lambda x: (ops.ceil(x) * scale).sum()
    (warning,) = caught_of(DERIVATIVES[name], step)
    assert "'ceil'" in str(warning.message)
    assert (warning.filename, warning.lineno) == (__file__, step.__code__.co_firstlineno)


def test_forward_mode_of_step_warns():
    with pytest.warns(ms.ZeroGradientWarning, match="'floor'"):
        ms.jvp(lambda x: ops.floor(x), X, X)
    with pytest.warns(ms.ZeroGradientWarning, match="'ceil'"):
        ms.jacfwd(lambda x: ops.ceil(x))(X)


def test_value_and_grad_of_one_input_of_two_warns():
    with pytest.warns(ms.ZeroGradientWarning, match="'less'"):
        _, gradients = ms.value_and_grad(lambda a, b: (a * (a < b)).sum(), (0, 1))(X, T)
    np.testing.assert_allclose(gradients[0], [0.0, 1.0])
    assert gradients[1] == 0


def test_branch_of_compiled_function_warns():
    with pytest.warns(ms.ZeroGradientWarning, match="'floor'"):
        ms.jit(ms.grad(_branch))(X)


def test_accuracy_beside_the_loss_is_quiet():
    def forward(x):
        return (x * x).sum(), (x > 0.3).astype(ms.float32).mean()

    assert not caught_of(ms.value_and_grad(forward, has_aux=True), X)
    assert not caught_of(ms.jit(ms.value_and_grad(forward, has_aux=True)), X)


def test_truth_values_and_integers_are_quiet():
    assert not caught_of(ms.grad(lambda x, m: (x * m).sum(), (0, 1)), X, Tensor([True, False]))
    assert not caught_of(ms.grad(lambda x, n: (x * (n > 1)).sum(), (0, 1)), X, Tensor([1, 2]))


def test_residual_with_inner_gradient_warns_of_the_threshold_only():
    def residual(x, threshold):
        slope = ms.grad(lambda z: ops.relu(MATRIX @ z).sum())(x)
        return ((slope - ops.where(x < threshold, 1.0, 3.0)) ** 2).sum()

    assert not caught_of(ms.grad(residual), X, T)
    (warning,) = caught_of(ms.grad(residual, (0, 1)), X, T)
    assert "'less'" in str(warning.message)
    assert not caught_of(ms.jit(ms.grad(residual)), X, T)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([1.0, 2.0]), name="weight")
        self.threshold = Parameter(Tensor([0.3]), name="threshold")
        self.unused = Parameter(Tensor([1.0]), name="unused")

    def construct(self, x):
        return (self.weight * x * (x > self.threshold)).sum()


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_parameter_of_comparison_warns_and_unused_one_does_not(mode):
    ms.set_context(mode=mode)
    net = Net()
    weights = net.trainable_params()
    with pytest.warns(ms.ZeroGradientWarning) as caught:
        ms.value_and_grad(net, None, weights)(X)
    assert {each.lineno for each in caught} == {Net.construct.__code__.co_firstlineno + 1}
    del weights[1]
    assert not caught_of(ms.value_and_grad(net, None, weights), X)
