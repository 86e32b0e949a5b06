"""``nn.ClosureOptimizer``: steps with functions, training Cells, and errors."""

import copy
import pickle

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.nn.optim.closure import FlatFunction
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])


class Descent(nn.ClosureOptimizer):
    """Gradient descent that evaluates the function once more to compare the losses."""

    def __init__(self, params, learning_rate=0.25):
        super().__init__(learning_rate, params)
        self.decreases = Parameter(Tensor(0, ms.int32), name="decreases", requires_grad=False)

    def advance(self, function, args):
        flat = FlatFunction(self.cls_name, function, args, self.parameters)
        x = flat.point()
        value, gradient = flat.evaluate(x)
        lower, _ = flat.evaluate(x - float(self.get_lr()) * gradient)
        if lower < value:
            ops.assign_add(self.decreases, 1)
        return flat.loss


class Distance(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([3.0, 1.0]), name="w")
        self.b = Parameter(Tensor(2.0), name="b")

    def construct(self, x):
        return ((self.w - x) ** 2).sum() + self.b * self.b


@MODES
def test_step_returns_the_loss_before_the_step(mode):
    ms.set_context(mode=mode)
    net = Distance()
    optimizer = Descent(net.trainable_params())
    loss = optimizer.step(lambda: net(Tensor([1.0, 0.0])))
    assert isinstance(loss, Tensor)
    assert (float(loss), int(optimizer.decreases), optimizer.global_step.asnumpy().tolist()) == (9.0, 1, [1])
    assert_close(net.w, [2.0, 0.5])
    assert_close(net.b, 1.0)
    assert float(optimizer.step(net, Tensor([1.0, 0.0]))) == 2.25


@MODES
def test_train_one_step_cell_and_model_call_step(mode):
    ms.set_context(mode=mode)
    net = Distance()
    optimizer = Descent(net.trainable_params())
    step = nn.TrainOneStepCell(net, optimizer)
    assert [float(step(x)) for x in (Tensor([1.0, 0.0]), np.array([1.0, 0.0], np.float32))] == [9.0, 2.25]
    assert int(optimizer.global_step) == int(optimizer.decreases) == 2
    dense = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    data = ms.dataset.NumpySlicesDataset(
        (np.eye(2, dtype=np.float32), np.zeros((2, 1), np.float32)), shuffle=False
    ).batch(2)
    model = ms.train.Model(dense, nn.MSELoss(), Descent(dense.trainable_params(), 0.5))
    model.train(1, data)
    assert_close(dense.weight, [[0.5, 0.5]])
    assert_close(dense.bias, [-1.0])


class Step(nn.Cell):
    def __init__(self, net, optimizer):
        super().__init__()
        self.net, self.optimizer = net, optimizer

    def construct(self, x):
        return self.optimizer.step(self.net, x)


def test_step_in_a_cell_runs_in_eager_mode_only():
    net = Distance()
    step = Step(net, Descent(net.trainable_params()))
    losses = [float(step(Tensor([1.0, 0.0]))) for _ in range(4)]
    assert losses == [9.0, 2.25, 0.5625, 0.140625]
    ms.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(RuntimeError, match=r"use nn\.TrainOneStepCell"):
        step(Tensor([1.0, 0.0]))


def test_copies_step_apart():
    net = Distance()
    optimizer = Descent(net.trainable_params())
    for copied in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        w = copied.parameters[0]
        assert float(copied.step(lambda: (w * w).sum())) == 10.0  # noqa: B023 - called in this iteration
        assert_close(w, [1.5, 0.5])
    assert_close(net.w, [3.0, 1.0])


def test_hessian_products_of_flat_functions():
    net = Distance()
    flat = FlatFunction("Descent", lambda: net(Tensor([0.0, 0.0])) * net.b, (), net.trainable_params())
    products = np.stack([flat.product(row) for row in np.eye(3)])
    assert_close(products, [[4, 0, 6], [0, 4, 2], [6, 2, 12]])


@MODES
def test_captured_tensors_that_change_are_inputs_of_one_program(mode):
    ms.set_context(mode=mode)
    net = Distance()
    optimizer = Descent(net.trainable_params())
    for k in range(6):
        x = Tensor([float(k), 5.0])
        w, b = net.w.asnumpy(), float(net.b)
        if k == 3:
            before = ms.cache_info().misses
        loss = optimizer.step(lambda: net(x))  # noqa: B023 - called before ``x`` changes
        assert_close(loss, ((w - x.asnumpy()) ** 2).sum() + b**2, kind="program")
    assert ms.cache_info().misses == before


def test_state_is_in_the_checkpoint(tmp_path):
    net = Distance()
    optimizer = Descent(net.trainable_params())
    optimizer.step(net, Tensor([1.0, 0.0]))
    ms.save_checkpoint(optimizer, str(tmp_path / "state.ckpt"))
    fresh = Descent(Distance().trainable_params())
    ms.load_param_into_net(fresh, ms.load_checkpoint(str(tmp_path / "state.ckpt")))
    assert int(fresh.decreases) == int(fresh.global_step) == 1


def _steps_when_compiled(optimizer, net):
    ms.jit(lambda x: optimizer.step(net, x))(Tensor([1.0, 0.0]))


def _steps_with_gradients(optimizer, net):
    optimizer((Tensor([1.0, 0.0]), Tensor(1.0)))


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (_steps_with_gradients, TypeError, r"call.*optimizer\.step"),
        (_steps_when_compiled, RuntimeError, "cannot be part of a compiled"),
        (lambda o, net: o.step(net(Tensor([1.0, 0.0]))), TypeError, "Pass the function, not its result"),
        (lambda o, net: o.step(lambda w: w.sum(), net.w), ValueError, "'w' is an argument of the function"),
        (lambda o, net: o.step(lambda: 1.0), TypeError, "must return the loss"),
        (lambda o, net: o.step(lambda: net.w), ValueError, r"its shape is \(2,\)"),
        (lambda o, net: nn.TrainOneStepCell(net, o, sens=2.0), ValueError, "'sens' must be 1"),
        (lambda o, net: nn.TrainOneStepCell(net, o, return_grad=True), ValueError, "'return_grad'"),
        (
            lambda o, net: nn.TrainOneStepWithLossScaleCell(net, o, Tensor(8.0)),
            ValueError,
            "cannot scale it",
        ),
        (lambda o, net: nn.ClosureOptimizer(0.1, [net.w]).step(net), NotImplementedError, "define advance"),
    ],
)
def test_errors_name_the_fix(act, error, text):
    net = Distance()
    with pytest.raises(error, match="(?i)" + text):
        act(Descent(net.trainable_params()), net)
    assert_close(net.w, [3.0, 1.0])
