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
    with pytest.raises(TypeError, match=r"has no derivative\. Set it with .*defbwd"):
        ms.grad(function)(Tensor([1.0]))


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="'fn' must be a function"):
        custom_vjp(3)
    with pytest.raises(TypeError, match="'bwd' must be a function"):
        custom_vjp(lambda x: x).defbwd(3)


@MODES
def test_equal_calls_are_not_merged(mode):
    ms.set_context(mode=mode)
    function = custom_vjp(lambda x: x * x)
    function.defbwd(lambda x, out, dout: (5 * x,))  # not linear in dout
    x = Tensor([1.0])
    assert ms.grad(lambda x: function(x) + function(x))(x).asnumpy() == 10.0
    assert ms.grad(ms.jit(lambda x: function(x) + function(x)))(x).asnumpy() == 10.0


@MODES
def test_the_second_derivative_is_that_of_the_given_first(mode):
    ms.set_context(mode=mode)

    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]), name="w")

        def construct(self, x):
            return x * self.w

        def bprop(self, x, out, dout):
            return (self.w * self.w * x * dout,)

    net = Net()
    slope = ms.grad(net)
    of_x, (of_w,) = ms.grad(lambda x: slope(x), 0, [net.w])(Tensor([3.0]))
    assert (of_x.asnumpy(), of_w.asnumpy()) == (4.0, 12.0)


@MODES
def test_a_backward_function_of_other_arguments_is_told_its_own(mode):
    ms.set_context(mode=mode)
    function = custom_vjp(lambda x: x * x)
    function.defbwd(lambda x, out: (x,))
    with pytest.raises(
        TypeError, match=r"called as bwd\(\*inputs, out, dout\), here with 1 input, the result"
    ):
        ms.grad(function)(Tensor([3.0]))
    function.defbwd(lambda x, out, dout: (len(3),))  # an error of its own
    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$"):
        ms.grad(function)(Tensor([3.0]))


@MODES
def test_custom_vjp_that_leads_back_to_itself_is_refused(mode):
    ms.set_context(mode=mode)
    sine, cosine = custom_vjp(lambda x: ops.sin(x)), custom_vjp(lambda x: ops.cos(x))
    sine.defbwd(lambda x, out, dout: (dout * cosine(x),))
    cosine.defbwd(lambda x, out, dout: (-dout * sine(x),))
    for call in (ms.grad(sine), ms.jit(ms.grad(sine))):
        with pytest.raises(
            TypeError, match=r"leads back to <lambda> without end.*End the chain of derivatives"
        ):
            call(Tensor([1.0]))


@MODES
def test_custom_vjp_may_call_itself_with_another_constant(mode):
    ms.set_context(mode=mode)
    power = custom_vjp(lambda x, n: x**n if n else ops.ones_like(x))
    power.defbwd(lambda x, n, out, dout: (dout * n * power(x, n - 1) if n else ops.zeros_like(x), None))
    x = Tensor([2.0])
    for call in (lambda x: power(x, 40), ms.jit(lambda x: power(x, 40))):
        assert ms.grad(call)(x).item() == 40 * 2.0**39
        assert ms.grad(ms.grad(call))(x).item() == 40 * 39 * 2.0**38
