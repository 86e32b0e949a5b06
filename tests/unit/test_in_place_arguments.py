"""``inplace=True`` of ``mint.nn``: the input itself stands for the result, in values and in derivatives."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint

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
    np.testing.assert_allclose(value.asnumpy(), expected.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(gradient.asnumpy(), its_gradient.asnumpy(), rtol=1e-6)


def test_the_same_object_comes_back_and_without_inplace_another():
    x = Tensor(DATA)
    assert F.relu(x) is not x
    np.testing.assert_array_equal(x.asnumpy(), DATA)
    assert F.relu(x, inplace=True) is x
    np.testing.assert_array_equal(x.asnumpy(), [0, 0, 0.25, 7])


def test_layers_take_inplace_too():
    x = Tensor(DATA)
    assert mint.nn.ELU(1.0, True)(x) is x
    np.testing.assert_allclose(x.asnumpy(), np.where(np.array(DATA) > 0, DATA, np.expm1(DATA)), rtol=1e-6)
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
    with pytest.raises(TypeError, match="leave inplace=True out"):
        F.silu(Tensor([1, 2]), inplace=True)
