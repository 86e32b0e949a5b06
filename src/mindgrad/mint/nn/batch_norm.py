"""Batch normalization of ``mint``, with PyTorch's arguments and Parameter names."""

from __future__ import annotations

from typing import Any

from mindgrad import nn
from mindgrad.common.parameter import Parameter
from mindgrad.ir.dtype import float32, int64
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import functional

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]

_nn: Any = nn  # a type checker cannot resolve the names of ``nn``


class _BatchNorm:
    """Shared methods of BatchNorm1d, BatchNorm2d, and BatchNorm3d."""

    _names = ("running_mean", "running_var", "weight", "bias")

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(  # type: ignore[call-arg]
            num_features, eps=eps, momentum=0.9 if momentum is None else 1 - momentum, affine=affine,
            use_batch_statistics=None if track_running_stats else True,
            dtype=float32 if dtype is None else dtype,
        )  # fmt: skip
        self.track_running_stats = track_running_stats
        self._is_average = momentum is None
        if track_running_stats:
            count = Tensor(0, int64)
            self.num_batches_tracked = Parameter(count, "num_batches_tracked", requires_grad=False)

    def construct(self, input: Any) -> Tensor:
        """Normalize the input; in training, also count the batch."""
        if self.training and self.track_running_stats:  # type: ignore[attr-defined]
            functional.assign_add(self.num_batches_tracked, 1)
        return super().construct(input)  # type: ignore[misc,no-any-return]

    def _share_of_batch(self) -> Any:
        if self._is_average and self.track_running_stats:
            return 1 / functional.cast(self.num_batches_tracked, float32)
        return super()._share_of_batch()  # type: ignore[misc]


class BatchNorm1d(_BatchNorm, _nn.BatchNorm1d):
    """Batch normalization of 2-D or 3-D inputs, with PyTorch's arguments.

    See :class:`mindgrad.nn.BatchNorm1d` for MindSpore's arguments.

    Args:
        num_features (int): number of channels.
        eps (float): number added to the variance.
        momentum (float or None): weight of the statistics of the batch when the running statistics are
            updated. 0.1 corresponds to ``momentum=0.9`` in :class:`mindgrad.nn.BatchNorm1d`. ``None``
            averages the statistics of all batches, and ``num_batches_tracked`` counts the batches.
        affine (bool): whether each channel has a trainable scale and shift.
        track_running_stats (bool): whether to normalize with running statistics during evaluation. If it is
            false, the statistics of the batch are always used.
        dtype (mindgrad.dtype): dtype of the Parameters. ``None`` means float32.

    >>> from mindgrad import mint
    >>> mint.nn.BatchNorm1d(3)(mint.ones((2, 3))).shape
    (2, 3)
    """


class BatchNorm2d(_BatchNorm, _nn.BatchNorm2d):
    """Batch normalization of 4-D inputs (images), with PyTorch's arguments.

    {as BatchNorm1d}

    >>> from mindgrad import mint
    >>> mint.nn.BatchNorm2d(3)(mint.ones((2, 3, 4, 4))).shape
    (2, 3, 4, 4)
    """


class BatchNorm3d(_BatchNorm, _nn.BatchNorm3d):
    """Batch normalization of 5-D inputs (volumes), with PyTorch's arguments.

    {as BatchNorm1d}

    >>> from mindgrad import mint
    >>> mint.nn.BatchNorm3d(3)(mint.ones((2, 3, 2, 2, 2))).shape
    (2, 3, 2, 2, 2)
    """
