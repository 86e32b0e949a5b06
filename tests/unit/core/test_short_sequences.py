"""Short sequences compile like long ones: from five steps on, the step is in the program once."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.ir.graph import all_equations
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close


def size(function, *arguments):
    """The number of equations that are compiled, those of loop bodies included."""
    return sum(1 for _ in all_equations(trace(function, *arguments).equations))


def layer(kind):
    net = kind(4, 5, batch_first=True, bidirectional=True)
    gradient = ms.value_and_grad(lambda x, n: (net(x, None, n)[0] ** 2).sum(), None, net.trainable_params())
    return lambda length: size(gradient, ops.ones((3, length, 4)), Tensor(np.full(3, length, np.int32)))


def loop_of_the_user():
    cell = nn.GRUCell(4, 5)

    def loss(xs):
        h = ops.zeros((3, 5))
        for x in xs:
            h = cell(x, h)
        return (h**2).sum()

    gradient = ms.value_and_grad(loss, None, cell.trainable_params())
    return lambda length: size(gradient, ops.ones((length, 3, 4)))


@pytest.mark.parametrize(
    "of_length",
    [lambda: layer(nn.GRU), lambda: layer(nn.LSTM), loop_of_the_user],
    ids=["GRU", "LSTM", "loop"],
)
def test_programs_of_sequences_do_not_grow_with_the_length(of_length):
    of_length = of_length()
    sizes = {length: of_length(length) for length in (5, 6, 7, 8, 20)}
    assert max(sizes.values()) <= 1.2 * min(sizes.values()), sizes


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8])
def test_a_recurrent_layer_is_the_same_compiled_and_eager(length):
    ms.set_seed(1)
    net = nn.GRU(3, 4, batch_first=True)
    x = Tensor(np.random.default_rng(length).normal(size=(2, length, 3)).astype(np.float32))
    gradient = ms.grad(lambda x: (net(x)[0] ** 2).sum())
    assert_close(ms.jit(gradient)(x), gradient(x), kind="program", each=True, scale=0.1)
