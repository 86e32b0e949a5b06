"""``custom_vjp`` gives a function the derivative that its author writes."""

import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.ops.functional import custom_vjp

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])


@custom_vjp
def scaled(x, y):
    return 2 * x + y


scaled.defbwd(lambda x, y, out, dout: (x * x * dout, out * dout))


@MODES
def test_the_derivative_is_the_one_that_was_given(mode):
    ms.set_context(mode=mode)
    x, y = Tensor([3.0]), Tensor([1.0])
    assert scaled(x, y).asnumpy() == 7.0
    assert [g.asnumpy().item() for g in ms.grad(scaled, (0, 1))(x, y)] == [9.0, 7.0]
    assert ms.grad(ms.grad(scaled))(x, y).asnumpy() == 6.0
    _, pullback = ops.vjp(scaled, x, y)
    assert [g.asnumpy().item() for g in pullback(Tensor([2.0]))] == [18.0, 14.0]
    assert ms.grad(ms.jit(lambda x: scaled(x, y) * 2))(x).asnumpy() == 18.0


@MODES
def test_parameters_that_the_function_reads_are_constants(mode):
    ms.set_context(mode=mode)
    weight = Parameter(Tensor([5.0]), name="weight")
    function = custom_vjp(lambda x: x * weight)
    function.defbwd(lambda x, out, dout: (dout,))
    of_x, (of_weight,) = ms.grad(function, 0, [weight])(Tensor([3.0]))
    assert (of_x.asnumpy(), of_weight.asnumpy()) == (1.0, 0.0)


def test_a_derivative_that_was_not_given_is_asked_for():
    function = custom_vjp(lambda x: x)
    assert function(Tensor([1.0])).asnumpy() == 1.0
    with pytest.raises(TypeError, match=r"has no derivative yet: give it one by .*defbwd"):
        ms.grad(function)(Tensor([1.0]))


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="'fn' must be a function"):
        custom_vjp(3)
    with pytest.raises(TypeError, match="'bwd' must be a function"):
        custom_vjp(lambda x: x).defbwd(3)
