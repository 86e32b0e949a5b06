"""Synchronised batch normalisation has the statistics of the batches of several processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.communication.management import GlobalComm, create_group, get_group_size, get_rank
from mindgrad.ir.dtype import float32
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.layer.normalization import BatchNorm
from mindgrad.ops import functional as ops
from mindgrad.ops.collectives import reduced
from mindgrad.ops.operands import full_tensor

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm):
    """Batch normalisation over the batches of all processes: with one process as ``nn.BatchNorm2d``.

    In training two messages of the size of the statistics go around, forward and backward. The batches of the
    processes may have different sizes; every process makes the call.

    Args:
        num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
        use_batch_statistics: as for :class:`BatchNorm2d`.
        process_groups: which processes belong together, such as ``[[0, 1], [2, 3]]``; ``None``: all.
        dtype: the element type of the Parameters.

    Inputs:
        x: a real tensor of shape (n, c, h, w), or (n, c).

    Raises:
        TypeError: an argument is of another type.
        ValueError: an argument is out of range, this process is not in ``process_groups``, or the input has
            another shape.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.SyncBatchNorm(1, eps=0.0).set_train()(Tensor([[1.0], [3.0]])))
    [[-1.]
     [ 1.]]
    """

    axes = (2, 4)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        process_groups: Any = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, dtype=dtype,
        )  # fmt: skip
        self.process_groups = process_groups
        self.group_name = GlobalComm.WORLD_COMM_GROUP
        if process_groups is not None:
            self.group_name = _group_of(process_groups)

    def _joint(self) -> Callable[..., tuple[Tensor, Tensor, Tensor]] | None:
        return self._joint_statistics if get_group_size(self.group_name) > 1 else None

    def _joint_statistics(self, x: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """Mean, variance and number of elements, over ``axes`` and over the processes of the group."""
        shape = (1, -1) + (1,) * (x.ndim - 2)
        count = full_tensor(x.size // x.shape[1], x.dtype, (1,))
        total = self._total(ops.concat([ops.sum(x, axes), count]))
        mean = ops.reshape(total[:-1], shape) / total[-1]
        squares = self._total(ops.sum(ops.square(x - mean), axes))
        return mean, ops.reshape(squares, shape) / total[-1], total[-1]

    def _total(self, x: Tensor) -> Tensor:
        return reduced(x, group=self.group_name, operator="SyncBatchNorm")


def _group_of(process_groups: Any) -> str:
    """The group among ``process_groups`` that this process is in."""
    rank = get_rank()
    own = [sorted(ranks) for ranks in process_groups if rank in ranks]
    if len(own) != 1:
        raise ValueError(
            f"For 'SyncBatchNorm', the rank {rank} must be in one of the 'process_groups', but they are "
            f"{process_groups}."
        )
    name = f"sync_batch_norm_{'_'.join(map(str, own[0]))}"
    create_group(name, own[0])
    return name
