"""Gradient reduction: sum or average the gradients of all processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.common.parameter import Parameter
from mindgrad.communication.management import GlobalComm, get_group_size
from mindgrad.context import ParallelMode, get_auto_parallel_context
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.ops.joined_collectives import broadcast_parameters, reduced_together

__all__ = ["DistributedGradReducer", "gradient_reducer"]


class DistributedGradReducer(Cell):
    """The sum or mean of gradients over the processes of a group.

    With one process, gradients do not change. In a compiled step, the sums are part of the program, which
    combines them into messages of 32 MiB. In eager mode, each call sends one message for each dtype. In the
    parallel mode ``"data_parallel"``, the reducer copies the Parameters of the group's first process to all
    processes when it is created.

    Args:
        parameters (iterable of Parameter): Parameters to which the gradients belong.
        mean (bool): whether to average instead of sum. ``None`` uses ``gradients_mean`` of
            ``set_auto_parallel_context``, which is initially ``False``.
        degree (int): divisor of the sum if ``mean`` is ``True``. ``None``: the number of processes.
        fusion_type (int): accepted for compatibility; messages are always combined.
        group (str): name of the group of processes. ``None``: all processes.

    Inputs:
        grads (tuple of Tensor): gradients of this process.

    Outputs:
        Tuple of reduced gradients, with the shapes and dtypes of ``grads``.

    Raises:
        ValueError: If ``degree`` is not a positive int, or the group does not exist.

    >>> import mindgrad as ms
    >>> from mindgrad.nn.wrap.grad_reducer import DistributedGradReducer
    >>> print(DistributedGradReducer([])((ms.Tensor([1.0]),))[0])
    [1.]
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str | None = None,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.group = GlobalComm.WORLD_COMM_GROUP if group is None else group
        size = get_group_size(self.group)
        if degree is not None and (not isinstance(degree, int) or isinstance(degree, bool) or degree < 1):
            raise ValueError(
                f"For 'DistributedGradReducer', the 'degree' must be a positive int, but got {degree!r}."
            )
        self.mean = bool(get_auto_parallel_context("gradients_mean") if mean is None else mean)
        self.degree = size if degree is None else degree
        self._is_alone = size == 1
        if get_auto_parallel_context("parallel_mode") == ParallelMode.DATA_PARALLEL and not self._is_alone:
            broadcast_parameters([p for p in parameters if isinstance(p, Parameter)], self.group)

    def construct(self, grads: Any) -> Any:
        if self._is_alone:
            return grads if not self.mean or self.degree == 1 else self._averaged(grads)
        totals = reduced_together(list(grads), self.group)
        return self._averaged(totals) if self.mean else tuple(totals)

    def _averaged(self, totals: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(
            [total * (1.0 / self.degree) if isinstance(total, Tensor) else total for total in totals]
        )


def gradient_reducer(parameters: Any) -> DistributedGradReducer | None:
    """Return the reducer of a training step in the current parallel mode, or ``None``."""
    mode = get_auto_parallel_context("parallel_mode")
    if mode not in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL) or get_group_size() == 1:
        return None
    return DistributedGradReducer(parameters)
