"""A checkpoint and back: a MindSpore user saves a net and loads it into another one.

    mindgrad run examples/tasks/checkpoint.py

The `.ckpt` file has MindSpore's own layout, so that a net trained here runs on the machine later.

Check: both nets give the same numbers to the last bit, and did not before.
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
