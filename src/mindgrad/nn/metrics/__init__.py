"""Metrics, which accumulate over all batches of an evaluation."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.nn.metrics.classification import (
    F1,
    Accuracy,
    Fbeta,
    Precision,
    Recall,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from mindgrad.nn.metrics.confusion import ConfusionMatrixMetric
from mindgrad.nn.metrics.curves import ROC, ConfusionMatrix, auc
from mindgrad.nn.metrics.error import MAE, MSE, Loss
from mindgrad.nn.metrics.metric import EvaluationBase, Metric, rearrange_inputs
from mindgrad.nn.metrics.sequences import BleuScore, Perplexity
from mindgrad.nn.metrics.similarity import CosineSimilarity, Dice, OcclusionSensitivity
from mindgrad.nn.metrics.surfaces import HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance

__all__ = [
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric",
    "CosineSimilarity", "Dice", "EvaluationBase", "Fbeta", "HausdorffDistance", "Loss",
    "MeanSurfaceDistance", "Metric", "OcclusionSensitivity", "Perplexity", "Precision", "Recall",
    "RootMeanSquareDistance", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy", "auc", "get_metric_fn", "get_metrics", "names", "rearrange_inputs",
]  # fmt: skip

_BY_NAME: dict[str, Callable[..., Any]] = {
    "F1": F1, "accuracy": Accuracy, "acc": Accuracy, "precision": Precision, "recall": Recall,
    "top_1_accuracy": Top1CategoricalAccuracy, "top_5_accuracy": Top5CategoricalAccuracy, "mae": MAE,
    "mse": MSE, "confusion_matrix_metric": ConfusionMatrixMetric, "loss": Loss,
    "topk": TopKCategoricalAccuracy, "confusion_matrix": ConfusionMatrix, "dice": Dice, "roc": ROC,
    "auc": auc,
    "bleu_score": BleuScore, "perplexity": Perplexity, "cosine_similarity": CosineSimilarity,
    "hausdorff_distance": HausdorffDistance, "mean_surface_distance": MeanSurfaceDistance,
    "root_mean_square_distance": RootMeanSquareDistance, "occlusion_sensitivity": OcclusionSensitivity,
}  # fmt: skip


def names() -> list[str]:
    """Return the names of metrics that :func:`get_metric_fn` accepts.

    Returns:
        list of str: the names of metrics.

    >>> from mindgrad import nn
    >>> "accuracy" in nn.names()
    True
    """
    return list(_BY_NAME)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """Create a metric by name.

    Args:
        name (str): name of the metric, one of :func:`mindgrad.nn.metrics.names`.
        *args (Any): positional arguments of the metric.
        **kwargs (Any): keyword arguments of the metric.

    Returns:
        Metric: a new metric of the requested kind.

    Raises:
        TypeError: If ``name`` is not a string.
        KeyError: If no metric has the name ``name``.

    >>> from mindgrad import nn
    >>> type(nn.get_metric_fn("accuracy")).__name__
    'Accuracy'
    """
    of_type(name, str, "get_metric_fn", "name", "a string")
    if name not in _BY_NAME:
        near = difflib.get_close_matches(name, _BY_NAME, 1)
        hint = f" Did you mean {near[0]!r}?" if near else f" Use one of {', '.join(_BY_NAME)}."
        raise KeyError(f"For 'get_metric_fn', there is no metric {name!r}.{hint}")
    return _BY_NAME[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric]:
    """Create metrics from names, or check a dict of metrics.

    Args:
        metrics (str, set, list, or dict): a name, a set or list of names, or a dict of metrics.

    Returns:
        dict: dict that maps names to metrics.

    Raises:
        TypeError: If ``metrics`` has an unsupported type, or a value is not a Metric.
        KeyError: If ``metrics`` contains a name that no metric has.

    >>> from mindgrad import nn
    >>> sorted(nn.get_metrics({"acc", "loss"}))
    ['acc', 'loss']
    """
    if metrics is None:
        return {}
    if isinstance(metrics, Mapping):
        for name, metric in metrics.items():
            if not isinstance(metric, Metric):
                raise TypeError(
                    f"For 'get_metrics', {name!r} must be a Metric, but got {type(metric).__name__}."
                )
        return dict(metrics)
    if isinstance(metrics, str):
        metrics = [metrics]
    of_type(metrics, Iterable, "get_metrics", "metrics", "None, names or a dict of metrics")
    listed = sorted(metrics, key=str) if isinstance(metrics, (set, frozenset)) else metrics
    return {name: get_metric_fn(name) for name in listed}
