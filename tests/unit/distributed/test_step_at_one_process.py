"""A data-parallel step at one process is the program of the step without collectives."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import nn
from mindgrad.frontend.programs.compiled import trace


@pytest.mark.parametrize("mean", [True, False])
def test_nothing_is_added(mean):
    net = nn.Dense(3, 1)
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    gradient = ms.value_and_grad(nn.WithLossCell(net, nn.MSELoss()), None, optimizer.parameters)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=mean)
    try:
        reducer = nn.DistributedGradReducer(optimizer.parameters)
    finally:
        ms.reset_auto_parallel_context()

    def step(x, y, reduce):
        value, gradients = gradient(x, y)
        optimizer(reduce(gradients))
        return value

    x, y = (ms.Tensor(np.ones(shape, np.float32)) for shape in ((4, 3), (4, 1)))
    with_reducer = trace(lambda x, y: step(x, y, reducer), x, y)
    without = trace(lambda x, y: step(x, y, lambda gradients: gradients), x, y)
    assert str(with_reducer) == str(without)
    assert len(with_reducer.equations) > 10
