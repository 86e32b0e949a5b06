"""Losses as operator classes, for ``nn.loss`` and older programs."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, classification
from mindgrad.ops.operations.base import boolean, classes, operation
from mindgrad.ops.reduction import mean
from mindgrad.ops.registry import public

public(
    "NLLLoss(reduction='mean', ignore_index=-100)(logits, labels, weight=None)"
    " -> nll_loss_and_weight(logits, labels, weight, self.reduction, self.ignore_index)"
    " >>> ops.NLLLoss()(Tensor([[-0.5, -2.0]]), Tensor([1]), Tensor([1.0, 3.0]))"
    " => (Tensor(shape=[], dtype=Float32, value= 2), Tensor(shape=[], dtype=Float32, value= 3))"
)(classification.nll_loss)


def _sparse(self: Any, logits: Any, labels: Any) -> Tensor:
    loss, derivative = classification.sparse_softmax_cross_entropy(type(self).__name__, logits, labels)
    return arithmetic.mul(derivative(), 1 / loss.shape[0]) if self.is_grad else mean(loss)


SparseSoftmaxCrossEntropyWithLogits = operation(
    __name__, "SparseSoftmaxCrossEntropyWithLogits", classification.cross_entropy,
    attributes={"is_grad": boolean(False)}, run=_sparse,
    example="ops.SparseSoftmaxCrossEntropyWithLogits()(Tensor([[0.0, 1000.0]]), Tensor([0]))",
    prints="1000.0",
)  # fmt: skip

__all__ = list(classes(globals()))
