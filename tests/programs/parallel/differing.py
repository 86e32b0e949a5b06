"""A compiled function in which one rank alone calls a collective."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.communication import get_rank, init

init()


@ms.jit
def function(x):
    y = ops.AllReduce()(x)
    if get_rank() == 0:
        y = ops.AllReduce("max")(y)
    return y


function(Tensor(np.ones(4, np.float32)))
