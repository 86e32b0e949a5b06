"""``ops.CTCLoss`` with labels of a sparse matrix: values of MindSpore 2.10 on a CPU."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

X = np.random.default_rng(0).normal(size=(5, 3, 4)).astype(np.float32)
INDICES = Tensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]])
VALUES = Tensor([0, 1, 2, 1, 1, 0], ms.int32)
LENGTHS = Tensor([5, 5, 5], ms.int32)


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_loss_and_derivative(run):
    loss, slope = run(lambda x, i, v, n: ops.CTCLoss()(x, i, v, n))(Tensor(X), INDICES, VALUES, LENGTHS)
    assert_close(loss, [4.10153, 3.834833, 5.541636], kind="program")
    expected = [[-0.12752, 0.17462, 0.37809, -0.42519], [-0.20251, 0.3873, 0.17229, -0.35708]]
    assert_close(slope.asnumpy()[:2, 0], expected, kind="ill-conditioned")
    by_grad = run(ms.grad(lambda x: ops.CTCLoss()(x, INDICES, VALUES, LENGTHS)[0].sum()))(Tensor(X))
    assert_close(by_grad, slope)


def test_labels_that_need_more_times():
    short = Tensor([5, 3, 2], ms.int32)
    assert ops.CTCLoss()(Tensor(X), INDICES, VALUES, short)[0].asnumpy()[2] == np.inf
    loss, slope = ops.CTCLoss(ignore_longer_outputs_than_inputs=True)(Tensor(X), INDICES, VALUES, short)
    assert_close(loss, [4.10153, 1.860923, 0], kind="program")
    assert not slope.asnumpy()[:, 2].any()


@pytest.mark.parametrize("option", [{"preprocess_collapse_repeated": True}, {"ctc_merge_repeated": False}])
def test_refusals(option):
    with pytest.raises(NotImplementedError, match="collapse repeated labels before"):
        ops.CTCLoss(**option)(Tensor(X), INDICES, VALUES, LENGTHS)


def test_greedy_decoding():
    logits = np.random.RandomState(0).randn(6, 3, 4).astype(np.float32)
    lengths = np.array([6, 4, 1])
    merged = ops.CTCGreedyDecoder()(Tensor(logits), Tensor(lengths))
    assert [part.asnumpy().tolist() for part in merged[:3]] == [[[0, 0], [0, 1], [1, 0]], [0, 1, 0], [3, 2]]
    scores = [[-logits[:length, row].max(-1).sum()] for row, length in enumerate(lengths)]
    assert_close(merged[3], scores)
    indices, labels, shape, _ = ops.CTCGreedyDecoder(False)(Tensor(logits), Tensor(lengths))
    assert indices.asnumpy().tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [1, 2]]
    assert (labels.asnumpy().tolist(), shape.asnumpy().tolist()) == ([0, 0, 0, 1, 0, 0, 0], [3, 4])
    with pytest.raises(ValueError, match="exceeds the number of time steps"):
        ops.CTCGreedyDecoder()(Tensor(logits), Tensor([7, 1, 1]))
    with pytest.raises(RuntimeError, match="not known at compile time"):
        ms.jit(lambda x: ops.CTCGreedyDecoder()(x, Tensor(lengths)))(Tensor(logits))
