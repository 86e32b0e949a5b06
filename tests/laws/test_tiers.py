"""Law: a call of eager mode returns the same operator by operator and compiled, and the same as ``jit``.

    f(x) operator by operator = f(x) recorded = f(x) as one program = jit(f)(x)    to rounding

The inputs of each call differ from those of the calls before, so that no value of one call can hide in the
program that is made of it.
"""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.base.tree import flatten
from tests.programs.corpus import (  # noqa: F401  (they fill PROGRAMS)
    contraction,
    control,
    drawn,
    indexing,
    layout,
    nested,
    nets,
    physics,
    pointwise,
    reductions,
    types,
)
from tests.programs.corpus.program import PROGRAMS
from tests.tiers import arrays, eager, is_compiled
from tests.tolerances import assert_close

pytestmark = pytest.mark.numpy  # eager mode does the same with a program whoever runs it


def agree(ours, theirs, what, rtol, atol):
    assert len(ours) == len(theirs), what
    for index, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(y, np.ndarray):
            assert (x.shape, x.dtype) == (y.shape, y.dtype), what
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg=f"{what}, result {index}")


class Whole(nn.Cell):
    """A Cell that is a function, whose calls have tiers like those of any Cell."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *args):
        return self.function(*args)


def floats(tree):
    return [x for x in flatten(tree)[0] if isinstance(x, Tensor) and x.dtype.is_inexact]


def weighted(tensors):
    """A number that depends on all of them, and on each element of them differently."""
    total = Tensor(0.0, ms.float64)
    for t in tensors:
        weights = np.cos(np.arange(t.size)).reshape(t.shape) + 1.5
        total = total + ops.reduce_sum(ops.real(t * Tensor(weights.astype(np.float64))).astype(ms.float64))
    return total


def value_and_gradient(f, weights, positions):
    return ms.value_and_grad(lambda *xs: weighted(floats(f(*xs))), positions, weights or None)


def gradient_of_gradient(f, weights, positions):
    slope = lambda *xs: weighted(floats(ms.grad(lambda *xs: weighted(floats(f(*xs))), positions)(*xs)))
    return ms.grad(slope, positions)


def forward(f, weights, positions):
    return Whole(lambda *xs: ops.jvp(tensors_of(f), xs, tuple([x * 0.5 + 1 for x in xs])))


def forward_over_reverse(f, weights, positions):
    gradient = ms.grad(lambda *xs: weighted(floats(f(*xs))), positions)
    return Whole(lambda *xs: ops.jvp(gradient, xs, tuple([x * 0.5 + 1 for x in xs])))


def value(f, weights, positions):
    return Whole(f)


DERIVATIVES = [value_and_gradient, gradient_of_gradient, forward, forward_over_reverse, value]


def tensors_of(function):
    """``function``, of whose results only the tensors are left."""
    return lambda *xs: tuple([x for x in flatten(function(*xs))[0] if isinstance(x, Tensor)])


def calls_of(xs, count=4):
    """Inputs that differ from call to call, by factors near to 1: no sign changes."""
    return [
        [Tensor(x * x.dtype.type(1 + 0.01 * k)) if x.dtype.kind in "fc" else Tensor(x) for x in xs]
        for k in range(count)
    ]


#: one derivative of each program, and a second one of every other
CASES = [(name, DERIVATIVES[(k + j) % 5]) for k, name in enumerate(PROGRAMS) for j in range(2 - k % 2)]


@pytest.mark.parametrize(("name", "derive"), [pytest.param(*c, id=f"{c[0]}-{c[1].__name__}") for c in CASES])
def test_eager_calls_of_the_corpus_agree_when_compiled(name, derive):
    program = PROGRAMS[name]
    function, weights, others = program.parts()
    xs = program.inputs()
    f = lambda *xs: function(*xs, *others)
    calls = calls_of(xs)
    positions = tuple(range(len(xs)))
    with eager("numpy"):
        cold = derive(f, weights, positions)
        expected = [arrays(cold(*call)) for call in calls]
    ms.clear_cache()  # functions of one code have their lines in common
    with eager("compiled"):
        hot = derive(f, weights, positions)
        for number, call in enumerate(calls):
            agree(arrays(hot(*call)), expected[number], f"call {number + 1}", max(program.rtol, 1e-8), 1e-9)
            if number == 2:
                assert is_compiled(hot), ms.cache_info(hot).eager


@pytest.mark.parametrize("first", ["eager", "jit"])
@pytest.mark.parametrize("name", list(PROGRAMS)[::9])
def test_eager_calls_agree_with_jit_in_both_orders(name, first):
    program = PROGRAMS[name]
    function, _, others = program.parts()
    xs = program.inputs()
    positions = tuple(range(len(xs)))
    loss = lambda *xs: weighted(floats(function(*xs, *others)))
    ms.clear_cache()
    with eager("compiled"):
        both = {"eager": ms.grad(loss, positions), "jit": ms.jit(ms.grad(loss, positions))}
        calls = calls_of(xs, 5)
        order = ["eager", "jit"] if first == "eager" else ["jit", "eager"]
        results = {which: [arrays(both[which](*call)) for call in calls] for which in order}
        assert is_compiled(both["eager"])
    for ours, theirs in zip(results["eager"], results["jit"], strict=True):
        agree(ours, theirs, name, max(program.rtol, 1e-8), 1e-9)


# -- training --------------------------------------------------------------------------------------------


class Net(nn.Cell):
    """Dense layers with batch normalization and dropout."""

    def __init__(self):
        super().__init__()
        ramp = np.linspace(-0.5, 0.5, 15, dtype=np.float32).reshape(5, 3)
        # without a bias: its gradient is zero before a normalization, and Adam would follow its rounding
        self.first = nn.Dense(3, 5, weight_init=Tensor(ramp), has_bias=False)
        self.normal = nn.BatchNorm1d(5)
        self.dropout = nn.Dropout(p=0.3)
        self.last = nn.Dense(
            5, 2, weight_init=Tensor(np.ascontiguousarray(ramp.reshape(-1)[:10].reshape(2, 5)))
        )

    def construct(self, x):
        return self.last(self.dropout(ops.tanh(self.normal(self.first(x)))))


class Scaled(nn.Cell):
    """A step of training with a loss scale that changes."""

    def __init__(self, net, optimizer):
        super().__init__()
        self.optimizer = optimizer
        self.scale = Parameter(Tensor(8.0), name="scale", requires_grad=False)
        self.gradient = ms.value_and_grad(
            lambda x, y, s: ((net(x) - y) ** 2).mean() * s, None, optimizer.parameters
        )

    def construct(self, x, y):
        value, gradients = self.gradient(x, y, self.scale.value())
        self.optimizer(tuple([g / self.scale for g in gradients]))
        self.scale.set_data(self.scale * 0.5)
        return value


def by_cell(net, optimizer):
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)


def by_functions(net, optimizer):
    gradient = ms.value_and_grad(lambda x, y: nn.MSELoss()(net(x), y), None, optimizer.parameters)

    def step(x, y):
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    return step


OPTIMIZERS = {
    "Adam": lambda weights: nn.Adam(weights, learning_rate=nn.ExponentialDecayLR(0.05, 0.9, 2)),
    "SGD": lambda weights: nn.SGD(weights, 0.05, momentum=0.5, weight_decay=0.01),
    "Momentum": lambda weights: nn.Momentum(weights, 0.05, 0.9, use_nesterov=True),
}


@pytest.mark.parametrize("train", [by_cell, by_functions, Scaled])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_eager_training_agrees_when_compiled(name, train):
    generator = np.random.default_rng(3)
    batches = [(generator.normal(size=(8, 3)), generator.normal(size=(8, 2))) for _ in range(6)]
    results = {}
    for switch in ("numpy", "compiled"):
        with eager(switch):
            ms.set_seed(11)
            net = Net().set_train()
            optimizer = OPTIMIZERS[name](net.trainable_params())
            step = train(net, optimizer)
            losses = [step(*[Tensor(a.astype(np.float32)) for a in batch]).asnumpy() for batch in batches]
            parameters = {p.name: p.asnumpy() for p in [*net.get_parameters(), *optimizer.get_parameters()]}
            results[switch] = (losses, parameters, ops.rand(3).asnumpy())
            if switch == "compiled":
                assert is_compiled(optimizer if train is by_functions else step)
    (losses, parameters, drawn_after), (hot_losses, hot_parameters, hot_after) = results.values()
    assert_close(hot_losses, losses, "program", each=True)
    assert parameters.keys() == hot_parameters.keys()
    for key, array in parameters.items():
        assert_close(hot_parameters[key], array, "long program", each=True, scale=0.1, what=key)
    assert (hot_after == drawn_after).all()
