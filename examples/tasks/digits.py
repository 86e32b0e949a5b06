"""Train, monitor, and evaluate a digit classifier with `Model`.

    mindgrad run examples/tasks/digits.py

A MindSpore user without an Ascend device runs a plain MindSpore program: a data set, a Cell, `Model.train`
with callbacks, and `Model.eval` with a metric. The missing device is reported by one line on stderr. The
images are ten patterns of 8 × 8 gray values with noise.

Check: nine of ten images that were not used in training are classified correctly.
"""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Accuracy, LossMonitor, Model, TimeMonitor

ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend")
ms.set_seed(0)
random = np.random.default_rng(0)
labels = random.integers(0, 10, 1200).astype(np.int32)
images = (random.random((10, 8, 8))[labels] + 0.5 * random.normal(size=(1200, 8, 8))).astype(np.float32)
train = ds.NumpySlicesDataset((images[:1000], labels[:1000]), ["data", "label"]).batch(50)
unseen = ds.NumpySlicesDataset((images[1000:], labels[1000:]), ["data", "label"]).batch(50)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Flatten(), nn.Dense(64, 64), nn.ReLU(), nn.Dropout(p=0.1), nn.Dense(64, 10)
        )

    def construct(self, x):
        return self.layers(x)


net = Net()
model = Model(
    net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 3e-3), metrics={"accuracy": Accuracy()}
)
model.train(5, train, callbacks=[LossMonitor(20), TimeMonitor()])
accuracy = model.eval(unseen)["accuracy"]
print(f"accuracy on images that the net has not seen: {accuracy:.3f}")
assert accuracy > 0.9
