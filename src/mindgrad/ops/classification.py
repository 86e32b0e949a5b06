"""Classification losses: cross entropy, log-likelihood, and margin losses.

Losses of logits use ``log_softmax`` and do not compute probabilities first, so they are accurate for logits
of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, comparison, layout, math, rectifiers
from mindgrad.ops.activation import log_softmax, logsigmoid, real_operand
from mindgrad.ops.arguments import number, share, whole_number
from mindgrad.ops.class_labels import class_labels, refuse_labels
from mindgrad.ops.cumulative import cumprod
from mindgrad.ops.indexing import gather_elements, take
from mindgrad.ops.losses import checked_reduction, operands_of_one_shape, summarized
from mindgrad.ops.matrices import one_hot
from mindgrad.ops.operands import broadcast_to, cast, choose, operand
from mindgrad.ops.reduction import any as any_of
from mindgrad.ops.reduction import mean as mean_of
from mindgrad.ops.reduction import sum as sum_of
from mindgrad.ops.reduction import widened
from mindgrad.ops.registry import public

__all__ = [
    "cross_entropy", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss",
]  # fmt: skip


# --- losses with one class per sample ----------------------------------------------------------------


def _class_weights(operator: str, weight: Any, like: Tensor, classes: int) -> Tensor | None:
    """Convert the weights of the classes to a tensor with the dtype of ``like``."""
    if weight is None:
        return None
    weights = cast(real_operand(weight, operator), like.dtype)
    if weights.shape != (classes,):
        raise ValueError(
            f"For '{operator}', the 'weight' must have the shape ({classes},), one element for each class, "
            f"but its shape is {weights.shape}."
        )
    return weights


def _class_axis(operator: str, x: Tensor) -> int:
    if not x.ndim:
        raise ValueError(f"For '{operator}', the input must have a class axis, but it is a 0-D tensor.")
    return 0 if x.ndim == 1 else 1


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def along_classes(weights: Tensor, rank: int, axis: int) -> Tensor:
    """Reshape the weights of classes so that they broadcast along ``axis``."""
    shape = tuple(-1 if i == axis else 1 for i in range(rank))
    return layout.reshape(weights, shape)


def _nll(
    operator: str, x: Tensor, t: Tensor, weight: Any, ignore: Any, reduction: str, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Compute the negative log-likelihood loss and the sum of the weights used.

    ``x`` contains log-probabilities, and ``t`` contains the target classes.
    """
    checked_reduction(operator, reduction)
    axis = _class_axis(operator, x)
    classes = x.shape[axis]
    if t.dtype.kind not in ("int", "uint"):
        raise TypeError(
            f"For '{operator}', the target must contain integer classes, but its dtype is {t.dtype}."
        )
    if t.shape != _without(x.shape, axis):
        raise ValueError(
            f"For '{operator}', the target must have the shape {_without(x.shape, axis)}, which is the "
            f"shape {x.shape} of the input without the class axis, but its shape is {t.shape}."
        )
    weights = _class_weights(operator, weight, x, classes)
    counts = comparison.not_equal(t, whole_number(ignore, operator, "ignore_index"))
    advice = f"If this label marks samples to ignore, pass it as ignore_index, which is {ignore} now."
    safe = class_labels(choose(counts, t, 0), classes, operator, advice)
    of_class = chosen(x, safe, axis)
    shares = cast(counts, x.dtype)
    if weights is not None:
        shares = arithmetic.mul(shares, take(weights, safe, 0))
    loss = choose(counts, arithmetic.neg(arithmetic.mul(shares, of_class)), 0.0)
    if smoothing:
        every = x if weights is None else arithmetic.mul(x, along_classes(weights, x.ndim, axis))
        smooth = choose(counts, arithmetic.neg(sum_of(every, axis)), 0.0)
        loss = arithmetic.add(
            arithmetic.mul(loss, 1 - smoothing), arithmetic.mul(smooth, smoothing / classes)
        )
    total = sum_of(shares)
    if reduction == "mean":
        return arithmetic.div(sum_of(loss), total), total
    return summarized(operator, loss, reduction), total


def chosen(x: Tensor, t: Tensor, axis: int) -> Tensor:
    """Return the element of ``x`` at index ``t`` along ``axis``."""
    return layout.squeeze(gather_elements(x, axis, layout.expand_dims(t, axis)), axis)


@public("mint.nn.functional.nll_loss(input, target, weight=None, ignore_index=-100, reduction='mean')")
def nll_loss(
    inputs: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compute the negative log-likelihood loss −w[t] x[t].

    x contains the log-probabilities of the classes, t is the target class of a sample, and w contains the
    weights of the classes. The mean over the samples is weighted by w.

    Args:
        inputs (Tensor): log-probabilities of shape (n, c), (n, c, …), or (c,).
        target (Tensor): integer class indices, with the shape of ``inputs`` without the axis of size c.
        weight (Tensor or None): weight of each class, of shape (c,). ``None`` means weights 1.
        ignore_index (int): class index. Samples with this target do not contribute to the loss.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).
        label_smoothing (float): fraction, from 0 to 1, of the target probability that is spread
            over all classes.

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of the same shape as ``target``. The mean over an
        empty batch is NaN.

    Raises:
        TypeError: If ``inputs`` is complex or not a tensor, or ``target`` is not an integer tensor.
        ValueError: If the shapes of the tensors do not match, or another argument is out of range.
        IndexError: If the value of a target class is known and out of range.

    >>> from mindgrad import Tensor, ops
    >>> x = ops.log(Tensor([[0.5, 0.5], [0.25, 0.75]]))
    >>> print(f"{ops.nll_loss(x, Tensor([0, 0])):.4f}")
    1.0397
    """
    x = real_operand(inputs, "NLLLoss")
    smoothing = share(label_smoothing, "NLLLoss", "label_smoothing")
    t = operand(target, "NLLLoss")
    return cast(_nll("NLLLoss", widened(x), t, weight, ignore_index, reduction, smoothing)[0], x.dtype)


def nll_loss_and_weight(
    logits: Any, labels: Any, weight: Any, reduction: str, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Return :func:`nll_loss` and the sum of the weights used."""
    x = real_operand(logits, "NLLLoss")
    found = _nll("NLLLoss", x, operand(labels, "NLLLoss"), weight, ignore_index, reduction, 0.0)
    return found[0], found[1]


@public("mint.nn.functional")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compute the cross entropy of logits with classes or probabilities.

    The loss is −Σ_c w_c p_c log softmax(x)_c.

    Args:
        input (Tensor): logits x, a real tensor of shape (n, c), (n, c, …), or (c,).
        target (Tensor): integer class indices, with the shape of ``input`` without the axis of size c. Or the
            probabilities p of the classes, a real tensor of the same shape as ``input``.
        weight (Tensor or None): weight of each class, of shape (c,). ``None`` means weights 1.
        ignore_index (int): class index. Samples with this target do not contribute to the loss. It has no
            effect if ``target`` contains probabilities.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction). The
            mean is weighted by w for classes. For probabilities, it is the mean over all elements of the
            other axes.
        label_smoothing (float): fraction ε from 0 to 1; the target probabilities p are replaced by (1 − ε) p
            + ε / c.

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor with the shape of ``input`` without the class axis.

    Raises:
        TypeError: If an operand is complex, or neither a tensor nor a number.
        ValueError: If the shapes of the tensors do not match, or another argument is out of range.
        IndexError: If the value of a target class is known and out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.cross_entropy(Tensor([[1000.0, 0.0], [0.0, 0.0]]), Tensor([0, 1])):.4f}")
    0.3466
    """
    operator = "CrossEntropyLoss"
    logits = real_operand(input, operator)
    x = widened(logits)
    smoothing = share(label_smoothing, operator, "label_smoothing")
    axis = _class_axis(operator, x)
    t = operand(target, operator)
    logs = log_softmax(x, axis)
    if not t.dtype.is_float:
        return cast(_nll(operator, logs, t, weight, ignore_index, reduction, smoothing)[0], logits.dtype)
    if t.shape != x.shape:
        raise ValueError(
            f"For '{operator}', a target that contains probabilities must have the shape of the input, "
            f"{x.shape}, but its shape is {t.shape}. A target that contains classes must have an integer "
            "dtype."
        )
    p = cast(t, x.dtype)
    if smoothing:
        p = arithmetic.add(arithmetic.mul(p, 1 - smoothing), smoothing / x.shape[axis])
    weights = _class_weights(operator, weight, x, x.shape[axis])
    terms = arithmetic.mul_no_nan(logs, p)
    if weights is not None:
        terms = arithmetic.mul(terms, along_classes(weights, x.ndim, axis))
    return cast(summarized(operator, arithmetic.neg(sum_of(terms, axis)), reduction), logits.dtype)


@public(
    "SoftmaxCrossEntropyWithLogits()(logits, labels) >>> ops.SoftmaxCrossEntropyWithLogits()(Tensor([[0.0, "
    "1000.0]]), Tensor([[1.0, 0.0]]))[0] => [1000.]"
)
def softmax_cross_entropy(logits: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """Compute the cross entropy −Σ_c p_c log softmax(x)_c and its gradient.

    The gradient softmax(x) − p with respect to the logits assumes Σ p = 1.

    Args:
        logits (Tensor): logits x, real tensor of shape (n, c).
        labels (Tensor): probabilities p of the classes, real tensor of shape (n, c).

    Returns:
        Two tensors: the loss, of shape (n,), and its gradient softmax(x) − p, of shape (n, c).

    Raises:
        TypeError: If an operand is complex, or neither a tensor nor a number.
        ValueError: If ``logits`` or ``labels`` is not 2-D, or their shapes differ.
    """
    operator = "SoftmaxCrossEntropyWithLogits"
    x, p = operands_of_one_shape(operator, logits=logits, labels=labels)
    if x.ndim != 2:
        raise ValueError(f"For '{operator}', the 'logits' must have 2 axes, but the shape is {x.shape}.")
    logs = log_softmax(x, 1)
    return arithmetic.neg(sum_of(arithmetic.mul_no_nan(logs, p), 1)), arithmetic.sub(math.exp(logs), p)


def sparse_softmax_cross_entropy(
    operator: str, logits: Any, labels: Any
) -> tuple[Tensor, Callable[[], Tensor]]:
    """Compute −log softmax(x)_t for each sample x and its class t.

    ``logits`` contains the samples and has shape (n, c); ``labels`` contains the classes.

    Returns:
        The loss, of shape (n,), and a function that computes its derivative with respect to the logits.

    Raises:
        ValueError: If ``logits`` does not have the shape (n, c), or ``labels`` the shape (n,).
        IndexError: If the value of a target class is known and out of range.
    """
    x, t = operand(logits, operator), cast(operand(labels, operator), int32)
    if x.ndim != 2 or t.shape != x.shape[:1]:
        raise ValueError(
            f"For '{operator}', the 'logits' must have the shape (n, c) and the 'labels' (n,), but the "
            f"shapes are {x.shape} and {t.shape}."
        )
    logs, classes = log_softmax(x, 1), x.shape[1]
    refuse_labels(t, 0, classes, operator)
    # multiply by a one-hot mask instead of gathering the scores of the target classes, because the derivative
    # of the product is faster
    marks = cast(one_hot(t, classes, 1.0, 0.0), x.dtype)
    loss = arithmetic.neg(sum_of(arithmetic.mul_no_nan(logs, marks), 1))
    is_outside = None
    if known(t) is None:
        is_outside = comparison.logical_or(comparison.less(t, 0), comparison.greater_equal(t, classes))
        loss = choose(is_outside, float("nan"), loss)

    def derivative() -> Tensor:
        slopes = arithmetic.sub(math.exp(logs), marks)
        if is_outside is None:
            return slopes
        return choose(broadcast_to(layout.expand_dims(is_outside, 1), x.shape), float("nan"), slopes)

    return loss, derivative


@public("MultiMarginLoss(p=1, margin=1.0, reduction='mean')(inputs, target, weight=None)")
def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Compute the multi-class margin loss of scores x and classes t.

    The loss of a sample is Σ_{i ≠ t} w[t] max(0, margin − x[t] + x[i])^p / c.

    Args:
        input (Tensor): scores x of the classes, a real tensor of shape (n, c).
        target (Tensor): class index t of each sample, integers of shape (n,).
        p (int): exponent of the margin violations, 1 or 2.
        margin (int or float): required difference between the score of the target class and every other
            score.
        weight (Tensor or None): weight of each class, of shape (c,). ``None`` means weights 1.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of shape (n,).

    Raises:
        TypeError: If ``input`` is complex or not a tensor, or another argument has the wrong type.
        ValueError: If the shapes of the tensors do not match, ``p`` is neither 1 nor 2, or ``reduction`` is
            not supported.
        IndexError: If the value of a target class is known and out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.multi_margin_loss(Tensor([[0.5, 1.0, 2.0, 0.0]]), Tensor([1])))
    0.625
    """
    operator = "MultiMarginLoss"
    x = real_operand(input, operator)
    t = operand(target, operator)
    if p not in (1, 2):
        raise ValueError(f"For '{operator}', the 'p' must be 1 or 2, but got {p!r}.")
    if x.ndim != 2 or t.shape != x.shape[:1]:
        raise ValueError(
            f"For '{operator}', the input must have the shape (n, c) and the target (n,), but the shapes are "
            f"{x.shape} and {t.shape}."
        )
    t = class_labels(t, x.shape[1], operator)
    own = chosen(x, t, 1)
    behind = arithmetic.sub(x, layout.expand_dims(own, 1))
    terms = rectifiers.relu(arithmetic.add(behind, number(margin, operator, "margin")))
    terms = terms if p == 1 else math.square(terms)
    weights = _class_weights(operator, weight, x, x.shape[1])
    if weights is not None:
        terms = arithmetic.mul(terms, layout.expand_dims(take(weights, t, 0), 1))
    others = comparison.equal(one_hot(t, x.shape[1], 1.0, 0.0), 0.0)
    return summarized(operator, mean_of(choose(others, terms, 0.0), 1), reduction)


# --- losses with several classes per sample ----------------------------------------------------------


def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Compute the multi-label margin loss of scores x and sets of classes T.

    The loss of a sample is Σ_{j in T, i not in T} max(0, 1 − (x[j] − x[i])) / c.

    Args:
        input (Tensor): scores x of the classes, a real tensor of shape (n, c) or (c,).
        target (Tensor): integers of the same shape as ``input``. For each sample, the class indices in T come
            first, and −1 fills the rest.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of shape (n,).

    Raises:
        TypeError: If ``input`` is complex or not a tensor, or ``target`` is not an integer tensor.
        ValueError: If the shapes of ``input`` and ``target`` differ or are neither 1-D nor 2-D, or
            ``reduction`` is not supported.
        IndexError: If the value of a target class is known and out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.multilabel_margin_loss(Tensor([0.1, 0.2, 0.4, 0.8]), Tensor([3, 0, -1, 1])):.4f}")
    0.8500
    """
    operator = "MultiLabelMarginLoss"
    x, t = real_operand(input, operator), operand(target, operator)
    if t.dtype.kind != "int":
        raise TypeError(
            f"For '{operator}', the target must contain integer classes, but its dtype is {t.dtype}."
        )
    if x.shape != t.shape or x.ndim not in (1, 2):
        raise ValueError(
            f"For '{operator}', input and target must both have the shape (n, c) or (c,), but the shapes "
            f"are {x.shape} and {t.shape}."
        )
    classes = x.shape[-1]
    refuse_labels(t, -1, classes, operator)
    counts = cumprod(cast(comparison.greater_equal(t, 0), int32), -1)
    marks = one_hot(t, classes, 1.0, 0.0)  # −1, the padding of ``target``, becomes a row of zeros
    shares = sum_of(arithmetic.mul(marks, layout.expand_dims(cast(counts, marks.dtype), -1)), -2)
    is_chosen = comparison.greater(shares, 0.0)
    gaps = arithmetic.sub(layout.expand_dims(x, -1), layout.expand_dims(x, -2))  # gaps[j, i] = x[j] − x[i]
    pairs = comparison.logical_and(
        layout.expand_dims(is_chosen, -1), comparison.logical_not(layout.expand_dims(is_chosen, -2))
    )
    terms = choose(pairs, rectifiers.relu(arithmetic.sub(1.0, gaps)), 0.0)
    loss = arithmetic.mul(sum_of(terms, (-2, -1)), 1 / classes)
    if known(t) is None:
        is_outside = comparison.logical_or(comparison.less(t, -1), comparison.greater_equal(t, classes))
        loss = choose(any_of(is_outside, -1), float("nan"), loss)
    return summarized(operator, loss, reduction)


def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Compute the multi-label soft margin loss over the last axis.

    The loss is −Σ_c w_c (t log σ(x) + (1 − t) log σ(−x)) / c.

    Args:
        input (Tensor): logits x, a real tensor of shape (…, c).
        target (Tensor): real tensor t of the same shape as ``input``: 1 for classes that apply to the sample,
            0 for other classes.
        weight (Tensor or None): weight w of each class, which broadcasts to ``input``. ``None`` means weights
            1.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor with the shape of ``input`` without the last axis.

    Raises:
        TypeError: If an operand is complex, or neither a tensor nor a number.
        ValueError: If the shapes of the tensors do not match, or ``reduction`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.multilabel_soft_margin_loss(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])):.4f}")
    0.6931
    """
    operator = "MultiLabelSoftMarginLoss"
    x, t = operands_of_one_shape(operator, input=input, target=target)
    terms = arithmetic.add(
        arithmetic.mul(t, logsigmoid(x)),
        arithmetic.mul(arithmetic.sub(1.0, t), logsigmoid(arithmetic.neg(x))),
    )
    if weight is not None:
        terms = arithmetic.mul(terms, cast(real_operand(weight, operator), terms.dtype))
    return summarized(operator, arithmetic.neg(mean_of(terms, -1)), reduction)
