"""Operators that subclasses of layers find in them, in both modes."""

import copy
import pickle

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
X = Tensor(np.linspace(-1, 1, 2 * 3 * 6 * 6).reshape(2, 3, 6, 6).astype(np.float32))


@pytest.fixture(autouse=True)
def restore_mode():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class OwnDense(nn.Dense):
    def construct(self, x):
        shape = x.shape
        x = self.matmul(self.reshape(x, (-1, shape[-1])), self.weight)
        return self.reshape(self.bias_add(x, self.bias), (*shape[:-1], -1))


class OwnConv(nn.Conv2d):
    def construct(self, x):
        return self.bias_add(self.conv2d(x, self.weight), self.bias)


class OwnPool(nn.MaxPool2d):
    def construct(self, x):
        return self.max_pool(x)


class OwnMean(nn.AvgPool2d):
    def construct(self, x):
        return self.avg_pool(x)


class OwnNorm(nn.BatchNorm2d):
    def construct(self, x):
        state = (x, self.gamma, self.beta, self.moving_mean, self.moving_variance)
        return (self.bn_train if self.training else self.bn_infer)(*state)[0]


class OwnSoftmax(nn.Softmax):
    def construct(self, x):
        return self.softmax(x)


class OwnEmbedding(nn.Embedding):
    def construct(self, ids):
        return self.gather(self.embedding_table, ids, 0)


PAIRS = [
    (OwnDense, nn.Dense, (6, 4), X),
    (OwnConv, nn.Conv2d, (3, 4, 3, 2, "pad", 1, 1, 1, True), X),
    (OwnConv, nn.Conv2d, (3, 6, 3, 1, "same", 0, 2, 3, True), X),
    (OwnPool, nn.MaxPool2d, (2, 2), X),
    (OwnMean, nn.AvgPool2d, (3, 2, "same"), X),
    (OwnNorm, nn.BatchNorm2d, (3,), X),
    (OwnSoftmax, nn.Softmax, (1,), X),
    (OwnEmbedding, nn.Embedding, (5, 2), Tensor([[1, 2], [4, 0]])),
]


@MODES
@pytest.mark.parametrize("is_training", [False, True])
@pytest.mark.parametrize(("own", "layer", "arguments", "x"), PAIRS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_subclass_computes_with_them_what_the_layer_computes(mode, is_training, own, layer, arguments, x):
    ms.set_context(mode=mode)
    mine, theirs = own(*arguments).set_train(is_training), layer(*arguments).set_train(is_training)
    ms.load_param_into_net(mine, theirs.parameters_dict())
    for _ in range(2):
        assert_close(mine(x), theirs(x), kind="program")


def test_they_are_made_once_and_copied_with_the_layer():
    net = nn.Dense(2, 3)
    assert net.matmul is net.matmul
    x = ops.ones((1, 2))
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert_close(other.matmul(x, net.weight), net.matmul(x, net.weight), kind="program")
    assert not hasattr(net, "conv2d")
    net.matmul = ops.MatMul()
    assert net.matmul(x, ops.ones((2, 5))).shape == (1, 5)
