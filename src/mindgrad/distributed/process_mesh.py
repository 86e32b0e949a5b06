"""Run functions with collectives over the processes of a job.

    function(x)_r = body(x_r)        on every rank r; collectives combine the x_r

Each process is one *rank*, and contributes one device to a mesh. Each process calls the function with its own
arrays, and receives its own results. JAX represents the arrays of all ranks together as one array over the
mesh. The array of one rank is its *part* of the array over the mesh, and becomes a part without a copy.
``jax.shard_map`` lowers the body, and collectives reduce over the mesh axis ``ranks``
(``distributed.collectives``).

New values of Parameters remain arrays over the mesh until Python reads the part of this rank
(:class:`PartOnRequest`). Therefore, a training step can pass them to the next step directly.

Ranks whose collectives differ would wait for each other forever. Therefore, the ranks compare the collectives
of a function before it first runs (:func:`set_agreement`), and every call is recorded. Collectives must run
in the order of the graph. XLA does not guarantee this order for independent collectives, so each collective
has an operand that depends on the result of the previous collective (:func:`after`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.base._cpython import reference_count
from mindgrad.core.ir.graph import Equation, Graph, is_communication
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.types import TensorType
from mindgrad.core.placement import register_communication
from mindgrad.distributed.collective_fusion import fuse_sums
from mindgrad.distributed.collectives import AXIS, world_of
from mindgrad.distributed.job import job_of
from mindgrad.distributed.processes import entered, is_started, left

__all__ = [
    "PartOnRequest", "ProcessMesh", "after", "agree", "forget_mesh", "is_part", "mesh_of", "noted",
    "set_agreement", "use_devices",
]  # fmt: skip


class Agreement(Protocol):
    """Comparison of the graphs of this rank with the graphs of other ranks."""

    def __call__(self, graph: Graph) -> None:
        """Compare ``graph`` with the graphs of other ranks before it first runs."""

    def noting(self, graph: Graph) -> Callable[[], None]:
        """Return a function that records one call of ``graph`` each time it is called."""


_agreement: Agreement | None = None
#: one device per rank if this process simulates all ranks, or ``None`` if each rank is a process
_devices: Sequence[Any] | None = None


def set_agreement(agreement: Agreement | None) -> None:
    """Set the object that compares the graphs of all ranks and records their calls.

    It receives all graphs that contain collectives. If ``agreement`` is ``None``, graphs are neither compared
    nor recorded.
    """
    global _agreement
    _agreement = agreement


def agree(graph: Graph) -> None:
    """Compare ``graph`` with the graphs of the other ranks.

    Call this function for a graph that has collectives, or that is divided among devices of several
    processes.

    Raises:
        RuntimeError: If the graphs of the ranks differ.
    """
    if _agreement is not None:
        _agreement(graph)


def use_devices(devices: Sequence[Any] | None) -> None:
    """In later compilations, use ``devices`` of this process to simulate the ranks.

    Each operand and each result of a compiled function is then a list with one array per rank. If
    ``devices`` is ``None``, each rank is a process again, which is the default.
    """
    global _devices
    _devices = devices
    forget_mesh()


def forget_mesh() -> None:
    """Discard the mesh, because the set of processes has changed."""
    _mesh.cache_clear()


def mesh_of(graph: Graph, device: Any) -> ProcessMesh | None:
    """Compare the graphs of all ranks, and return the mesh on which they run.

    Args:
        graph: the graph of this rank. It has collectives.
        device: the JAX device of this process, or ``None`` for its CPU.

    Returns:
        The mesh, or ``None`` if there is only one rank.
    """
    mesh = _mesh(device)
    if mesh.size == 1 and _devices is None:
        return None
    agree(graph)
    return mesh


@lru_cache(maxsize=4)
def _mesh(device: Any) -> ProcessMesh:
    return ProcessMesh(device)


class ProcessMesh:
    """Mesh with one device for each rank.

    Args:
        device: the JAX device of this process, or ``None`` for its CPU.

    Attributes:
        size: number of ranks.
        devices: the JAX device of each rank.
    """

    def __init__(self, device: Any) -> None:
        jax = jax_module()
        if _devices is not None:
            devices = list(_devices)
        else:
            platform = "cpu" if device is None else device.platform
            own = jax.local_devices(backend=platform)
            position = 0 if device is None else own.index(device)
            by_process: dict[int, list[Any]] = {}
            for other in jax.devices(platform):
                by_process.setdefault(other.process_index, []).append(other)
            devices = [by_process[process][position] for process in sorted(by_process)]
        self.size = len(devices)
        self.devices = devices
        self._mesh = jax.sharding.Mesh(np.array(devices), (AXIS,))
        # An array over the mesh concatenates the parts of all ranks along the first axis. A scalar has no
        # axis. Therefore, its sharding is "replicated", although its value may differ between ranks
        self._specs = (jax.sharding.PartitionSpec(), jax.sharding.PartitionSpec(AXIS))
        self._shardings = tuple([jax.sharding.NamedSharding(self._mesh, spec) for spec in self._specs])
        own_index = jax.process_index()
        self._own = next((each for each in devices if each.process_index == own_index), None)

    def _stacked(self, x: Any) -> Any:
        """Return shape and sharding of the array over the mesh whose parts are like ``x``."""
        shape = (x.shape[0] * self.size, *x.shape[1:]) if x.shape else ()
        sharding = self._shardings[bool(shape)]
        return jax_module().ShapeDtypeStruct(shape, x.dtype, sharding=sharding)

    def mapped(
        self, body: Callable[..., Any], shapes: Any, results: Sequence[Sequence[int]]
    ) -> tuple[Any, Any]:
        """Convert ``body``, a function on one rank, to a function of arrays over the mesh.

        Args:
            body: function on one rank. Its arguments are groups of arrays, and it returns a list of arrays.
            shapes: ``jax.ShapeDtypeStruct`` of each operand on one rank, in the same groups.
            results: shape of each result on one rank.

        Returns:
            The converted function, and the shapes of its operands over the mesh.
        """
        jax = jax_module()
        specs = [[self._specs[bool(x.shape)] for x in group] for group in shapes]
        outer = [[self._stacked(x) for x in group] for group in shapes]

        def sized(*groups: Sequence[Any]) -> list[Any]:
            with world_of(self.size):
                return body(*groups)

        function = jax.shard_map(
            sized,
            mesh=self._mesh,
            in_specs=tuple(specs),
            out_specs=[self._specs[bool(shape)] for shape in results],
            check_vma=False,
        )
        return function, outer

    def joining(self, compiled: Any, graph: Graph, pending_results: int = 0) -> Any:
        """Convert ``compiled`` to a function from the arrays of this rank to its results.

        Args:
            compiled: compiled JAX function of arrays over the mesh.
            graph: graph of one rank.
            pending_results: number of results that are returned as pending arrays. They precede all other
                results. The part of a pending array is extracted when Python reads it.
        """
        kind = _OnThisRank if _devices is None else _OnAllRanks
        types = [y.type for y in graph.outputs[:pending_results]]
        return kind(self, noted(compiled, graph), types, len(graph.outputs))

    def joined(self, parts: Sequence[Any]) -> Any:
        """Build an array over the mesh from the parts that are on devices of this process."""
        jax = jax_module()
        shape = parts[0].shape
        whole = (shape[0] * self.size, *shape[1:]) if shape else ()
        return jax.make_array_from_single_device_arrays(whole, self._shardings[bool(shape)], list(parts))

    def part(self, array: Any) -> Any:
        """Build an array over the mesh in which ``array`` is the part of this rank.

        If ``array`` is not on the device of this rank, it is copied to this device.
        """
        if type(array) is PendingArray:
            return array.deferral.joined
        if isinstance(array, (np.ndarray, np.generic)) or array.sharding.device_set != {self._own}:
            array = _on(self._own, array)
        return self.joined([array])


class PartOnRequest:
    """Deferred extraction of the part of this rank from an array over the mesh.

    Extracting a part and passing it back to the mesh takes about 20 µs. A model has hundreds of weights and
    optimizer states, so each part is extracted only when Python reads it.

    Attributes:
        joined: the array over the mesh.
    """

    __slots__ = ("_holders", "joined")

    def __init__(self, joined: Any) -> None:
        self.joined = joined
        self._holders: int | None = 0

    def requested(self, pending: PendingArray) -> Any:
        """Return the array of this rank, which shares the memory of ``joined``."""
        with _taking:
            if pending.value is None:
                part = self.joined.addressable_data(0)
                self._holders = reference_count(part)
                pending.value = part
        return pending.value

    def is_alone(self, pending: PendingArray) -> bool:
        """Return whether only ``pending`` and ``joined`` hold references to the part."""
        if pending.value is None:
            return True
        count = reference_count(pending.value)
        return count is not None and self._holders is not None and count <= self._holders

    def is_deleted(self) -> bool:
        """Return whether the memory of ``joined`` was donated to a compiled function."""
        return bool(self.joined.is_deleted())


#: lock for extracting a part of an array. Without the lock, another thread could change the reference count
#: of the part at the same time
_taking = threading.Lock()


def is_part(array: Any) -> bool:
    """Return whether ``array`` is a pending part of an array over the mesh."""
    return type(array) is PendingArray and type(array.deferral) is PartOnRequest


def _on(device: Any, array: Any) -> Any:
    jax = jax_module()
    with jax.enable_x64(True):
        return jax.device_put(np.asarray(array), device)


def noted(compiled: Any, graph: Graph) -> Any:
    """Return ``compiled``, wrapped to record its calls if an agreement is set.

    :func:`set_agreement` sets the agreement.
    """
    return compiled if _agreement is None else _Noted(compiled, _title(graph), _agreement.noting(graph))


def _title(graph: Graph) -> str:
    """Return a title of ``graph`` for messages: its first collective, with its line."""
    equations = graph.equations
    first = next(filter(is_communication, equations), None)
    name = "a divided program" if first is None else f"'{first.primitive.name}'"
    source = next((e.source for e in equations if e.source), None) if first is None else first.source
    return name if source is None else f"{name} at {os.path.basename(source[0])}:{source[1]}"


class _Noted:
    """Wrapper that records the calls of a compiled function of several processes."""

    __slots__ = ("_compiled", "_note", "_title")

    def __init__(self, compiled: Any, title: str, note: Callable[[], None]) -> None:
        self._compiled, self._title, self._note = compiled, title, note

    def __call__(self, *groups: Sequence[Any]) -> Any:
        self._note()
        entered(self._title)
        results: Sequence[Any] = ()
        try:
            results = self._compiled(*groups)
        finally:
            left(results)
        return results

    def __copy__(self) -> _Noted:
        return type(self)(copy(self._compiled), self._title, self._note)


class _OnThisRank:
    """A compiled function over the mesh that accepts the arrays of this rank.

    Attributes:
        compiled: the compiled JAX function over the mesh. It records its calls if an agreement is set.
    """

    __slots__ = ("_count", "_mesh", "_pending", "compiled")

    def __init__(self, mesh: ProcessMesh, compiled: Any, pending: Sequence[TensorType], count: int) -> None:
        self._mesh, self.compiled, self._pending = mesh, compiled, pending
        # number of results of the graph. The compiled function may return one additional result, so that XLA
        # does not remove collectives
        self._count = count

    def __call__(self, *groups: Sequence[Any]) -> list[Any]:
        part = self._mesh.part
        results = self.compiled(*[[part(x) for x in group] for group in groups])
        types = self._pending
        parts = [PendingArray(PartOnRequest(x), 0, type_) for x, type_ in zip(results, types, strict=False)]
        return [*parts, *[result.addressable_data(0) for result in results[len(types) : self._count]]]

    def __copy__(self) -> _OnThisRank:
        return type(self)(self._mesh, copy(self.compiled), self._pending, self._count)


class _OnAllRanks(_OnThisRank):
    """A compiled function over devices of this process, which represent the ranks.

    Each operand and each result is a list with one array per rank. The hoisted constants in the last group of
    operands are an exception. Each constant is one array for all ranks.
    """

    __slots__ = ()

    def __call__(self, *groups: Sequence[Any]) -> list[Any]:
        mesh = self._mesh
        *operands, extra = groups
        placed = [
            [mesh.joined([_on(d, x) for d, x in zip(mesh.devices, parts, strict=True)]) for parts in group]
            for group in (*operands, [[x] * mesh.size for x in extra])
        ]
        results = []
        for result in self.compiled(*placed)[: self._count]:
            parts = {shard.device: np.asarray(shard.data) for shard in result.addressable_shards}
            results.append([parts[device] for device in mesh.devices])
        return results


def after(jax: Any, x: Any, before: Any) -> Any:
    """Return a copy of ``x`` that depends on ``before``.

    If ``x`` is the operand of a collective and ``before`` the result of another collective, XLA must run the
    other collective first. The copy is a ``select`` whose condition is false on every rank, but XLA cannot
    infer this. The other operand of the ``select`` differs from ``x`` in every element, so that XLA cannot
    remove the ``select`` even if it knows that ``x`` is zero.
    """
    lax = jax.lax
    number = lax.convert_element_type(before.real if before.dtype.kind == "c" else before, np.int32)
    is_set = number & (lax.axis_index(AXIS) >> 30) != 0
    other = lax.convert_element_type(lax.eq(x, lax.full_like(x, 0)), x.dtype)
    return lax.select(lax.full(x.shape, True) & is_set, other, x)


class CollectiveOrder:
    """Makes each collective of a graph depend on the previous collective."""

    __slots__ = ("_depending", "_latest")

    def __init__(self) -> None:
        self._latest: Equation | None = None
        self._depending: set[Any] = set()  # variables that depend on the latest collective

    def operands(self, equation: Equation, operands: list[Any], values: dict[Any, Any]) -> list[Any]:
        """Return the operands with which to evaluate ``equation``, the next equation.

        If the equation is a collective that does not depend on the previous collective, its first operand is
        replaced by an equal array that depends on the result of the previous collective.
        """
        latest, depends = self._latest, not self._depending.isdisjoint(equation.inputs)
        if is_communication(equation):
            if latest is not None and not depends:
                before = values[latest.outputs[0]]
                first = before[(0,) * before.ndim] if before.size else None
                if first is not None:
                    operands = [after(jax_module(), operands[0], first), *operands[1:]]
            self._latest = equation
            self._depending = set(equation.outputs)
        elif depends:  # XLA replaces an empty array by a constant, which does not depend on anything
            self._depending.update([y for y in equation.outputs if y.type.size])
        return operands

    def mark(self, values: dict[Any, Any]) -> Any:
        """Return an array of one element that depends on every collective in the graph."""
        jax = jax_module()
        latest = None if self._latest is None else values[self._latest.outputs[0]]
        if latest is None or not latest.size:
            return jax.numpy.zeros(1, np.int32)
        return latest[(0,) * latest.ndim].reshape(1)


class _Communication:
    """Compiles graphs with collectives (``core.placement.Communication``)."""

    def mesh_of(self, graph: Graph, device: Any) -> ProcessMesh | None:
        return mesh_of(graph, device)

    def order(self, graph: Graph) -> CollectiveOrder:
        return CollectiveOrder()

    def fuse_collectives(self, graph: Graph) -> Graph:
        return fuse_sums(graph)

    def has_joined(self) -> bool:
        return is_started()

    def must_join(self) -> bool:
        with suppress(RuntimeError):  # communication.init() reports this error
            return not is_started() and job_of().size > 1
        return False


register_communication(_Communication())
