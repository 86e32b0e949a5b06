"""Negative log-likelihoods of Booleans, numbers, and distributions.

Losses of logits use ``softplus`` and are accurate for logits of any size.
"""

from __future__ import annotations

import math as _math
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, clipping, comparison, math
from mindgrad.ops.activation import real_operand
from mindgrad.ops.define import also_named
from mindgrad.ops.losses import checked_reduction, operands_of_one_shape, positive, softplus, summarized
from mindgrad.ops.operands import broadcast_shapes, broadcast_to, cast, choose, promoted
from mindgrad.ops.reduction import flag, widened
from mindgrad.ops.reduction import sum as sum_of
from mindgrad.ops.registry import public

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "gaussian_nll_loss", "kl_div"]


# --- binary cross-entropies --------------------------------------------------------------------------


def _weighted(operator: str, loss: Tensor, weight: Any, name: str = "weight") -> Tensor:
    if weight is None:
        return loss
    weights = cast(real_operand(weight, operator), loss.dtype)
    if broadcast_shapes(operator, loss.shape, weights.shape) != loss.shape:
        raise ValueError(
            f"For '{operator}', the '{name}' must broadcast to the shape {loss.shape} of the input, but its "
            f"shape is {weights.shape}."
        )
    return arithmetic.mul(loss, weights)


@public(
    "BinaryCrossEntropy(reduction='mean')(logits, labels, weight=None)",
    "mint.nn.functional.binary_cross_entropy(input, target, weight=None, reduction='mean')",
)
def binary_cross_entropy(logits: Any, labels: Any, weight: Any = None, reduction: str = "mean") -> Tensor:
    """Compute the binary cross entropy of probabilities p and targets t.

    The loss is −w (t log(p + ε) + (1 − t) log(1 − p + ε)) with ε = 1e-12. For large logits use
    :func:`binary_cross_entropy_with_logits`, which is accurate.

    Args:
        logits (Tensor): probabilities p, a real tensor with values from 0 to 1.
        labels (Tensor): targets t, a real tensor of the same shape as ``logits``.
        weight (Tensor or None): weights w of the losses, which broadcast to the shape of ``logits``. ``None``
            means weights 1.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of the same shape as ``logits``.

    {errors of a loss}

    >>> from mindgrad import Tensor, ops
    >>> print(f"{ops.binary_cross_entropy(Tensor([0.5, 0.75]), Tensor([1.0, 1.0])):.4f}")
    0.4904
    """
    operator = "BinaryCrossEntropy"
    original, t = operands_of_one_shape(operator, logits=logits, labels=labels)
    p, t = widened(original), widened(t)
    yes = arithmetic.mul(t, math.log(arithmetic.add(p, 1e-12)))
    rest = arithmetic.add(arithmetic.sub(1.0, p), 1e-12)
    no = arithmetic.mul(arithmetic.sub(1.0, t), math.log(rest))
    loss = _weighted(operator, arithmetic.neg(arithmetic.add(yes, no)), weight)
    return cast(summarized(operator, loss, reduction), original.dtype)


@public(
    "BCEWithLogitsLoss(reduction='mean')(logits, label, weight=None, pos_weight=None)",
    "SigmoidCrossEntropyWithLogits()(logits, label)"
    "(reduction='none') >>> ops.SigmoidCrossEntropyWithLogits()(Tensor([-800.0, 5.0]), Tensor([1.0, "
    "1.0])).shape => (2,)",
    "mint.nn.functional.binary_cross_entropy_with_logits(input, target, weight=None, reduction='mean', "
    "pos_weight=None)",
)
@also_named(input="logits", target="label")
def binary_cross_entropy_with_logits(
    logits: Any, label: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Compute the binary cross entropy of logits x and targets t.

    The loss is w (P t softplus(−x) + (1 − t) softplus(x)), the negative log-likelihood of t for the
    probability sigmoid(x).

    Args:
        logits (Tensor): logits x, a real tensor.
        label (Tensor): targets t, a real tensor of the same shape as ``logits``.
        weight (Tensor or None): weights w of the losses, which broadcast to the shape of ``logits``. ``None``
            means weights 1.
        pos_weight (Tensor or None): weights P of the targets 1, which broadcast to the shape of ``logits``.
            ``None`` means weights 1.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of the same shape as ``logits``.

    {errors of a loss}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.binary_cross_entropy_with_logits(Tensor([-800.0, 800.0]), Tensor([1.0, 1.0])))
    400.0
    """
    operator = "BCEWithLogitsLoss"
    x, t = operands_of_one_shape(operator, logits=logits, label=label)
    yes = _weighted(operator, arithmetic.mul(t, softplus(arithmetic.neg(x))), pos_weight, "pos_weight")
    no = arithmetic.mul(arithmetic.sub(1.0, t), softplus(x))
    return summarized(operator, _weighted(operator, arithmetic.add(yes, no), weight), reduction)


# --- divergences and negative log-likelihoods --------------------------------------------------------


@public("KLDivLoss(reduction='mean')(logits, labels)")
def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Tensor:
    """Compute the Kullback–Leibler divergence p (log p − x) of log-probabilities x.

    For p = 0, the loss of an element is 0.

    Args:
        logits (Tensor): log-probabilities x, a real tensor.
        labels (Tensor): probabilities p, a real tensor of the same shape as ``logits``.
        reduction (str): how to reduce the losses: ``"mean"`` (over all elements), ``"batchmean"`` (the sum
            divided by the size of the first axis, which is the mean divergence), ``"sum"``, or ``"none"``.

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of the same shape as ``logits``.

    Raises:
        TypeError: If an operand is complex, or neither a tensor nor a number.
        ValueError: If the shapes of the tensors differ, or ``reduction`` is not supported.

    >>> from mindgrad import Tensor, ops
    >>> x = ops.log(Tensor([[0.5, 0.5]]))
    >>> print(f"{ops.kl_div(x, Tensor([[0.0, 1.0]]), 'batchmean'):.4f}")
    0.6931
    """
    operator = "KLDivLoss"
    checked_reduction(operator, reduction, ("batchmean",))
    x, p = operands_of_one_shape(operator, logits=logits, labels=labels)
    p = choose(comparison.less(p, 0), 0, p)
    loss = arithmetic.sub(math.xlogy(p, p), arithmetic.mul_no_nan(x, p))
    if reduction != "batchmean":
        return summarized(operator, loss, reduction)
    return arithmetic.div(sum_of(loss), x.shape[0] if x.ndim else 1)


def poisson_nll(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: str) -> Tensor:
    """Compute the negative log-likelihood of Poisson distributions.

    The loss is λ − t log(λ + eps) for λ = ``input``, or exp(x) − t x for x = ``input`` if ``log_input``.

    With ``full``, Stirling's formula for log t! is added for t > 1: t log t − t + log(2πt) / 2.

    Args:
        input (Tensor): rate λ of each distribution, or its logarithm x, real.
        target (Tensor): observed values t, a real tensor of the same shape as ``input``.
        log_input (bool): whether ``input`` is the logarithm of the rate.
        full (bool): whether to add Stirling's formula.
        eps (float): small positive number that is added to λ in the logarithm, unless ``log_input``.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor of the same shape as ``input``.

    Raises:
        TypeError: If an operand is complex, or neither a tensor nor a number.
        ValueError: If the shapes of the tensors differ, ``eps`` is not positive, or ``reduction`` is not
            supported.
    """
    operator = "PoissonNLLLoss"
    x, t = operands_of_one_shape(operator, input=input, target=target)
    if flag(log_input, operator, "log_input"):
        loss = arithmetic.sub(math.exp(x), arithmetic.mul(t, x))
    else:
        loss = arithmetic.sub(
            x, arithmetic.mul(t, math.log(arithmetic.add(x, positive(eps, operator, "eps"))))
        )
    if flag(full, operator, "full"):
        many = comparison.greater(t, 1.0)
        n = choose(many, t, 1.0)
        stirling = arithmetic.add(
            arithmetic.sub(math.xlogy(n, n), n),
            arithmetic.mul(math.log(arithmetic.mul(n, 2 * _math.pi)), 0.5),
        )
        loss = arithmetic.add(loss, choose(many, stirling, 0.0))
    return summarized(operator, loss, reduction)


def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Compute the negative log-likelihood of a normal distribution.

    The loss is (log v + (x − target)² / v) / 2 with v = max(var, eps), plus log(2π) / 2 if ``full``.

    Args:
        x (Tensor): mean of the distribution, real.
        target (Tensor): observed values, whose shape broadcasts with ``x``.
        var (Tensor): variance: a tensor of the same shape as ``x``, of this shape with the last size replaced
            by 1, or of this shape without the last axis.
        full (bool): whether to add the constant log(2π) / 2.
        eps (float): positive lower bound of the variance.
        reduction (str): how to reduce the losses: ``"mean"``, ``"sum"``, or ``"none"`` (no reduction).

    Returns:
        0-D tensor, or with ``reduction="none"``, a tensor with the broadcast shape of the operands.

    Raises:
        TypeError: If an operand is complex or not a tensor, or another argument has the wrong type.
        ValueError: If the shapes of the operands do not match, ``eps`` is not positive, or ``reduction`` is
            not supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.gaussian_nll_loss(Tensor([1.0, 2.0]), Tensor([2.0, 4.0]), Tensor([1.0, 1.0])))
    1.25
    """
    operator = "GaussianNLLLoss"
    eps = positive(eps, operator, "eps")
    mean, t, v = promoted(
        operator, *[real_operand(each, operator) for each in (x, target, var)], broadcast=False
    )
    if v.shape == mean.shape[:-1] and v.shape != mean.shape:
        v = v.reshape((*v.shape, 1))  # type: ignore[attr-defined]
    shape = broadcast_shapes(operator, mean.shape, t.shape)
    if broadcast_shapes(operator, shape, v.shape) != shape:
        raise ValueError(
            f"For '{operator}', the 'var' must have the shape of the input, and its last axis may have "
            f"size 1 or be missing, but the shapes of 'var' and input are {var.shape} and {mean.shape}."
        )
    v = clipping.maximum(broadcast_to(v, shape), eps)
    squared = math.square(arithmetic.sub(broadcast_to(mean, shape), broadcast_to(t, shape)))
    loss = arithmetic.mul(arithmetic.add(math.log(v), arithmetic.div(squared, v)), 0.5)
    if flag(full, operator, "full"):
        loss = arithmetic.add(loss, 0.5 * _math.log(2 * _math.pi))
    return cast(summarized(operator, loss, reduction), mean.dtype)
