"""A mesh of devices runs one program on all of them, divided by the layouts of its arrays.

jax's ``NamedSharding`` says how an array lies on the mesh of ``ir.partition``. Layouts of inputs and results
that a program does not name are the partitioner's to choose; it inserts the collectives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindgrad.backend.jax_import import jax_module
from mindgrad.ir.partition import Axes, mesh_sizes, replicated
from mindgrad.rows.sharding import mesh

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Placement", "constants_of", "is_divided", "is_joint", "joint_rows", "laid_out", "lowering_for",
    "on_one_device", "sharding", "spread", "spread_slices",
]  # fmt: skip


class Placement(NamedTuple):
    """The layouts of a program's arrays on a mesh; ``None`` where the partitioner chooses.

    Attributes:
        devices: the jax devices.
        inputs: the layout of each input.
        outputs: the layout of each result.
    """

    devices: tuple[Any, ...]
    inputs: Sequence[Axes | None]
    outputs: Sequence[Axes | None]

    def sharding(self, axes: Axes | None) -> Any:
        """jax's sharding for a layout; ``None`` of none."""
        return None if axes is None else sharding(self.devices, axes)


@lru_cache(maxsize=8)
def _mesh(devices: tuple[Any, ...]) -> Any:
    sizes = mesh_sizes(len(devices))
    names = [f"m{k}" for k in range(len(sizes))]
    return jax_module("jax.sharding").Mesh(np.array(devices, object).reshape(sizes), tuple(names))


@lru_cache(maxsize=4096)
def sharding(devices: tuple[Any, ...], axes: Axes) -> Any:
    """jax's sharding of an array over ``devices``."""
    module = jax_module("jax.sharding")
    entries = [
        module.PartitionSpec.UNCONSTRAINED if entry is None else tuple(f"m{k}" for k in entry) or None
        for entry in axes
    ]
    return module.NamedSharding(_mesh(devices), module.PartitionSpec(*entries))


@contextmanager
def lowering_for(placement: Placement) -> Iterator[None]:
    """Let sharding constraints of a program that is lowered now be those of its mesh."""

    def constraint(count: int, axes: Axes) -> Any:
        if count != len(placement.devices):
            raise RuntimeError(
                f"a program for {len(placement.devices)} devices holds a layout for {count}: the number "
                f"of devices "
                f"was changed while it was made. Set it before the first call."
            )
        return sharding(placement.devices, axes)

    token = mesh.set(constraint)
    try:
        yield
    finally:
        mesh.reset(token)


def spread(array: Any, target: Any) -> Any:
    """``array`` laid out as the sharding ``target`` says; itself if it is so already.

    Args:
        array: NumPy's or jax's. Where ``target`` has devices of other processes, each process has the whole
            array.
        target: a jax sharding.
    """
    jax = jax_module()
    own = getattr(array, "sharding", None)
    if own is not None and (own is target or own == target or own.is_equivalent_to(target, array.ndim)):
        return array
    with jax.enable_x64(True):
        if not (own is None or own.is_fully_addressable):
            return jax.jit(lambda x: x, out_shardings=target)(array)  # the processes send each other slices
        if target.is_fully_addressable:
            return jax.device_put(array, target)
        whole = np.asarray(array)
        return jax.make_array_from_callback(whole.shape, target, whole.__getitem__)


def joint_rows(rows: np.ndarray, devices: tuple[Any, ...]) -> Any:
    """The rows that the processes of ``devices`` have, one after the other, as one array.

    Args:
        rows: those of this process, as many as those of each other one.
        devices: the devices that they are to lie on, as many of each process.

    Raises:
        ValueError: the devices of this process do not divide them.
    """
    jax = jax_module()
    processes = len({device.process_index for device in devices})
    own = len(devices) // processes
    if len(rows) % own:
        raise ValueError(
            f"each process has {own} of the {len(devices)} devices that the rows of a batch are divided "
            f"among, which do not divide its {len(rows)} rows of shape {rows.shape[1:]} equally. Choose "
            f"another batch size, or set_auto_parallel_context(full_batch=True) where all processes have "
            f"the same arguments."
        )
    every_axis = tuple(range(len(mesh_sizes(len(devices)))))
    target = sharding(devices, (every_axis, *replicated(rows.ndim - 1)))
    shape = (len(rows) * processes, *rows.shape[1:])
    with jax.enable_x64(True):
        return jax.make_array_from_process_local_data(target, rows, shape)


def spread_slices(shape: Sequence[int], target: Any, read: Callable[[Any], np.ndarray]) -> Any:
    """An array laid out as ``target`` says, of slices that ``read(index)`` gives for each device."""
    jax = jax_module()
    with jax.enable_x64(True):
        return jax.make_array_from_callback(tuple(shape), target, read)


def laid_out(compiled: Any, undonated: Sequence[int], donated: Sequence[int]) -> list[Any]:
    """jax's sharding of each input of a program, ``None`` of those that it does not use.

    Args:
        compiled: jax's compiled program of three groups: undonated inputs, donated ones, constants.
        undonated, donated: the positions of the inputs.
    """
    of_undonated, of_donated, _ = compiled.input_shardings[0]
    by_position = dict(zip([*undonated, *donated], [*of_undonated, *of_donated], strict=True))
    return [by_position[k] for k in range(len(by_position))]


def constants_of(compiled: Any, arrays: Sequence[Any], mover: Callable[[Any], Any]) -> list[Any]:
    """The large constants of a program on its devices; ``mover`` moves those that it does not use."""
    shardings = compiled.input_shardings[0][2]
    return [
        mover(array) if target is None else spread(array, target)
        for array, target in zip(arrays, shardings, strict=True)
    ]


def is_divided(array: Any) -> bool:
    """Whether a jax array lies on several devices."""
    own = getattr(array, "sharding", None)
    return own is not None and len(own.device_set) > 1


def is_joint(devices: Sequence[Any]) -> bool:
    """Whether devices belong to several processes."""
    return len({device.process_index for device in devices}) > 1


def on_one_device(array: Any, place: Callable[[np.ndarray], Any]) -> Any:
    """``array`` where ``place`` puts it, if it lies on several devices; else itself."""
    return place(np.asarray(array)) if is_divided(array) else array
