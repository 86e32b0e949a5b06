"""Losses of segmentations: Dice losses and the focal loss."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import int32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.layer.activation import get_activation
from mindgrad.nn.loss.base import LossBase
from mindgrad.ops import activation, arithmetic, classification, indexing, layout, math
from mindgrad.ops.arguments import number
from mindgrad.ops.class_labels import class_labels
from mindgrad.ops.losses import operands_of_one_shape
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.reduction import mean
from mindgrad.ops.reduction import sum as sum_of

__all__ = ["DiceLoss", "FocalLoss", "MultiClassDiceLoss"]


def dice(operator: str, logits: Any, labels: Any, smooth: float) -> Tensor:
    """Return 1 − 2 Σ x t / (Σ x² + Σ t² + smooth) (Milletari et al., 2016)."""
    x, t = operands_of_one_shape(operator, logits=logits, labels=labels)
    both = sum_of(arithmetic.mul(x, t))
    each = arithmetic.add(sum_of(math.square(x)), sum_of(math.square(t)))
    return arithmetic.sub(1.0, arithmetic.div(arithmetic.mul(both, 2.0), arithmetic.add(each, smooth)))


class DiceLoss(LossBase):
    """Dice loss of two segmentations: 1 − 2 Σ x t / (Σ x² + Σ t² + smooth).

    From Milletari et al. (2016).

    Args:
        smooth (float): positive number added to the denominator, so that it is not zero.

    Inputs:
        logits, labels (Tensor): real tensors of the same shape.

    Outputs:
        Scalar tensor.

    Raises:
        TypeError: If an input is complex or not a tensor.
        ValueError: If ``logits`` and ``labels`` differ in shape.

    >>> from mindgrad import Tensor, nn
    >>> print(f"{nn.DiceLoss()(Tensor([1.0, 0.0]), Tensor([1.0, 1.0])):.4f}")
    0.3333
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = number(smooth, "DiceLoss", "smooth")

    def construct(self, logits: Any, labels: Any) -> Tensor:
        return dice("DiceLoss", logits, labels, self.smooth)


class MultiClassDiceLoss(LossBase):
    """Mean of :class:`DiceLoss` over classes, after an activation.

    Args:
        weights (Tensor): weight of each class, a tensor of shape (c,). ``None``: all weights are 1.
        ignore_indiex (int): index of a class to ignore. The spelling is MindSpore's.
        activation (str or Cell): activation function, or its name. ``None``: no activation. ``"softmax"`` is
            over the last axis, as in MindSpore.

    Inputs:
        logits, labels (Tensor): real tensors of the same shape (n, c, ...).

    Outputs:
        Scalar tensor.

    Raises:
        TypeError: If an input is complex or not a tensor.
        ValueError: If ``logits`` and ``labels`` differ in shape or have only one axis, or ``weights`` is not
            of shape (c,).

    >>> from mindgrad import Tensor, nn
    >>> x = Tensor([[9.0, -9.0], [-9.0, 9.0]])
    >>> print(f"{nn.MultiClassDiceLoss()(x, Tensor([[1.0, 0.0], [0.0, 1.0]])):.3f}")
    0.000
    """

    def __init__(
        self, weights: Any = None, ignore_indiex: int | None = None, activation: Any = "softmax"
    ) -> None:
        super().__init__()
        self.weights = weights
        self.ignore_indiex = ignore_indiex
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def construct(self, logits: Any, labels: Any) -> Tensor:
        operator = "MultiClassDiceLoss"
        x, t = operands_of_one_shape(operator, logits=logits, labels=labels)
        if x.ndim < 2:
            raise ValueError(
                f"For '{operator}', the 'logits' must have a class axis, but their shape is {x.shape}."
            )
        if self.activation is not None:
            x = self.activation(x)
        classes = x.shape[1]
        weights = None if self.weights is None else cast(operand(self.weights, operator), x.dtype)
        if weights is not None and weights.shape != (classes,):
            raise ValueError(
                f"For '{operator}', the 'weights' must have the shape ({classes},), but their shape is "
                f"{weights.shape}."
            )
        total: Any = 0.0
        for c in range(classes):
            if c != self.ignore_indiex:
                loss = dice(operator, x[:, c], t[:, c], 1e-5)  # type: ignore[index]
                total = total + (loss if weights is None else loss * weights[c])  # type: ignore[operator, index]
        return total / classes


class FocalLoss(LossBase):
    """Focal loss −w (1 − p)^γ log p with p = softmax(x) of the class.

    It is a cross-entropy that emphasizes hard examples, from Lin et al., "Focal loss for dense object
    detection" (2017).

    Args:
        weight (Tensor): weights w of the classes, a tensor of shape (c,). ``None``: all weights are 1.
        gamma (float): exponent γ of the factor (1 − p), which reduces the weight of easy examples.
        reduction (str): reduction of the losses: ``"mean"``, ``"sum"``, or ``"none"``.

    Inputs:
        logits (Tensor): real tensor of shape (n, c) or (n, c, ...).
        labels (Tensor): class indices of shape (n, 1) or (n, 1, ...), or a tensor of zeros and ones with
            the shape of ``logits``.

    Outputs:
        The losses, averaged over all axes except the first and then reduced by ``reduction``. If ``labels``
            have the shape of ``logits``, the average is over all axes except the first two.

    Raises:
        TypeError: If an input is not a tensor, or an argument has an unsupported type.
        ValueError: If the shapes of ``logits``, ``labels``, and ``weight`` do not match.

    >>> from mindgrad import Tensor, nn
    >>> print(f"{nn.FocalLoss()(Tensor([[0.0, 0.0]]), Tensor([[1]])):.4f}")
    0.1733
    """

    def __init__(self, weight: Any = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight
        self.gamma = number(gamma, "FocalLoss", "gamma")

    def construct(self, logits: Any, labels: Any) -> Tensor:
        operator = "FocalLoss"
        x, t = activation.real_operand(logits, operator), operand(labels, operator)
        if (
            x.ndim < 2
            or t.ndim != x.ndim
            or (t.shape[1] not in (1, x.shape[1]))
            or t.shape[2:] != x.shape[2:]
        ):
            raise ValueError(
                "For 'FocalLoss', the logits must have the shape (n, c, …), and the labels must have the "
                f"shape (n, 1, …) or the shape of the logits, but the shapes are {x.shape} and {t.shape}."
            )
        rows, classes = x.shape[:2]
        logs = activation.log_softmax(layout.reshape(x, (rows, classes, -1)), 1)
        t = layout.reshape(t, (rows, t.shape[1], -1))
        is_full = t.shape[1] != 1
        weights = None
        if self.weight is not None:
            weights = cast(operand(self.weight, operator), logs.dtype)
            if weights.shape != (classes,):
                raise ValueError(
                    f"For 'FocalLoss', the 'weight' must have the shape ({classes},), but its shape is "
                    f"{weights.shape}."
                )
        if not is_full:
            t = class_labels(cast(t, int32), classes, operator)
            logs = indexing.gather_elements(logs, 1, t)
        p = math.exp(logs)
        loss = arithmetic.neg(arithmetic.mul(arithmetic.pow(arithmetic.sub(1.0, p), self.gamma), logs))
        if weights is not None:
            shares = classification.along_classes(weights, 3, 1) if is_full else indexing.take(weights, t, 0)
            loss = arithmetic.mul(loss, shares)
        if is_full:
            loss = arithmetic.mul(loss, cast(t, loss.dtype))
            return self.get_loss(mean(loss, 2))
        return self.get_loss(mean(layout.squeeze(loss, 1), 1))
