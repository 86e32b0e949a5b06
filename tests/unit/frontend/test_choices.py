"""Lists of Cells and functions that a tensor indexes while a program is compiled."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops


class Scale(nn.Cell):
    def __init__(self, factor):
        super().__init__()
        self.factor = Parameter(Tensor([factor]), name="factor")

    def construct(self, x, power=1):
        return self.factor * x**power


class Choosing(nn.Cell):
    def __init__(self, container):
        super().__init__()
        self.layers = container([Scale(2.0), nn.ReLU(), Scale(5.0)])
        self.held = nn.CellList([*self.layers])

    def construct(self, index, x):
        return self.layers[index](x) * 10


@pytest.fixture(autouse=True)
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.filterwarnings("ignore:.*in a list")
@pytest.mark.parametrize("container", [nn.CellList, tuple, list])
def test_the_layer_is_chosen_when_the_program_runs(container):
    net, x = Choosing(container), Tensor([3.0])
    weights = ms.ParameterTuple(net.trainable_params())
    values, slopes = [60.0, 30.0, 150.0], [20.0, 10.0, 50.0]
    gradient = ms.grad(net, 1, weights)
    for place in (0, 1, 2, -1, -3):
        index = Tensor(place, ms.int32)
        assert net(index, x).asnumpy() == [values[place]]
        slope, by_weight = gradient(index, x)
        assert slope.asnumpy() == [slopes[place]]
        used = [place % 3 == 0, place % 3 == 2]
        assert [g.asnumpy().tolist() for g in by_weight] == [[30.0 * is_used] for is_used in used]


def test_functions_with_keywords_in_a_branch_and_a_loop():
    table = [ops.sin, lambda x: x * 2, Scale(3.0)]

    @ms.jit
    def f(indices, x):
        total = x * 0
        for index in indices:
            if index >= 0:
                total = total + table[index](x)
        return total

    x = np.array([0.5], np.float32)
    assert np.allclose(f(Tensor([0, 1, -7, 2]), Tensor(x)).asnumpy(), np.sin(x) + 2 * x + 3 * x)
    raised = ms.jit(lambda index, x: [Scale(2.0), Scale(3.0)][index](x, power=2))
    assert raised(Tensor(1), Tensor([2.0])).asnumpy() == [12.0]


def test_what_cannot_be_chosen():
    functions = [lambda x: x, lambda x: ops.concat((x, x))]
    with pytest.raises(ms.CompileError, match=r"in one branch of this .* and a tensor of shape"):
        ms.jit(lambda index, x: functions[index](x))(Tensor(0), Tensor([2.0]))
    cells = [Scale(2.0), Scale(3.0)]
    with pytest.raises(AttributeError, match="factor"):
        ms.jit(lambda index: cells[index].factor)(Tensor(0))
    with pytest.raises(TypeError, match="one integer"):
        ms.jit(lambda index, x: functions[index](x))(Tensor([0.0]), Tensor([2.0]))
