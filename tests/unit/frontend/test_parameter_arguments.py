"""Parameters among the arguments of compiled functions: they stay the Parameters that they are."""

import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops

MODES = {"eager": ms.PYNATIVE_MODE, "compiled": ms.GRAPH_MODE}


@pytest.fixture(params=MODES)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=MODES[request.param])
    yield request.param
    ms.set_context(mode=before)


def weights(*values):
    return ParameterTuple([Parameter(Tensor([x]), name=f"w{i}") for i, x in enumerate(values)])


def test_a_compiled_function_assigns_to_them():
    pair = weights(2.0, 5.0)

    @ms.jit
    def lowered(parameters, step):
        return [ops.assign_sub(each, step) for each in parameters][-1]

    for expected in ((1.5, 4.5), (1.0, 4.0)):
        result = lowered(pair, Tensor([0.5]))
        assert tuple(float(each.value()) for each in pair) == expected
        assert float(result) == expected[-1]
    others = weights(7.0, 8.0)
    lowered(others, Tensor([0.5]))
    assert [float(each.value()) for each in (*pair, *others)] == [1.0, 4.0, 6.5, 7.5]


def test_a_program_sees_the_value_of_now():
    one, other = weights(2.0, 5.0)
    double = ms.jit(lambda p: 2 * p)
    assert [float(double(each)) for each in (one, other, one)] == [4.0, 10.0, 4.0]
    one.set_data(Tensor([3.0]))
    assert float(double(one)) == 6.0
    assert double.cache_info().misses == 2  # one program each


class Net(nn.Cell):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def construct(self, x):
        return self.weight * self.weight * x


class ByWeight(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.gradient = ops.GradOperation(get_by_list=True)

    def construct(self, x, weight):
        return self.gradient(self.net, weight)(x)


def test_a_cell_that_is_given_one_differentiates_by_it(mode):
    (weight,) = weights(3.0)
    assert float(ByWeight(Net(weight))(Tensor([5.0]), weight)) == 30.0


def test_they_are_differentiated_as_inputs(mode):
    (weight,) = weights(3.0)
    assert float(ops.grad(lambda p, x: p * p * x)(weight, Tensor([5.0]))) == 30.0
    assert float(ops.grad(ops.grad(lambda p: p * p * p))(weight)) == 18.0
    # as an input and as a weight of the same function: the partial derivative by each
    (by_input, (by_weight,)) = ms.grad(lambda p: p * p * weight, 0, [weight])(weight)
    assert (float(by_input), float(by_weight)) == (18.0, 9.0)
