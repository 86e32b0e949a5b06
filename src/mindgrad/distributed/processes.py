"""Start and stop the distributed runtime of JAX.

Each process of a job has one device. Process 0 runs the coordinator of JAX. By default, JAX's coordinator
listens on every network interface. mindgrad's coordinator listens only on the address to which the other
processes connect, which may be the loopback interface. Arrays are sent directly between processes, with gloo
on CPUs and NCCL on GPUs.

A function with collectives waits for other processes. :func:`entered` and :func:`left` record the calls of
such functions. A separate thread can call :func:`waited` to find out whether this process waits, and in which
function.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.base.waiting import interruptible

__all__ = [
    "HEARTBEAT_SECONDS", "START_SECONDS", "broadcast", "entered", "is_started", "left", "start",
    "start_in_cluster", "stop", "waited",
]  # fmt: skip

#: a process is considered dead after this many seconds without a heartbeat
HEARTBEAT_SECONDS = 10
#: at the start of a job, each process waits for at most this many seconds until all processes have started
START_SECONDS = 300
#: at the end of a job, each process waits for at most this many seconds until all processes end
_STOP_SECONDS = 10
#: size in bytes of the buffer of a broadcast. Its first two bytes contain the length of the message
_BROADCAST = 512
#: maximum number of bytes of a broadcast message
_LONGEST = _BROADCAST - 2

#: :func:`left` stores a result with at most this many elements, to check later whether XLA has computed it
_KEPT = 2**16

_is_started = False
#: name and start time of the function with collectives that is running, or ``None`` if there is none
_running: tuple[str, float] | None = None
#: the most recently finished call of a function with collectives: the function's name, the start time, a weak
#: reference to a result that XLA may still be computing, and the result if it is small
_latest: tuple[str, float, Any, Any] | None = None


def start(
    rank: int,
    size: int,
    coordinator: str,
    *,
    bind: str | None = None,
    device: int = 0,
    heartbeat: int = HEARTBEAT_SECONDS,
    timeout: int = START_SECONDS,
) -> None:
    """Join the job of several processes as process ``rank`` of ``size``.

    Args:
        rank: index of this process among the processes of the job, from 0.
        size: number of processes of the job.
        coordinator: ``host:port`` of process 0, to which the other processes connect.
        bind: ``host:port`` on which process 0 listens. Default: ``coordinator``.
        device: index of the GPU of this process on its machine, if the machine has GPUs.
        heartbeat: a process is considered dead after this many seconds without a heartbeat.
        timeout: maximum number of seconds that this process waits for the other processes at the start.

    Raises:
        RuntimeError: If a computation has already run, or the other processes cannot be reached.
    """
    _start(
        coordinator_address=coordinator,
        num_processes=size,
        process_id=rank,
        coordinator_bind_address=(bind or coordinator) if rank == 0 else None,
        local_device_ids=[device],
        heartbeat_timeout_seconds=heartbeat,
        initialization_timeout=timeout,
    )


def start_in_cluster(method: str, heartbeat: int, timeout: int) -> tuple[int, int]:
    """Join the job that the scheduler of a cluster has started.

    Args:
        method: name that JAX uses for the scheduler: ``"slurm"``, ``"ompi"``, ``"k8s"`` or ``"mpi4py"``.
        heartbeat, timeout: as in :func:`start`.

    Returns:
        The index of this process, and the number of processes.

    Raises:
        RuntimeError: If a computation has already run, the other processes cannot be reached, or the
            scheduler did not start this process.
    """
    _start(
        cluster_detection_method=method, heartbeat_timeout_seconds=heartbeat, initialization_timeout=timeout
    )
    jax = jax_module()
    return jax.process_index(), jax.process_count()


def _start(**arguments: Any) -> None:
    global _is_started
    jax = jax_module()
    # turn off JAX's preemption service. It would only report SIGTERM, so that the signal could not end the
    # processes
    if hasattr(jax.config, "jax_enable_preemption_service"):
        jax.config.update("jax_enable_preemption_service", False)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    try:
        interruptible(lambda: jax.distributed.initialize(shutdown_timeout_seconds=_STOP_SECONDS, **arguments))
    except (RuntimeError, ValueError) as error:
        text = str(error)
        if "must be called before" in text:
            raise RuntimeError(
                "For 'init', a computation has already run. Call communication.init() before the first "
                "computation, such as an operation on a GPU, a call of a function with jit, or a call of a "
                "Cell in GRAPH_MODE."
            ) from error
        address = arguments.get("coordinator_bind_address") or arguments.get("coordinator_address")
        raise RuntimeError(
            f"For 'init', not all processes could connect to {address or 'the coordinator of the cluster'}. "
            f"Check that the port is free and the address belongs to the machine of process 0. JAX reports: "
            f"{text}"
        ) from error
    _is_started = True


def stop() -> None:
    """Leave the job, together with the other processes."""
    global _is_started
    if _is_started:
        _is_started = False
        interruptible(jax_module().distributed.shutdown)


def is_started() -> bool:
    """Return whether this process has joined a job of several processes."""
    return _is_started


def broadcast(content: bytes) -> bytes:
    """Send ``content`` of process 0 to all processes, and return the received bytes.

    Raises:
        ValueError: If ``content`` has more than ``_LONGEST`` bytes.
    """
    if len(content) > _LONGEST:
        raise ValueError(
            f"For 'broadcast', the content has {len(content)} bytes, but at most {_LONGEST} are supported."
        )
    block = np.zeros(_BROADCAST, np.uint8)
    block[:2] = np.frombuffer(len(content).to_bytes(2, "big"), np.uint8)
    block[2 : 2 + len(content)] = np.frombuffer(content, np.uint8)
    received = interruptible(jax_module("jax.experimental.multihost_utils").broadcast_one_to_all, block)
    received = np.asarray(received).astype(np.uint8).tobytes()
    return received[2 : 2 + int.from_bytes(received[:2], "big")]


def entered(name: str) -> None:
    """Record that a call of the function ``name``, which has collectives, has begun."""
    global _running
    _running = (name, time.monotonic())


def left(results: Sequence[Any] = ()) -> None:
    """Record that the function passed to :func:`entered` has returned.

    XLA may still be computing the results of the function. The smaller one of the first and the last result,
    for example a loss, shows when the computation has ended. If this result is small, it is stored until the
    next function returns, because the caller may delete all results.
    """
    global _running, _latest
    if _running is not None and results:
        result = min(results[0], results[-1], key=_size)
        _latest = (*_running, weakref.ref(result), result if _size(result) <= _KEPT else None)
    _running = None


def _size(array: Any) -> int:
    return int(array.size)


def waited() -> tuple[str, float] | None:
    """Return which function with collectives is running, and for how many seconds.

    Returns:
        The name of the function and the number of seconds, or ``None`` if no such function is running.
    """
    now = time.monotonic()
    if _running is not None:
        return _running[0], now - _running[1]
    if _latest is not None:
        name, since, reference, _ = _latest
        result = reference()
        if result is not None and not result.is_deleted() and not result.is_ready():
            return name, now - since
    return None
