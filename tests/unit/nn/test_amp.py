"""Mixed precision: levels, lists of Cells, loss scalers, and training that starts with an overflow."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import amp, nn, ops, train
from tests.tolerances import assert_close


class Scale(nn.Cell):
    """Adds a number that is lost in half precision; says in what it computes."""

    def __init__(self):
        super().__init__()
        self.factor = ms.Parameter(np.float32([1.0, 2.0]), name="factor")
        self.seen = None

    def construct(self, x):
        y = self.factor * x
        self.seen = (x.dtype, y.dtype)
        return y


class LayerNorm(Scale):
    """Of a name that keeps single precision."""


class Dense(Scale):
    """Of a name that computes in half precision."""


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = Dense()
        self.norm = LayerNorm()
        self.rest = Scale()

    def construct(self, x):
        return self.rest(self.norm(self.dense(x)))


class Line(nn.Cell):
    def __init__(self):
        super().__init__()
        self.slope = ms.Parameter(np.float32([0.5]), name="slope")

    def construct(self, x):
        return self.slope * x


HALF, FULL = (ms.float16, ms.float16), (ms.float32, ms.float32)


@pytest.mark.parametrize(
    ("level", "dense", "norm", "rest"),
    [
        ("O0", FULL, FULL, FULL), ("O1", HALF, FULL, FULL), ("O2", HALF, FULL, HALF), ("auto", HALF, FULL, HALF),
        ("O3", HALF, HALF, HALF),
    ],
)  # fmt: skip
def test_levels(level, dense, norm, rest):
    net = Net()
    assert amp.auto_mixed_precision(net, level) is net
    out = net(ms.Tensor(np.ones(2, np.float32)))
    assert (net.dense.seen, net.norm.seen, net.rest.seen) == (dense, norm, rest)
    assert out.dtype is ms.float32
    assert all(p.dtype is ms.float32 for p in net.trainable_params())
    assert out.asnumpy().tolist() == [1.0, 8.0]


def test_gradients_have_the_type_of_parameters_in_both_modes():
    net = amp.auto_mixed_precision(nn.SequentialCell(Line(), Line()), "O2", ms.bfloat16)
    x = ms.Tensor(np.float32([1.0, 2.0 + 2.0**-12]))  # rounds to 2
    gradient = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    for function in (gradient, ms.jit(gradient)):
        value, gradients = function(x)
        assert (value.dtype, float(value)) == (ms.float32, 0.75)
        assert [(g.dtype, g.asnumpy().item()) for g in gradients] == [(ms.float32, 1.5)] * 2


def test_lists_of_ones_own():
    net = amp.custom_mixed_precision(Net(), white_list=[LayerNorm])
    net(ms.Tensor(np.ones(2, np.float32)))
    assert (net.dense.seen, net.norm.seen, net.rest.seen) == (FULL, HALF, FULL)
    net = amp.custom_mixed_precision(Net(), black_list=["Scale"])  # all are derived from it
    net(ms.Tensor(np.ones(2, np.float32)))
    assert (net.dense.seen, net.norm.seen, net.rest.seen) == (FULL, FULL, FULL)


def squared(prediction, label):
    return ops.square(prediction - label).mean()


X = np.float32([1.0, 2.0, 3.0, 4.0])


def test_training_that_starts_with_overflows_finds_its_scale():
    net = Line()
    manager = train.DynamicLossScaleManager(2.0**40, 2.0**8, 1000)
    model = ms.Model(
        net, squared, nn.SGD(net.trainable_params(), 0.05), amp_level="O3", loss_scale_manager=manager
    )
    assert isinstance(model.train_network, nn.TrainOneStepWithLossScaleCell)
    model.train(30, [(X, 3 * X)])
    assert net.slope.asnumpy() == pytest.approx(3.0, abs=0.01)
    # in half precision 2 ** 40 overflows, as do its first quotients
    assert float(model.train_network.scale_sense.value()) <= 2.0**16
    assert manager.get_loss_scale() == float(model.train_network.scale_sense.value())


def test_a_fixed_scale():
    net, plain = Line(), Line()
    manager = ms.FixedLossScaleManager(256.0, drop_overflow_update=False)
    optimizer = nn.SGD(net.trainable_params(), 0.05, loss_scale=256.0)
    step = amp.build_train_network(net, optimizer, squared, "O0", loss_scale_manager=manager)
    assert type(step) is nn.TrainOneStepCell
    other = amp.build_train_network(plain, nn.SGD(plain.trainable_params(), 0.05), squared)
    for _ in range(3):
        assert float(step(ms.Tensor(X), ms.Tensor(3 * X))) == float(other(ms.Tensor(X), ms.Tensor(3 * X)))
    assert_close(net.slope, plain.slope)
    with pytest.warns(UserWarning, match=r"Create the optimizer with loss_scale=256\.0"):
        amp.build_train_network(net, nn.SGD(net.trainable_params()), squared, loss_scale_manager=manager)
    dropping = ms.FixedLossScaleManager(256.0)
    step = amp.build_train_network(net, nn.SGD(net.trainable_params()), squared, loss_scale_manager=dropping)
    assert isinstance(step, nn.TrainOneStepWithLossScaleCell)
    assert bool(step(ms.Tensor(X * np.float32(np.nan)), ms.Tensor(X))[1])
    assert float(step.scale_sense.value()) == 256.0


# --- loops of users ------------------------------------------------------------------------------------


@pytest.mark.parametrize("jit", [False, True])
def test_a_dynamic_loss_scaler_in_a_training_loop(jit):
    net = Line()
    optimizer = nn.SGD(net.trainable_params(), 0.05)
    scaler = amp.DynamicLossScaler(1024, 2, 2)
    gradient = ms.value_and_grad(lambda x, y: scaler.scale(squared(net(x), y)), None, optimizer.parameters)

    def step(x, y):
        loss, gradients = gradient(x, y)
        loss = scaler.unscale(loss)
        is_finite = amp.all_finite(gradients)
        if is_finite:
            gradients = scaler.unscale(gradients)
            loss = ops.depend(loss, optimizer(gradients))
        scaler.adjust(is_finite)
        return loss, is_finite

    if jit:
        step = ms.jit(step)
    seen = []
    for x in (X, X, X * np.float32(np.inf), X):
        step(ms.Tensor(x), ms.Tensor(3 * X))
        seen.append((float(scaler.scale_value.value()), int(scaler.counter.value())))
    assert seen == [(1024, 1), (2048, 0), (1024, 0), (1024, 1)]
    slope = 0.5
    for _ in range(3):
        slope -= 0.05 * 2 * np.mean((slope - 3) * X.astype(np.float64) ** 2)
    assert_close(net.slope, slope, kind="program")


def test_scaling_keeps_types_and_structures():
    scaler = amp.StaticLossScaler(2.0**20)
    given = (ms.Tensor(np.float32([2.0])), [ms.Tensor(np.float16([2.0**-14]))])
    scaled = scaler.scale(given)
    assert scaled[1][0].dtype is ms.float16
    assert scaled[1][0].asnumpy().tolist() == [64.0]
    back = scaler.unscale(scaled)
    assert [back[0].asnumpy().item(), back[1][0].asnumpy().item()] == [2.0, 2.0**-14]
    assert scaler.adjust(ms.Tensor(False)) is False


def test_all_finite():
    good = (ms.Tensor([1.0, 2.0]), [ms.Tensor(np.float16([3.0]))])
    assert amp.all_finite(good).asnumpy().item() is True
    assert amp.all_finite((*good, ms.Tensor([1.0, np.inf]))).asnumpy().item() is False
    assert amp.all_finite(ms.Tensor(np.float16([np.nan]))).asnumpy().item() is False


def test_managers_of_the_loss_scale():
    manager = train.DynamicLossScaleManager(8, 2, 2)
    scales = []
    for overflow in (False, False, False, True, True, True, True, False, False):
        manager.update_loss_scale(overflow)
        scales.append(manager.get_loss_scale())
    assert scales == [8, 16, 16, 8, 4, 2, 1, 1, 2]
    cell = manager.get_update_cell()
    assert (cell.get_loss_scale(), cell.scale_window) == (2.0, 2)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: amp.auto_mixed_precision(Net(), "O7"), ValueError, "'amp_level' must be one of O0, O1, O2, O3, auto"),
        (lambda: amp.auto_mixed_precision(3), TypeError, "'network' must be a Cell"),
        (lambda: amp.auto_mixed_precision(Net(), "O2", ms.float64), ValueError, "float16 or bfloat16"),
        (lambda: amp.custom_mixed_precision(Net()), ValueError, "either a 'white_list' or a 'black_list'"),
        (lambda: amp.build_train_network(Line(), None, level="O7"), ValueError, "'level' must be one of"),
        (lambda: amp.build_train_network(Line(), None, loss_scaling=1), TypeError, "unknown option 'loss_scaling'"),
        (lambda: amp.DynamicLossScaler(-1.0, 2, 3), ValueError, "'scale_value' must be greater than 0"),
        (lambda: amp.all_finite(3), TypeError, "at least one Tensor"),
        (lambda: train.LossScaleManager().get_loss_scale(), NotImplementedError, "define get_loss_scale"),
        (lambda: train.DynamicLossScaleManager(0.5), ValueError, "at least 1"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(make, error, text):
    with pytest.raises(error, match=text):
        make()
