"""Gradient reduction sums or averages the gradients of all processes, so that their Parameters stay equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.common.parameter import Parameter
from mindgrad.communication.management import GlobalComm, get_group_size
from mindgrad.context import ParallelMode, get_auto_parallel_context
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.ops.joined_collectives import broadcast_parameters, reduced_together

__all__ = ["DistributedGradReducer", "gradient_reducer"]


class DistributedGradReducer(Cell):
    """Gradients, summed or averaged over the processes of a group: with one process as they are.

    In a compiled step the sums are part of the program, where they are joined into messages of 32 MiB; in
    eager mode those of one call are one message for each element type. Where the parallel mode is
    ``"data_parallel"``, the Parameters become those of the group's first process when the reducer is made,
    so that all processes start from the same.

    Args:
        parameters: the Parameters whose gradients come.
        mean (bool): ``True`` averages, ``False`` sums. Default: ``None``, the value of ``gradients_mean`` in
            ``set_auto_parallel_context``, which is ``False`` unless it is set.
        degree: what an average divides by; ``None``: the number of processes.
        fusion_type: accepted for compatibility: messages are joined anyway.
        group: the name of the group; ``None``: all processes.

    Inputs:
        ``grads``: a tuple of Tensors.

    Outputs:
        A tuple of Tensors of the same types.

    Raises:
        ValueError: ``degree`` is no positive int, or there is no such group.

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
        """See the class."""
        if self._is_alone:
            return grads if not self.mean or self.degree == 1 else self._averaged(grads)
        totals = reduced_together(list(grads), self.group)
        return self._averaged(totals) if self.mean else tuple(totals)

    def _averaged(self, totals: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(
            [total * (1.0 / self.degree) if isinstance(total, Tensor) else total for total in totals]
        )


def gradient_reducer(parameters: Any) -> DistributedGradReducer | None:
    """The reducer of a training step in the parallel mode that is set; ``None`` where nothing is reduced."""
    mode = get_auto_parallel_context("parallel_mode")
    if mode not in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL) or get_group_size() == 1:
        return None
    return DistributedGradReducer(parameters)
