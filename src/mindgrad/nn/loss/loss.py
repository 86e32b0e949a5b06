"""Loss functions as Cells, and the base class of a user's own.

Each applies one function of ``ops`` (or a formula of this file) to predictions and targets; names, arguments
and defaults are MindSpore's, where r1.x and 2.x differ those of 2.x.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.dtype import float32, int32
from mindgrad.core.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.function_cells import FunctionCell, function_cell, function_cells
from mindgrad.nn.layer.activation import get_activation
from mindgrad.ops import activation, arithmetic, classification, indexing, layout, likelihoods, losses, math
from mindgrad.ops.limits import minimum
from mindgrad.ops.losses import checked_reduction, operands_of_one_shape
from mindgrad.ops.matrices import one_hot
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import Attribute, anything, boolean, integer, number
from mindgrad.ops.rectifiers import relu
from mindgrad.ops.reduction import flag, mean, widened
from mindgrad.ops.reduction import sum as sum_of
from mindgrad.ops.statistics import vector_norm


class LossBase(Cell):
    """What a loss function of one's own extends: ``construct`` computes, ``get_loss`` weights and reduces.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``; ``None`` is ``"none"``.

    Raises:
        ValueError: ``reduction`` is another word.

    >>> from mindgrad import Tensor, nn, ops
    >>> class Quartic(nn.LossBase):
    ...     def construct(self, logits, labels):
    ...         return self.get_loss((logits - labels) ** 4)
    >>> print(Quartic("sum")(Tensor([1.0, 2.0]), Tensor([0.0, 0.0])))
    17.0
    """

    def __init__(self, reduction: str | None = "mean") -> None:
        super().__init__()
        self._reduce_by(reduction, ())

    def _reduce_by(self, reduction: Any, also: tuple[str, ...]) -> None:
        self.reduction = checked_reduction(
            type(self).__name__, "none" if reduction is None else reduction, also
        )
        self.reduce = self.reduction != "none"
        self.average = self.reduction == "mean"

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """All axes of ``x``, over which a loss is reduced."""
        return tuple(range(operand(x, type(self).__name__).ndim))

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """``weights`` · ``x``, reduced as the Cell was told; computed in Float32 at least.

        Args:
            x: the loss of each element.
            weights: a number, or a tensor that broadcasts with ``x``.
        """
        x = operand(x, type(self).__name__)
        found = arithmetic.mul(widened(x), weights)
        if self.reduce:
            found = mean(found) if self.average else sum_of(found)
        return cast(found, x.dtype)

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss; every loss function defines its own.

        Raises:
            NotImplementedError: it does not.
        """
        raise NotImplementedError(f"{type(self).__name__} has no 'construct': define it.")


_Loss = LossBase


class _FunctionLoss(FunctionCell, LossBase):
    """A loss that applies one function."""

    also: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._reduce_by(self.reduction, self.also)

    construct = FunctionCell.construct


class _FunctionLossOfBatches(_FunctionLoss):
    also = ("batchmean",)


def _loss(name: str, function: Any, example: str, prints: str, **more: Any) -> Any:
    """A loss with the attributes in ``more`` that are no arguments of ``function_cell``."""
    options = {key: more.pop(key) for key in ("run", "keywords", "meaning", "inputs", "base") if key in more}
    options.setdefault("base", _FunctionLoss)
    options.setdefault("inputs", "logits labels")
    return function_cell(__name__, name, function, attributes=more, example=example, prints=prints, **options)


def _reduction(default: str = "mean") -> Attribute:
    return Attribute(lambda value: value, "the name of a reduction", default)


_WEIGHT = anything("a Tensor or None", None)
_PAIR = "(Tensor([1.0, 4.0]), Tensor([2.0, 2.0]))"

# --- distances ---------------------------------------------------------------------------------------

L1Loss = _loss("L1Loss", losses.l1_loss, f"nn.L1Loss(){_PAIR}", "1.5", reduction=_reduction())
MAELoss = _loss("MAELoss", losses.l1_loss, f"nn.MAELoss(){_PAIR}", "1.5", reduction=_reduction())
MSELoss = _loss("MSELoss", losses.mse_loss, f"nn.MSELoss(){_PAIR}", "2.5", reduction=_reduction())
RMSELoss = _loss(
    "RMSELoss", losses.mse_loss, "nn.RMSELoss()(Tensor([1.0, 5.0]), Tensor([2.0, -2.0]))", "5.0",
    run=lambda self, x, t: math.sqrt(losses.mse_loss(x, t)),
    meaning="The square root of the mean of (x − t)²; its derivative is infinite where it is 0.",
)  # fmt: skip
SmoothL1Loss = _loss(
    "SmoothL1Loss", losses.smooth_l1_loss, f"nn.SmoothL1Loss(){_PAIR}", "[0.5 1.5]",
    beta=number(1.0), reduction=_reduction("none"),
)  # fmt: skip
HuberLoss = _loss(
    "HuberLoss", losses.huber_loss, f"nn.HuberLoss(delta=0.5){_PAIR}", "0.625",
    reduction=_reduction(), delta=number(1.0),
)  # fmt: skip
CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss", losses.cosine_embedding_loss,
    "nn.CosineEmbeddingLoss()(Tensor([[1.0, 0.0]]), Tensor([[0.0, 2.0]]), Tensor([1]))", "1.0",
    inputs="logits_x1 logits_x2 labels", margin=number(0.0), reduction=_reduction(),
)  # fmt: skip

# --- margins -----------------------------------------------------------------------------------------

SoftMarginLoss = _loss(
    "SoftMarginLoss", losses.soft_margin_loss,
    'f"{nn.SoftMarginLoss()(Tensor([0.0]), Tensor([1.0])):.4f}"', "0.6931", reduction=_reduction(),
)  # fmt: skip
MarginRankingLoss = _loss(
    "MarginRankingLoss", losses.margin_ranking_loss,
    "nn.MarginRankingLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0]))", "2.0",
    inputs="input1 input2 target", margin=number(0.0), reduction=_reduction(),
)  # fmt: skip
TripletMarginLoss = _loss(
    "TripletMarginLoss", losses.triplet_margin_loss,
    'f"{nn.TripletMarginLoss(margin=1.5)(Tensor([[0.0]]), Tensor([[3.0]]), Tensor([[4.0]])):.4f}"', "0.5000",
    inputs="x positive negative", p=number(2), swap=boolean(False), eps=number(1e-6),
    reduction=_reduction(), margin=number(1.0),
)  # fmt: skip
HingeEmbeddingLoss = _loss(
    "HingeEmbeddingLoss", losses.hinge_embedding_loss,
    "nn.HingeEmbeddingLoss()(Tensor([0.25]), Tensor([-1.0]))", "0.75",
    margin=number(1.0), reduction=_reduction(),
)  # fmt: skip
MultiMarginLoss = _loss(
    "MultiMarginLoss", classification.multi_margin_loss,
    "nn.MultiMarginLoss()(Tensor([[0.5, 1.0, 2.0, 0.0]]), Tensor([1]))", "0.625",
    inputs="x target", p=integer(1), margin=number(1.0), reduction=_reduction(), weight=_WEIGHT,
)  # fmt: skip
MultilabelMarginLoss = _loss(
    "MultilabelMarginLoss", classification.multilabel_margin_loss,
    'f"{nn.MultilabelMarginLoss()(Tensor([0.1, 0.2, 0.4, 0.8]), Tensor([3, 0, -1, 1])):.4f}"', "0.8500",
    inputs="x target", reduction=_reduction(),
)  # fmt: skip
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss", classification.multilabel_soft_margin_loss,
    'f"{nn.MultiLabelSoftMarginLoss()(Tensor([[0.0]]), Tensor([[1.0]])):.4f}"', "0.6931",
    inputs="x target", weight=_WEIGHT, reduction=_reduction(),
)  # fmt: skip

# --- likelihoods -------------------------------------------------------------------------------------

BCELoss = _loss(
    "BCELoss", likelihoods.binary_cross_entropy,
    'f"{nn.BCELoss()(Tensor([0.5]), Tensor([1.0])):.4f}"', "0.6931", weight=_WEIGHT, reduction=_reduction(),
)  # fmt: skip
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", likelihoods.binary_cross_entropy_with_logits,
    "nn.BCEWithLogitsLoss()(Tensor([-800.0]), Tensor([1.0]))", "800.0",
    reduction=_reduction(), weight=_WEIGHT, pos_weight=_WEIGHT,
)  # fmt: skip
CrossEntropyLoss = _loss(
    "CrossEntropyLoss", classification.cross_entropy,
    "nn.CrossEntropyLoss()(Tensor([[0.0, 1000.0]]), Tensor([0]))", "1000.0",
    weight=_WEIGHT, ignore_index=integer(-100), reduction=_reduction(), label_smoothing=number(0.0),
)  # fmt: skip
NLLLoss = _loss(
    "NLLLoss", classification.nll_loss, "nn.NLLLoss()(Tensor([[-0.5, -2.0]]), Tensor([1]))", "2.0",
    weight=_WEIGHT, ignore_index=integer(-100), reduction=_reduction(),
)  # fmt: skip
KLDivLoss = _loss(
    "KLDivLoss", likelihoods.kl_div, "nn.KLDivLoss('sum')(Tensor([[-1.0, -2.0]]), Tensor([[0.0, 1.0]]))",
    "2.0", base=_FunctionLossOfBatches, reduction=_reduction(),
)  # fmt: skip
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", likelihoods.poisson_nll, "nn.PoissonNLLLoss()(Tensor([0.0]), Tensor([3.0]))", "1.0",
    inputs="input target", log_input=boolean(True), full=boolean(False), eps=number(1e-8),
    reduction=_reduction(),
)  # fmt: skip
GaussianNLLLoss = _loss(
    "GaussianNLLLoss", likelihoods.gaussian_nll_loss,
    "nn.GaussianNLLLoss()(Tensor([1.0]), Tensor([2.0]), Tensor([1.0]))", "0.5",
    inputs="logits labels var", full=boolean(False), eps=number(1e-6), reduction=_reduction(),
)  # fmt: skip


def _softmax_cross_entropy(self: Any, logits: Any, labels: Any) -> Tensor:
    x = operand(logits, "SoftmaxCrossEntropyWithLogits")
    if self.sparse:
        if x.ndim != 2:
            raise ValueError(
                f"For 'SoftmaxCrossEntropyWithLogits', the 'logits' must have 2 axes, but the shape is "
                f"{x.shape}."
            )
        # a class that is out of range has no share in any
        labels = cast(
            one_hot(cast(operand(labels, type(self).__name__), int32), x.shape[1], 1.0, 0.0), x.dtype
        )
    return self.get_loss(classification.softmax_cross_entropy(x, labels)[0])


SoftmaxCrossEntropyWithLogits = _loss(
    "SoftmaxCrossEntropyWithLogits", classification.softmax_cross_entropy,
    "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor([[0.0, 1000.0]]), Tensor([0]))", "[1000.]",
    run=_softmax_cross_entropy,
    meaning="−Σ_c p_c log softmax(x)_c of each row x of logits with probabilities p (``sparse``: a class).",
    sparse=boolean(False), reduction=_reduction("none"),
)  # fmt: skip


# --- overlaps ----------------------------------------------------------------------------------------


def dice(operator: str, logits: Any, labels: Any, smooth: float) -> Tensor:
    """1 − 2 Σ x t / (Σ x² + Σ t² + smooth) over all elements (Milletari et al., 2016)."""
    x, t = operands_of_one_shape(operator, logits=logits, labels=labels)
    both = sum_of(arithmetic.mul(x, t))
    each = arithmetic.add(sum_of(math.square(x)), sum_of(math.square(t)))
    return arithmetic.sub(1.0, arithmetic.div(arithmetic.mul(both, 2.0), arithmetic.add(each, smooth)))


class DiceLoss(LossBase):
    """1 − 2 Σ x t / (Σ x² + Σ t² + smooth): how little two segmentations overlap (Milletari et al., 2016).

    Args:
        smooth: what keeps the denominator from 0.

    Inputs:
        logits, labels: real tensors of one shape.

    Raises:
        TypeError: an input is complex or no tensor.
        ValueError: the shapes differ.

    >>> from mindgrad import Tensor, nn
    >>> print(f"{nn.DiceLoss()(Tensor([1.0, 0.0]), Tensor([1.0, 1.0])):.4f}")
    0.3333
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = activation.number(smooth, "DiceLoss", "smooth")

    def construct(self, logits: Any, labels: Any) -> Tensor:
        """See the class."""
        return dice("DiceLoss", logits, labels, self.smooth)


class MultiClassDiceLoss(LossBase):
    """The mean of :class:`DiceLoss` over classes, after an activation.

    Args:
        weights: a tensor of shape (c,), the weight of each class; ``None``: all 1.
        ignore_indiex: a class that is left out (MindSpore's spelling).
        activation: the name of an activation function, or a Cell, or ``None``; ``"softmax"`` is over the
            last axis, as in MindSpore.

    Inputs:
        logits, labels: real tensors of one shape (n, c, …).

    Raises:
        TypeError: an input is complex or no tensor.
        ValueError: the shapes differ or have one axis only, or ``weights`` has another size.

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
        """See the class."""
        operator = "MultiClassDiceLoss"
        x, t = operands_of_one_shape(operator, logits=logits, labels=labels)
        if x.ndim < 2:
            raise ValueError(
                f"For '{operator}', the 'logits' must have an axis of classes, but got {x.shape}."
            )
        if self.activation is not None:
            x = self.activation(x)
        classes = x.shape[1]
        if self.weights is not None and operand(self.weights, operator).shape != (classes,):
            raise ValueError(
                f"For '{operator}', the 'weights' must have the shape ({classes},), but got "
                f"{self.weights.shape}."
            )
        total: Any = 0.0
        for c in range(classes):
            if c != self.ignore_indiex:
                loss = dice(operator, x[:, c], t[:, c], 1e-5)  # type: ignore[index]
                total = total + (loss if self.weights is None else loss * self.weights[c])  # type: ignore[operator]
        return total / classes


class FocalLoss(LossBase):
    """−w (1 − p)^γ log p with p = softmax(x) of the class: cross entropy that looks at hard examples.

    From Lin et al., "Focal loss for dense object detection" (2017).

    Args:
        weight: the weights w of the classes, of shape (c,); ``None``: all 1.
        gamma: the exponent γ.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Inputs:
        logits: a real tensor of shape (n, c) or (n, c, …).
        labels: the classes, of shape (n, 1) or (n, 1, …); or a tensor of the shape of ``logits`` that says
            for each class whether it is that.

    Outputs:
        The mean over all but the first axis (for a full tensor of labels: over all but the first two), then
        reduced.

    Raises:
        TypeError: an input is no tensor, or an argument of another type.
        ValueError: the shapes do not fit.

    >>> from mindgrad import Tensor, nn
    >>> print(f"{nn.FocalLoss()(Tensor([[0.0, 0.0]]), Tensor([[1]])):.4f}")
    0.1733
    """

    def __init__(self, weight: Any = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight
        self.gamma = activation.number(gamma, "FocalLoss", "gamma")

    def construct(self, logits: Any, labels: Any) -> Tensor:
        """See the class."""
        operator = "FocalLoss"
        x, t = activation.real_operand(logits, operator), operand(labels, operator)
        if (
            x.ndim < 2
            or t.ndim != x.ndim
            or (t.shape[1] not in (1, x.shape[1]))
            or t.shape[2:] != x.shape[2:]
        ):
            raise ValueError(
                f"For 'FocalLoss', the logits must have the shape (n, c, …) and the labels (n, 1, …) or the "
                f"same, but the shapes are {x.shape} and {t.shape}."
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
                    f"For 'FocalLoss', the 'weight' must have the shape ({classes},), but got "
                    f"{weights.shape}."
                )
        if not is_full:
            t = cast(t, int32)
            logs = indexing.gather_elements(logs, 1, t)
        p = math.exp(logs)
        loss = arithmetic.neg(arithmetic.mul(arithmetic.pow(arithmetic.sub(1.0, p), self.gamma), logs))
        if weights is not None:
            shares = classification.along_classes(weights, 3, 1) if is_full else indexing.take(weights, t, 0)
            loss = arithmetic.mul(loss, shares)
        if is_full:
            loss = arithmetic.mul(loss, cast(t, float32 if not t.dtype.is_float else t.dtype))
            return self.get_loss(mean(loss, 2))
        return self.get_loss(mean(layout.squeeze(loss, 1), 1))


class TripletMarginWithDistanceLoss(LossBase):
    """max(0, d(x, positive) − d(x, negative) + margin) for a distance d of one's own.

    Args:
        distance_function: a function of two tensors; ``None``: ‖a − b + 1e-6‖ over the last axis.
        swap: whether d(positive, negative) counts in place of d(x, negative) where it is smaller.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        margin: by how much the negative one shall be further away, at least 0.

    Inputs:
        x, positive, negative: real tensors of one shape.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``margin`` is below 0, the shapes differ, or ``reduction`` is another word.

    >>> from mindgrad import Tensor, nn, ops
    >>> loss = nn.TripletMarginWithDistanceLoss(lambda a, b: ops.abs(a - b).sum(-1), margin=1.5)
    >>> print(loss(Tensor([[0.0]]), Tensor([[3.0]]), Tensor([[4.0]])))
    0.5
    """

    def __init__(
        self, distance_function: Any = None, swap: bool = False, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__(reduction)
        owner = type(self).__name__
        if distance_function is not None and not callable(distance_function):
            raise TypeError(
                f"For '{owner}', the 'distance_function' must be a function, but got {distance_function!r}."
            )
        self.distance_function = distance_function or _distance
        self.swap = flag(swap, owner, "swap")
        self.margin = activation.number(margin, owner, "margin")
        if self.margin < 0:
            raise ValueError(f"For '{owner}', the 'margin' must be at least 0, but got {margin}.")

    def construct(self, x: Any, positive: Any, negative: Any) -> Tensor:
        """See the class."""
        owner, distance = type(self).__name__, self.distance_function
        a, near, far = operands_of_one_shape(owner, x=x, positive=positive, negative=negative)
        to_far = distance(a, far)
        if self.swap:
            to_far = minimum(to_far, distance(near, far))
        return self.get_loss(relu(arithmetic.add(arithmetic.sub(distance(a, near), to_far), self.margin)))


def _distance(a: Tensor, b: Tensor) -> Tensor:
    return vector_norm(arithmetic.add(arithmetic.sub(a, b), 1e-6), 2, -1)


__all__ = list(function_cells(globals()))
__all__ += ["DiceLoss", "FocalLoss", "LossBase", "MultiClassDiceLoss", "TripletMarginWithDistanceLoss"]
