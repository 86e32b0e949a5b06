"""Classification metrics: accuracy, precision, recall, F scores, top-k accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.shared_docs import with_sections
from mindgrad.nn.metrics.metric import EvaluationBase, MeanMetric, rearrange_inputs

__all__ = [
    "F1", "Accuracy", "Fbeta", "Precision", "Recall", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy",
]  # fmt: skip


class Accuracy(EvaluationBase, MeanMetric):
    """Accuracy: the fraction of samples that are classified correctly.

    Args:
        eval_type (str): ``"classification"``: predictions of shape (N, C), whose maximum is the predicted
            class, and labels of shape (N,) or one-hot labels. ``"multilabel"``: predictions and labels of
            shape (N, C), with elements 0 and 1.

    Raises:
        TypeError: If ``eval_type`` is neither ``"classification"`` nor ``"multilabel"``.

    >>> import mindgrad as ms
    >>> metric = ms.nn.Accuracy()
    >>> metric.update(ms.Tensor([[0.2, 0.8], [0.9, 0.1]]), ms.Tensor([1, 1]))
    >>> metric.eval()
    0.5
    """

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)

    def clear(self) -> None:
        """Reset the metric."""
        super().clear()
        self._classes = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add predictions and labels of a batch.

        Args:
            *inputs (Tensor, list, or numpy.ndarray): predictions and labels.

        Raises:
            ValueError: If the number of inputs is not two, or their shapes do not match.
        """
        predicted, true = self._predicted_and_true(inputs)
        if self._type == "classification":
            right = predicted.argmax(axis=1) == true
        else:
            right = (np.moveaxis(predicted, 1, -1) == np.moveaxis(true, 1, -1)).all(axis=-1)
        self._total += int(right.sum())
        self._count += right.size


class _Counted(EvaluationBase):
    """Base class of metrics that count correct, predicted, and true labels by class."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self._right: Any = 0
        self._predicted: Any = 0
        self._true: Any = 0
        self._classes = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add predictions and labels of a batch.

        Args:
            *inputs (Tensor, list, or numpy.ndarray): predictions and labels.

        Raises:
            ValueError: If the number of inputs is not two, or their shapes do not match.
        """
        predicted, true = self._predicted_and_true(inputs)
        classes = predicted.shape[1]
        if self._type == "classification":
            if true.size and not 0 <= true.min() <= true.max() < classes:
                raise ValueError(
                    f"For '{type(self).__name__}', labels must be from 0 to {classes - 1}, the number of "
                    f"classes minus one, but they are from {true.min()} to {true.max()}."
                )
            chosen = np.eye(classes)[predicted.argmax(axis=1).reshape(-1)]
            labels = np.eye(classes)[true.reshape(-1)]
        else:
            chosen = np.moveaxis(predicted, 1, -1).reshape(-1, classes)
            labels = np.moveaxis(true, 1, -1).reshape(-1, classes)
        self._right = self._right + (chosen * labels).sum(0)
        self._predicted = self._predicted + chosen.sum(0)
        self._true = self._true + labels.sum(0)

    def _compared(self) -> Any:
        """Return the denominator of the metric for each class."""
        raise NotImplementedError

    def eval(self, average: bool = False) -> Any:
        """Return the metric of each class since :meth:`clear`.

        Args:
            average (bool, optional): whether to return the mean over classes. Default: ``False``.

        Raises:
            RuntimeError: If no samples were added since the last ``clear``.
        """
        self._refuse_empty(self._classes is None)
        result = self._right / np.maximum(self._compared(), np.finfo(np.float64).tiny)
        return float(result.mean()) if average else result


class Precision(_Counted):
    """Precision of each class: the fraction of its predictions that are correct.

    Args:
        eval_type (str): ``"classification"`` or ``"multilabel"``, see :class:`Accuracy`.

    Raises:
        TypeError: If ``eval_type`` is neither ``"classification"`` nor ``"multilabel"``.

    >>> import mindgrad as ms
    >>> metric = ms.nn.Precision()
    >>> metric.update(ms.Tensor([[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]]), ms.Tensor([1, 0, 0]))
    >>> print(metric.eval())
    [1.  0.5]
    """

    def _compared(self) -> Any:
        return self._predicted


@with_sections
class Recall(_Counted):
    """Recall of each class: the fraction of its samples that are predicted correctly.

    {as Precision}

    >>> import mindgrad as ms
    >>> metric = ms.nn.Recall()
    >>> metric.update(ms.Tensor([[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]]), ms.Tensor([1, 0, 0]))
    >>> print(metric.eval())
    [0.5 1. ]
    """

    def _compared(self) -> Any:
        return self._true


class Fbeta(_Counted):
    """F-beta score of each class.

    It is (1 + β²) · precision · recall / (β² · precision + recall).

    Args:
        beta (float): β, positive: the weight of recall relative to precision.

    Raises:
        ValueError: If ``beta`` is not positive.

    >>> import mindgrad as ms
    >>> metric = ms.nn.Fbeta(1)
    >>> metric.update(ms.Tensor([[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]]), ms.Tensor([1, 0, 0]))
    >>> print(metric.eval().round(3))
    [0.667 0.667]
    """

    def __init__(self, beta: float) -> None:
        super().__init__()
        if not beta > 0:
            raise ValueError(f"For 'Fbeta', the 'beta' must be greater than 0, but got {beta}.")
        self.beta = beta

    def _compared(self) -> Any:
        square = self.beta**2
        return (square * self._true + self._predicted) / (1 + square)


class F1(Fbeta):
    """F1 score of each class: the harmonic mean of precision and recall.

    >>> import mindgrad as ms
    >>> metric = ms.nn.F1()
    >>> metric.update(ms.Tensor([[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]]), ms.Tensor([1, 0, 0]))
    >>> print(round(metric.eval(average=True), 3))
    0.667
    """

    def __init__(self) -> None:
        super().__init__(1.0)


class TopKCategoricalAccuracy(MeanMetric):
    """The fraction of samples whose class is among the k largest predictions.

    Args:
        k (int): number of classes with the largest predictions among which the true class must be.

    Raises:
        TypeError: If ``k`` is not an int.
        ValueError: If ``k`` is less than 1.

    >>> import mindgrad as ms
    >>> metric = ms.nn.TopKCategoricalAccuracy(2)
    >>> metric.update(ms.Tensor([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]]), ms.Tensor([2, 1]))
    >>> metric.eval()
    0.5
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        if type(k) is not int:
            raise TypeError(f"For 'TopKCategoricalAccuracy', 'k' must be an int, but got {type(k).__name__}.")
        if k < 1:
            raise ValueError(f"For 'TopKCategoricalAccuracy', 'k' must be at least 1, but got {k}.")
        self.k = k

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add predictions of shape (N, C), and labels of shape (N,) or one-hot labels.

        Args:
            *inputs (Tensor, list, or numpy.ndarray): predictions and labels.

        Raises:
            ValueError: If the number of inputs is not two.
        """
        predicted, true = self._arrays(inputs)
        if true.ndim == predicted.ndim:
            true = true.argmax(axis=1)
        greatest = np.argsort(-predicted, axis=1, kind="stable")[:, : self.k]
        self._total += int((greatest == true.reshape(-1, 1)).any(axis=1).sum())
        self._count += true.shape[0]


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The fraction of samples whose class has the largest prediction.

    >>> import mindgrad as ms
    >>> ms.nn.Top1CategoricalAccuracy()(ms.Tensor([[0.2, 0.5, 0.3]]), ms.Tensor([2]))
    0.0
    """

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The fraction of samples whose class is among the 5 largest predictions.

    >>> import mindgrad as ms
    >>> ms.nn.Top5CategoricalAccuracy()(ms.Tensor([[0.2, 0.5, 0.3]]), ms.Tensor([2]))
    1.0
    """

    def __init__(self) -> None:
        super().__init__(5)
