"""State of parallel training, as MindSpore's private helpers report it."""

from __future__ import annotations

from typing import Any

from mindgrad.communication import GlobalComm, get_group_size, get_rank
from mindgrad.context import PYNATIVE_MODE, ParallelMode, get_auto_parallel_context, get_context


def _get_parallel_mode() -> str:
    """Return one of the names of ``context.ParallelMode``."""
    return get_auto_parallel_context("parallel_mode")


def _get_gradients_mean() -> bool:
    """Return whether to average gradients over processes, rather than sum them."""
    return get_auto_parallel_context("gradients_mean")


def _get_parameter_broadcast() -> bool:
    """Return whether process 0 broadcasts its Parameters."""
    return get_auto_parallel_context("parameter_broadcast")


def _get_full_batch() -> bool:
    """Return whether each process reads whole batches."""
    return get_auto_parallel_context("full_batch")


def _get_pipeline_stages() -> int:
    """Return the number of pipeline stages."""
    return get_auto_parallel_context("pipeline_stages")


def _get_device_num() -> int:
    """Return the number of processes; 1 before communication begins."""
    return get_group_size() if GlobalComm.INITED else 1


def _get_global_rank() -> int:
    """Return the rank of this process; 0 before communication begins."""
    return get_rank() if GlobalComm.INITED else 0


def _is_pynative_parallel() -> bool:
    """Return whether several processes run in eager mode."""
    return _get_device_num() > 1 and get_context("mode") == PYNATIVE_MODE


def _is_sharding_propagation() -> bool:
    """Return whether MindSpore would partition tensors automatically."""
    return False


def _device_number_check(parallel_mode: Any, device_number: int) -> None:
    """Check that ``device_number`` is the number of processes.

    Raises:
        ValueError: If ``device_number`` is not the number of processes.
    """
    if device_number != _get_device_num():
        count = _get_device_num()
        number = "is one process" if count == 1 else f"are {count} processes"
        raise ValueError(f"For 'device_number', there {number} in this job, but got {device_number}.")


def _get_enable_parallel_optimizer() -> bool:
    """Return whether the state of optimizers is divided among processes."""
    return get_auto_parallel_context("enable_parallel_optimizer")


def _get_stage_device_num() -> int:
    """Return the number of processes in one stage."""
    return _get_device_num() // _get_pipeline_stages()


def _is_in_auto_parallel_mode() -> bool:
    """Return whether MindSpore would partition the network over processes."""
    return _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _is_in_data_parallel_mode() -> bool:
    """Return whether processes train on different batches."""
    return _get_parallel_mode() == ParallelMode.DATA_PARALLEL


def _is_in_hybrid_parallel_mode() -> bool:
    """Return whether processes store parts of Parameters."""
    return _get_parallel_mode() == ParallelMode.HYBRID_PARALLEL


def _parameter_broadcast_check(parallel_mode: Any, parameter_broadcast: bool) -> None:
    """Accept any setting; there is nothing to check."""


def _check_full_batch() -> None:
    """Accept any setting; there is nothing to check."""


def _to_full_tensor(elem: Any, global_device_num: int, global_rank: int, scaling_sens: Any = None) -> Any:
    """Return the tensors of a batch as a tuple, followed by any scale of the loss."""
    whole = tuple(elem) if isinstance(elem, (tuple, list)) else (elem,)
    return whole if scaling_sens is None else (*whole, scaling_sens)


def _to_full_shapes(shapes: Any, device_num: int) -> Any:
    """Return the shapes of a batch unchanged."""
    return shapes
