"""What callbacks and training Cells of MindSpore programs ask about the processes: there is one."""

from __future__ import annotations

from typing import Any

from mindgrad.communication import get_group_size, get_rank
from mindgrad.context import get_auto_parallel_context


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
    """The number of processes."""
    return get_group_size()


def _get_global_rank() -> int:
    """The number of this process."""
    return get_rank()


def _is_pynative_parallel() -> bool:
    """Whether several processes run eagerly."""
    return False


def _is_sharding_propagation() -> bool:
    """Whether MindSpore would divide tensors by itself."""
    return False


def _device_number_check(parallel_mode: Any, device_number: int) -> None:
    """Accept one process.

    Raises:
        ValueError: there are others.
    """
    if device_number != 1:
        raise ValueError(f"For 'device_number', there is one process, but got {device_number}.")
