"""``nn.thor``: steps against a formula, training, conversions, and errors."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])


class LeNet(nn.Cell):
    """A small convolutional network for images of 12 x 12 pixels."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(4, 6, 3, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc = nn.SequentialCell(nn.Flatten(), nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.pool(ops.relu(self.conv2(x)))
        return self.fc(x)


def images(count=48):
    """Bars in three directions, with noise."""
    generator = np.random.default_rng(0)
    label = np.arange(count) % 3
    x = 0.3 * generator.standard_normal((count, 1, 12, 12))
    for n, (kind, at) in enumerate(zip(label, generator.integers(3, 9, count), strict=True)):
        if kind == 0:
            x[n, 0, at, :] += 2
        elif kind == 1:
            x[n, 0, :, at] += 2
        else:
            x[n, 0, np.arange(12), np.arange(12)] += 2
    return Tensor(x.astype(np.float32)), Tensor(label.astype(np.int32))


def linear(rows=8):
    """A linear network in float64 and a batch, whose mean loss has a known Fisher matrix."""
    generator = np.random.default_rng(0)
    net = nn.Dense(30, 25, has_bias=False)
    net.weight.set_dtype(ms.float64)
    net.weight.set_data(Tensor(generator.standard_normal((25, 30))))
    x, y = generator.standard_normal((rows, 30)), generator.standard_normal((rows, 25))
    return net, x, y


def half_square(output, label):
    return 0.5 * ops.square(output - label).sum(1).mean()


@MODES
@pytest.mark.parametrize("nesterov", [False, True])
def test_steps_follow_formula(mode, nesterov):
    ms.set_context(mode=mode)
    net, x, y = linear()
    rows, damping, rate, decay, momentum = len(x), 0.3, 0.25, 0.01, 0.5
    w = net.weight.asnumpy()
    optimizer = nn.thor(
        net, rate, Tensor([damping, 2 * damping], ms.float64), momentum, decay, batch_size=rows,
        use_nesterov=nesterov, frequency=2,
    )  # fmt: skip
    step = nn.TrainOneStepCell(nn.WithLossCell(net, half_square), optimizer)
    velocity = 0.0
    for k in range(2):
        residual = x @ w.T - y
        if k == 0:
            inputs, cotangents = x.T @ x / rows, residual.T @ residual / rows
        gradient = residual.T @ x / rows
        root = np.sqrt(damping * (k + 1))
        ratio = np.sqrt(np.trace(inputs) / 30 / (np.trace(cotangents) / 25))
        change = np.linalg.solve(cotangents + root / ratio * np.eye(25), gradient)
        change = np.linalg.solve(inputs + root * ratio * np.eye(30), change.T).T + decay * w
        velocity = momentum * velocity + change
        w = w - rate * (change + momentum * velocity if nesterov else velocity)
        loss = step(Tensor(x), Tensor(y))
        assert_close(loss, 0.5 * np.sum(residual**2) / rows, "program")
        assert_close(net.weight, w, "ill-conditioned")


def test_clipped_step_has_norm_one():
    net, x, y = linear()
    before = net.weight.asnumpy()
    optimizer = nn.thor(net, 1.0, 1e-6, 0.0, 1.0, batch_size=len(x), enable_clip_grad=True)
    optimizer.step(nn.WithLossCell(net, half_square), Tensor(x), Tensor(y))
    assert_close(np.linalg.norm(net.weight.asnumpy() - before), 1.0, "program")


def test_decay_filter_selects_parameters():
    net = nn.Dense(2, 2)
    net.bias.set_data(Tensor([1.0, 1.0]))
    optimizer = nn.thor(net, 1.0, 1.0, 0.0, 0.5, decay_filter=lambda p: "bias" in p.name)
    assert optimizer.decay_of_elements.tolist() == [0.0] * 4 + [0.5] * 2


@MODES
def test_lenet_converges_in_fewer_steps_than_momentum(mode):
    ms.set_context(mode=mode)
    x, label = images()

    def trained(create, steps=25):
        ms.set_seed(0)
        net = LeNet()
        model = ms.Model(net, nn.CrossEntropyLoss(), create(net))
        model.train(steps, [(x.asnumpy(), label.asnumpy())])
        return float(nn.CrossEntropyLoss()(net(x), label))

    second = trained(lambda net: nn.thor(net, 0.1, 0.1, 0.9, batch_size=48, frequency=5))
    first = min(
        trained(lambda net, r=r: nn.Momentum(net.trainable_params(), r, 0.9)) for r in (0.01, 0.03, 0.1)
    )
    assert second < 0.05
    assert second < 0.5 * first


def test_conversions_of_mindspore_programs():
    x, label = images(12)
    net = LeNet()
    ms.train.ConvertNetUtils().convert_to_thor_net(net)
    optimizer = nn.thor(net, Tensor([0.1, 0.05]), Tensor([0.1, 0.05]), 0.9, 5e-4, 128.0, 12, frequency=2)
    loss = nn.CrossEntropyLoss()
    model = ms.Model(net, loss, optimizer, metrics={"accuracy"})
    other = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    convert = ms.train.ConvertModelUtils().convert_to_thor_model
    assert convert(model=model, network=net, loss_fn=loss, optimizer=other) is model
    model = convert(
        model=model, network=net, loss_fn=loss, optimizer=optimizer, metrics={"accuracy"}, amp_level="O0",
        loss_scale_manager=ms.amp.FixedLossScaleManager(128, drop_overflow_update=False),
        keep_batchnorm_fp32=False,
    )  # fmt: skip
    model.train(2, [(x.asnumpy(), label.asnumpy())])
    assert optimizer.global_step.asnumpy().tolist() == [2]
    assert set(model.eval([(x.asnumpy(), label.asnumpy())])) == {"accuracy"}
    with pytest.raises(ValueError, match="the 'amp_level' must be 'O0'"):
        convert(model, net, loss, optimizer, amp_level="O2")
    with pytest.raises(TypeError, match="'model' must be a Model"):
        convert(net, net)


def test_checkpoint_resumes_exactly(tmp_path):
    def prepared():
        net, x, y = linear()
        optimizer = nn.thor(net, 0.1, 0.1, 0.9, batch_size=len(x), frequency=3)
        return optimizer, nn.WithLossCell(net, half_square), Tensor(x), Tensor(y)

    optimizer, *rest = prepared()
    for _ in range(2):
        optimizer.step(*rest)
    path = str(tmp_path / "state.ckpt")
    ms.save_checkpoint(optimizer, path)
    expected = [float(optimizer.step(*rest)) for _ in range(4)]
    optimizer, *rest = prepared()
    optimizer.build(*rest)
    missing, _ = ms.load_param_into_net(optimizer, ms.load_checkpoint(path))
    assert missing == []
    assert [float(optimizer.step(*rest)) for _ in range(4)] == expected


def test_errors():
    net = nn.Dense(2, 2)
    with pytest.raises(TypeError, match="'net' must be a Cell"):
        nn.thor(net.trainable_params(), 0.1, 0.1, 0.9)
    with pytest.raises(ValueError, match="'damping' must be a positive number"):
        nn.thor(net, 0.1, 0.0, 0.9)
    with pytest.raises(TypeError, match="'damping' must be a number or Tensor"):
        nn.thor(net, 0.1, "large", 0.9)
    with pytest.raises(ValueError, match="'frequency' must be"):
        nn.thor(net, 0.1, 0.1, 0.9, frequency=0)
    with pytest.raises(ValueError, match="the function must be a network with a loss"):
        nn.thor(net, 0.1, 0.1, 0.9).step(lambda: net(Tensor([[1.0, 2.0]])))
