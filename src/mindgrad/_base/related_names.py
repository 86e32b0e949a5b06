"""Families of related public names, from which the "See Also" sections of docstrings are made.

A line of ``FAMILIES`` has a public module, a colon, and names of this module. Names of one family refer to
each other; a name can be in several families.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

__all__ = ["FAMILIES", "home_of", "references", "related"]

#: names of a family that a member refers to: the ones after it, then those before it
_MOST = 6
_WIDTH = 104

FAMILIES = """
mindgrad: grad value_and_grad jvp vjp jacobian hessian hvp laplacian jacfwd jacrev
mindgrad.nn: Dense BiDense MatMul mindgrad.ops.matmul
mindgrad.nn: Conv1d Conv2d Conv3d Conv1dTranspose Conv2dTranspose Conv3dTranspose
mindgrad.nn: Conv2dBnAct DenseBnAct Conv2d Dense BatchNorm2d
mindgrad.nn: BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm
mindgrad.nn: LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d BatchNorm2d
mindgrad.nn: RNN GRU LSTM RNNCell GRUCell LSTMCell
mindgrad.nn: MultiheadAttention Transformer TransformerEncoder TransformerDecoder
mindgrad.nn: TransformerEncoderLayer TransformerDecoderLayer MultiheadAttention TransformerEncoder Transformer
mindgrad.nn: Embedding EmbeddingLookup MultiFieldEmbeddingLookup OneHot
mindgrad.nn: Dropout Dropout1d Dropout2d Dropout3d mindgrad.ops.dropout
mindgrad.nn: PReLU RReLU ReLU LeakyReLU ELU GELU
mindgrad.nn: L1Regularizer ClipByNorm mindgrad.ops.clip_by_global_norm
mindgrad.nn: PSNR SSIM ImageGradients CentralCrop
mindgrad.nn: ResizeBilinear Upsample PixelShuffle ChannelShuffle Unfold
mindgrad.nn: SequentialCell CellList CellDict Cell
mindgrad.nn: Moments ReduceLogSumExp Range
mindgrad.nn: TimeDistributed SequentialCell
mindgrad.nn: Adam AdamWeightDecay SGD Momentum AdaMax Lamb
mindgrad.nn: SGD Momentum Adam ASGD Rprop Optimizer
mindgrad.nn: LazyAdam AdamOffload Adam AdamWeightDecay
mindgrad.nn: Adagrad Adadelta RMSProp FTRL ProximalAdagrad AdaFactor
mindgrad.nn: Optimizer Adam SGD TrainOneStepCell
mindgrad.nn: LARS Lamb Optimizer
mindgrad.nn: LossBase MSELoss L1Loss CrossEntropyLoss
mindgrad.nn: DiceLoss MultiClassDiceLoss FocalLoss CrossEntropyLoss
mindgrad.nn: TripletMarginWithDistanceLoss TripletMarginLoss CosineEmbeddingLoss
mindgrad.nn: ExponentialDecayLR NaturalExpDecayLR InverseDecayLR CosineDecayLR PolynomialDecayLR WarmUpLR
mindgrad.nn: LearningRateSchedule ExponentialDecayLR CosineDecayLR WarmUpLR
mindgrad.nn: exponential_decay_lr natural_exp_decay_lr inverse_decay_lr cosine_decay_lr polynomial_decay_lr
mindgrad.nn: warmup_lr piecewise_constant_lr cosine_decay_lr exponential_decay_lr
mindgrad.nn: Accuracy Precision Recall F1 Fbeta ConfusionMatrix
mindgrad.nn: Top1CategoricalAccuracy Top5CategoricalAccuracy TopKCategoricalAccuracy Accuracy
mindgrad.nn: ConfusionMatrix ConfusionMatrixMetric ROC auc
mindgrad.nn: MAE MSE Loss
mindgrad.nn: HausdorffDistance MeanSurfaceDistance RootMeanSquareDistance Dice
mindgrad.nn: BleuScore Perplexity
mindgrad.nn: CosineSimilarity Dice OcclusionSensitivity
mindgrad.nn: Metric EvaluationBase rearrange_inputs get_metrics
mindgrad.nn: get_metric_fn get_metrics names
mindgrad.nn: WithLossCell WithEvalCell WithGradCell TrainOneStepCell TrainOneStepWithLossScaleCell
mindgrad.nn: DynamicLossScaleUpdateCell FixedLossScaleUpdateCell TrainOneStepWithLossScaleCell
mindgrad.nn: DistributedGradReducer TrainOneStepCell
mindgrad.nn: Jvp Vjp ForwardValueAndGrad mindgrad.jvp mindgrad.vjp mindgrad.value_and_grad
mindgrad.nn: SparseToDense SparseTensorDenseMatmul
mindgrad.nn: ParameterUpdate mindgrad.Parameter
mindgrad.ops: mean sum prod amax amin std var median logsumexp
"""


@lru_cache(maxsize=1)
def _families() -> tuple[dict[str, list[list[str]]], frozenset[str]]:
    """The families of each name, by path, and the public modules."""
    families: dict[str, list[list[str]]] = {}
    modules = set()
    for line in FAMILIES.split("\n"):
        module, _, words = line.partition(": ")
        if words:
            modules.add(module)
            names = [word if word.startswith("mindgrad.") else f"{module}.{word}" for word in words.split()]
            for name in names:
                families.setdefault(name, []).append(names)
    return families, frozenset(modules)


def home_of(item: Any) -> str:
    """The path of a public function or class: its name in the nearest public module of ``FAMILIES``."""
    module = item.__module__
    modules = _families()[1]
    while module not in modules and "." in module:
        module = module.rpartition(".")[0]
    return f"{module}.{item.__name__}"


def related(path: str) -> list[str]:
    """The paths of the names that are related to the name ``path``.

    >>> from mindgrad._base.related_names import related
    >>> related("mindgrad.ops.mean")[0]
    'mindgrad.ops.sum'
    """
    found: list[str] = []
    for names in _families()[0].get(path, ()):
        position = names.index(path)
        found += [*names[position + 1 :], *names[:position]]
    return list(dict.fromkeys(found))[:_MOST]


def references(paths: Iterable[str], newline: str) -> str:
    """References to public names, in lines that ``newline`` divides."""
    lines, width = [""], 0
    for path in dict.fromkeys(paths):
        owner, _, name = path.rpartition(".")
        role = "meth" if owner.endswith(".Tensor") else "class" if name[:1].isupper() else "func"
        reference = f":{role}:`{path}`"
        if width and width + len(reference) > _WIDTH:
            lines.append("")
            width = 0
        lines[-1] += (", " if width else "") + reference
        width += len(reference) + 2
    return f",{newline}".join(lines)
