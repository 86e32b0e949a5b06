"""Metrics of a classifier: ROC curve, area under a curve, and confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._checkparam import check_string, check_value_type
from mindgrad.nn.metrics.metric import Metric, rearrange_inputs

__all__ = ["ROC", "ConfusionMatrix", "auc"]


def _curve(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return false and true positive rates, and thresholds in descending order."""
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    # last index in each group of equal scores
    ends = np.append(np.nonzero(np.diff(scores))[0], scores.size - 1)
    true = np.cumsum(positive)[ends]
    false = ends + 1 - true
    if not true[-1] or not false[-1]:
        kind = "positive" if not true[-1] else "negative"
        raise ValueError(
            f"For 'ROC', the labels contain no {kind} sample, so its rate is undefined. Pass labels of "
            "both classes."
        )
    rates = [np.append(0.0, count / count[-1]) for count in (false, true)]
    return rates[0], rates[1], np.append(scores[0] + 1, scores[ends])


class ROC(Metric):
    """Receiver operating characteristic: true against false positive rates.

    Args:
        class_num (int): number of classes, for scores of shape (N, C, ...). ``None``: scores of one class.
        pos_label (int): the positive label; only for scores of one class. ``None``: 1.

    Raises:
        TypeError: If an argument has an unsupported type.

    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> metric = nn.ROC(pos_label=1)
    >>> metric.update(ms.Tensor([3, 1, 2, 0]), ms.Tensor([1, 0, 0, 1]))
    >>> false, true, thresholds = metric.eval()
    >>> print(true, thresholds)
    [0.  0.5 0.5 0.5 1. ] [4 3 2 1 0]
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        optional = type(None)
        self.class_num = check_value_type("class_num", class_num, [int, optional], "ROC")
        self.pos_label = check_value_type("pos_label", pos_label, [int, optional], "ROC")
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self._data: tuple[np.ndarray, np.ndarray] | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Set scores and labels, which replace previous ones.

        Args:
            *inputs (Tensor, list, or numpy.ndarray): scores of shape (N, ...), or (N, C, ...) with several
                classes, and labels of shape (N, ...).

        Raises:
            ValueError: If the number of inputs is not two, their shapes do not match, or ``pos_label`` is set
                for several classes.
        """
        scores, labels = self._arrays(inputs)
        if scores.ndim == labels.ndim:
            if scores.shape != labels.shape or self.class_num not in (None, 1):
                raise ValueError(
                    "For 'ROC', scores of one class need labels of the same shape and no 'class_num', but "
                    f"the shapes of scores and labels are {scores.shape} and {labels.shape}, and "
                    f"'class_num' is {self.class_num}."
                )
            self._data = scores.reshape(-1, 1), labels.reshape(-1)
            return
        if scores.ndim != labels.ndim + 1 or scores.shape[1] != self.class_num or self.pos_label is not None:
            raise ValueError(
                "For 'ROC', scores of shape (N, C, ...) need labels of shape (N, ...), 'class_num' = C "
                f"and no 'pos_label', but the shapes are {scores.shape} and {labels.shape}, 'class_num' is "
                f"{self.class_num} and 'pos_label' is {self.pos_label}."
            )
        self._data = np.moveaxis(scores, 1, -1).reshape(-1, scores.shape[1]), labels.reshape(-1)

    def eval(self) -> Any:
        """Return false positive rates, true positive rates, and thresholds.

        Returns:
            tuple of numpy.ndarray. For several classes, a tuple of lists with one array for each class.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
            ValueError: If the labels are all positive or all negative.
        """
        self._refuse_empty(self._data is None)
        assert self._data is not None
        scores, labels = self._data
        if self.class_num is None or self.class_num == 1:
            return _curve(scores[:, 0], labels == (1 if self.pos_label is None else self.pos_label))
        curves = [_curve(scores[:, number], labels == number) for number in range(self.class_num)]
        return tuple(list(part) for part in zip(*curves, strict=True))


def auc(x: np.ndarray, y: np.ndarray, reorder: bool = False) -> Any:
    """Return the area under a curve, by the trapezoidal rule.

    Args:
        x (numpy.ndarray): increasing or decreasing coordinates, of shape (N,) or (N, 1).
        y (numpy.ndarray): values of the curve at ``x``, of the same length.
        reorder (bool): whether to sort the points by ``x`` first.

    Returns:
        float: the area.

    Raises:
        TypeError: If ``x`` or ``y`` is not a NumPy array.
        ValueError: If the shapes of ``x`` and ``y`` do not match, the curve has fewer than two points, or
            ``x`` is not monotonic.

    >>> import numpy as np
    >>> from mindgrad import nn
    >>> float(nn.auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])))
    0.75
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(
            f"For 'auc', 'x' and 'y' must be NumPy arrays, but got {type(x).__name__} and {type(y).__name__}."
        )
    if any(data.ndim != 1 and (data.ndim != 2 or data.shape[1] != 1) for data in (x, y)) or len(x) != len(y):
        raise ValueError(
            f"For 'auc', 'x' and 'y' must have the same length, but got {x.shape} and {y.shape}."
        )
    x, y = np.ravel(x), np.ravel(y)
    if x.size < 2:
        raise ValueError(f"For 'auc', at least two points are required, but got {x.size}.")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps < 0).any() and (steps > 0).any():
        raise ValueError(
            "For 'auc', 'x' must increase or decrease monotonically. To sort the points, pass reorder=True."
        )
    return np.abs(steps) @ (y[1:] + y[:-1]) / 2


class ConfusionMatrix(Metric):
    """Confusion matrix: how often class j was predicted for class i.

    Args:
        num_classes (int): number of classes.
        normalize (str): ``"no_norm"``, or the part of the matrix whose elements sum to one: ``"target"``
            (each row), ``"prediction"`` (each column), or ``"all"`` (the matrix).
        threshold (float): minimum score at which the second class is predicted, if there are two classes and
            :meth:`update` receives scores of the second class.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``normalize`` is not ``"no_norm"``, ``"target"``, ``"prediction"``, or ``"all"``.

    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> metric = nn.ConfusionMatrix(num_classes=2)
    >>> metric.update(ms.Tensor([1, 0, 1]), ms.Tensor([1, 0, 0]))
    >>> print(metric.eval())
    [[1. 1.]
     [0. 1.]]
    """

    def __init__(self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5) -> None:
        super().__init__()
        self.num_classes = check_value_type("num_classes", num_classes, [int], "ConfusionMatrix")
        self.threshold = check_value_type("threshold", threshold, [float], "ConfusionMatrix")
        choices = ("target", "prediction", "all", "no_norm")
        self.normalize = check_string(normalize, choices, "normalize", "ConfusionMatrix")
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add predictions and labels of a batch.

        Args:
            *inputs (Tensor, list, or numpy.ndarray): scores of shape (N, C, ...), or classes or scores of the
                second class of shape (N, ...); and labels of shape (N, ...).

        Raises:
            ValueError: If the number of inputs is not two, their shapes do not match, or a class index is out
                of range.
        """
        predicted, true = self._arrays(inputs)
        if predicted.ndim == true.ndim + 1:
            predicted = predicted.argmax(axis=1)
        if predicted.shape != true.shape:
            raise ValueError(
                f"For 'ConfusionMatrix.update', for labels of shape (N, ...), predictions must have the "
                f"shape (N, C, ...) or (N, ...), but got {inputs[0].shape} and {true.shape}."
            )
        if predicted.dtype.kind == "f":
            predicted = predicted >= self.threshold
        pair = np.stack([true.reshape(-1), predicted.reshape(-1)]).astype(int)
        if pair.size and (pair.min() < 0 or pair.max() >= self.num_classes):
            raise ValueError(
                f"For 'ConfusionMatrix.update', classes must be from 0 to {self.num_classes - 1}, but one "
                f"is {pair.min() if pair.min() < 0 else pair.max()}."
            )
        np.add.at(self.confusion_matrix, tuple(pair), 1)
        self._is_update = True

    def eval(self) -> np.ndarray:
        """Return the normalized matrix of shape (C, C), with 0 if nothing was counted.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        self._refuse_empty(not self._is_update)
        counts = self.confusion_matrix.copy()
        if self.normalize == "no_norm":
            return counts
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        totals = np.broadcast_to(counts.sum(axis=axis, keepdims=True), counts.shape)
        return np.divide(counts, totals, out=np.zeros_like(counts), where=totals != 0)
