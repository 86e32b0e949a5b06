"""Ranks whose programs differ: one collective more in a function, or another function at that time."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.communication import get_rank, init

init()
RANK = get_rank()
x = Tensor(np.ones(4, np.float32))


@ms.jit
def function(x):
    y = ops.AllReduce()(x)
    if RANK == 0 and sys.argv[1] == "program":
        y = ops.AllReduce("max")(y)
    return y


@ms.jit
def other(x):
    return ops.AllGather()(x)


function(x)
other(x)
# which would wait for each other without end
(function if RANK == 0 else other)(x)
