"""``inplace=True`` of ``mint.nn``: the input itself stands for the result, in values and in derivatives."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, ops
from tests.tolerances import assert_close

F = mint.nn.functional
DATA = [-3.0, -0.5, 0.25, 7.0]
FUNCTIONS = {
    "relu": (),
    "relu6": (),
    "silu": (),
    "elu": (0.5,),
    "hardtanh": (-1.0, 2.0),
    "threshold": (0.1, 3.0),
    "dropout": (0.3, False),
}


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_input_stands_for_the_result(name, mode):
    ms.set_context(mode=mode)
    function, arguments = getattr(F, name), FUNCTIONS[name]

    def in_place(x):
        y = x * 1.0
        function(y, *arguments, inplace=True)
        return (y * y).sum()

    plain = lambda x: (function(x * 1.0, *arguments) ** 2).sum()
    value, gradient = ms.value_and_grad(in_place)(Tensor(DATA))
    expected, its_gradient = ms.value_and_grad(plain)(Tensor(DATA))
    assert_close(value, expected)
    assert_close(gradient, its_gradient)


def test_the_same_object_comes_back_and_without_inplace_another():
    x = Tensor(DATA)
    assert F.relu(x) is not x
    np.testing.assert_array_equal(x.asnumpy(), DATA)
    assert F.relu(x, inplace=True) is x
    np.testing.assert_array_equal(x.asnumpy(), [0, 0, 0.25, 7])


def test_dropout2d_inplace_stores_the_result_in_the_input():
    x = ops.ones((2, 3, 4, 4))
    assert F.dropout2d(x, 0.5) is not x
    assert F.dropout2d(x, 1.0, inplace=True) is x
    assert not x.asnumpy().any()


def test_layers_take_inplace_too():
    x = Tensor(DATA)
    assert mint.nn.ELU(1.0, True)(x) is x
    assert_close(x, np.where(np.array(DATA) > 0, DATA, np.expm1(DATA)))
    y = Tensor(DATA)
    layer = mint.nn.Dropout(0.5, inplace=True)
    layer.set_train(False)
    assert layer(y) is y
    layer.set_train(True)
    assert layer(y) is y
    assert set(y.asnumpy()) <= {0.0, -6.0, -1.0, 0.5, 14.0}


def test_what_cannot_be_changed_is_refused():
    with pytest.raises(TypeError, match="needs a Tensor"):
        F.relu(1.0, inplace=True)
    with pytest.raises(TypeError, match="Omit inplace=True"):
        F.silu(Tensor([1, 2]), inplace=True)


def detached(x):
    y = x * x
    ops.stop_gradient_(y)
    return y * x  # the derivative is y


def added_after(x):
    y = ops.stop_gradient(x * x)
    y.add_(1.0)
    return y * x


def multiplied_after(x):
    y = ops.stop_gradient(x)
    y.mul_(x)
    return y * x  # c x² with c = x


def added_to_the_stopped(x):
    y = x * x
    z = ops.stop_gradient(y)
    z.add_(y)
    return z


def written_after(x):
    y = ops.stop_gradient(x * x)
    y[0] = x[1]
    return y * 1


def stopped_then_changed(x):
    y = x * x
    z = ops.stop_gradient(y)
    y.add_(x)
    return y + z


def stopped_in_a_tuple(x):
    (y,) = ops.stop_gradient((x * x,))
    y.add_(x)
    return y


IN_PLACE_AFTER_STOP = {
    detached: [4.0, 9.0], added_after: [5.0, 10.0], multiplied_after: [8.0, 18.0], added_to_the_stopped: [4.0, 6.0],
    written_after: [0.0, 1.0], stopped_then_changed: [5.0, 7.0], stopped_in_a_tuple: [1.0, 1.0],
}  # fmt: skip


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("f", IN_PLACE_AFTER_STOP)
def test_in_place_operations_around_stop_gradient_have_their_own_gradients(f, mode):
    ms.set_context(mode=mode)
    x = Tensor([2.0, 3.0])
    for _ in range(3):
        assert ms.grad(f)(x).asnumpy().tolist() == IN_PLACE_AFTER_STOP[f]
        assert ms.grad(ms.jit(f))(x).asnumpy().tolist() == IN_PLACE_AFTER_STOP[f]
    assert x.asnumpy().tolist() == [2.0, 3.0]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def test_stop_gradient_in_place_of_arguments_and_parameters_stops_their_gradients(mode):
    ms.set_context(mode=mode)
    weight = ms.Parameter(Tensor([2.0]), name="w")

    def f(x, y):
        assert ops.stop_gradient_(x) is x
        ops.stop_gradient_(weight)
        return x * y * weight

    (dx, dy), (dw,) = ms.grad(f, (0, 1), [weight])(Tensor([3.0]), Tensor([5.0]))
    assert (dx.item(), dy.item(), dw.item()) == (0.0, 6.0, 0.0)
    assert weight.asnumpy() == [2.0]
    with pytest.raises(TypeError, match="'input' must be a Tensor, but got float"):
        ops.stop_gradient_(1.0)
