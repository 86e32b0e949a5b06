"""Metrics of regression, and the mean loss."""

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
        """Take predictions and labels of one shape, whose first axis counts samples.

        Raises:
            ValueError: there are not two inputs, or their shapes differ.
            TypeError: an input is no Tensor, list or array.
        """
        predicted, true = self._arrays(inputs)
        if predicted.shape != true.shape:
            raise ValueError(
                f"For '{type(self).__name__}', predictions and labels must have one shape, but got "
                f"{predicted.shape} and {true.shape}."
            )
        self._total += float(self._error(predicted - true).sum())
        self._count += true.shape[0] if true.ndim else 1


class MAE(_MeanOverSamples):
    """The absolute error: Σ |prediction − label| over the number of samples.

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
    """The squared error: Σ (prediction − label)² over the number of samples.

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
    """The mean of the losses of all batches.

    >>> import mindgrad as ms
    >>> metric = ms.nn.Loss()
    >>> metric.update(ms.Tensor(1.0))
    >>> metric.update(ms.Tensor(2.0))
    >>> metric.eval()
    1.5
    """

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take the loss of a batch; of a loss with axes, its mean.

        Raises:
            ValueError: there is not one input.
            TypeError: it is no Tensor, list or array.
        """
        (loss,) = self._arrays(inputs, 1)
        self._total += float(loss.mean())
        self._count += 1
