"""Partitions: how the arrays of a compiled function are divided among devices.

    number of devices = p₀ p₁ … p_k
    number of slices of an array axis = product of p_j over the mesh axes j that divide it

The devices form a mesh. The sizes of the mesh axes are the prime factors p_j of the number of devices. All
arrays of a function share this mesh. Users define layouts with other meshes, or as numbers of slices. These
layouts are converted to axes of the shared mesh, so that XLA's partitioner can propagate all of them
together.

``Axes`` describes the layout of one array. It contains an entry for each array axis: the tuple of the mesh
axes that divide the array axis, ``()`` if the array axis is not divided, or ``None`` if the partitioner
chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from mindgrad.core.backend.xla import device_count
from mindgrad.core.ir import settings
from mindgrad.core.placement import register_division

__all__ = [
    "ALL", "Allocation", "Axes", "Partition", "current", "in_force", "leading", "mesh_sizes", "replicated",
    "slices",
]  # fmt: skip

Axes = tuple[tuple[int, ...] | None, ...]

#: option: how compiled functions are divided among devices, or ``None`` if they run on one device
settings.define("partition", None)

#: value of ``Partition.devices`` that means all available devices
ALL = 0


class Partition(NamedTuple):
    """How the arrays of compiled functions are divided among devices.

    Attributes:
        devices: number of devices, or :data:`ALL` for all available devices.
        data: how arguments are divided. ``"rows"``: along the first axis if its size is divisible by the
            number of devices. ``"whole"``: not divided. ``"free"``: as the partitioner chooses. Otherwise, a
            tuple with an entry for each argument: the number of slices of each axis, or an object with a
            method ``axes()``.
        splits_state: whether the state of optimizers is divided, too.
    """

    devices: int = ALL
    data: str | tuple[Any, ...] = "free"
    splits_state: bool = False


def current() -> Partition | None:
    """Return the current partition of compiled functions, or ``None`` for one device."""
    partition: Partition | None = settings.options["partition"]
    if partition is None:
        return None
    devices = partition.devices or device_count()
    return None if devices == 1 else partition._replace(devices=devices)


@contextmanager
def in_force(partition: Partition | None) -> Iterator[None]:
    """Use ``partition`` for compiled functions in the ``with`` block.

    If ``partition`` is ``None`` or has one device, the current partition stays in use.
    """
    before = settings.options["partition"]
    if partition is not None and (partition.devices or device_count()) != 1:
        settings.store("partition", partition)
    try:
        yield
    finally:
        settings.store("partition", before)


@cache
def mesh_sizes(devices: int) -> tuple[int, ...]:
    """Return the sizes of the mesh's axes: the prime factors of the number of devices.

    >>> mesh_sizes(12)
    (2, 2, 3)
    """
    sizes, factor = [], 2
    while devices > 1:
        if devices % factor:
            factor += 1
        else:
            sizes.append(factor)
            devices //= factor
    return tuple(sizes)


class Allocation:
    """Allocates mesh axes for the axes of one array.

    Each mesh axis is allocated at most once.

    Args:
        devices: the number of devices.
        used: mesh axes that are not available.

    >>> axes = Allocation(8)
    >>> axes.take(2), axes.take(1), axes.take(4), axes.take(2)
    ((0,), (), (1, 2), None)
    """

    def __init__(self, devices: int, used: Sequence[int] = ()) -> None:
        self._free = {k: size for k, size in enumerate(mesh_sizes(devices)) if k not in used}

    def take(self, count: int) -> tuple[int, ...] | None:
        """Allocate mesh axes that divide an array axis into ``count`` slices.

        The result is ``None`` if no unused mesh axes have suitable sizes.
        """
        chosen: list[int] = []
        for factor in mesh_sizes(count):
            axis = next((k for k, size in self._free.items() if size == factor and k not in chosen), None)
            if axis is None:
                return None
            chosen.append(axis)
        for axis in chosen:
            del self._free[axis]
        return tuple(sorted(chosen))


def slices(devices: int, axes: tuple[int, ...] | None) -> int:
    """Return into how many slices the mesh axes ``axes`` divide an array axis."""
    sizes, count = mesh_sizes(devices), 1
    for axis in axes or ():
        count *= sizes[axis]
    return count


def replicated(rank: int) -> Axes:
    """Return the layout of an array of ``rank`` axes that is copied to every device."""
    return ((),) * rank


def leading(devices: int, shape: Sequence[int], axes: Axes) -> Axes:
    """Add all unused mesh axes to the first array axis whose size they divide evenly.

    >>> leading(8, (3, 16), ((), ()))
    ((), (0, 1, 2))
    """
    used = {k for entry in axes for k in entry or ()}
    free = tuple(k for k in range(len(mesh_sizes(devices))) if k not in used)
    for position, (size, entry) in enumerate(zip(shape, axes, strict=True)):
        own = (*(entry or ()), *free)
        if free and size and size % slices(devices, own) == 0:
            return (*axes[:position], own, *axes[position + 1 :])
    return axes


register_division(lambda: current() is not None)
