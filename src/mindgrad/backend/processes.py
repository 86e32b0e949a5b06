"""Processes of one job start jax's distributed runtime, in which each of them has one device.

jax's coordinator is in process 0 and listens on the address that the others connect to, on the loopback
interface if that is there; jax's own default is every interface. Arrays travel between the processes
themselves, by gloo on CPUs and NCCL on GPUs.

A program with collectives waits for other processes. :func:`entered` and :func:`left` note its runs, so that
another thread can tell whether this process waits, and in what (:func:`waited`).
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad._base.waiting import interruptible
from mindgrad.backend.jax_import import jax_module

__all__ = [
    "HEARTBEAT_SECONDS", "START_SECONDS", "broadcast", "entered", "is_started", "left", "start",
    "start_in_cluster", "stop", "waited",
]  # fmt: skip

#: after so many seconds without a sign of life a process is taken for dead
HEARTBEAT_SECONDS = 10
#: so long a process waits for the others at the start
START_SECONDS = 300
#: so long jax waits at the end for processes that have said already that they end
_STOP_SECONDS = 10
#: bytes of what is broadcast, with its length in front
_BROADCAST = 512

#: elements of a result that is kept to see whether it is there
_KEPT = 2**16

_is_started = False
#: a program with collectives that has been called and has not returned: its name, and since when
_running: tuple[str, float] | None = None
#: the latest one that has returned, with a result of it, which may be under way, weakly and perhaps strongly
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
        rank: the number of this process.
        size: the number of processes.
        coordinator: ``host:port`` on which process 0 is to be reached.
        bind: ``host:port`` on which process 0 listens; default: ``coordinator``.
        device: which of this machine's GPUs, if there are any, is this process's.
        heartbeat: seconds after which a process without a sign of life is taken for dead.
        timeout: seconds that the start may take.

    Raises:
        RuntimeError: something has been computed already, or the others cannot be reached.
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
    """Join the job that a cluster's scheduler has started; the number of this process, and of how many.

    Args:
        method: jax's name of the scheduler: ``"slurm"``, ``"ompi"``, ``"k8s"`` or ``"mpi4py"``.
        heartbeat, timeout: as in :func:`start`.

    Raises:
        RuntimeError: as in :func:`start`, or this process was not started by that scheduler.
    """
    _start(
        cluster_detection_method=method, heartbeat_timeout_seconds=heartbeat, initialization_timeout=timeout
    )
    jax = jax_module()
    return jax.process_index(), jax.process_count()


def _start(**arguments: Any) -> None:
    global _is_started
    jax = jax_module()
    # jax would answer SIGTERM by a note to the processes; here it ends them, as it does everywhere
    if hasattr(jax.config, "jax_enable_preemption_service"):
        jax.config.update("jax_enable_preemption_service", False)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    try:
        interruptible(lambda: jax.distributed.initialize(shutdown_timeout_seconds=_STOP_SECONDS, **arguments))
    except (RuntimeError, ValueError) as error:
        text = str(error)
        if "must be called before" in text:
            raise RuntimeError(
                "For 'init', something has been computed already: call communication.init() before the first "
                "computation. Tensors on a GPU, functions with jit and Cells in GRAPH_MODE compute."
            ) from error
        address = arguments.get("coordinator_bind_address") or arguments.get("coordinator_address")
        raise RuntimeError(
            f"For 'init', the processes did not meet at {address or 'the coordinator of the cluster'}. "
            f"Is the port free, and does the address belong to the machine of process 0? JAX reports: {text}"
        ) from error
    _is_started = True


def stop() -> None:
    """Leave the job, together with the other processes."""
    global _is_started
    if _is_started:
        _is_started = False
        interruptible(jax_module().distributed.shutdown)


def is_started() -> bool:
    """Whether this process is one of several."""
    return _is_started


def broadcast(content: bytes) -> bytes:
    """Up to 510 bytes of process 0, in all processes.

    Raises:
        ValueError: there are more.
    """
    if len(content) > _BROADCAST - 2:
        raise ValueError(f"{len(content)} bytes are too many")
    block = np.zeros(_BROADCAST, np.uint8)
    block[:2] = np.frombuffer(len(content).to_bytes(2, "big"), np.uint8)
    block[2 : 2 + len(content)] = np.frombuffer(content, np.uint8)
    received = interruptible(jax_module("jax.experimental.multihost_utils").broadcast_one_to_all, block)
    received = np.asarray(received).astype(np.uint8).tobytes()
    return received[2 : 2 + int.from_bytes(received[:2], "big")]


def entered(name: str) -> None:
    """Note that a program with collectives is called; ``name`` says in messages which."""
    global _running
    _running = (name, time.monotonic())


def left(results: Sequence[Any] = ()) -> None:
    """Note that it has returned; its results may still be under way.

    The smaller one of the first and the last result, a loss say, is kept until the next program returns, if
    it is
    small: who called the program may keep nothing of it.
    """
    global _running, _latest
    if _running is not None and results:
        result = min(results[0], results[-1], key=_size)
        _latest = (*_running, weakref.ref(result), result if _size(result) <= _KEPT else None)
    _running = None


def _size(array: Any) -> int:
    return int(array.size)


def waited() -> tuple[str, float] | None:
    """The program with collectives that is running, and since how many seconds; None if there is none."""
    now = time.monotonic()
    if _running is not None:
        return _running[0], now - _running[1]
    if _latest is not None:
        name, since, reference, _ = _latest
        result = reference()
        if result is not None and not result.is_deleted() and not result.is_ready():
            return name, now - since
    return None
