"""Queries about processes answer MindSpore's callbacks and training Cells: before init there is one."""

from __future__ import annotations

from typing import Any

from mindgrad.communication import GlobalComm, get_group_size, get_rank
from mindgrad.context import PYNATIVE_MODE, ParallelMode, get_auto_parallel_context, get_context


def _get_parallel_mode() -> str:
    """One of the names of ``context.ParallelMode``."""
    return get_auto_parallel_context("parallel_mode")


def _get_gradients_mean() -> bool:
    """Whether gradients would be averaged over processes rather than summed."""
    return get_auto_parallel_context("gradients_mean")


def _get_parameter_broadcast() -> bool:
    """Whether process 0 would hand its Parameters to the others."""
    return get_auto_parallel_context("parameter_broadcast")


def _get_full_batch() -> bool:
    """Whether each process would get whole batches."""
    return get_auto_parallel_context("full_batch")


def _get_pipeline_stages() -> int:
    """Into how many stages the net is divided."""
    return get_auto_parallel_context("pipeline_stages")


def _get_device_num() -> int:
    """The number of processes; 1 before communication has begun."""
    return get_group_size() if GlobalComm.INITED else 1


def _get_global_rank() -> int:
    """The number of this process; 0 before communication has begun."""
    return get_rank() if GlobalComm.INITED else 0


def _is_pynative_parallel() -> bool:
    """Whether several processes run eagerly."""
    return _get_device_num() > 1 and get_context("mode") == PYNATIVE_MODE


def _is_sharding_propagation() -> bool:
    """Whether MindSpore would divide tensors by itself."""
    return False


def _device_number_check(parallel_mode: Any, device_number: int) -> None:
    """Accept the number of processes.

    Raises:
        ValueError: If it is another one.
    """
    if device_number != _get_device_num():
        count = _get_device_num()
        number = "is one process" if count == 1 else f"are {count} processes"
        raise ValueError(f"For 'device_number', there {number}, but got {device_number}.")


def _get_enable_parallel_optimizer() -> bool:
    """Whether the state of optimizers is divided among processes."""
    return get_auto_parallel_context("enable_parallel_optimizer")


def _get_stage_device_num() -> int:
    """The number of processes of one stage."""
    return _get_device_num() // _get_pipeline_stages()


def _is_in_auto_parallel_mode() -> bool:
    """Whether MindSpore would divide the net among processes."""
    return _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _is_in_data_parallel_mode() -> bool:
    """Whether each process gets batches of its own."""
    return _get_parallel_mode() == ParallelMode.DATA_PARALLEL


def _is_in_hybrid_parallel_mode() -> bool:
    """Whether processes hold parts of Parameters."""
    return _get_parallel_mode() == ParallelMode.HYBRID_PARALLEL


def _parameter_broadcast_check(parallel_mode: Any, parameter_broadcast: bool) -> None:
    """Accept that process 0 hands its Parameters to the others, of which there are none."""


def _check_full_batch() -> None:
    """Accept whole batches: one process gets nothing else."""


def _to_full_tensor(elem: Any, global_device_num: int, global_rank: int, scaling_sens: Any = None) -> Any:
    """The tensors of a batch, which one process has whole already; behind them the scale of the loss."""
    whole = tuple(elem) if isinstance(elem, (tuple, list)) else (elem,)
    return whole if scaling_sens is None else (*whole, scaling_sens)


def _to_full_shapes(shapes: Any, device_num: int) -> Any:
    """The shapes of a batch, which one process has whole already."""
    return shapes
