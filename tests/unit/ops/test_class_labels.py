"""Labels that are no class raise in eager mode and give NaN in compiled programs, in every loss of classes."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, nn, ops

LOGITS = Tensor(np.log([[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]]).astype(np.float32))
SCORES = Tensor(np.log(np.full((4, 2, 3), 1 / 3, np.float32)))
LENGTHS = Tensor([4, 4], ms.int32), Tensor([1, 1], ms.int32)

#: losses of a sample of two, whose labels are (0, label)
LOSSES = {
    "SoftmaxCrossEntropyWithLogits": lambda t: nn.SoftmaxCrossEntropyWithLogits(sparse=True)(LOGITS, t),
    "SoftmaxCrossEntropyWithLogits mean": lambda t: nn.SoftmaxCrossEntropyWithLogits(True, "mean")(LOGITS, t),
    "SparseSoftmaxCrossEntropyWithLogits": lambda t: ops.SparseSoftmaxCrossEntropyWithLogits()(LOGITS, t),
    "is_grad": lambda t: ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(LOGITS, t),
    "cross_entropy": lambda t: ops.cross_entropy(LOGITS, t),
    "cross_entropy smoothed": lambda t: ops.cross_entropy(LOGITS, t, label_smoothing=0.1),
    "cross_entropy weighted": lambda t: ops.cross_entropy(LOGITS, t, Tensor([1.0, 2.0, 3.0])),
    "CrossEntropyLoss": lambda t: nn.CrossEntropyLoss(reduction="sum")(LOGITS, t),
    "mint": lambda t: mint.nn.functional.cross_entropy(LOGITS, t),
    "nll_loss": lambda t: ops.nll_loss(LOGITS, t),
    "NLLLoss": lambda t: ops.NLLLoss()(LOGITS, t, Tensor([1.0, 2.0, 3.0]))[0],
    "multi_margin_loss": lambda t: ops.multi_margin_loss(LOGITS, t),
    "FocalLoss": lambda t: nn.FocalLoss()(LOGITS, t.reshape(2, 1)),
    "ctc_loss": lambda t: ops.ctc_loss(SCORES, t.reshape(2, 1), *LENGTHS)[0],
    "CTCLoss": lambda t: nn.CTCLoss()(SCORES, t.reshape(2, 1), *LENGTHS),
    "sparse CTCLoss": lambda t: ops.CTCLoss()(SCORES, Tensor([[0, 0], [1, 0]], ms.int64), t, LENGTHS[0])[0],
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("label", [3, -1, -2, 1000])
def test_losses_raise_or_give_nan_for_labels_out_of_range(name, label):
    loss = LOSSES[name]
    wrong, right = Tensor([0, label], ms.int32), Tensor([0, 2], ms.int32)
    with pytest.raises(IndexError, match=rf"the label {label} is out of range: there are 3 classes"):
        loss(wrong)
    compiled = ms.jit(lambda t: loss(t))
    assert np.isnan(compiled(wrong).asnumpy()).any()
    assert np.isfinite(compiled(right).asnumpy()).all()
    np.testing.assert_allclose(compiled(right).asnumpy(), loss(right).asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("label", [3, -2])
def test_multilabel_margin_loss_raises_or_gives_nan_for_labels_out_of_range(label):
    loss = lambda t: ops.multilabel_margin_loss(LOGITS, t)
    wrong, right = (Tensor([[0, x, -1], [1, -1, -1]], ms.int32) for x in (label, 2))
    with pytest.raises(IndexError, match=rf"the label {label} is out of range"):
        loss(wrong)
    assert np.isnan(ms.jit(loss)(wrong).asnumpy())
    np.testing.assert_allclose(ms.jit(loss)(right).asnumpy(), loss(right).asnumpy(), rtol=1e-6)


def test_intopk_is_false_for_labels_out_of_range_in_compiled_code():
    compiled = ms.jit(lambda t: ops.intopk(LOGITS, t, 3))
    assert compiled(Tensor([2, 3], ms.int32)).asnumpy().tolist() == [True, False]
    assert compiled(Tensor([-1, 0], ms.int32)).asnumpy().tolist() == [False, True]
    with pytest.raises(IndexError, match="For 'InTopK', the label 3 is out of range"):
        ops.intopk(LOGITS, Tensor([2, 3], ms.int32), 3)


def test_cross_entropy_names_ignore_index_for_labels_out_of_range():
    with pytest.raises(IndexError, match=r"pass it as ignore_index, which is -100 now"):
        ops.cross_entropy(LOGITS, Tensor([0, -1], ms.int32))
    expected = -np.log(0.2)
    for f in (lambda t: ops.cross_entropy(LOGITS, t, ignore_index=-1), ops.cross_entropy):
        label, arguments = (-1, ()) if f is not ops.cross_entropy else (-100, (LOGITS,))
        t = Tensor([0, label], ms.int32)
        for g in (f, ms.jit(f)):
            np.testing.assert_allclose(g(*arguments, t).asnumpy(), expected, rtol=1e-5)


def test_ctc_loss_takes_any_padding_behind_the_labels():
    loss = lambda t: ops.ctc_loss(SCORES, t, *LENGTHS)[0]
    expected = loss(Tensor([[1, 2], [2, 1]], ms.int32)).asnumpy()
    for padding in (-1, 3, -100):
        t = Tensor([[1, padding], [2, padding]], ms.int32)
        np.testing.assert_allclose(loss(t).asnumpy(), expected, rtol=1e-6)
        np.testing.assert_allclose(ms.jit(loss)(t).asnumpy(), expected, rtol=1e-5)


def test_sparse_softmax_cross_entropy_is_differentiated_as_that_of_probabilities():
    t = Tensor([2, 0], ms.int32)
    marks = ops.one_hot(t, 3, Tensor(1.0), Tensor(0.0))
    sparse = lambda x: nn.SoftmaxCrossEntropyWithLogits(True, "sum")(x, t)
    dense = lambda x: nn.SoftmaxCrossEntropyWithLogits(False, "sum")(x, marks)
    for transform in (ms.grad, ms.hessian):
        for f in (lambda g: g, ms.jit):
            np.testing.assert_allclose(
                f(transform(sparse))(LOGITS).asnumpy(), f(transform(dense))(LOGITS).asnumpy(), atol=1e-6
            )
    by_operator = ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(LOGITS, t)
    np.testing.assert_allclose(by_operator.asnumpy(), ms.grad(sparse)(LOGITS).asnumpy() / 2, atol=1e-6)
