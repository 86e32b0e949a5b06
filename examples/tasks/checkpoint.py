"""Save a net to a checkpoint, and load it into another net.

    mindgrad run examples/tasks/checkpoint.py

A MindSpore user trains a net with mindgrad and uses it with MindSpore later. The `.ckpt` file has MindSpore's
format.

Check: the outputs of both nets are bitwise equal after loading, and differ before.
"""

import tempfile

import mindspore as ms
from mindspore import nn, ops

net, again = (nn.SequentialCell(nn.Dense(64, 32), nn.ReLU(), nn.Dense(32, 10)) for _ in range(2))
x = ops.ones((5, 64), ms.float32)
with tempfile.TemporaryDirectory() as folder:
    ms.save_checkpoint(net, f"{folder}/digits.ckpt")
    parameters = ms.load_checkpoint(f"{folder}/digits.ckpt")
assert (again(x) != net(x)).any()
assert ms.load_param_into_net(again, parameters) == ([], [])
assert (again(x) == net(x)).all()
print({name: parameter.shape for name, parameter in parameters.items()})
