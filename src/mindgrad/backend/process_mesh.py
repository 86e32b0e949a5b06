"""The process mesh has one device of each process; programs with collectives run over all of it.

    program(x)_r = body(x_r)        on every rank r, where collectives join the x_r

The arrays of a process stay its own: each is handed to XLA, without a copy, as this rank's part of an array
over the mesh, and what comes back are this rank's parts. New values of Parameters stay arrays over the mesh
until somebody asks for this rank's part (:class:`PartOnRequest`), so that one training step hands them to the
next as they are. The body is lowered by ``jax.shard_map``, where the
axis ``ranks`` is what collectives reduce over (``rows.collectives``).

Before such a program runs for the first time its members compare what it sends (``set_agreement``): ranks
whose programs differ would wait for each other without end. Each call is noted, too. Collectives run in the
order of the program, which XLA alone does not promise: where no data says so, an operand is made to depend on
the result before.
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
from mindgrad.rows.collectives import AXIS, world_of

__all__ = [
    "PartOnRequest", "ProcessMesh", "after", "agree", "forget_mesh", "is_part", "mesh_of", "noted",
    "set_agreement", "use_devices",
]  # fmt: skip


class Agreement(Protocol):
    """Comparison of programs with those of the other ranks."""

    def __call__(self, graph: Graph) -> None:
        """Compare a program, before it first runs."""

    def noting(self, graph: Graph) -> Callable[[], None]:
        """A function that notes a call of a program."""


_agreement: Agreement | None = None
#: one device for each rank, where it is not one process for each
_devices: Sequence[Any] | None = None


def set_agreement(agreement: Agreement | None) -> None:
    """Let ``agreement`` compare each program that sends with those of the other ranks, and note its calls."""
    global _agreement
    _agreement = agreement


def agree(graph: Graph) -> None:
    """Compare a program with collectives, or one divided among devices, with those of the other ranks.

    Raises:
        RuntimeError: they are not the same.
    """
    if _agreement is not None:
        _agreement(graph)


def use_devices(devices: Sequence[Any] | None) -> None:
    """Compile programs for ranks that are ``devices`` of this process (``None``: for one process each).

    Each operand of such a program, and each of its results, is a list with an array for each rank.
    """
    global _devices
    _devices = devices
    forget_mesh()


def forget_mesh() -> None:
    """Forget the mesh: processes have come or gone."""
    _mesh.cache_clear()


def mesh_of(graph: Graph, device: Any) -> ProcessMesh | None:
    """The mesh for a program with collectives on ``device`` (``None``: the CPU); ``None`` with one rank."""
    mesh = _mesh(device)
    if mesh.size == 1 and _devices is None:
        return None
    agree(graph)
    return mesh


@lru_cache(maxsize=4)
def _mesh(device: Any) -> ProcessMesh:
    return ProcessMesh(device)


class ProcessMesh:
    """One device for each rank.

    Args:
        device: this process's device; ``None``: its CPU.

    Attributes:
        size: the number of ranks.
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
        # arrays are stacked along their first axis; numbers, which have none, are as if they were equal
        self._specs = (jax.sharding.PartitionSpec(), jax.sharding.PartitionSpec(AXIS))
        self._shardings = tuple([jax.sharding.NamedSharding(self._mesh, spec) for spec in self._specs])
        own_index = jax.process_index()
        self._own = next((each for each in devices if each.process_index == own_index), None)

    def _stacked(self, x: Any) -> Any:
        """The shape over the mesh of arrays that have the shape ``x`` on each rank."""
        shape = (x.shape[0] * self.size, *x.shape[1:]) if x.shape else ()
        sharding = self._shardings[bool(shape)]
        return jax_module().ShapeDtypeStruct(shape, x.dtype, sharding=sharding)

    def mapped(
        self, body: Callable[..., Any], shapes: Any, results: Sequence[Sequence[int]]
    ) -> tuple[Any, Any]:
        """``body`` over the mesh, and the shapes of its operands there.

        Args:
            body: a function of groups of arrays that gives a list of arrays.
            shapes: ``jax.ShapeDtypeStruct`` for each operand of one rank, in groups.
            results: the shape of each result.
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
        """``compiled`` as a function of this rank's arrays, to this rank's results.

        Args:
            compiled: jax's compiled program over the mesh.
            graph: the program of one rank.
            pending_results: so many results, the first ones, are pending arrays that stay on the mesh.
        """
        kind = _OnThisRank if _devices is None else _OnAllRanks
        types = [y.type for y in graph.outputs[:pending_results]]
        return kind(self, noted(compiled, graph), types, len(graph.outputs))

    def joined(self, parts: Sequence[Any]) -> Any:
        """The arrays of the ranks of this process as an array over the mesh."""
        jax = jax_module()
        shape = parts[0].shape
        whole = (shape[0] * self.size, *shape[1:]) if shape else ()
        return jax.make_array_from_single_device_arrays(whole, self._shardings[bool(shape)], list(parts))

    def part(self, array: Any) -> Any:
        """An array of this rank as its part of one over the mesh."""
        if type(array) is PendingArray:
            return array.deferral.joined
        if isinstance(array, (np.ndarray, np.generic)) or array.sharding.device_set != {self._own}:
            array = _on(self._own, array)
        return self.joined([array])


class PartOnRequest:
    """The owner of a pending array that stands for this rank's part of an array over the mesh.

    Taking a part, and handing it over again, costs some 20 µs, for each of hundreds of weights and moments.

    Attributes:
        joined: the array over the mesh.
    """

    __slots__ = ("_holders", "joined")

    def __init__(self, joined: Any) -> None:
        self.joined = joined
        self._holders = 0

    def requested(self, pending: PendingArray) -> Any:
        """The part, which uses the memory of ``joined``."""
        with _taking:
            if pending.value is None:
                part = self.joined.addressable_data(0)
                self._holders = sys.getrefcount(part)
                pending.value = part
        return pending.value

    def is_alone(self, pending: PendingArray) -> bool:
        """Whether nobody else holds the part: neither of ``pending`` nor of ``joined``, which may hold it."""
        return pending.value is None or sys.getrefcount(pending.value) <= self._holders

    def is_deleted(self) -> bool:
        """Whether a program has taken the memory over."""
        return bool(self.joined.is_deleted())


#: held while a part is taken, of which two threads would each count the other as a holder
_taking = threading.Lock()


def is_part(array: Any) -> bool:
    """Whether ``array`` stands for a part that has not been taken, or can be given back, to the mesh."""
    return type(array) is PendingArray and type(array.deferral) is PartOnRequest


def _on(device: Any, array: Any) -> Any:
    jax = jax_module()
    with jax.enable_x64(True):
        return jax.device_put(np.asarray(array), device)


def noted(compiled: Any, graph: Graph) -> Any:
    """A compiled program of several processes whose calls are noted while there is a session of them."""
    return compiled if _agreement is None else _Noted(compiled, _title(graph), _agreement.noting(graph))


def _title(graph: Graph) -> str:
    """The first collective of a program with its line, by which messages name the program; else a line."""
    equations = graph.equations
    first = next(filter(is_communication, equations), None)
    name = "a divided program" if first is None else f"'{first.primitive.name}'"
    source = next((e.source for e in equations if e.source), None) if first is None else first.source
    return name if source is None else f"{name} at {os.path.basename(source[0])}:{source[1]}"


class _Noted:
    """A compiled program of several processes, whose calls are noted."""

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
    """A compiled program over the mesh, called with this rank's arrays.

    Attributes:
        compiled: jax's compiled program, whose calls are noted.
    """

    __slots__ = ("_count", "_mesh", "_pending", "compiled")

    def __init__(self, mesh: ProcessMesh, compiled: Any, pending: Sequence[TensorType], count: int) -> None:
        self._mesh, self.compiled, self._pending = mesh, compiled, pending
        self._count = count  # of results, without what only keeps collectives alive

    def __call__(self, *groups: Sequence[Any]) -> list[Any]:
        part = self._mesh.part
        results = self.compiled(*[[part(x) for x in group] for group in groups])
        types = self._pending
        parts = [PendingArray(PartOnRequest(x), 0, type_) for x, type_ in zip(results, types, strict=False)]
        return [*parts, *[result.addressable_data(0) for result in results[len(types) : self._count]]]

    def __copy__(self) -> _OnThisRank:
        return type(self)(self._mesh, copy(self.compiled), self._pending, self._count)


class _OnAllRanks(_OnThisRank):
    """A compiled program over devices of this process, called with a list of arrays for each operand.

    The large constants of the program, which come last, are one array for all ranks. Each result is a list.
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
    """``x``, available once ``before`` is: of collectives that are independent.

    The condition is false on every rank, which XLA cannot know; and what would be there is never ``x``, of
    which XLA may know that it is zero.
    """
    lax = jax.lax
    number = lax.convert_element_type(before.real if before.dtype.kind == "c" else before, np.int32)
    is_set = number & (lax.axis_index(AXIS) >> 30) != 0
    other = lax.convert_element_type(lax.eq(x, lax.full_like(x, 0)), x.dtype)
    return lax.select(lax.full(x.shape, True) & is_set, other, x)
