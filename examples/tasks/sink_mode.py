"""Data sinking: `dataset_sink_mode=True` is accepted and does not change results.

    mindgrad run examples/tasks/sink_mode.py

On an Ascend, data sinking keeps the data in a queue on the device. mindgrad accepts the flag. The program
fits a line to points that `map` scales, with and without the flag.

Check: both fits are bitwise equal, and slope and intercept agree with the true line.
"""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import LossMonitor, Model

ms.set_context(mode=ms.GRAPH_MODE)
x = np.linspace(-100, 100, 200, dtype=np.float32)[:, None]


def fit(sink):
    ms.set_seed(0)
    points = ds.NumpySlicesDataset((x, 0.03 * x + 0.5), ["x", "y"], shuffle=True)
    points = points.map(lambda v: v / 100, input_columns=["x"]).batch(20)
    line = nn.Dense(1, 1, weight_init="zeros")
    model = Model(line, nn.MSELoss(), nn.Momentum(line.trainable_params(), 0.1, 0.9))
    model.train(20, points, callbacks=[LossMonitor(100)], dataset_sink_mode=sink)
    return line.weight.item(), line.bias.item()


slope, intercept = fit(sink=True)
print(f"y = {slope:.4f} x + {intercept:.4f}")
assert (slope, intercept) == fit(sink=False)
assert abs(slope - 3) < 1e-3
assert abs(intercept - 0.5) < 1e-3
