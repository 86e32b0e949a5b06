"""Unpooling, power means, windows at random places, sparse functions, and what mint has of them."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import COOTensor, CSRTensor, Tensor, mint, nn, ops
from mindgrad.common.parameter import _Buffer
from tests.tolerances import assert_close

RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_unpooling_puts_maxima_back(axes):
    x = Tensor(RANDOM.permutation(2 * 4**axes).reshape(1, 2, *[4] * axes).astype(np.float32))
    maxima, places = getattr(ops, f"max_pool{axes}d")(x, 2, return_indices=True)
    layer = getattr(nn, f"MaxUnpool{axes}d")(2)
    for unpool in (layer, ms.jit(lambda x, i: layer(x, i))):
        found = unpool(maxima, places).asnumpy()
        np.testing.assert_array_equal(found, np.where(np.isin(x.asnumpy(), maxima.asnumpy()), x.asnumpy(), 0))
    gradient = ms.grad(lambda m: (layer(m, places) * x).sum())(maxima)
    np.testing.assert_array_equal(gradient.asnumpy(), maxima.asnumpy())


def test_sizes_of_unpooling():
    x, places = Tensor([[[2.0, 4.0]]]), Tensor([[[1, 3]]])
    assert ops.max_unpool1d(x, places, 2, output_size=(5,)).shape == (1, 1, 5)
    with pytest.raises(ValueError, match="at most one stride"):
        ops.max_unpool1d(x, places, 2, output_size=(9,))
    with pytest.raises(ValueError, match="shapes are"):
        ops.max_unpool1d(x, Tensor([[1, 3]]), 2)


def test_power_means():
    x = RANDOM.uniform(1, 2, size=(1, 1, 4, 6))
    found = nn.LPPool2d(3, 2)(Tensor(x)).asnumpy()[0, 0]
    wanted = (x[0, 0].reshape(2, 2, 3, 2) ** 3).sum((1, 3)) ** (1 / 3)
    assert_close(found, wanted, kind="program")
    with pytest.raises(ValueError, match="must not be 0"):
        ops.lp_pool1d(ops.ones((1, 1, 4)), 0, 2)


def test_windows_at_random_places():
    x = Tensor(np.arange(25.0).reshape(1, 1, 5, 5))
    u = Tensor(np.zeros((1, 1, 2)))
    layer = nn.FractionalMaxPool2d(2, output_size=(2, 2), return_indices=True, _random_samples=u)
    for pool in (layer, ms.jit(lambda x: layer(x))):
        maxima, places = pool(x)
        np.testing.assert_array_equal(maxima.asnumpy()[0, 0], [[6, 9], [21, 24]])
        np.testing.assert_array_equal(places.asnumpy()[0, 0], [[6, 9], [21, 24]])
    drawn = ops.fractional_max_pool3d(ops.ones((2, 1, 6, 6, 6)), 2, output_ratio=0.5)
    assert drawn.shape == (2, 1, 3, 3, 3)


def csr(values):
    return CSRTensor(Tensor([0, 1, 3]), Tensor([2, 0, 1]), values, (2, 3))


def test_sparse_functions():
    values = Tensor([0.5, 1.0, 2.0])
    assert_close(ops.csr_sin(csr(values)).values, np.sin(values.asnumpy()))
    dense = ops.csr_to_dense(csr(values))
    again = ops.dense_to_sparse_csr(dense)
    np.testing.assert_array_equal(again.indptr.asnumpy(), [0, 1, 3])
    np.testing.assert_array_equal(ops.dense_to_sparse_coo(dense).to_dense().asnumpy(), dense.asnumpy())
    soft = ops.csr_softmax(csr(values), ms.float32).values.asnumpy()
    powers = np.exp([1.0, 2.0])
    assert_close(soft, [1, *(powers / powers.sum())])
    total = lambda v: ops.csr_mm(csr(v), Tensor(np.eye(3, dtype=np.float32)), trans_b=True).sum()
    np.testing.assert_array_equal(ms.grad(total)(values).asnumpy(), [1, 1, 1])
    with pytest.raises(TypeError, match="must be a COOTensor"):
        ops.coo_sin(csr(values))


def test_sparse_tensors_behind_each_other():
    x = COOTensor(Tensor([[0, 1], [1, 0]]), Tensor([1.0, 2.0]), (2, 2))
    found = ops.coo_concat([x, x], 1)
    np.testing.assert_array_equal(found.to_dense().asnumpy(), np.tile(x.to_dense().asnumpy(), (1, 2)))
    assert ops.coo_tensor_get_dense_shape(found) == (2, 4)


def test_layers_of_mint():
    x = Tensor(np.arange(8.0, dtype=np.float32).reshape(1, 1, 8))
    np.testing.assert_array_equal(mint.nn.AvgPool1d(2)(x).asnumpy()[0, 0], [0.5, 2.5, 4.5, 6.5])
    assert mint.nn.ZeroPad3d(1)(ops.ones((1, 1, 2, 2, 2))).shape == (1, 1, 4, 4, 4)
    images = Tensor(RANDOM.normal(size=(1, 2, 4, 4)))
    columns = mint.nn.Unfold(2, stride=2)(images)
    assert_close(mint.nn.Fold((4, 4), 2, stride=2)(columns), images, kind="program")
    whole = mint.nn.UpsamplingBilinear2d((7, 7))(images).asnumpy()
    assert_close(whole[..., ::2, ::2], images, kind="program")
    x = Tensor([-2.0, 0.5])
    assert mint.nn.functional.hardtanh_(x) is x
    assert x.asnumpy().tolist() == [-1.0, 0.5]


def test_a_buffer_registers_itself():
    net = nn.Cell()
    net.scale = _Buffer(Tensor([2.0]), persistent=False)
    assert [name for name, _ in net.named_buffers()] == ["scale"]
    assert not list(net.state_dict())
