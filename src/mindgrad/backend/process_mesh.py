"""Run functions with collectives over the processes of a job.

    function(x)_r = body(x_r)        on every rank r; collectives combine the x_r

Each process is one *rank*, and contributes one device to a mesh. Each process calls the function with its own
arrays, and receives its own results. JAX represents the arrays of all ranks together as one array over the
mesh. The array of a rank is its *part* of this array, and becomes a part without a copy. ``jax.shard_map``
lowers the body, and collectives reduce over the mesh axis ``ranks`` (``primitives.collectives``).

New values of Parameters remain arrays over the mesh until the part of this rank is read
(:class:`PartOnRequest`). A training step can therefore pass them to the next step directly.

Ranks whose collectives differ would wait for each other forever. Therefore the ranks compare the collectives
of a function before it first runs (:func:`set_agreement`), and every call is recorded. Collectives run in the
order of the graph. XLA does not guarantee this order for independent collectives, so each collective has an
operand that depends on the result of the previous collective (:func:`after`).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from copy import copy
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from mindgrad.backend.jax_import import jax_module
from mindgrad.backend.processes import entered, left
from mindgrad.ir.graph import Graph, is_communication
from mindgrad.ir.pending import PendingArray
from mindgrad.ir.types import TensorType
from mindgrad.primitives.collectives import AXIS, world_of

__all__ = [
    "PartOnRequest", "ProcessMesh", "after", "agree", "forget_mesh", "is_part", "mesh_of", "noted",
    "set_agreement", "use_devices",
]  # fmt: skip


class Agreement(Protocol):
    """Comparison of the graphs of this rank with the graphs of other ranks."""

    def __call__(self, graph: Graph) -> None:
        """Compare a graph before it first runs."""

    def noting(self, graph: Graph) -> Callable[[], None]:
        """Return a function that records one call of a graph."""


_agreement: Agreement | None = None
#: one device for each rank, if all ranks are simulated in this process; ``None`` if each rank is a process
_devices: Sequence[Any] | None = None


def set_agreement(agreement: Agreement | None) -> None:
    """Set the object that compares graphs with collectives and records their calls.

    ``None`` turns both off.
    """
    global _agreement
    _agreement = agreement


def agree(graph: Graph) -> None:
    """Compare a graph with the graphs of the other ranks.

    Call it for a graph that has collectives, or that is divided among devices of several processes.

    Raises:
        RuntimeError: If the graphs of the ranks differ.
    """
    if _agreement is not None:
        _agreement(graph)


def use_devices(devices: Sequence[Any] | None) -> None:
    """Simulate the ranks by ``devices`` of this process in later compilations.

    Each operand and each result of a compiled function is then a list with one array per rank. ``None``
    restores the default, in which each rank is a process.
    """
    global _devices
    _devices = devices
    forget_mesh()


def forget_mesh() -> None:
    """Discard the mesh, because the set of processes has changed."""
    _mesh.cache_clear()


def mesh_of(graph: Graph, device: Any) -> ProcessMesh | None:
    """Compare a graph with collectives between ranks, and return its mesh.

    Args:
        graph: the graph.
        device: the JAX device of this process; ``None`` for the CPU.

    Returns:
        The mesh; ``None`` if there is only one rank.
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
        device: the JAX device of this process; ``None`` for its CPU.

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
        # An array over the mesh is the concatenation of the parts along the first axis. A scalar has no axis,
        # so its sharding is "replicated", although its values may differ between ranks.
        self._specs = (jax.sharding.PartitionSpec(), jax.sharding.PartitionSpec(AXIS))
        self._shardings = tuple([jax.sharding.NamedSharding(self._mesh, spec) for spec in self._specs])
        own_index = jax.process_index()
        self._own = next((each for each in devices if each.process_index == own_index), None)

    def _stacked(self, x: Any) -> Any:
        """Return the shape and sharding of the array over the mesh with parts like ``x``."""
        shape = (x.shape[0] * self.size, *x.shape[1:]) if x.shape else ()
        sharding = self._shardings[bool(shape)]
        return jax_module().ShapeDtypeStruct(shape, x.dtype, sharding=sharding)

    def mapped(
        self, body: Callable[..., Any], shapes: Any, results: Sequence[Sequence[int]]
    ) -> tuple[Any, Any]:
        """Convert ``body``, a function on one rank, to a function of arrays over the mesh.

        Args:
            body: function on one rank. Its arguments are groups of arrays; it returns a list of arrays.
            shapes: in the same groups, ``jax.ShapeDtypeStruct`` of each operand on one rank.
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
            pending_results: number of leading results that are returned as pending arrays. The part of a
                pending array is extracted when it is read.
        """
        kind = _OnThisRank if _devices is None else _OnAllRanks
        types = [y.type for y in graph.outputs[:pending_results]]
        return kind(self, noted(compiled, graph), types, len(graph.outputs))

    def joined(self, parts: Sequence[Any]) -> Any:
        """Return the array over the mesh whose parts in this process are ``parts``."""
        jax = jax_module()
        shape = parts[0].shape
        whole = (shape[0] * self.size, *shape[1:]) if shape else ()
        return jax.make_array_from_single_device_arrays(whole, self._shardings[bool(shape)], list(parts))

    def part(self, array: Any) -> Any:
        """Return the array over the mesh whose part on this rank is ``array``.

        If ``array`` is not on the device of this rank, it is copied to it.
        """
        if type(array) is PendingArray:
            return array.deferral.joined
        if isinstance(array, (np.ndarray, np.generic)) or array.sharding.device_set != {self._own}:
            array = _on(self._own, array)
        return self.joined([array])


class PartOnRequest:
    """Deferred extraction of the part of this rank from an array over the mesh.

    Extracting a part and passing it back to the mesh takes about 20 µs. A model has hundreds of weights and
    optimizer states, so each part is extracted only when it is read.

    Attributes:
        joined: the array over the mesh.
    """

    __slots__ = ("_holders", "joined")

    def __init__(self, joined: Any) -> None:
        self.joined = joined
        self._holders = 0

    def requested(self, pending: PendingArray) -> Any:
        """Return the part, which shares the memory of ``joined``."""
        with _taking:
            if pending.value is None:
                part = self.joined.addressable_data(0)
                self._holders = sys.getrefcount(part)
                pending.value = part
        return pending.value

    def is_alone(self, pending: PendingArray) -> bool:
        """Return whether only ``pending`` and ``joined`` hold references to the part."""
        return pending.value is None or sys.getrefcount(pending.value) <= self._holders

    def is_deleted(self) -> bool:
        """Return whether the memory was donated to a compiled function."""
        return bool(self.joined.is_deleted())


#: lock that a thread holds while it extracts a part, because other threads would change the reference count
_taking = threading.Lock()


def is_part(array: Any) -> bool:
    """Return whether ``array`` is a pending part of an array over the mesh."""
    return type(array) is PendingArray and type(array.deferral) is PartOnRequest


def _on(device: Any, array: Any) -> Any:
    jax = jax_module()
    with jax.enable_x64(True):
        return jax.device_put(np.asarray(array), device)


def noted(compiled: Any, graph: Graph) -> Any:
    """Return a compiled function that records its calls, if an agreement is set."""
    return compiled if _agreement is None else _Noted(compiled, _title(graph), _agreement.noting(graph))


def _title(graph: Graph) -> str:
    """Return a title of ``graph`` for messages: its first collective and line."""
    equations = graph.equations
    first = next(filter(is_communication, equations), None)
    name = "a divided program" if first is None else f"'{first.primitive.name}'"
    source = next((e.source for e in equations if e.source), None) if first is None else first.source
    return name if source is None else f"{name} at {os.path.basename(source[0])}:{source[1]}"


class _Noted:
    """A compiled function of several processes that records its calls."""

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
        # number of results of the graph. The compiled function may return one more, which keeps XLA from
        # removing collectives
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

    Each operand and each result is a list with one array per rank. The last group of operands is an
    exception: it contains hoisted constants, each of which is one array for all ranks.
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

    If ``x`` is the operand of a collective and ``before`` the result of another collective, XLA must run them
    in this order. The copy is a ``select`` whose condition is false on every rank, but XLA cannot infer this.
    The other operand of the ``select`` differs from ``x`` in every element, so that XLA cannot remove the
    ``select`` even if it knows that ``x`` is zero.
    """
    lax = jax.lax
    number = lax.convert_element_type(before.real if before.dtype.kind == "c" else before, np.int32)
    is_set = number & (lax.axis_index(AXIS) >> 30) != 0
    other = lax.convert_element_type(lax.eq(x, lax.full_like(x, 0)), x.dtype)
    return lax.select(lax.full(x.shape, True) & is_set, other, x)
