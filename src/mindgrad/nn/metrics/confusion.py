"""``ConfusionMatrixMetric``, which computes one of many measures of a classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.nn.metrics.metric import Metric, rearrange_inputs

__all__ = ["ConfusionMatrixMetric"]


def _ratio(top: Any, bottom: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom == 0, np.nan, np.divide(top, bottom))


def _threshold(tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
    rate, false = _ratio(tp, tp + fn), _ratio(fp, fp + tn)
    return _ratio(np.sqrt(rate * false) - false, rate - false)


def _correlation(tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
    return _ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


#: names of a measure in MindSpore -> function that computes it from the numbers of true positives, false
#: positives, true negatives, and false negatives
_MEASURES: dict[tuple[str, ...], Callable[[Any, Any, Any, Any], Any]] = {
    ("sensitivity", "recall", "hit rate", "true positive rate", "tpr"): lambda tp, fp, tn, fn: _ratio(
        tp, tp + fn
    ),
    ("specificity", "selectivity", "true negative rate", "tnr"): lambda tp, fp, tn, fn: _ratio(tn, tn + fp),
    ("precision", "positive predictive value", "ppv"): lambda tp, fp, tn, fn: _ratio(tp, tp + fp),
    ("negative predictive value", "npv"): lambda tp, fp, tn, fn: _ratio(tn, tn + fn),
    ("miss rate", "false negative rate", "fnr"): lambda tp, fp, tn, fn: _ratio(fn, fn + tp),
    ("fall out", "false positive rate", "fpr"): lambda tp, fp, tn, fn: _ratio(fp, fp + tn),
    ("false discovery rate", "fdr"): lambda tp, fp, tn, fn: _ratio(fp, fp + tp),
    ("false omission rate", "for"): lambda tp, fp, tn, fn: _ratio(fn, fn + tn),
    ("prevalence threshold", "pt"): _threshold,
    ("threat score", "critical success index", "ts", "csi"): lambda tp, fp, tn, fn: _ratio(tp, tp + fn + fp),
    ("accuracy", "acc"): lambda tp, fp, tn, fn: _ratio(tp + tn, tp + fp + tn + fn),
    ("balanced accuracy", "ba"): lambda tp, fp, tn, fn: (_ratio(tp, tp + fn) + _ratio(tn, tn + fp)) / 2,
    ("f1 score", "f1"): lambda tp, fp, tn, fn: _ratio(2 * tp, 2 * tp + fn + fp),
    ("matthews correlation coefficient", "mcc"): _correlation,
    ("fowlkes mallows index", "fm"): lambda tp, fp, tn, fn: np.sqrt(
        _ratio(tp, tp + fp) * _ratio(tp, tp + fn)
    ),
    ("informedness", "bookmaker informedness", "bm"): (
        lambda tp, fp, tn, fn: _ratio(tp, tp + fn) + _ratio(tn, tn + fp) - 1
    ),
    ("markedness", "deltap", "mk"): lambda tp, fp, tn, fn: _ratio(tp, tp + fp) + _ratio(tn, tn + fn) - 1,
}
_BY_NAME = {name: measure for names, measure in _MEASURES.items() for name in names}


class ConfusionMatrixMetric(Metric):
    """A metric computed from the counts of true and false positives and negatives.

    Args:
        skip_channel (bool): whether to skip the first channel, the background, if there are several.
        metric_name (str): ``"sensitivity"``, ``"specificity"``, ``"precision"``, ``"f1 score"``,
            ``"accuracy"``, ``"mcc"``, or another name from MindSpore. Underscores count as spaces.
        calculation_method (bool): whether to compute the metric for each sample and channel and then reduce
            it. ``False``: compute it once from the total counts.
        decrease (str): reduction of the metric over samples and channels: ``"mean"`` (over defined values) or
            ``"sum"``.

    Raises:
        ValueError: If ``metric_name`` or ``decrease`` is unknown.

    >>> import mindgrad as ms
    >>> metric = ms.nn.ConfusionMatrixMetric(metric_name="tpr")
    >>> metric.update(ms.Tensor([[[0], [1]], [[1], [0]]]), ms.Tensor([[[0], [1]], [[0], [1]]]))
    >>> print(metric.eval())
    [0.5]
    """

    def __init__(
        self, skip_channel: bool = True, metric_name: str = "sensitivity", calculation_method: bool = False,
        decrease: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__()
        name = str(metric_name).replace("_", " ").lower()
        if name not in _BY_NAME:
            known = ", ".join(names[0] for names in _MEASURES)
            raise ValueError(
                f"For 'ConfusionMatrixMetric', the 'metric_name' must be one of {known}, but got "
                f"{metric_name!r}."
            )
        if decrease not in ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel"):
            raise ValueError(
                "For 'ConfusionMatrixMetric', the 'decrease' must be 'none', 'mean', 'sum', 'mean_batch', "
                f"'sum_batch', 'mean_channel' or 'sum_channel', but got {decrease!r}."
            )
        if calculation_method and decrease not in ("mean", "sum"):
            raise ValueError(
                f"For 'ConfusionMatrixMetric', the 'decrease' must be 'mean' or 'sum' with "
                f"'calculation_method', but got {decrease!r}."
            )
        self.skip_channel, self.calculation_method, self.decrease = skip_channel, calculation_method, decrease
        self._measure = _BY_NAME[name]
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self._counts = np.zeros(4)
        self._total, self._parts = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add predictions and labels of shape (N, C, ...), with elements 0 and 1.

        Args:
            *inputs (Tensor, list, or numpy.ndarray): predictions and labels.

        Raises:
            ValueError: If the number of inputs is not two, or their shapes do not match.
        """
        if len(inputs) != 2:
            raise ValueError(
                f"For 'ConfusionMatrixMetric.update', pass predictions and labels, but got "
                f"{len(inputs)} inputs."
            )
        predicted, true = (self._convert_data(each) for each in inputs)
        if predicted.shape != true.shape or predicted.ndim < 2:
            raise ValueError(
                f"For 'ConfusionMatrixMetric.update', predictions and labels must have the same shape "
                f"(N, C, ...), but their shapes are {predicted.shape} and {true.shape}."
            )
        if self.skip_channel and true.shape[1] > 1:
            predicted, true = predicted[:, 1:], true[:, 1:]
        shape = (*true.shape[:2], -1)
        p, t = predicted.reshape(shape) != 0, true.reshape(shape) != 0
        counts = [(p & t).sum(-1), (p & ~t).sum(-1), (~p & ~t).sum(-1), (~p & t).sum(-1)]
        if self.calculation_method:
            values = self._measure(*[np.asarray(count, np.float64) for count in counts])
            known = ~np.isnan(values)
            reduced = values[known].mean() if self.decrease == "mean" else values[known].sum()
            if known.any():
                self._total += float(reduced)
                self._parts += 1
        else:
            self._counts += [count.sum() for count in counts]

    def eval(self) -> Any:
        """Return the metric since :meth:`clear`.

        Returns:
            numpy.ndarray of one element, or a float with ``calculation_method``.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        if self.calculation_method:
            if not self._parts:
                raise RuntimeError(
                    "The ConfusionMatrixMetric cannot be evaluated before the first update(). Call "
                    "update() with predictions and labels first."
                )
            return self._total / self._parts
        if not self._counts.any():
            raise RuntimeError(
                "The ConfusionMatrixMetric cannot be evaluated before the first update(). Call update() "
                "with predictions and labels first."
            )
        return np.atleast_1d(self._measure(*self._counts))
