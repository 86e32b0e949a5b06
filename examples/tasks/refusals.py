"""Errors of unsupported MindSpore APIs show a remedy; gradients can be exported.

    mindgrad run examples/tasks/refusals.py

A MindSpore user imports the usual modules, which exist. An API that needs MindSpore's own runtime raises an
error that shows an alternative. `source` writes the gradient of a net as a program for MindSpore 2.10, which
runs on an Ascend, and as a NumPy program.

Check: every error shows its remedy, and the NumPy program computes the same gradient as mindgrad.
"""

import importlib

import mindspore as ms
import numpy as np
from mindspore import nn, ops

import mindgrad

modules = "dataset.vision dataset.transforms common.initializer ops.operations nn.probability.distribution"
for (
    module
) in f"{modules} train.callback profiler amp mindrecord parallel scipy.linalg mint.nn.functional".split():
    importlib.import_module(f"mindspore.{module}")
net = nn.SequentialCell(nn.Dense(3, 4, activation="tanh"), nn.Dense(4, 1))
x = ops.ones((2, 3), ms.float32)
remedies = {
    "save_checkpoint": lambda: ms.export(net, x, file_name="net", file_format="MINDIR"),
    "a grid of parameter values": lambda: ms.train.SummaryLandscape("summary"),
    "put the files there": lambda: ms.dataset.MnistDataset("nowhere"),
    "leave it out": lambda: ms.jit(net.construct, static_argnum=1),
}
for remedy, refused in remedies.items():
    message = ""
    try:
        refused()
    except (NotImplementedError, ValueError, TypeError) as error:
        message = str(error)
    print(message)
    assert remedy in message

gradient = ms.grad(lambda x: net(x).sum())
print(mindgrad.source(gradient, x, emit="mindspore"))
assert np.allclose(mindgrad.source(gradient, x).run(), gradient(x).asnumpy(), atol=1e-6)
