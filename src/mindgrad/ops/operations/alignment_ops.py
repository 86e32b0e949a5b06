"""Connectionist temporal classification with labels of a sparse matrix, as a class."""

from __future__ import annotations

from typing import Any

from mindgrad.api.gradient import grad
from mindgrad.ir.dtype import int32
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import activation, creation, reduction, scattering
from mindgrad.ops.alignments import ctc_loss
from mindgrad.ops.index_checks import known
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import boolean, operation

__all__ = ["CTCLoss"]


def sparse_ctc_loss(
    x: Any, labels_indices: Any, labels_values: Any, sequence_length: Any, zero_infinity: bool = False
) -> tuple[Tensor, Tensor]:
    """The loss of connectionist temporal classification for labels of a sparse matrix, and its derivative.

    Args:
        x: logits of shape (t, n, c): time, batch, classes, of which the last is the blank.
        labels_indices: the sequence and the place of each label, integers of shape (k, 2).
        labels_values: the k labels.
        sequence_length: how many times of each sequence count: n integers.
        zero_infinity: whether labels that need more times have the loss 0, and not ∞.

    Returns:
        The loss of each sequence, of shape (n,), and the derivative of their sum by ``x``. Derivatives of
        every order flow through both.

    Raises:
        TypeError: an input is of another type.
        ValueError: a shape is another, or a length too large.
        NotImplementedError: repeated labels are to be collapsed, or repeated outputs not to be.
    """
    logits = operand(x, "CTCLoss")
    places, values = operand(labels_indices, "CTCLoss"), cast(operand(labels_values, "CTCLoss"), int32)
    count, classes = logits.shape[1], logits.shape[2]
    ends = known(places)
    width = values.shape[0] if ends is None else int(ends[:, 1].max(initial=-1)) + 1
    labels = scattering.scatter_nd(cast(places, int32), values, (count, width))
    lengths = scattering.scatter_nd(cast(places, int32)[:, :1], creation.ones_like(values), (count,))  # type: ignore[index]

    def losses(logits: Any) -> Tensor:
        scores = activation.log_softmax(logits, -1)
        return ctc_loss(scores, labels, sequence_length, lengths, classes - 1, "none", zero_infinity)[0]

    return losses(logits), grad(lambda logits: reduction.sum(losses(logits)))(logits)


def _run(self: Any, x: Any, labels_indices: Any, labels_values: Any, sequence_length: Any) -> Any:
    if self.preprocess_collapse_repeated or not self.ctc_merge_repeated:
        raise NotImplementedError(
            "For 'CTCLoss', only preprocess_collapse_repeated=False and ctc_merge_repeated=True are "
            "supported: collapse repeated labels before."
        )
    return sparse_ctc_loss(
        x, labels_indices, labels_values, sequence_length, self.ignore_longer_outputs_than_inputs
    )


CTCLoss = operation(
    __name__, "CTCLoss", sparse_ctc_loss, run=_run,
    attributes={
        "preprocess_collapse_repeated": boolean(False), "ctc_merge_repeated": boolean(True),
        "ignore_longer_outputs_than_inputs": boolean(False),
    },
    example="ops.CTCLoss()(ops.zeros((2, 1, 2)), Tensor([[0, 0]]), Tensor([0]), Tensor([2]))[0]"
    ".asnumpy().round(4)",
    prints="[0.2877]",
)  # fmt: skip
