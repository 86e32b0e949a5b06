"""Regression metrics, and the mean loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.nn.metrics.metric import MeanMetric, rearrange_inputs

__all__ = ["MAE", "MSE", "Loss"]


class _MeanOverSamples(MeanMetric):
    """A sum over all elements, divided by the number of samples."""

    def _error(self, difference: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add predictions and labels of the same shape, whose first axis is the batch.

        Args:
            *inputs (Tensor, list, or numpy.ndarray): predictions and labels.

        Raises:
            ValueError: If the number of inputs is not two, or their shapes differ.
            TypeError: If an input is not a Tensor, list, or array.
        """
        predicted, true = self._arrays(inputs)
        self._check_shapes(predicted, true)
        self._total += float(self._error(predicted - true).sum())
        self._count += true.shape[0] if true.ndim else 1


class MAE(_MeanOverSamples):
    """Absolute error: Σ |prediction − label| divided by the number of samples.

    The elements of a sample are summed, not averaged, as in MindSpore.

    >>> import mindgrad as ms
    >>> metric = ms.nn.MAE()
    >>> metric.update(ms.Tensor([1.0, 3.0]), ms.Tensor([0.0, 1.0]))
    >>> metric.eval()
    1.5
    """

    def _error(self, difference: np.ndarray) -> np.ndarray:
        return np.abs(difference)


class MSE(_MeanOverSamples):
    """Squared error: Σ (prediction − label)² divided by the number of samples.

    The elements of a sample are summed, not averaged, as in MindSpore.

    >>> import mindgrad as ms
    >>> metric = ms.nn.MSE()
    >>> metric.update(ms.Tensor([1.0, 3.0]), ms.Tensor([0.0, 1.0]))
    >>> metric.eval()
    2.5
    """

    def _error(self, difference: np.ndarray) -> np.ndarray:
        return np.square(difference)


class Loss(MeanMetric):
    """Mean of the losses of all batches.

    >>> import mindgrad as ms
    >>> metric = ms.nn.Loss()
    >>> metric.update(ms.Tensor(1.0))
    >>> metric.update(ms.Tensor(2.0))
    >>> metric.eval()
    1.5
    """

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add the loss of a batch. For a loss that is not a scalar, add its mean.

        Args:
            *inputs (Tensor, list, or numpy.ndarray): the loss.

        Raises:
            ValueError: If the number of inputs is not one.
            TypeError: If the input is not a Tensor, list, or array.
        """
        (loss,) = self._arrays(inputs, 1)
        self._total += float(loss.mean())
        self._count += 1
