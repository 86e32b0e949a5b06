"""Data sinking: a MindSpore user keeps `dataset_sink_mode=True`, and a `map` that runs while the net
trains.

    mindgrad run examples/tasks/sink_mode.py

On an Ascend a queue on the device holds the data; here the flag is accepted and changes no number. A line
is fitted to points that `map` scales, with the flag and without it.

Check: both fits are equal to the last bit, and slope and intercept are those of the line.
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
