"""Functions with ``forward`` and ``backward`` of their own, in both modes and to every order."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

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
            assert_close(f(x), reference(x.asnumpy()), kind="program")
        f = ms.grad(f)
    assert_close(
        ms.jvp(lambda x: Sine.apply(x, what), x, x)[1], np.cos(x.asnumpy()) * x.asnumpy(), kind="program"
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
    with pytest.raises(RuntimeError, match="number of arguments of 'forward', 2, but 1 was returned"):
        ms.grad(lambda x: Few.apply(x, x))(x)
    with pytest.raises(TypeError, match="'value' must be a bool"):
        Few().set_materialize_grads(3)


class Returning(ms._Function):
    """x + y, whose gradients are those that a test sets."""

    gradients = ()

    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, gradient):
        return Returning.gradients


def returned(gradients, x, y, mode, monkeypatch):
    """The gradients of both arguments where ``backward`` returns ``gradients``."""
    ms.set_context(mode=mode)
    monkeypatch.setattr(Returning, "gradients", gradients)
    return ops.GradOperation(get_all=True)(lambda x, y: Returning.apply(x, y))(x, y)


@MODES
@pytest.mark.parametrize(
    ("gradients", "y", "text"),
    [
        ((Tensor([1.0]),), Tensor([1.0]), r"number of arguments of 'forward', 2, but 1 was returned"),
        ((Tensor([1.0]),) * 3, Tensor([1.0]), "2, but 3 were returned"),
        (
            (Tensor([1.0]), 4.0),
            Tensor([1.0]),
            "gradient of argument 1 must be a Tensor or None, but got float",
        ),
        (
            (Tensor([1.0]), Tensor([1.0])),
            3.0,
            "argument 1 must be None, because the argument is not a Tensor",
        ),
        ((Tensor([1.0, 2.0]), Tensor([1.0])), Tensor([1.0]), None),
        ((Tensor([[1.0, 2.0]]), None), Tensor([1.0, 1.0]), None),
        ((None, Tensor([1.0, 2.0, 3.0])), Tensor([1.0, 1.0]), r"must have the shape \(2,\)"),
    ],
)
def test_backward_checks_number_kind_and_shape_of_gradients(mode, gradients, y, text, monkeypatch):
    x = Tensor([1.0])
    if text is None:
        found = returned(gradients, x, y, mode, monkeypatch)
        assert found[0].asnumpy().tolist() == [gradients[0].asnumpy().sum()]
        return
    with pytest.raises(RuntimeError, match=text):
        returned(gradients, x, y, mode, monkeypatch)


@MODES
def test_backward_gradients_are_summed_and_converted_to_their_arguments(mode, monkeypatch):
    wide = Tensor([[1, 1, 1], [1, 1, 1], [2, 2, 2]], ms.int64)
    found = returned(
        (wide, wide), Tensor([3.0, 3.0, 3.0]), Tensor(np.ones((3, 3), np.float16)), mode, monkeypatch
    )
    assert [str(g.dtype) for g in found] == ["Float32", "Float16"]
    assert found[0].asnumpy().tolist() == [4.0, 4.0, 4.0]
    assert found[1].asnumpy().tolist() == wide.asnumpy().tolist()
    scalars = (Tensor(np.ones((1, 128), np.float32)),) * 2
    found = returned(scalars, Tensor(1.0), Tensor(2.0), mode, monkeypatch)
    assert [g.item() for g in found] == [128.0, 128.0]
    assert (
        returned((None, Tensor([2.0]), None), Tensor([1.0]), Tensor([1.0]), mode, monkeypatch)[0].item()
        == 0.0
    )


class Needs(ms._Function):
    """A function whose gradients are the bits of ``needs_input_grad``."""

    @staticmethod
    def forward(ctx, x, y, n):
        ctx.before = ctx.needs_input_grad
        return x * y + n

    @staticmethod
    def backward(ctx, gradient):
        assert ctx.before == ctx.needs_input_grad
        bits = float(sum(need << k for k, need in enumerate(ctx.needs_input_grad)))
        return gradient * bits, gradient * bits, None


def test_needs_input_grad_is_true_for_what_is_differentiated():
    x, y = Tensor([2.0]), Tensor([3.0])
    weight = ms.Parameter(Tensor([2.0]), name="w")
    for gradient, bits in (
        (ms.grad(lambda x: Needs.apply(x, y, 2))(x), 1),
        (ms.grad(lambda x, y: Needs.apply(x, y, 2), 1)(x, y), 2),
        (ms.grad(lambda x: Needs.apply(x * 1, x * 0, 2))(x), 3),
        (ms.grad(lambda x: Needs.apply(weight, x, 2), None, weight)(x), 1),
        (ms.grad(lambda x: Needs.apply(weight, x, 2))(x), 2),
        (ms.grad(lambda x: ms.grad(lambda y: Needs.apply(x, y, 2))(y) * x)(x), 3),
    ):
        assert gradient.item() == bits
    context = Needs()
    assert context.needs_input_grad == ()


@MODES
def test_needs_input_grad_false_where_backward_skips_leaves_gradients_right(mode):
    class Product(ms._Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            x, y = ctx.saved_tensors
            return (
                gradient * y if ctx.needs_input_grad[0] else None,
                gradient * x if ctx.needs_input_grad[1] else None,
            )

    ms.set_context(mode=mode)
    x, y = Tensor([2.0]), Tensor([3.0])
    f = lambda x, y: Product.apply(Product.apply(x, y), x)  # x² y
    assert ms.grad(f, (0, 1))(x, y)[0].item() == 12.0
    assert ms.grad(f, 1)(x, y).item() == 4.0
    second = ms.grad(lambda x, y: ms.grad(f)(x, y).sum(), (0, 1))(x, y)
    assert [g.item() for g in second] == [6.0, 4.0]
    assert ms.jvp(lambda x: f(x, y), x, Tensor([1.0]))[1].item() == 12.0


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        (lambda ctx, x: ctx.mark_dirty(x, 1.0), "'mark_dirty', all arguments must be Tensors, but got float"),
        (lambda ctx, x: ctx.mark_non_differentiable(1.0), "'mark_non_differentiable', all arguments must be"),
        (lambda ctx, x: ctx.mark_dirty(x), "changed in place is not among the outputs of 'forward'"),
    ],
)
def test_marks_of_what_is_no_output_raise(mark, text):
    class Marked(ms._Function):
        @staticmethod
        def forward(ctx, x):
            mark(ctx, x)
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    with pytest.raises(RuntimeError, match=text):
        Marked.apply(Tensor([1.0]))
    with pytest.raises(RuntimeError, match=text):
        ms.grad(Marked.apply)(Tensor([1.0]))


class ScaledInPlace(ms._Function):
    """x y, computed in the memory of x; the product and x are one output."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x.copy(), y)
        ctx.mark_dirty(x)
        return x.mul_(y)

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient * y, gradient * x


@MODES
def test_dirty_input_that_is_returned_has_the_gradient_of_backward(mode):
    ms.set_context(mode=mode)

    def f(x, y):
        z = x + y
        ScaledInPlace.apply(z, y)
        return z * 2

    dx, dy = ms.grad(f, (0, 1))(Tensor([2.0]), Tensor([3.0]))  # 2 (x + y) y
    assert (dx.item(), dy.item()) == (6.0, 2 * (3.0 + 5.0))


@MODES
def test_output_that_is_the_input_has_the_gradient_of_backward(mode):
    class Identity(ms._Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    class Constant(Identity):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x)
            return x

    ms.set_context(mode=mode)
    f = lambda x: Identity.apply(ops.split(x, 1)[1])
    assert ms.grad(f)(Tensor([3.0, 3.0])).asnumpy().tolist() == [0.0, 2.0]
    assert ms.grad(Constant.apply)(Tensor([3.0])).item() == 0.0
