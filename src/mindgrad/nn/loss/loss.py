"""Loss functions as Cells, and the base class for other losses.

Each loss applies one function of ``ops``, or a formula in this file, to predictions and targets. Names,
arguments, and defaults are MindSpore's. If MindSpore r1.x and 2.x differ, the losses follow 2.x.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.function_cells import FunctionCell, cells_of, function_cells
from mindgrad.nn.loss.base import LossBase
from mindgrad.nn.loss.overlaps import DiceLoss, FocalLoss, MultiClassDiceLoss
from mindgrad.ops import alignments, arithmetic, classification, likelihoods, losses, math
from mindgrad.ops.arguments import number as number_of
from mindgrad.ops.clipping import minimum
from mindgrad.ops.losses import operands_of_one_shape
from mindgrad.ops.operations.base import Attribute, anything, boolean, integer, number
from mindgrad.ops.rectifiers import relu
from mindgrad.ops.reduction import flag
from mindgrad.ops.statistics import vector_norm

_Loss = LossBase


class _FunctionLoss(FunctionCell, LossBase):
    """Base class of losses that apply one function."""

    also: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._reduce_by(self.reduction, self.also)

    construct = FunctionCell.construct


class _FunctionLossOfBatches(_FunctionLoss):
    also = ("batchmean",)


_loss = cells_of(__name__, base=_FunctionLoss, inputs="logits labels")


def _reduction(default: str = "mean") -> Attribute:
    return Attribute(lambda value: value, "the name of a reduction", default)


_WEIGHT = anything("a Tensor or None", None)
_PAIR = "(Tensor([1.0, 4.0]), Tensor([2.0, 2.0]))"

# --- losses of distances -----------------------------------------------------------------------------

L1Loss = _loss("L1Loss", losses.l1_loss, f"nn.L1Loss(){_PAIR}", "1.5", reduction=_reduction())
MAELoss = _loss("MAELoss", losses.l1_loss, f"nn.MAELoss(){_PAIR}", "1.5", reduction=_reduction())
MSELoss = _loss("MSELoss", losses.mse_loss, f"nn.MSELoss(){_PAIR}", "2.5", reduction=_reduction())
RMSELoss = _loss(
    "RMSELoss", losses.mse_loss, "nn.RMSELoss()(Tensor([1.0, 5.0]), Tensor([2.0, -2.0]))", "5.0",
    run=lambda self, x, t: math.sqrt(losses.mse_loss(x, t)),
    meaning="Compute the root of the mean of (x − t)²; its derivative at 0 is infinite.",
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

# --- losses with margins, and CTC --------------------------------------------------------------------

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

CTCLoss = _loss(
    "CTCLoss", alignments.ctc_loss,
    'f"{nn.CTCLoss()(ops.full((2, 1, 2), -0.693147), Tensor([[1]]), Tensor([2]), Tensor([1])):.4f}"',
    "0.2877", inputs="log_probs targets input_lengths target_lengths",
    run=lambda self, log_probs, targets, input_lengths, target_lengths: alignments.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
    )[0],
    blank=integer(0), reduction=_reduction(), zero_infinity=boolean(False),
)  # fmt: skip

# --- likelihoods and cross-entropies -----------------------------------------------------------------

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
    if self.sparse:
        name = "SoftmaxCrossEntropyWithLogits"
        return self.get_loss(classification.sparse_softmax_cross_entropy(name, logits, labels)[0])
    return self.get_loss(classification.softmax_cross_entropy(logits, labels)[0])


SoftmaxCrossEntropyWithLogits = _loss(
    "SoftmaxCrossEntropyWithLogits", classification.softmax_cross_entropy,
    "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor([[0.0, 1000.0]]), Tensor([0]))", "[1000.]",
    run=_softmax_cross_entropy,
    meaning="Compute −Σ_c p_c log softmax(x)_c of each sample x of logits.\n\n"
    "p are the probabilities in ``labels``. With ``sparse``, ``labels`` has the integer class of each\n"
    "sample. Unlike the operator, the Cell returns the loss only, reduced by ``reduction``.",
    texts={
        "labels": "the probabilities p, of the same shape; with ``sparse``, integer classes of shape (n,).",
        "Returns": '    Tensor of shape (n,), or a 0-D tensor if ``reduction`` is ``"mean"`` or ``"sum"``.',
        "Raises": "    TypeError: If an operand is complex, or neither a tensor nor a number.\n"
        "    ValueError: If the shapes of ``logits`` and ``labels`` do not match.",
    },
    sparse=boolean(False), reduction=_reduction("none"),
)  # fmt: skip


class TripletMarginWithDistanceLoss(LossBase):
    """Triplet loss max(0, d(x, positive) − d(x, negative) + margin), any distance d.

    Args:
        distance_function (Callable): distance d, a function of two tensors. ``None``: ‖a − b + 1e-6‖ over the
            last axis.
        swap (bool): whether to replace d(x, negative) by d(positive, negative) if that is smaller.
        reduction (str): reduction of the losses: ``"mean"``, ``"sum"``, or ``"none"``.
        margin (float): margin of the triplet loss, at least 0.

    Inputs:
        x, positive, negative (Tensor): real tensors of the same shape.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``margin`` is negative, the inputs differ in shape, or ``reduction`` is not ``"mean"``,
            ``"sum"``, or ``"none"``.

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
        self.margin = number_of(margin, owner, "margin")
        if self.margin < 0:
            raise ValueError(f"For '{owner}', the 'margin' must be at least 0, but got {margin}.")

    def construct(self, x: Any, positive: Any, negative: Any) -> Tensor:
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
