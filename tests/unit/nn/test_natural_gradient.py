"""``nn.NaturalGradient``: steps against dense matrices, training, and errors."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])


class Classifier(nn.Cell):
    """A linear classifier with three classes, whose matrix F is known."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.random.default_rng(0).normal(size=(4, 3))), name="w")

    def construct(self, x):
        return x @ self.w


def data(count):
    generator = np.random.default_rng(1)
    return generator.normal(size=(count, 4)), generator.integers(0, 3, count).astype(np.int32)


def expected_step(x, label, w, damping):
    """The step for the mean of the cross-entropies: H = diag(p) − p pᵀ for each sample."""
    powers = np.exp(x @ w)
    p = powers / powers.sum(1, keepdims=True)
    jacobian = np.einsum("na,cd->ncad", x, np.eye(3)).reshape(len(x), 3, 12)
    hessian = (np.einsum("nc,cd->ncd", p, np.eye(3)) - np.einsum("nc,nd->ncd", p, p)) / len(x)
    fisher = np.einsum("nci,ncd,ndj->ij", jacobian, hessian, jacobian)
    gradient = np.einsum("nci,nc->i", jacobian, (p - np.eye(3)[label]) / len(x))
    return np.linalg.solve(fisher + damping * np.eye(12), gradient).reshape(4, 3)


@MODES
@pytest.mark.parametrize("count", [2, 10])
def test_a_step_is_the_solution_with_the_fisher_matrix(mode, count):
    ms.set_context(mode=mode)
    x, label = data(count)
    net = Classifier()
    start = net.w.asnumpy()
    optimizer = nn.NaturalGradient(net.trainable_params(), nn.CrossEntropyLoss(), 0.5, damping=0.1)
    loss = optimizer.step(net, Tensor(x), Tensor(label))
    assert_close(net.w, start - 0.5 * expected_step(x, label, start, 0.1), kind="ill-conditioned")
    net.w.set_data(Tensor(start))
    assert_close(loss, nn.CrossEntropyLoss()(net(Tensor(x)), Tensor(label)))


def test_a_linear_regression_needs_one_step():
    x = np.random.default_rng(0).normal(size=(20, 4))
    target = x @ np.arange(12.0).reshape(4, 3)
    net = Classifier()
    nn.NaturalGradient([net.w], nn.MSELoss(), damping=1e-14).step(net, Tensor(x), Tensor(target))
    assert_close(net.w, np.arange(12.0).reshape(4, 3), kind="ill-conditioned")


@MODES
def test_train_one_step_cell_and_model_train(mode):
    ms.set_context(mode=mode)
    x, label = data(10)
    nets = [Classifier(), Classifier()]
    optimizers = [nn.NaturalGradient([net.w], nn.CrossEntropyLoss(), damping=0.1) for net in nets]
    train = nn.TrainOneStepCell(nets[0], optimizers[0])
    for _ in range(3):
        loss = train(Tensor(x), Tensor(label))
        assert_close(loss, optimizers[1].step(nets[1], Tensor(x), Tensor(label)), kind="exact")
    assert_close(nets[0].w, nets[1].w, kind="exact")
    assert int(optimizers[0].global_step.asnumpy()[0]) == 3


def test_a_loss_that_is_not_convex_is_an_error():
    net = Classifier()
    optimizer = nn.NaturalGradient([net.w], lambda y, label: ops.cos(y - label).sum())
    with pytest.raises(ValueError, match="must be convex in the outputs of the network"):
        optimizer.step(net, Tensor(np.eye(4)), Tensor(np.zeros((4, 3))))


def test_unsupported_arguments_are_errors():
    net = Classifier()
    x, label = data(5)
    with pytest.raises(TypeError, match="the 'loss_fn' must be a function or Cell"):
        nn.NaturalGradient([net.w], 0.1)
    with pytest.raises(ValueError, match="the 'damping' must be greater than 0"):
        nn.NaturalGradient([net.w], nn.MSELoss(), damping=0.0)
    optimizer = nn.NaturalGradient([net.w], nn.CrossEntropyLoss())
    with pytest.raises(TypeError, match="pass the network, its inputs, and the label"):
        optimizer.step(net, Tensor(x))
    with pytest.raises(TypeError, match="the network must return one Tensor"):
        optimizer.step(lambda x: (net(x), net(x)), Tensor(x), Tensor(label))
    with pytest.raises(ValueError, match="Pass a smaller batch or a larger 'memory'"):
        nn.NaturalGradient([net.w], nn.CrossEntropyLoss(), memory=1).step(net, Tensor(x), Tensor(label))
    with pytest.raises(ValueError, match="is infinite or NaN at the present Parameters"):
        optimizer.step(net, Tensor(x * np.nan), Tensor(label))
