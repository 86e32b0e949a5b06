"""A partition divides the arrays of one program among devices, along a mesh whose axes have prime sizes.

    devices = p₀ p₁ … p_k        axis i of an array: the product of p_j over its mesh axes j, in equal slices

One mesh for all arrays of a program: layouts that users write with meshes of their own, or as numbers of
slices, are written in its axes, so that the partitioner of XLA propagates all of them together. For an
array, ``axes`` has a tuple of mesh axes for each array axis: ``()`` where it is whole on every device,
``None`` where the partitioner chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from mindgrad.ir import settings

__all__ = [
    "ALL", "Allocation", "Axes", "Partition", "current", "in_force", "is_one_cpu", "leading",
    "mesh_sizes", "replicated",
    "set_device_counter", "slices",
]  # fmt: skip

Axes = tuple[tuple[int, ...] | None, ...]

#: the number of devices that stands for all that there are
ALL = 0

#: says how many devices there are (the back end sets it)
_count: Callable[[], int] = lambda: 1


class Partition(NamedTuple):
    """A division of programs among devices.

    Attributes:
        devices: how many; :data:`ALL`: as many as there are.
        data: ``"rows"``: arguments along their first axis where that is divisible; ``"whole"``: not;
            ``"free"``: as the partitioner chooses; else for each argument a tuple of the numbers of slices
            of its axes, or an object with a method ``axes()``.
        splits_state: whether the state of optimisers is divided as well.
    """

    devices: int = ALL
    data: str | tuple[Any, ...] = "free"
    splits_state: bool = False


def set_device_counter(count: Callable[[], int]) -> None:
    """Set the function that says how many devices there are."""
    global _count
    _count = count


def current() -> Partition | None:
    """The partition of programs that are made now; ``None``: they run on one device."""
    partition: Partition | None = settings.options["partition"]
    if partition is None:
        return None
    devices = partition.devices or _count()
    return None if devices == 1 else partition._replace(devices=devices)


@contextmanager
def in_force(partition: Partition | None) -> Iterator[None]:
    """Divide programs that are made or called in the block; ``None``: as they are divided anyway."""
    before = settings.options["partition"]
    if partition is not None and (partition.devices or _count()) != 1:
        settings.store("partition", partition)
    try:
        yield
    finally:
        settings.store("partition", before)


def is_one_cpu() -> bool:
    """Whether programs run on one CPU, whose caches rewrites may count on."""
    return settings.options["device_target"] == "CPU" and current() is None


@cache
def mesh_sizes(devices: int) -> tuple[int, ...]:
    """The sizes of the mesh's axes: the prime factors of the number of devices.

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
    """Axes of the mesh that are handed out, each once.

    Args:
        devices: the number of devices.

    >>> axes = Allocation(8)
    >>> axes.take(2), axes.take(1), axes.take(4), axes.take(2)
    ((0,), (), (1, 2), None)
    """

    def __init__(self, devices: int, used: Sequence[int] = ()) -> None:
        self._free = {k: size for k, size in enumerate(mesh_sizes(devices)) if k not in used}

    def take(self, count: int) -> tuple[int, ...] | None:
        """Axes that make ``count`` slices; ``None`` where those that are left do not."""
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
    """The number of slices of an array axis that lies along these axes of the mesh."""
    sizes, count = mesh_sizes(devices), 1
    for axis in axes or ():
        count *= sizes[axis]
    return count


def replicated(rank: int) -> Axes:
    """The axes of an array that is whole on every device."""
    return ((),) * rank


def leading(devices: int, shape: Sequence[int], axes: Axes) -> Axes:
    """``axes`` with all mesh axes that they leave, along the first array axis that is divisible by them.

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
