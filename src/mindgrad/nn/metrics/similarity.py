"""Dice coefficient, similarity between samples, and occlusion sensitivity."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._checkparam import check_positive_float, check_string, check_value_type
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.metrics.metric import MeanMetric, Metric, rearrange_inputs

__all__ = ["CosineSimilarity", "Dice", "OcclusionSensitivity"]


class Dice(MeanMetric):
    """Dice coefficient 2 ∑ pt / (∑ p² + ∑ t² + smooth) per sample.

    The coefficients of all batches are summed and divided by the number of all samples.

    Args:
        smooth (float): positive number added to the denominator, so that the quotient is finite.

    Raises:
        TypeError, ValueError: If ``smooth`` is not a positive float.

    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> metric = nn.Dice(smooth=1e-5)
    >>> metric.update(ms.Tensor([[0.0, 1.0]]), ms.Tensor([[0, 1]]))
    >>> print(f"{metric.eval():.4f}")
    1.0000
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = check_positive_float(smooth, "smooth", "Dice")

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add predictions and labels of the same shape (N, ...).

        Args:
            *inputs (Tensor, list, or numpy.ndarray): predictions and labels.

        Raises:
            ValueError: If the number of inputs is not two, or their shapes differ.
        """
        predicted, true = self._arrays(inputs)
        self._check_shapes(predicted, true)
        self._count += len(true)
        squares = float(np.vdot(predicted, predicted) + np.vdot(true, true))
        self._total += 2 * float(np.vdot(predicted, true)) / (squares + self.smooth)


class CosineSimilarity(Metric):
    """Matrix of the similarities between the samples of the last batch.

    Args:
        similarity (str): measure of similarity: ``"cosine"`` of the angle between two samples, or their
            ``"dot"`` product.
        reduction (str): reduction of the similarity matrix: ``"none"``, or ``"sum"`` or ``"mean"`` over the
            last axis.
        zero_diagonal (bool): whether the similarity of each sample to itself counts as 0.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``similarity`` or ``reduction`` is an unknown name.

    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> metric = nn.CosineSimilarity()
    >>> metric.update(ms.Tensor([[3.0, 4.0], [0.0, 2.0]]))
    >>> print(metric.eval())
    [[0.  0.8]
     [0.8 0. ]]
    """

    def __init__(
        self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True
    ) -> None:
        super().__init__()
        owner = "CosineSimilarity"
        check_value_type("similarity", similarity, [str], owner)
        check_value_type("reduction", reduction, [str], owner)
        self.similarity = check_string(similarity, ("dot", "cosine"), "similarity", owner)
        self.reduction = check_string(reduction, ("none", "sum", "mean"), "reduction", owner)
        self.zero_diagonal = check_value_type("zero_diagonal", zero_diagonal, [bool], owner)
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self._matrix: np.ndarray | None = None

    @rearrange_inputs
    def update(self, inputs: Any) -> None:
        """Set the samples, which replace previous ones.

        Args:
            inputs (Tensor, list, or numpy.ndarray): samples of shape (N, C).
        """
        rows = self._convert_data(inputs)
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self._matrix = rows @ rows.T

    def eval(self) -> Any:
        """Return the similarities of shape (N, N), or (N,) if they are reduced.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        self._refuse_empty(self._matrix is None)
        assert self._matrix is not None
        matrix = self._matrix.copy()
        if self.zero_diagonal:
            np.fill_diagonal(matrix, 0)
        if self.reduction == "none":
            return matrix
        return matrix.sum(axis=-1) if self.reduction == "sum" else matrix.mean(axis=-1)


class OcclusionSensitivity(Metric):
    """Decrease of the score of a class when regions of a sample are occluded.

    Args:
        pad_val (float): value of the occluded elements.
        margin (int): the occluded region of an element extends from −margin to margin − 1.
        n_batch (int): number of occluded samples in a batch of the model.
        b_box (list of int): region to occlude: first and last index along each axis except the batch axis. A
            negative last index means the end of the axis. ``None``: all elements.

    Raises:
        TypeError: If an argument has an unsupported type.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> net = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
    >>> metric = nn.OcclusionSensitivity(margin=1)
    >>> metric.update(net, np.array([[1.0, 2.0, 4.0]], np.float32), np.array(1))
    >>> print(metric.eval())  # the sum of the previous element and the element
    [1. 3. 6.]
    """

    def __init__(
        self, pad_val: float = 0.0, margin: int = 2, n_batch: int = 128, b_box: list[int] | None = None
    ) -> None:
        super().__init__()
        owner = "OcclusionSensitivity"
        self.pad_val = check_value_type("pad_val", pad_val, [float], owner)
        self.margin = check_value_type("margin", margin, [int, list], owner)
        self.n_batch = check_value_type("n_batch", n_batch, [int], owner)
        self.b_box = check_value_type("b_box", b_box, [list, type(None)], owner)
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self._sensitivity: np.ndarray | None = None

    def _bounds(self, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and last index of each axis."""
        sizes = np.array(shape)
        if self.b_box is None:
            return np.zeros_like(sizes), sizes - 1
        if len(self.b_box) != 2 * len(shape):
            raise ValueError(
                f"For 'OcclusionSensitivity', the 'b_box' must have two indices for each of {len(shape)} "
                f"axes, but got {self.b_box}."
            )
        first, last = np.maximum(self.b_box[::2], 0), np.array(self.b_box[1::2])
        last = np.where(last < 0, sizes - 1, last)
        if (last >= sizes).any() or (first > last).any():
            raise ValueError(
                f"For 'OcclusionSensitivity', the 'b_box' must lie within {shape} and not be empty, but got "
                f"{self.b_box}."
            )
        return first, last

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Set a model, one sample, and its class.

        Args:
            *inputs (Cell, Tensor, int): a Cell that returns scores of shape (N, C), a sample of shape (1,
                ...), and the index of a class.

        Raises:
            ValueError: If the number of inputs is not three, or ``b_box`` does not match the shape of the
                sample.
            TypeError: If the model is not a Cell.
            RuntimeError: If there is more than one sample or class.
        """
        if len(inputs) != 3:
            raise ValueError(
                f"For 'OcclusionSensitivity.update', pass a model, a sample and its class, but got "
                f"{len(inputs)} inputs."
            )
        model = check_value_type("model", inputs[0], [Cell], "OcclusionSensitivity")
        sample, label = self._convert_data(inputs[1]), self._convert_data(inputs[2])
        if len(sample) != 1 or label.size != 1:
            raise RuntimeError(
                f"For 'OcclusionSensitivity.update', pass one sample and one class, but the shapes "
                f"are {sample.shape} and {label.shape}."
            )
        scores = lambda images: model(Tensor(images)).asnumpy()[:, int(label.item())]
        first, last = self._bounds(sample.shape[1:])
        margins = np.broadcast_to(self.margin, len(first))
        covered = []
        drops: list[Any] = []
        window = tuple(last - first + 1)
        for number, offset in enumerate(np.ndindex(window), 1):
            image = sample.copy()
            sides = zip(first + offset, margins, strict=True)
            window_of_place = tuple(slice(max(0, place - margin), place + margin) for place, margin in sides)
            image[0][window_of_place] = self.pad_val
            covered.append(image)
            if len(covered) == self.n_batch or number == np.prod(window):
                drops.extend(scores(np.concatenate(covered)))
                covered = []
        self._sensitivity = np.squeeze(scores(sample)[0] - np.reshape(drops, window))

    def eval(self) -> np.ndarray:
        """Return the decreases, with the shape of the sample or of ``b_box``, squeezed.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        self._refuse_empty(self._sensitivity is None)
        assert self._sensitivity is not None
        return self._sensitivity
