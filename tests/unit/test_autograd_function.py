"""Functions with ``forward`` and ``backward`` of their own, in both modes and to every order."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])


@pytest.fixture(autouse=True)
def restore_mode():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Sine(ms._Function):
    """The sine, which keeps its input, its output, or a tensor that is neither."""

    @staticmethod
    def forward(ctx, x, what):
        y = ops.sin(x)
        inner = ops.cos(x)
        ctx.what = what
        ctx.save_for_backward({"input": x, "output": y, "inner": inner}[what])
        return y

    @staticmethod
    def backward(ctx, gradient):
        (saved,) = ctx.saved_tensors
        if ctx.what == "input":
            return ops.cos(saved) * gradient, None
        if ctx.what == "output":  # between -π/2 and π/2
            return ops.sqrt(1 - saved * saved) * gradient, None
        return saved * gradient, None


@MODES
@pytest.mark.parametrize("what", ["input", "output", "inner"])
def test_every_order_whatever_is_saved(mode, what):
    ms.set_context(mode=mode)
    f = lambda x: Sine.apply(x, what)
    x = Tensor([0.3, -0.7])
    references = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)]
    for reference in references:
        for _ in range(4):
            assert np.allclose(f(x).asnumpy(), reference(x.asnumpy()), atol=1e-5)
        f = ms.grad(f)
    assert np.allclose(
        ms.jvp(lambda x: Sine.apply(x, what), x, x)[1].asnumpy(), np.cos(x.asnumpy()) * x.asnumpy()
    )


class Pair(ms._Function):
    @staticmethod
    def forward(ctx, x, factors):
        a, b = x * factors[0], x * 3
        ctx.factors = factors
        ctx.mark_non_differentiable(b)
        return a, b, 5

    @staticmethod
    def backward(ctx, ga, gb, gc):
        assert gc is None
        return ga * 100 + gb, None


@MODES
def test_outputs_that_are_constants_and_arguments_in_tuples(mode):
    ms.set_context(mode=mode)

    def f(x):
        a, b, c = Pair.apply(x, (x, 2.0))
        return a + b * c

    assert ms.grad(f)(Tensor([2.0])).asnumpy() == [100.0]
    assert f(Tensor([2.0])).asnumpy() == [34.0]


class Increment(ms._Function):
    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 7


def test_an_argument_that_is_changed_in_place():
    x = Tensor([1.0])
    assert Increment.apply(x).asnumpy() == [2.0]
    assert x.asnumpy() == [2.0]

    def f(x):
        y = x * 2
        Increment.apply(y)
        return y * y

    assert ms.grad(f)(Tensor([1.0])).asnumpy() == [2 * 3 * 7 * 2]


class ByContext(ms._Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, True)
        return gradient * y, gradient * x * 10


@MODES
def test_a_context_that_is_set_up_apart(mode):
    ms.set_context(mode=mode)
    dx, dy = ms.grad(ByContext.apply, (0, 1))(Tensor([2.0]), Tensor([3.0]))
    assert (dx.asnumpy(), dy.asnumpy()) == ([3.0], [20.0])


def test_mistakes_name_what_is_missing():
    class Empty(ms._Function):
        pass

    class NoBackward(ms._Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class Few(NoBackward):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    x = Tensor([1.0, 2.0])
    with pytest.raises(NotImplementedError, match="must define the static method 'forward"):
        Empty.apply(x)
    assert NoBackward.apply(x).asnumpy().tolist() == [2.0, 4.0]
    with pytest.raises(NotImplementedError, match="must define the static method 'backward"):
        ms.grad(NoBackward.apply)(x)
    with pytest.raises(IndexError, match="2 inputs, but 1 gradients"):
        ms.grad(lambda x: Few.apply(x, x))(x)
    with pytest.raises(TypeError, match="'value' must be a bool"):
        Few().set_materialize_grads(3)
