"""Losses as operators: what ``nn.loss`` and older programs are made of."""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import int32
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import arithmetic, classification, likelihoods, losses
from mindgrad.ops.matrices import one_hot
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import boolean, classes, integer, number, operation, text
from mindgrad.ops.reduction import mean

SmoothL1Loss = operation(
    __name__, "SmoothL1Loss", losses.smooth_l1_loss,
    attributes={"beta": number(1.0), "reduction": text("none")},
    run=lambda self, prediction, target: losses.smooth_l1_loss(
        prediction, target, self.beta, self.reduction
    ),
    example="ops.SmoothL1Loss()(Tensor([1.0, 4.0]), Tensor([2.0, 2.0]))", prints="[0.5 1.5]",
)  # fmt: skip
SoftMarginLoss = operation(
    __name__, "SoftMarginLoss", losses.soft_margin_loss, attributes={"reduction": text("mean")},
    run=lambda self, logits, labels: losses.soft_margin_loss(logits, labels, self.reduction),
    example='f"{ops.SoftMarginLoss()(Tensor([0.0]), Tensor([1.0])):.4f}"', prints="0.6931",
)  # fmt: skip
MultiMarginLoss = operation(
    __name__, "MultiMarginLoss", classification.multi_margin_loss,
    attributes={"p": integer(1), "margin": number(1.0), "reduction": text("mean")},
    run=lambda self, inputs, target, weight=None: classification.multi_margin_loss(
        inputs, target, self.p, self.margin, weight, self.reduction
    ),
    example="ops.MultiMarginLoss()(Tensor([[0.5, 1.0, 2.0, 0.0]]), Tensor([1]))", prints="0.625",
)  # fmt: skip
BinaryCrossEntropy = operation(
    __name__, "BinaryCrossEntropy", likelihoods.binary_cross_entropy, attributes={"reduction": text("mean")},
    run=lambda self, logits, labels, weight=None: likelihoods.binary_cross_entropy(
        logits, labels, weight, self.reduction
    ),
    example='f"{ops.BinaryCrossEntropy()(Tensor([0.5]), Tensor([1.0])):.4f}"', prints="0.6931",
)  # fmt: skip
BCEWithLogitsLoss = operation(
    __name__, "BCEWithLogitsLoss", likelihoods.binary_cross_entropy_with_logits,
    attributes={"reduction": text("mean")},
    run=lambda self, logits, label, weight=None, pos_weight=None: (
        likelihoods.binary_cross_entropy_with_logits(logits, label, weight, pos_weight, self.reduction)
    ),
    example="ops.BCEWithLogitsLoss()(Tensor([-800.0]), Tensor([1.0]))", prints="800.0",
)  # fmt: skip
SigmoidCrossEntropyWithLogits = operation(
    __name__, "SigmoidCrossEntropyWithLogits", likelihoods.binary_cross_entropy_with_logits,
    run=lambda self, logits, label: likelihoods.binary_cross_entropy_with_logits(
        logits, label, reduction="none"
    ),
    example="ops.SigmoidCrossEntropyWithLogits()(Tensor([-800.0, 5.0]), Tensor([1.0, 1.0])).shape",
    prints="(2,)",
)  # fmt: skip
NLLLoss = operation(
    __name__, "NLLLoss", classification.nll_loss,
    attributes={"reduction": text("mean"), "ignore_index": integer(-100)},
    run=lambda self, logits, labels, weight=None: classification.nll_loss_and_weight(
        logits, labels, weight, self.reduction, self.ignore_index
    ),
    example="ops.NLLLoss()(Tensor([[-0.5, -2.0]]), Tensor([1]), Tensor([1.0, 3.0]))",
    prints="(Tensor(shape=[], dtype=Float32, value= 2), Tensor(shape=[], dtype=Float32, value= 3))",
)  # fmt: skip
KLDivLoss = operation(
    __name__, "KLDivLoss", likelihoods.kl_div, attributes={"reduction": text("mean")},
    run=lambda self, logits, labels: likelihoods.kl_div(logits, labels, self.reduction),
    example="ops.KLDivLoss('sum')(Tensor([[-1.0, -2.0]]), Tensor([[0.0, 1.0]]))", prints="2.0",
)  # fmt: skip
SoftmaxCrossEntropyWithLogits = operation(
    __name__, "SoftmaxCrossEntropyWithLogits", classification.softmax_cross_entropy,
    run=lambda self, logits, labels: classification.softmax_cross_entropy(logits, labels),
    example="ops.SoftmaxCrossEntropyWithLogits()(Tensor([[0.0, 1000.0]]), Tensor([[1.0, 0.0]]))[0]",
    prints="[1000.]",
)  # fmt: skip


def _sparse(self: Any, logits: Any, labels: Any) -> Tensor:
    operator = "SparseSoftmaxCrossEntropyWithLogits"
    x, t = operand(logits, operator), cast(operand(labels, operator), int32)
    if x.ndim != 2 or t.shape != x.shape[:1]:
        raise ValueError(
            f"For '{operator}', the 'logits' must have the shape (n, c) and the 'labels' (n,), but the "
            f"shapes are {x.shape} and {t.shape}."
        )
    shares = cast(one_hot(t, x.shape[1], 1.0, 0.0), x.dtype)
    loss, derivative = classification.softmax_cross_entropy(x, shares)
    return arithmetic.mul(derivative, 1 / x.shape[0]) if self.is_grad else mean(loss)


SparseSoftmaxCrossEntropyWithLogits = operation(
    __name__, "SparseSoftmaxCrossEntropyWithLogits", classification.cross_entropy,
    attributes={"is_grad": boolean(False)}, run=_sparse,
    example="ops.SparseSoftmaxCrossEntropyWithLogits()(Tensor([[0.0, 1000.0]]), Tensor([0]))",
    prints="1000.0",
)  # fmt: skip

__all__ = list(classes(globals()))
