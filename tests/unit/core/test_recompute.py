"""Blocks that reverse mode computes again."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.backend.xla import lower_ahead
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import compiled, numbers

WIDTH, LAYERS = 64, 8


class Layer(nn.Cell):
    def __init__(self, seed):
        super().__init__()
        weight = np.random.default_rng(seed).normal(size=(WIDTH, WIDTH)) / 8
        self.weight = Parameter(Tensor(weight.astype(np.float32)), name=f"weight{seed}")

    def construct(self, x):
        return ops.tanh(ops.sin(ops.matmul(x, self.weight)) * x) + ops.exp(-x * x)


class Pair(nn.Cell):
    """Two layers, one behind the other."""

    def __init__(self, seed):
        super().__init__()
        self.first, self.second = Layer(seed), Layer(seed + 1)

    def construct(self, x):
        return self.second(self.first(x))


class Network(nn.Cell):
    def __init__(self, recomputes):
        super().__init__()
        self.pairs = nn.CellList([Pair(seed) for seed in range(0, LAYERS, 2)])
        if recomputes:
            for pair in self.pairs:
                pair.recompute()

    def construct(self, x):
        for pair in self.pairs:
            x = pair(x)
        return ops.square(x).sum()


def gradient(network):
    return ms.value_and_grad(network, 0, network.trainable_params())


def temporary(function, *arguments):
    lowered = lower_ahead(trace(function, *arguments)).compile()
    return lowered.memory_analysis().temp_size_in_bytes


def test_cells_give_the_same_with_half_the_memory():
    x = Tensor(np.random.default_rng(9).normal(size=(2048, WIDTH)).astype(np.float32))
    plain, again = Network(False), Network(True)
    with compiled():
        expected, found = numbers(gradient(plain)(x)), numbers(gradient(again)(x))
        for ours, theirs in zip(found, expected, strict=True):
            assert_close(ours, theirs, kind="long program", each=True, scale=1)
        assert temporary(gradient(again), x) < 0.6 * temporary(gradient(plain), x)
    # and eagerly
    for ours, theirs in zip(numbers(gradient(again)(x)), expected, strict=True):
        assert_close(ours, theirs, kind="long program", each=True, scale=1)


def block(x, scale):
    return {"y": ops.sin(x * scale) * ops.exp(x), "also": (x * x, 3)}


def used(run):
    def f(x, scale):
        found = run(block, x, scale=scale)
        assert found["also"][1] == 3
        return (found["y"] * found["also"][0]).sum()

    return f


def plainly(function, *args, **kwargs):
    return function(*args, **kwargs)


def derivatives(f, x, scale):
    """Value, gradient, second derivatives in three mixtures, Taylor coefficients, one per row."""
    gradient = ms.grad(f, (0, 1))
    along = lambda x: ms.jvp(lambda x: f(x, scale), x, ops.ones_like(x))[1]
    return (
        ms.value_and_grad(f, (0, 1))(x, scale),
        ms.grad(lambda x, s: sum((g * g).sum() for g in gradient(x, s)), (0, 1))(x, scale),
        ms.grad(along)(x),
        ms.jvp(lambda x: gradient(x, scale)[0], x, ops.ones_like(x)),
        ms.vmap(ms.grad(f), (0, None))(ops.stack((x, 2 * x)), scale),
        ms.derivative(lambda t: f(x * t, scale), Tensor(0.5, ms.float64), 3)[1],
    )


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_derivatives_of_any_kind_are_the_same(mode):
    x, scale = Tensor(np.linspace(-1, 1, 5)), Tensor(1.3, ms.float64)
    ms.set_context(mode=mode)
    try:
        run = ms.jit if mode == ms.GRAPH_MODE else lambda f: f
        expected = numbers(run(lambda x, s: derivatives(used(plainly), x, s))(x, scale))
        actual = numbers(run(lambda x, s: derivatives(used(ms.recompute), x, s))(x, scale))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert len(actual) == len(expected) == 10
    for ours, theirs in zip(actual, expected, strict=True):
        assert_close(ours, theirs, kind="program")


class Counting(nn.Cell):
    """Writes a Parameter, draws numbers and prints."""

    def __init__(self):
        super().__init__()
        self.calls = Parameter(Tensor(0.0), name="calls", requires_grad=False)
        self.dropout = nn.Dropout(p=0.5)

    def construct(self, x):
        self.calls += 1.0
        y = self.dropout(ops.exp(x))
        if y.sum() > 0:
            y = y * 2.0
        print("called")
        return y * x


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_what_is_seen_happens_once(mode, capfd):
    x = Tensor(np.linspace(0.5, 1.5, 50, dtype=np.float32))
    found = []
    for recomputes in (False, True):
        cell = Counting().set_train()
        if recomputes:
            cell.recompute()
        ms.set_seed(3)
        ms.set_context(mode=mode)
        try:
            found.append(numbers(ms.value_and_grad(lambda x, cell=cell: cell(x).sum())(x)))
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
        assert float(cell.calls.asnumpy()) == 1.0
        assert capfd.readouterr().out.count("called") == 1
    # the second run drops what the first one dropped
    for ours, theirs in zip(found[1], found[0], strict=True):
        assert_close(ours, theirs)


def test_inner_values_are_not_kept_eagerly():
    """A recorder holds the values that a gradient needs: here only what goes in and comes out."""
    from mindgrad.core.ir.recorder import Recorder
    from mindgrad.core.ir.scope import opened

    x = Tensor(np.ones(10))
    kept = []
    for run in (plainly, ms.recompute):
        scope = Recorder()
        with opened(scope):
            run(lambda x: ops.sin(ops.exp(ops.tanh(ops.cos(x)))), scope.input(x))
        kept.append(len(scope.values))
    assert kept[0] - kept[1] == 3


def test_refusals():
    x = Tensor([1.0])
    with pytest.raises(TypeError, match="'block' must be a Cell or function"):
        ms.recompute(3, x)
    with pytest.raises(TypeError, match="'early_stop' must be a bool"):
        ms.recompute(ops.sin, x, early_stop=1)
    with pytest.raises(ValueError, match="'context_fn' must be None"):
        ms.recompute(ops.sin, x, context_fn=lambda: None)
    with pytest.raises(ValueError, match="unknown argument 'often'"):
        nn.ReLU().recompute(often=True)


def branching(x):
    if x.sum() > -5:
        return block(x, 2.0)["y"]
    return x * x


@pytest.mark.parametrize("function", [branching, lambda x: ms.recompute(block, x, 2.0)["y"]])
def test_linearized_once_and_used_twice(function):
    """In graph mode too, where value and tangent of a branch become one equation."""
    x = Tensor(np.linspace(-1, 1, 5))
    _, expected = ms.jvp(function, x, 2 * x)
    with compiled():
        out, push = ms.linearize(function, x)
        actual = [push(2 * x).asnumpy(), 2 * push(x).asnumpy()]
        value, pull = ms.vjp(function, x)
        (pulled,) = pull(ops.ones_like(value))
    assert_close(out, function(x), kind="program")
    assert_close(actual, [expected.asnumpy()] * 2, kind="program")
    assert_close(pulled, ms.grad(lambda x: function(x).sum())(x), kind="program")


def shifted(v):
    """Elements are assigned in a branch, to a tensor that the function makes itself."""
    w = v * 1
    if v.sum() > 0:
        w[1:] = ops.sin(w[:-1])
    return w


@pytest.mark.parametrize("function", [lambda x: ms.recompute(shifted, x), ms.grad(shifted)])
def test_elements_assigned_in_a_run_inside_of_a_branch(function):
    """What a run has made and changed ends with it: the branch around it has nothing to join."""

    def chosen(x):
        if x.sum() > -1:
            return function(x)
        return x

    for x in (Tensor([0.3, 0.5, 0.1]), Tensor([-0.3, -0.5, 0.1]), Tensor([-3.0, -0.5, 0.1])):
        assert_close(ms.jit(chosen)(x), chosen(x))
