"""Base classes of metrics, which accumulate over all batches of an evaluation."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor

__all__ = ["EvaluationBase", "Metric", "rearrange_inputs"]


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``update`` of a metric: select the inputs of ``set_indexes``.

    Args:
        func (Callable): method ``update`` of a metric.

    Returns:
        Callable: the decorated method ``update``.

    >>> from mindgrad import nn
    >>> class Last(nn.Metric):
    ...     def clear(self):
    ...         self.value = None
    ...     @nn.rearrange_inputs
    ...     def update(self, *inputs):
    ...         self.value = inputs[0]
    ...     def eval(self):
    ...         return self.value
    >>> metric = Last().set_indexes([2])
    >>> metric.update(10, 20, 30)
    >>> metric.eval()
    30
    """

    @wraps(func)
    def arranged(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        if indexes is None:
            return func(self, *inputs)
        if len(inputs) <= max(indexes):
            raise ValueError(
                f"For '{type(self).__name__}', set_indexes selected the input with index {max(indexes)}, "
                f"but update got only {len(inputs)} inputs."
            )
        return func(self, *[inputs[index] for index in indexes])

    return arranged


class Metric(metaclass=ABCMeta):
    """Base class of metrics, with ``clear``, ``update`` for a batch, and ``eval``.

    >>> from mindgrad import nn
    >>> class Count(nn.Metric):
    ...     def clear(self):
    ...         self.batches = 0
    ...     def update(self, *inputs):
    ...         self.batches += 1
    ...     def eval(self):
    ...         return self.batches
    >>> metric = Count()
    >>> metric.clear()
    >>> metric.update(1.0)
    >>> metric.eval()
    1
    """

    def __init__(self) -> None:
        self._indexes: list[int] | None = None

    @property
    def indexes(self) -> list[int] | None:
        """Indices of the inputs that ``update`` uses, in order. ``None``: all."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes: list[int]) -> Any:
        """Select the inputs that ``update`` uses, and return the metric.

        Args:
            indexes (list of int): indices of the inputs of ``update`` to use, in the order in which it uses
                them.

        Returns:
            Metric: the metric itself.

        Raises:
            ValueError: If ``indexes`` is not a list of ints.
        """
        if not isinstance(indexes, list) or not all(type(index) is int for index in indexes):
            raise ValueError(f"For 'set_indexes', 'indexes' must be a list of ints, but got {indexes!r}.")
        self._indexes = indexes
        return self

    def _convert_data(self, data: Any) -> np.ndarray:
        """Convert a Tensor, list or number to an array."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, (list, tuple)):
            return np.array([self._convert_data(each) for each in data])
        if isinstance(data, (np.ndarray, np.generic, int, float)):
            return np.asarray(data)
        raise TypeError(
            f"For '{type(self).__name__}', an input must be a Tensor, list or NumPy array, but got "
            f"{type(data).__name__}."
        )

    def _check_shapes(self, predicted: np.ndarray, true: np.ndarray) -> None:
        if predicted.shape != true.shape:
            raise ValueError(
                f"For '{type(self).__name__}', predictions and labels must have the same shape, but got "
                f"{predicted.shape} and {true.shape}."
            )

    def _arrays(self, inputs: Any, count: int = 2) -> list[np.ndarray]:
        if len(inputs) != count:
            raise ValueError(
                f"For '{type(self).__name__}', update needs {count} inputs, but got {len(inputs)}."
            )
        return [self._convert_data(each) for each in inputs]

    def _refuse_empty(self, is_empty: Any) -> None:
        if is_empty:
            raise RuntimeError(
                f"For '{type(self).__name__}', eval() was called before the first update(), so there is no "
                "result. Call update() first."
            )

    @abstractmethod
    def clear(self) -> None:
        """Reset the metric."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Add the outputs of a batch.

        Args:
            *inputs (Any): outputs of the network and labels of one batch.
        """

    @abstractmethod
    def eval(self) -> Any:
        """Return the result over all batches since :meth:`clear`."""

    def __call__(self, *inputs: Any) -> Any:
        """Return the result for one batch alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()


class MeanMetric(Metric):
    """Base class of metrics that divide a total over all batches by a count."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self._total, self._count = 0.0, 0

    def eval(self) -> float:
        """Return the mean since :meth:`clear`.

        Raises:
            RuntimeError: If no samples were added since the last ``clear``.
        """
        self._refuse_empty(self._count == 0)
        return self._total / self._count


class EvaluationBase(Metric):
    """Base class of classification metrics.

    Args:
        eval_type (str): ``"classification"``: one class for each sample; ``"multilabel"``: any number of
            classes.

    Raises:
        TypeError: If ``eval_type`` is neither ``"classification"`` nor ``"multilabel"``.

    >>> from mindgrad import nn
    >>> issubclass(nn.Accuracy, nn.EvaluationBase)
    True
    """

    def __init__(self, eval_type: str) -> None:
        super().__init__()
        if eval_type not in ("classification", "multilabel"):
            raise TypeError(
                f"For '{type(self).__name__}', the 'eval_type' must be classification or multilabel, but got "
                f"{eval_type!r}."
            )
        self._type = eval_type

    def _predicted_and_true(self, inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions (N, C), and labels (N, C) or class indices (N,)."""
        predicted, true = self._arrays(inputs)
        if self._type == "classification" and predicted.ndim > 1 and predicted.shape == true.shape:
            true = true.argmax(axis=1)
        classes = predicted.shape[1] if predicted.ndim > 1 else 0
        if self._type == "classification" and (
            predicted.ndim != true.ndim + 1
            or predicted.shape[0] != true.shape[0]
            or predicted.shape[2:] != true.shape[1:]
        ):
            raise ValueError(
                f"For '{type(self).__name__}', predictions of shape (N, C, …) need labels of shape (N, …), "
                f"or one-hot labels of the same shape, but got {predicted.shape} and {true.shape}."
            )
        if self._type == "multilabel":
            self._check_shapes(predicted, true)
            if not np.isin(predicted, (0, 1)).all() or not np.isin(true, (0, 1)).all():
                raise ValueError(
                    f"For '{type(self).__name__}', with eval_type='multilabel', predictions and labels "
                    "must be 0 or 1."
                )
        expected = getattr(self, "_classes", None)
        if expected is not None and classes != expected:
            raise ValueError(
                f"For '{type(self).__name__}', all updates must have the same number of classes, but it "
                f"was {expected} before and is {classes} now."
            )
        self._classes: int | None = classes
        return predicted, true
