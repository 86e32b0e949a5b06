"""Connectionist temporal classification (CTC) loss.

A. Graves et al., *Connectionist temporal classification* (2006). The code computes with logarithms of
probabilities. The logarithm of an impossible event is −10³⁰ instead of −∞, because differences of −∞ have no
derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import bool_, float32, float64, int32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, comparison, layout, math, movement
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import check_axes, whole_number
from mindgrad.ops.class_labels import class_labels
from mindgrad.ops.indexing import gather_elements
from mindgrad.ops.joining import concat, stack
from mindgrad.ops.losses import checked_reduction, summarized
from mindgrad.ops.operands import broadcast_to, cast, choose, operand
from mindgrad.ops.recurrence import over_time
from mindgrad.ops.reduction import any as any_of
from mindgrad.ops.reduction import flag

__all__ = ["ctc_loss"]

_IMPOSSIBLE = -1e30


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """Compute the connectionist temporal classification (CTC) loss.

    A network assigns a probability to every class at every time step. The loss is −log of the probability
    that a sequence of classes equals the target after repeated classes and blanks are removed:

        loss = −log Σ Π p(t, class at t)     summed over all sequences that reduce to the target

    Args:
        log_probs (Tensor): log-probabilities of shape (t, n, c), for t time steps, n sequences, and c
            classes.
        targets (Tensor): integer class indices of the target sequences, without the blank. The shape is (n,
            s), or (Σ ``target_lengths``,) if the targets are concatenated.
        input_lengths (Tensor or tuple of int): number of time steps of each sequence: n integers, each
            at most t.
        target_lengths (Tensor or tuple of int): length of each target: n integers, each at most s.
        blank (int): index of the blank class. Default: 0.
        reduction (str): ``"none"`` returns the loss of each sequence, ``"sum"`` the sum of these losses,
            and ``"mean"`` the mean over the sequences of the loss divided by the target length. Default:
            ``"mean"``.
        zero_infinity (bool): whether an impossible target has the loss 0 instead of ∞. The gradient of this
            loss is 0 in both cases. Default: ``False``.

    Returns:
        Two tensors: the loss, and the logarithms of the forward probabilities, of shape (n, t, 2 s + 1). The
        last axis is the target with blanks before, between, and after its classes. Both tensors are
        differentiable to any order.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument has the wrong shape, an element of ``input_lengths`` or ``target_lengths``
            is too large, or ``blank`` is not the index of a class.
        IndexError: If a target class is out of range and its value is known. If the value is unknown while
            tracing, the loss is NaN instead.

    >>> from mindgrad import Tensor, ops
    >>> log_probs = ops.log(Tensor([[[0.5, 0.5]], [[0.5, 0.5]]]))
    >>> loss, _ = ops.ctc_loss(log_probs, Tensor([[1]]), Tensor([2]), Tensor([1]))
    >>> print(f"{loss:.4f}")  # 1-1, 1-blank and blank-1: three of four sequences
    0.2877
    """
    checked_reduction("CTCLoss", reduction)
    flag(zero_infinity, "CTCLoss", "zero_infinity")
    x = real_operand(log_probs, "CTCLoss")
    check_axes(x, "(t, n, c)", "CTCLoss", "'log_probs'")
    times, batch, classes = x.shape
    blank = whole_number(blank, "CTCLoss", "blank", least=0)
    if blank >= classes:
        raise ValueError(f"For 'CTCLoss', the 'blank' must be below the number of classes {classes}.")
    y = cast(x, float64 if x.dtype is float64 else float32)
    ends = _lengths(input_lengths, "input_lengths", batch, times)
    labels = _labels(targets, target_lengths, batch)
    counts = _lengths(target_lengths, "target_lengths", batch, labels.shape[1])

    width = labels.shape[1]
    places = broadcast_to(Tensor(np.arange(width, dtype=np.int32)), (batch, width))
    is_label = comparison.less(places, layout.reshape(counts, (batch, 1)))
    labels = class_labels(choose(is_label, labels, blank), classes, "CTCLoss")
    read = _with_blanks(labels, blank)
    width = read.shape[1]
    emitted = gather_elements(
        y, 2, broadcast_to(layout.reshape(read, (1, batch, width)), (times, batch, width))
    )
    shown, alpha = _forward_logarithms(emitted, read, ends, counts)

    last = arithmetic.mul(layout.reshape(counts, (batch, 1)), 2)
    first = gather_elements(alpha, 1, last)
    second = gather_elements(alpha, 1, choose(comparison.greater(last, 0), arithmetic.sub(last, 1), last))
    both = math.logaddexp(first, choose(comparison.greater(last, 0), second, _IMPOSSIBLE))
    likelihood = layout.reshape(both, (batch,))
    possible = comparison.greater(likelihood, 0.5 * _IMPOSSIBLE)
    loss = choose(possible, arithmetic.neg(likelihood), 0.0 if zero_infinity else float("inf"))
    if known(labels) is None:
        is_outside = comparison.greater_equal(labels, classes)
        loss = choose(any_of(is_outside, 1), float("nan"), loss)
    loss = cast(loss, x.dtype)
    if reduction == "mean":
        loss = arithmetic.div(loss, cast(choose(comparison.equal(counts, 0), 1, counts), x.dtype))
    return summarized("CTCLoss", loss, reduction), cast(layout.moveaxis(shown, 0, 1), x.dtype)


def _with_blanks(labels: Tensor, blank: int) -> Tensor:
    """Insert a blank before, between, and after the labels; the shape is (n, 2 s + 1)."""
    batch, count = labels.shape
    blanks = layout.reshape(broadcast_to(operand(blank, "CTCLoss", labels), labels.shape), (batch, count, 1))
    pairs = stack([blanks, layout.reshape(labels, (batch, count, 1))], 2)
    last = broadcast_to(operand(blank, "CTCLoss", labels), (batch, 1))
    return concat([layout.reshape(pairs, (batch, 2 * count)), last], 1)


def _may_skip(read: Tensor) -> Tensor:
    """Return whether an alignment may omit the blank before a label.

    The blank may be omitted if the previous label differs from the label.
    """
    batch, width = read.shape
    two_before = read
    if width > 1:
        nobody = broadcast_to(operand(-1, "CTCLoss", read), (batch, 2))
        two_before = concat([nobody, movement.slice_axis(read, 1, 0, width - 2)], 1)
    is_label = (np.arange(width) % 2 == 1) & (np.arange(width) > 1)
    return comparison.logical_and(
        broadcast_to(Tensor(is_label), (batch, width)), comparison.not_equal(read, two_before)
    )


def _forward_logarithms(emitted: Tensor, read: Tensor, ends: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the logarithms of the forward probabilities of CTC.

    Returns the logarithms at each time step, with −∞ for impossible events, and the logarithms after the last
    time step of each sequence, with −10³⁰ for impossible events.

    Args:
        emitted: logarithms of the probabilities of the symbols in ``read``, of shape (t, n, 2 s + 1).
        read: labels with blanks between them, of shape (n, 2 s + 1).
        ends: number of time steps of each sequence.
        counts: number of labels of each sequence.
    """
    batch, width = read.shape
    may_skip = _may_skip(read)
    index = broadcast_to(Tensor(np.arange(width, dtype=np.int32)), (batch, width))
    last = arithmetic.mul(layout.reshape(counts, (batch, 1)), 2)
    is_real = comparison.less_equal(index, broadcast_to(last, (batch, width)))
    begins = comparison.logical_and(is_real, broadcast_to(Tensor(np.arange(width) < 2), (batch, width)))

    def forward(logs: Any, carry: Any) -> tuple[Any, Tensor]:
        alpha, now = carry
        stayed = math.logaddexp(alpha, _behind(alpha, 1))
        reached = math.logaddexp(stayed, choose(may_skip, _behind(alpha, 2), _IMPOSSIBLE))
        is_first = broadcast_to(comparison.equal(now, 0), alpha.shape)
        reached = choose(is_first, _start(begins, alpha), reached)
        reached = choose(is_real, arithmetic.add(reached, logs), _IMPOSSIBLE)
        runs = broadcast_to(comparison.less(now, layout.reshape(ends, (batch, 1))), alpha.shape)
        alpha = choose(runs, reached, alpha)
        is_possible = comparison.logical_and(runs, comparison.greater(alpha, 0.5 * _IMPOSSIBLE))
        return (alpha, arithmetic.add(now, 1)), choose(is_possible, alpha, float("-inf"))

    start = broadcast_to(operand(_IMPOSSIBLE, "CTCLoss", emitted), (batch, width))
    shown, (alpha, _) = over_time(forward, emitted, (start, operand(0, "CTCLoss", counts)))
    return shown, alpha


def _start(begins: Tensor, like: Tensor) -> Tensor:
    """Return the state before the first time step.

    The first blank and the first label have probability 1, and all other symbols have probability 0.
    """
    return choose(begins, broadcast_to(operand(0.0, "CTCLoss", like), like.shape), _IMPOSSIBLE)


def _behind(alpha: Tensor, count: int) -> Tensor:
    """Shift ``alpha`` by ``count`` along the last axis, and fill with −10³⁰."""
    batch, width = alpha.shape
    count = min(count, width)
    filling = broadcast_to(operand(_IMPOSSIBLE, "CTCLoss", alpha), (batch, count))
    return concat([filling, movement.slice_axis(alpha, 1, 0, width - count)], 1) if count < width else filling


def _lengths(lengths: Any, name: str, batch: int, most: int) -> Tensor:
    values_ = operand(Tensor(lengths) if isinstance(lengths, (tuple, list)) else lengths, "CTCLoss")
    if values_.dtype.is_inexact or values_.dtype is bool_:
        raise TypeError(f"For 'CTCLoss', the '{name}' must be integers, but the dtype is {values_.dtype}.")
    if values_.shape != (batch,):
        raise ValueError(
            f"For 'CTCLoss', the '{name}' must have the shape ({batch},), but their shape is {values_.shape}."
        )
    values = known(values_)
    if values is not None and values.size and (values.min() < 0 or values.max() > most):
        raise ValueError(f"For 'CTCLoss', the '{name}' must be from 0 to {most}, but they are {values}.")
    return cast(values_, int32)


def _labels(targets: Any, target_lengths: Any, batch: int) -> Tensor:
    """Convert the targets to a tensor of shape (n, s)."""
    labels = operand(targets, "CTCLoss")
    if labels.dtype.is_inexact or labels.dtype is bool_:
        raise TypeError(f"For 'CTCLoss', the 'targets' must be integers, but the dtype is {labels.dtype}.")
    labels = cast(labels, int32)
    if labels.ndim == 2 and labels.shape[0] == batch:
        return labels
    lengths = known(operand(target_lengths, "CTCLoss"))
    if labels.ndim != 1 or lengths is None or lengths.sum() != labels.shape[0]:
        raise ValueError(
            f"For 'CTCLoss', the 'targets' must have the shape ({batch}, s) or, if the 'target_lengths' "
            "are known at compile time, the shape (sum of the 'target_lengths',), but their shape is "
            f"{labels.shape}."
        )
    most = int(lengths.max()) if lengths.size else 0
    starts = np.cumsum(lengths) - lengths
    rows = np.minimum(starts[:, None] + np.arange(most)[None], max(labels.shape[0] - 1, 0))
    return layout.reshape(
        gather_elements(labels, 0, Tensor(rows.astype(np.int32).reshape(-1))), (batch, most)
    )
