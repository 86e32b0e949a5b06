"""Operator classes of connectionist temporal classification: loss and decoding."""

from __future__ import annotations

from typing import Any

from mindgrad.api.gradient import grad
from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import int32, int64
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import (
    activation,
    comparison,
    creation,
    cumulative,
    extremes,
    indexing,
    layout,
    ordering,
    reduction,
    scattering,
)
from mindgrad.ops.alignments import ctc_loss
from mindgrad.ops.joining import concat, stack
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import boolean, operation
from mindgrad.ops.registry import public

__all__ = ["CTCLoss"]


def sparse_ctc_loss(
    x: Any, labels_indices: Any, labels_values: Any, sequence_length: Any, zero_infinity: bool = False
) -> tuple[Tensor, Tensor]:
    """Compute the CTC loss for labels of a sparse matrix, and its derivative.

    Args:
        x (Tensor): logits of shape (t, n, c): time, batch, classes. The last class is the blank.
        labels_indices (Tensor): sequence and position of each label, integers of shape (k, 2).
        labels_values (Tensor): class index of each of the k labels.
        sequence_length (Tensor): number of time steps of each sequence: n integers.
        zero_infinity (bool): whether labels that need more time steps have the loss 0 instead of ∞.

    Returns:
        The loss of each sequence, of shape (n,), and the derivative of their sum with respect to ``x``.
        Derivatives of every order flow through both.

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes of the inputs do not match, or an element of ``sequence_length`` exceeds the
            number of time steps.
        NotImplementedError: If the attributes request that repeated labels are collapsed, or that repeated
            outputs are not merged.
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
            "supported: collapse repeated labels beforehand."
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


@public("CTCGreedyDecoder(merge_repeated=True)(...)")
def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Decode the most likely class of each time step, as a sparse matrix.

    Args:
        inputs (Tensor): logits of shape (t, n, c): time, batch, classes. The last class is the blank.
        sequence_length (Tensor): number of time steps of each sequence: n integers up to t.
        merge_repeated (bool): whether to merge consecutive occurrences of the same class.

    Returns:
        tuple: four tensors. The first, of shape (k, 2), holds the sequence and position of each of the k
            decoded labels. The second, of shape (k,), holds the class indices of the labels. The third holds
            the number of sequences and the largest number of labels. The fourth, of shape (n, 1), holds for
            each sequence the negative sum of the largest logit of each time step.

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If ``inputs`` is not 3-D, or ``sequence_length`` does not have one element of at most t
            for each sequence.
        RuntimeError: If the values of ``inputs`` are unknown at compile time, because they determine the
            number of labels.

    >>> from mindgrad import Tensor, ops
    >>> logits = Tensor([[[2.0, 0.0]], [[2.0, 0.0]], [[0.0, 2.0]]])
    >>> print(ops.CTCGreedyDecoder()(logits, Tensor([3]))[1])
    [0]
    """
    logits, lengths = operand(inputs, "CTCGreedyDecoder"), operand(sequence_length, "CTCGreedyDecoder")
    if logits.ndim != 3 or lengths.shape != logits.shape[1:2]:
        raise ValueError(
            "For 'CTCGreedyDecoder', the inputs and their lengths must have the shapes (t, n, c) and "
            f"(n,), but their shapes are {logits.shape} and {lengths.shape}."
        )
    times, _, classes = logits.shape
    values = known(lengths)
    if values is not None and values.max(initial=0) > times:
        raise ValueError(f"For 'CTCGreedyDecoder', a length exceeds the number of time steps, {times}.")
    best = cast(layout.swapaxes(extremes.argmax(logits, -1), 0, 1), int64)
    is_counted = comparison.less(creation.arange(times), layout.expand_dims(lengths, 1))
    is_label = comparison.logical_and(is_counted, comparison.not_equal(best, classes - 1))
    if merge_repeated:
        is_new = comparison.not_equal(best[:, 1:], best[:, :-1])  # type: ignore[index]
        first = creation.ones_like(is_label[:, :1])  # type: ignore[index]
        is_label = comparison.logical_and(is_label, concat((first, is_new), 1))
    numbers = cumulative.cumsum(cast(is_label, int64), 1) - 1  # type: ignore[operator]
    rows = ordering.nonzero(is_label)[:, 0]  # type: ignore[index]
    indices = stack((rows, indexing.masked_select(numbers, is_label)), 1)
    most = extremes.amax(numbers) + 1  # type: ignore[operator]
    shape = stack((creation.full((), logits.shape[1], dtype=int64), most))
    best_logits = layout.swapaxes(extremes.amax(logits, -1), 0, 1)
    score = -reduction.sum(indexing.where(is_counted, best_logits, 0.0), 1, True)  # type: ignore[operator]
    return indices, indexing.masked_select(best, is_label), shape, score
