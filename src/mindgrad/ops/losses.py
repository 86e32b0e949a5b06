"""Regression losses: distances, margins, and similarities of tensors.

Each loss is a formula for every element or sample, followed by a reduction: ``"mean"``, ``"sum"``, or
``"none"``. Targets are differentiated like other inputs. Losses of classes are in ``ops.classification``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.core.base.location import warn_user
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives import special
from mindgrad.ops import arithmetic, clipping, comparison, math, rectifiers, rounding, statistics
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import number
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.operands import choose, is_selection, promoted
from mindgrad.ops.reduction import flag
from mindgrad.ops.reduction import mean as mean_of
from mindgrad.ops.reduction import sum as sum_of
from mindgrad.ops.registry import public
from mindgrad.ops.vectors import multiplied_in_range

__all__ = [
    "cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss", "huber_loss",
    "l1_loss", "margin_ranking_loss", "mse_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip

REDUCTIONS = ("mean", "sum", "none")


# --- functions that several losses use ---------------------------------------------------------------


def checked_reduction(operator: str, reduction: Any, also: tuple[str, ...] = ()) -> str:
    """Check the name of a reduction, and return the name.

    Raises:
        ValueError: If ``reduction`` is not supported.
    """
    allowed = (*REDUCTIONS, *also)
    if reduction not in allowed:
        listed = ", ".join(repr(each) for each in allowed)
        raise ValueError(f"For '{operator}', the 'reduction' must be one of {listed}, but got {reduction!r}.")
    return reduction


def summarized(operator: str, x: Tensor, reduction: Any) -> Tensor:
    """Reduce ``x`` by its mean or sum, or return it, by the name of the reduction."""
    name = checked_reduction(operator, reduction)
    if name == "none":
        return x
    return mean_of(x) if name == "mean" else sum_of(x)


def operands_of_one_shape(operator: str, **tensors: Any) -> list[Tensor]:
    """Convert to real tensors of a common dtype; check that their shapes are equal.

    Raises:
        TypeError: If an operand is complex or not a tensor.
        ValueError: If the shapes of the tensors differ.
    """
    operands = promoted(operator, *[real_operand(x, operator) for x in tensors.values()], broadcast=False)
    if len({x.shape for x in operands}) > 1:
        names = "', '".join(tensors)
        raise ValueError(
            f"For '{operator}', the shapes of '{names}' must be equal, but they are "
            f"{', '.join(str(x.shape) for x in operands)}."
        )
    return operands


def positive(value: Any, operator: str, name: str) -> float:
    """Convert ``value`` to a float, and check that it is greater than 0.

    Raises:
        TypeError: If ``value`` is not a number.
        ValueError: If ``value`` is not greater than 0.
    """
    result = number(value, operator, name)
    if not result > 0:
        raise ValueError(f"For '{operator}', the '{name}' must be greater than 0, but got {value}.")
    return result


def softplus(x: Tensor) -> Tensor:
    """Compute log(1 + exp(x)) without overflow."""
    return apply(special.softplus, x)


# --- losses of distances -----------------------------------------------------------------------------


def _difference(operator: str, input: Any, target: Any) -> Tensor:
    tensors = [real_operand(input, operator), real_operand(target, operator)]
    if any(map(is_selection, tensors)):  # the shape of a tensor selected by a mask is unknown at compile time
        return arithmetic.sub(*tensors)
    difference = arithmetic.sub(*promoted(operator, *tensors))
    if all(difference.size > x.size for x in tensors):
        warn_user(
            f"For '{operator}', the shapes {tensors[0].shape} and {tensors[1].shape} are broadcast to "
            f"{difference.shape}: every element of one is compared with every element of the other. To "
            "compare them element by element, give both the same shape."
        )
    return difference


@public("mint.nn.functional")
def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Compute the absolute error |input − target|; its derivative at 0 is 0.

    Args:
        input (Tensor): real tensor.
        target (Tensor): real tensor whose shape broadcasts with ``input``.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor with the broadcast shape of the operands.

    Raises:
        TypeError: If an operand is complex, or neither a tensor nor a number.
        ValueError: If the shapes of the operands do not broadcast, or ``reduction`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.l1_loss(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
    1.5
    """
    return summarized("L1Loss", rounding.abs(_difference("L1Loss", input, target)), reduction)


@public("mint.nn.functional")
def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Compute the squared error (input − target)².

    {as l1_loss}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.mse_loss(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
    2.5
    """
    return summarized("MSELoss", math.square(_difference("MSELoss", input, target)), reduction)


@public(
    "SmoothL1Loss(beta=1.0, reduction='none')(prediction, target)",
    "mint.nn.functional.smooth_l1_loss(input, target, reduction='mean', beta=1.0)"
    " >>> mint.nn.functional.smooth_l1_loss(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])) => 1.0",
)
def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Compute the smooth L1 loss of d = input − target (Girshick, 2015).

    The loss is d² / (2β) if |d| < β, and |d| − β/2 otherwise.

    Args:
        input (Tensor): real tensor.
        target (Tensor): real tensor of the same shape as ``input``.
        beta (float): positive bound β between the quadratic and the linear part of the loss.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        Tensor of the same shape as ``input`` if ``reduction`` is ``"none"``, otherwise a 0-D tensor.

    Raises:
        TypeError: If an operand is complex or not a tensor, or ``beta`` is not a number.
        ValueError: If the shapes of the tensors differ, ``beta`` is not positive, or ``reduction`` is not
            supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.smooth_l1_loss(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
    [0.5 1.5]
    """
    beta = positive(beta, "SmoothL1Loss", "beta")
    loss = arithmetic.mul(
        _bent(operands_of_one_shape("SmoothL1Loss", input=input, target=target), beta), 1 / beta
    )
    return summarized("SmoothL1Loss", loss, reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Compute the Huber loss of d = input − target (Huber, 1964).

    The loss is d²/2 if |d| < δ, and δ (|d| − δ/2) otherwise.

    Args:
        input (Tensor): real tensor.
        target (Tensor): real tensor whose shape broadcasts with ``input``.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).
        delta (float): positive bound δ between the quadratic and the linear part of the loss.

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor with the broadcast shape of the operands.

    Raises:
        TypeError: If an operand is complex or not a tensor, or ``delta`` is not a number.
        ValueError: If the shapes of the operands do not broadcast, ``delta`` is not positive, or
            ``reduction`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.huber_loss(Tensor([1.0, 4.0]), Tensor([2.0, 2.0]), delta=0.5))
    0.625
    """
    delta = positive(delta, "HuberLoss", "delta")
    return summarized(
        "HuberLoss",
        _bent(promoted("HuberLoss", *(real_operand(x, "HuberLoss") for x in (input, target))), delta),
        reduction,
    )


def _bent(operands: Sequence[Tensor], bound: float) -> Tensor:
    """Compute the Huber loss: d²/2 for |d| < b, else b (|d| − b/2), b = ``bound``."""
    d = arithmetic.sub(*operands)
    size = rounding.abs(d)
    near = comparison.less(size, bound)
    far = arithmetic.mul(arithmetic.sub(size, bound / 2), bound)
    # d² may overflow for large d, so replace large d before squaring
    return choose(near, arithmetic.mul(math.square(choose(near, d, 0.0)), 0.5), far)


# --- losses with margins -----------------------------------------------------------------------------


@public("mint.nn.functional", "SoftMarginLoss(reduction='mean')(logits, labels)")
def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Compute log(1 + exp(−target · input)) for targets 1 and −1.

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of the same shape as ``input``.

    Raises:
        TypeError: If an operand is complex, or neither a tensor nor a number.
        ValueError: If the shapes of the tensors differ, or ``reduction`` is not supported.

    {Args as smooth_l1_loss}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.soft_margin_loss(Tensor([0.0, 2.0]), Tensor([1.0, -1.0])):.4f}")
    1.4100
    """
    x, t = operands_of_one_shape("SoftMarginLoss", input=input, target=target)
    return summarized("SoftMarginLoss", softplus(arithmetic.neg(arithmetic.mul(t, x))), reduction)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Compute max(0, −target · (input1 − input2) + margin).

    Target 1 means that ``input1`` should be larger, −1 that ``input2`` should be larger.

    Args:
        input1, input2, target (Tensor): real tensors of the same shape.
        margin (float): minimum difference between the larger and the smaller input for a loss of 0.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of the same shape as ``input1``.

    Raises:
        TypeError: If an operand is complex or not a tensor, or ``margin`` is not a number.
        ValueError: If the shapes of the tensors differ, or ``reduction`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> x, y = Tensor([1.0, 1.0]), Tensor([3.0, 3.0])
    >>> print(ops.margin_ranking_loss(x, y, Tensor([1.0, -1.0]), reduction="none"))
    [2. 0.]
    """
    operator = "MarginRankingLoss"
    margin = number(margin, operator, "margin")
    x, y, t = operands_of_one_shape(operator, input1=input1, input2=input2, target=target)
    behind = arithmetic.mul(t, arithmetic.sub(y, x))
    return summarized(operator, rectifiers.relu(arithmetic.add(behind, margin)), reduction)


def hinge_embedding_loss(inputs: Any, targets: Any, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """Compute the hinge embedding loss of distances x (Hadsell et al., 2006).

    The loss is x for a positive target, and max(0, margin − x) for a negative target.

    Args:
        inputs (Tensor): distances x, a real tensor.
        targets (Tensor): real tensor of the same shape as ``inputs``: 1 for similar pairs, −1 for dissimilar
            pairs.
        margin (float): distance above which dissimilar pairs have no loss.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of the same shape as ``inputs``.

    Raises:
        TypeError: If an operand is complex or not a tensor, or ``margin`` is not a number.
        ValueError: If the shapes of the tensors differ, or ``reduction`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.hinge_embedding_loss(Tensor([0.25, 0.25]), Tensor([1.0, -1.0]), reduction="none"))
    [0.25 0.75]
    """
    operator = "HingeEmbeddingLoss"
    margin = number(margin, operator, "margin")
    x, t = operands_of_one_shape(operator, inputs=inputs, targets=targets)
    apart = choose(comparison.less(t, 0.0), rectifiers.relu(arithmetic.sub(margin, x)), 0.0)
    return summarized(operator, choose(comparison.greater(t, 0.0), x, apart), reduction)


@public("TripletMarginLoss(p=2, swap=False, eps=1e-06, reduction='mean')(anchor, positive, negative, margin)")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: Any = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Compute max(0, d(anchor, positive) − d(anchor, negative) + margin).

    d(a, b) = ‖a − b + eps‖ₚ over the last axis.

    Args:
        anchor, positive, negative (Tensor): real tensors whose shapes broadcast; the last axis
            contains the features of a sample.
        margin (float): nonnegative margin. The loss is 0 if the negative distance exceeds the positive
            distance by at least ``margin``.
        p (int or float): order p of the norm ‖·‖ₚ.
        eps (float): number that is added to each difference a − b.
        swap (bool): whether to use d(positive, negative) instead of d(anchor, negative) if it
            is smaller.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor with the broadcast shape of the operands without
        the last axis.

    Raises:
        TypeError: If an operand is complex or not a tensor, or ``margin``, ``p``, or ``eps`` is not a number.
        ValueError: If the shapes of the operands do not broadcast, ``margin`` is negative, or ``reduction``
            is not supported.

    >>> from mindgrad import Tensor, ops
    >>> a, near, far = Tensor([[0.0, 0.0]]), Tensor([[0.0, 3.0]]), Tensor([[4.0, 0.0]])
    >>> print(f"{ops.triplet_margin_loss(a, near, far, margin=1.5):.4f}")
    0.5000
    """
    operator = "TripletMarginLoss"
    if isinstance(margin, Tensor):
        margin = margin.item()
    margin, p, eps = (
        number(margin, operator, "margin"),
        number(p, operator, "p"),
        number(eps, operator, "eps"),
    )
    if margin < 0:
        raise ValueError(f"For '{operator}', the 'margin' must be at least 0, but got {margin}.")
    tensors = [real_operand(x, operator) for x in (anchor, positive, negative)]
    a, near, far = promoted(operator, *tensors)
    if not a.ndim:
        raise ValueError(
            f"For '{operator}', the inputs must have at least one axis, but they are 0-D tensors."
        )

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return statistics.vector_norm(arithmetic.add(arithmetic.sub(x, y), eps), p, -1)

    to_far = distance(a, far)
    if flag(swap, operator, "swap"):
        to_far = clipping.minimum(to_far, distance(near, far))
    loss = rectifiers.relu(arithmetic.add(arithmetic.sub(distance(a, near), to_far), margin))
    return summarized(operator, loss, reduction)


# --- cosine similarity -------------------------------------------------------------------------------


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """Compute the cosine similarity along an axis.

    The similarity is Σ x1 x2 / max(‖x1‖ ‖x2‖, eps).

    Args:
        x1, x2 (Tensor): real tensors whose shapes broadcast.
        dim (int): axis that contains the components of the vectors.
        eps (float): lower bound of the product of norms in the denominator.

    Returns:
        Tensor with the broadcast shape of ``x1`` and ``x2``, without the axis ``dim``.

    Raises:
        TypeError: If an operand is complex or not a tensor, ``dim`` is not an int, or ``eps`` is not a
            number.
        ValueError: If the shapes of the operands do not broadcast, or ``dim`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.cosine_similarity(Tensor([[1.0, 0.0]]), Tensor([[2.0, 0.0]])))
    [1.]
    """
    operator = "CosineSimilarity"
    x, y = promoted(operator, real_operand(x1, operator), real_operand(x2, operator))
    axis = normalize_axis(dim, x.ndim, operator)
    least: Any = number(eps, operator, "eps")
    if x.size:
        x, of_x = multiplied_in_range(x, axis, least)
        y, of_y = multiplied_in_range(y, axis, least)
        least = arithmetic.div(arithmetic.div(least, of_x), of_y)
    sizes = arithmetic.mul(statistics.vector_norm(x, 2, axis), statistics.vector_norm(y, 2, axis))
    along = sum_of(arithmetic.mul(x, y), axis)
    return arithmetic.div(along, clipping.maximum(sizes, least))


@public("mint.nn.functional")
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Compute 1 − cos for target 1, and max(0, cos − margin) for target −1.

    cos = Σ x y / √((Σ x² + 1e-12) (Σ y² + 1e-12)) over all axes except the first.

    Args:
        input1, input2 (Tensor): real tensors of the same shape (n, …).
        target (Tensor): tensor of shape (n,) with elements 1 and −1.
        margin (float): similarity, from −1 to 1, below which pairs with target −1 have no loss.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of shape (n,).

    Raises:
        TypeError: If an operand is complex or not a tensor, or ``margin`` is not a number.
        ValueError: If the shapes of the operands do not match, ``margin`` is not between −1 and 1, or
            ``reduction`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> x, y = Tensor([[1.0, 0.0], [1.0, 0.0]]), Tensor([[3.0, 4.0], [3.0, 4.0]])
    >>> loss = ops.cosine_embedding_loss(x, y, Tensor([1, -1]), reduction="none")
    >>> print(f"{loss[0]:.4f} {loss[1]:.4f}")
    0.4000 0.6000
    """
    operator = "CosineEmbeddingLoss"
    margin = number(margin, operator, "margin")
    if not -1 <= margin <= 1:
        raise ValueError(f"For '{operator}', the 'margin' must be from -1 to 1, but got {margin}.")
    x, y = operands_of_one_shape(operator, input1=input1, input2=input2)
    t = real_operand(target, operator)
    if x.ndim < 2 or t.shape != x.shape[:1]:
        raise ValueError(
            f"For '{operator}', the inputs must have at least two axes, and the 'target' must have one "
            f"element for each sample, but the shapes of inputs and target are {x.shape} and {t.shape}."
        )
    axes = tuple(range(1, x.ndim))

    def squared(z: Tensor) -> Tensor:
        return arithmetic.add(sum_of(math.square(z), axes), 1e-12)

    cosine = arithmetic.mul(
        sum_of(arithmetic.mul(x, y), axes), math.rsqrt(arithmetic.mul(squared(x), squared(y)))
    )
    apart = choose(comparison.equal(t, -1.0), rectifiers.relu(arithmetic.sub(cosine, margin)), 0.0)
    return summarized(
        operator, choose(comparison.equal(t, 1.0), arithmetic.sub(1.0, cosine), apart), reduction
    )
