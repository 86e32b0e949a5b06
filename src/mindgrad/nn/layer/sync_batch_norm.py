"""Batch normalization with statistics over the batches of several processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.communication.management import GlobalComm, create_group, get_group_size, get_rank
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.layer.normalization import BatchNorm
from mindgrad.ops import functional as ops
from mindgrad.ops.collectives import reduced
from mindgrad.ops.operands import full_tensor

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm):
    """Batch normalization over the batches of all processes.

    With one process it equals :class:`BatchNorm2d`. In training, both the forward and the backward pass
    exchange two messages of about ``num_features`` numbers between the processes. The batches of the
    processes may have different sizes. Every process must call the layer.

    Args:
        num_features (int): number of channels, c.
        eps (float): small number added to the variance, to avoid division by zero.
        momentum (float): weight of the old value when a running average is updated.
        affine (bool): whether the scale gamma and the shift beta are trained.
        gamma_init (Tensor, str, Initializer, or number): initial value of the scale gamma.
        beta_init (Tensor, str, Initializer, or number): initial value of the shift beta.
        moving_mean_init (Tensor, str, Initializer, or number): initial running mean.
        moving_var_init (Tensor, str, Initializer, or number): initial running variance.
        use_batch_statistics (bool): whether to normalize with the statistics of the batch, as for
            :class:`BatchNorm2d`.
        process_groups (list of list of int): groups of processes, such as ``[[0, 1], [2, 3]]``. ``None``: one
            group of all processes.
        dtype (DType): dtype of the Parameters.

    Inputs:
        x (Tensor): real tensor of shape (n, c, h, w) or (n, c).

    Outputs:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, this process is not in ``process_groups``, or ``x`` does
            not have the documented shape.

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
        """Return mean, variance, and element count over ``axes`` and all processes."""
        shape = (1, -1) + (1,) * (x.ndim - 2)
        count = full_tensor(x.size // x.shape[1], x.dtype, (1,))
        total = self._total(ops.concat([ops.sum(x, axes), count]))
        mean = ops.reshape(total[:-1], shape) / total[-1]
        squares = self._total(ops.sum(ops.square(x - mean), axes))
        return mean, ops.reshape(squares, shape) / total[-1], total[-1]

    def _total(self, x: Tensor) -> Tensor:
        return reduced(x, group=self.group_name, operator="SyncBatchNorm")


def _group_of(process_groups: Any) -> str:
    """Return the group among ``process_groups`` that contains this process."""
    rank = get_rank()
    own = [sorted(ranks) for ranks in process_groups if rank in ranks]
    if len(own) != 1:
        raise ValueError(
            f"For 'SyncBatchNorm', the rank {rank} must be in one of the 'process_groups', but these are "
            f"{process_groups}."
        )
    name = f"sync_batch_norm_{'_'.join(map(str, own[0]))}"
    create_group(name, own[0])
    return name
