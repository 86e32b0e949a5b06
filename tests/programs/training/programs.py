"""Small trainings, written as MindSpore programs: weights and data from NumPy, so that all give the same losses.

    python tests/programs/training/programs.py > tests/programs/training/losses.json

with a real MindSpore (2.10.0, CPU) writes what ``tests/programs/test_training_runs.py`` compares with.
"""

import json

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

STEPS = 20


def numbers(seed, *shape, scale=1.0):
    return (np.random.RandomState(seed).standard_normal(shape) * scale).astype(np.float32)


def filled(net):
    """The net with values that depend on the names and shapes of its Parameters only."""
    for index, parameter in enumerate(sorted(net.trainable_params(), key=lambda each: each.name)):
        if len(parameter.shape) > 1:
            values = numbers(100 + index, *parameter.shape, scale=np.prod(parameter.shape[1:]) ** -0.5)
        else:
            values = numbers(100 + index, *parameter.shape, scale=0.1) + ("gamma" in parameter.name)
        parameter.set_data(Tensor(values))
    return net


def trained(step, *batches):
    return [float(step(*batches[i % len(batches)]).asnumpy()) for i in range(STEPS)]


# --- a heat equation: derivatives of a net with respect to its inputs, inside a loss ------------------


class Heat(nn.Cell):
    """u of a net, and u_t − u_xx by nested gradients."""

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(2, 16), nn.Tanh(), nn.Dense(16, 16), nn.Tanh(), nn.Dense(16, 1)
        )

    def construct(self, x, t):
        return self.layers(ops.concat((x, t), 1))


class First(nn.Cell):
    def __init__(self, net, position):
        super().__init__()
        self.net = net
        self.position = position
        self.gradient = ops.GradOperation(get_all=True)

    def construct(self, x, t):
        return self.gradient(self.net)(x, t)[self.position]


class HeatLoss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.u_t = First(net, 1)
        self.u_xx = First(First(net, 0), 0)

    def construct(self, x, t, initial):
        residual = self.u_t(x, t) - self.u_xx(x, t)
        start = self.net(x, ops.zeros_like(t)) - initial
        return ops.reduce_mean(ops.square(residual)) + ops.reduce_mean(ops.square(start))


def heat():
    """Nested GradOperation, Adam, TrainOneStepCell."""
    x, t = np.abs(numbers(1, 32, 1)) % 1, np.abs(numbers(2, 32, 1)) % 1
    loss = HeatLoss(filled(Heat()))
    step = nn.TrainOneStepCell(loss, nn.Adam(loss.trainable_params(), 0.01)).set_train()
    return trained(step, (Tensor(x), Tensor(t), Tensor(np.sin(np.pi * x).astype(np.float32))))


# --- images ------------------------------------------------------------------------------------------


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 8, 3, pad_mode="valid", has_bias=True)
        self.norm1, self.norm2 = nn.BatchNorm2d(4), nn.BatchNorm2d(8, momentum=0.8)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.dense = nn.Dense(8 * 2 * 2, 5)

    def construct(self, x):
        x = self.pool(self.relu(self.norm1(self.conv1(x))))
        x = self.pool(self.relu(self.norm2(self.conv2(x))))
        return self.dense(self.flatten(x))


def lenet():
    """Convolutions, BatchNorm, pooling, SoftmaxCrossEntropyWithLogits, Momentum with weight decay."""
    net = filled(LeNet())
    optimizer = nn.Momentum(net.trainable_params(), 0.02, 0.9, weight_decay=1e-3)
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, optimizer).set_train()
    batches = [
        (Tensor(numbers(10 + i, 8, 1, 12, 12)), Tensor(np.arange(8, dtype=np.int32) * (i + 1) % 5))
        for i in range(4)
    ]
    losses = trained(step, *batches)
    net.set_train(False)
    # the moving statistics, too
    return [*losses, float(ops.reduce_sum(ops.square(net(batches[0][0]))).asnumpy())]


# --- sequences ---------------------------------------------------------------------------------------


class Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 7, num_layers=2, batch_first=True, bidirectional=True)
        self.dense = nn.Dense(14, 3)

    def construct(self, tokens):
        states = self.lstm(self.embedding(tokens))[0]
        return self.dense(states[:, -1])


def lstm():
    """Embedding, LSTM of two layers in both directions, value_and_grad, Adam with a decaying rate."""
    net = filled(Classifier())
    rate = nn.ExponentialDecayLR(0.02, 0.9, 5)
    optimizer = nn.Adam(net.trainable_params(), rate, beta2=0.99)
    criterion = nn.CrossEntropyLoss()

    def forward(tokens, labels):
        return criterion(net(tokens), labels)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(tokens, labels):
        loss, gradients = gradient(tokens, labels)
        optimizer(gradients)
        return loss

    drawn = np.random.RandomState(20)
    tokens = drawn.randint(0, 11, (6, 9)).astype(np.int32)
    return trained(step, (Tensor(tokens), Tensor((tokens.sum(1) % 3).astype(np.int32))))


# --- forces ------------------------------------------------------------------------------------------


class Energy(nn.Cell):
    """A pair potential: Lennard-Jones with a net's correction, over all pairs of atoms."""

    def __init__(self):
        super().__init__()
        self.depth = Parameter(Tensor([1.0], ms.float32), name="depth_gamma")
        self.width = Parameter(Tensor([1.0], ms.float32), name="width_gamma")
        self.dense1, self.dense2 = nn.Dense(1, 8), nn.Dense(8, 1)
        self.first = Tensor([i for i in range(5) for j in range(i)], ms.int32)
        self.second = Tensor([j for i in range(5) for j in range(i)], ms.int32)

    def construct(self, positions):
        apart = ops.gather(positions, self.first, 0) - ops.gather(positions, self.second, 0)
        distance = ops.sqrt((apart * apart).sum(-1) + 0.1)
        power = (self.width / distance) ** 6
        learned = self.dense2(ops.sin(self.dense1(ops.expand_dims(distance, -1))))
        return (4 * self.depth * (power * power - power)).sum() + learned.sum()


class ForceLoss(nn.Cell):
    def __init__(self, energy):
        super().__init__()
        self.energy = energy
        self.gradient = ops.GradOperation()

    def construct(self, positions, forces):
        return ((self.gradient(self.energy)(positions) + forces) ** 2).mean()


class TrainForces(nn.Cell):
    def __init__(self, loss, optimizer):
        super().__init__(auto_prefix=False)
        self.loss, self.optimizer = loss, optimizer
        self.weights = ParameterTuple(loss.trainable_params())
        self.gradient = ops.GradOperation(get_by_list=True, sens_param=True)

    def construct(self, positions, forces):
        value = self.loss(positions, forces)
        gradients = self.gradient(self.loss, self.weights)(positions, forces, ops.ones_like(value))
        return ops.depend(value, self.optimizer(gradients))


def forces():
    """Force matching: the gradient of a squared gradient; GradOperation with weights and sens, RMSProp."""
    loss = ForceLoss(filled(Energy()))
    step = TrainForces(loss, nn.RMSProp(loss.trainable_params(), 0.005, decay=0.9))
    grid = np.array([[i % 2, i // 2 % 2, i // 4] for i in range(5)], np.float32) * 1.3
    return trained(step, (Tensor(grid + numbers(30, 5, 3, scale=0.1)), Tensor(numbers(31, 5, 3))))


PROGRAMS = {"heat": heat, "lenet": lenet, "lstm": lstm, "forces": forces}

if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    made = {name: program() for name, program in PROGRAMS.items()}
    print(json.dumps({name: [round(x, 8) for x in losses] for name, losses in made.items()}, indent=1))
