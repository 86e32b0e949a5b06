"""Metrics that compare the outlines of two labeled regions by their distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.shared_docs import SharedSections
from mindgrad._checkparam import check_string, check_value_type
from mindgrad.core.base.scipy_modules import SciPyModule
from mindgrad.nn.metrics.metric import Metric, rearrange_inputs

__all__ = ["HausdorffDistance", "MeanSurfaceDistance", "RootMeanSquareDistance"]

_ndimage = SciPyModule("ndimage")
_documented = SharedSections("""
    Args:
        distance_metric (str): distance between two elements: ``"euclidean"``, ``"chessboard"``, or
            ``"taxicab"``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``distance_metric`` is not ``"euclidean"``, ``"chessboard"``, or ``"taxicab"``.
""")
_DISTANCES = ("euclidean", "chessboard", "taxicab")


def _outline(region: np.ndarray) -> np.ndarray:
    """Return the elements of a region that touch its exterior."""
    return region ^ _ndimage.binary_erosion(region)


def _cropped(*regions: np.ndarray) -> list[np.ndarray]:
    """Crop regions to the smallest box that contains all, without axes of length 1."""
    union = np.logical_or.reduce(regions)
    if not union.any():
        return list(regions)
    box = tuple(slice(where.min(), where.max() + 1) for where in np.nonzero(union))
    return [np.squeeze(region[box]) for region in regions]


def _distances(outline: np.ndarray, other: np.ndarray, metric: str) -> np.ndarray:
    """Return the distance of each element from ``other``; ∞ if ``other`` is empty."""
    if not other.any():
        return np.full(np.count_nonzero(outline), np.inf)
    if metric == "euclidean":
        return np.asarray(_ndimage.distance_transform_edt(~other)[outline])
    return np.asarray(_ndimage.distance_transform_cdt(~other, metric=metric)[outline], np.float64)


class _SurfaceMetric(Metric):
    """Base of metrics that compare the predicted and the true outline of one label.

    Args:
        distance_metric: ``"euclidean"``, ``"chessboard"`` or ``"taxicab"``.
    """

    def __init__(self, distance_metric: str) -> None:
        super().__init__()
        owner = type(self).__name__
        check_value_type("distance_metric", distance_metric, [str], owner)
        self.distance_metric = check_string(distance_metric, _DISTANCES, "distance_metric", owner)
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self._outlines: tuple[np.ndarray, np.ndarray] | None = None

    def _regions(self, predicted: np.ndarray, true: np.ndarray) -> list[np.ndarray]:
        return [predicted, true]

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Set predictions, labels, and the label of the region, and discard old ones.

        Args:
            *inputs (Tensor, list, numpy.ndarray, or number): predictions and labels of the same shape, and a
                number that occurs in one of them.

        Raises:
            ValueError: If the number of inputs is not three, predictions and labels differ in shape or are
                empty, or no element has the label of the region.
            TypeError: If the label of the region is not a number.
        """
        owner = type(self).__name__
        if len(inputs) != 3:
            raise ValueError(
                f"For '{owner}.update', pass predictions, labels and the label of the region, but got "
                f"{len(inputs)} inputs."
            )
        predicted, true = (self._convert_data(data) for data in inputs[:2])
        label = inputs[2]
        if not isinstance(label, (int, float, np.number)):
            raise TypeError(
                f"For '{owner}.update', the label of the region must be a number, but got "
                f"{type(label).__name__}."
            )
        if predicted.size == 0 or predicted.shape != true.shape:
            raise ValueError(
                f"For '{owner}.update', predictions and labels must have the same shape and not be empty, "
                f"but got {predicted.shape} and {true.shape}."
            )
        if label not in predicted and label not in true:
            raise ValueError(
                f"For '{owner}.update', the label {label} occurs neither in the predictions nor in the "
                "labels."
            )
        first, second = self._regions(predicted == label, true == label)
        self._outlines = _outline(first), _outline(second)

    def _pair(self) -> tuple[np.ndarray, np.ndarray]:
        self._refuse_empty(self._outlines is None)
        assert self._outlines is not None
        return self._outlines

    def _both_ways(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances from the predicted to the true outline, and back."""
        predicted, true = self._pair()
        metric = self.distance_metric
        return _distances(predicted, true, metric), _distances(true, predicted, metric)


@_documented
class HausdorffDistance(_SurfaceMetric):
    """Hausdorff distance of two outlines: max(h(A, B), h(B, A)).

    h(A, B) is the maximum distance of a point of A from B.

    Args:
        percentile (float): percentile of the distances to use instead of the maximum, between 0 and 100.
        directed (bool): whether to compute only h(prediction, truth).
        crop (bool): whether to crop predictions and labels to the smallest box that contains both regions,
            and to remove axes of size 1.

    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> metric = nn.HausdorffDistance()
    >>> metric.update(ms.Tensor([[1, 1, 0, 0]]), ms.Tensor([[1, 1, 1, 1]]), 1)
    >>> float(metric.eval())
    2.0
    """

    def __init__(
        self, distance_metric: str = "euclidean", percentile: float | None = None,
        directed: bool | None = False, crop: bool | None = True,
    ) -> None:  # fmt: skip
        super().__init__(distance_metric)
        owner = type(self).__name__
        optional = type(None)
        self.percentile = check_value_type("percentile", percentile, [float, optional], owner)
        self.directed = check_value_type("directed", directed, [bool, optional], owner)
        self.crop = check_value_type("crop", crop, [bool, optional], owner)
        if percentile is not None and not 0 <= percentile <= 100:
            raise ValueError(f"For '{owner}', the 'percentile' must be in [0, 100], but got {percentile}.")

    def _regions(self, predicted: np.ndarray, true: np.ndarray) -> list[np.ndarray]:
        return _cropped(predicted, true) if self.crop else [predicted, true]

    def eval(self) -> Any:
        """Return the distance, which is infinite if one of the outlines is empty.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        both = self._both_ways()
        reduced = [self._reduced(distances) for distances in both]
        return reduced[0] if self.directed else max(reduced)

    def _reduced(self, distances: np.ndarray) -> Any:
        if distances.size == 0:
            return np.inf
        return np.percentile(distances, self.percentile) if self.percentile else distances.max()


class _MeanDistance(_SurfaceMetric):
    """Base class of metrics that average distances in one or both directions."""

    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__(distance_metric)
        self.symmetric = check_value_type("symmetric", symmetric, [bool], type(self).__name__)


@_documented
class MeanSurfaceDistance(_MeanDistance):
    """Mean distance of the predicted outline from the true outline.

    Args:
        symmetric (bool): whether to average the distances in both directions.

    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> metric = nn.MeanSurfaceDistance(symmetric=True)
    >>> metric.update(ms.Tensor([[1, 0, 0]]), ms.Tensor([[1, 1, 1]]), 1)
    >>> float(metric.eval())  # the mean of 0 and (0 + 1 + 2) / 3
    0.5
    """

    def eval(self) -> Any:
        """Return the mean distance, which is infinite if an outline is empty.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        chosen = self._both_ways()[: 2 if self.symmetric else 1]
        if any(distances.size == 0 for distances in chosen):
            return np.inf
        return np.mean([distances.mean() for distances in chosen])


@_documented
class RootMeanSquareDistance(_MeanDistance):
    """Mean square distance of the predicted outline from the true outline.

    With ``symmetric``, the result is the root of the mean square over both directions. Without it, the result
    is the mean square without a root, as in MindSpore.

    Args:
        symmetric (bool): whether to compute the root of the mean over both directions.

    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> metric = nn.RootMeanSquareDistance(symmetric=True)
    >>> metric.update(ms.Tensor([[1, 0, 0]]), ms.Tensor([[1, 1, 1]]), 1)
    >>> print(f"{metric.eval():.4f}")  # the root of the mean of 0 and (0 + 1 + 4) / 3
    0.9129
    """

    def eval(self) -> Any:
        """Return the (root) mean square, which is infinite if an outline is empty.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        forward, backward = self._both_ways()
        if forward.size == 0 or (self.symmetric and backward.size == 0):
            return np.inf
        if not self.symmetric:
            return np.mean(forward**2)
        return np.sqrt(np.mean([np.mean(forward**2), np.mean(backward**2)]))
