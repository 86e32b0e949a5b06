"""Sharding: run one computation on a mesh of devices.

A *layout* (``distributed.partition.Axes``) lists, for each axis of an array, the mesh axes that divide this
axis. Layouts are converted to ``NamedSharding`` objects of JAX. The partitioner of XLA inserts the
collectives. The partitioner also chooses the layouts of inputs and results for which the graph does not
specify a layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindgrad.core.backend.jax_import import jax_module
from mindgrad.distributed.partition import Axes, mesh_sizes, replicated
from mindgrad.distributed.process_mesh import noted
from mindgrad.distributed.sharding_constraint import mesh

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Placement", "is_divided", "is_joint", "joint_samples", "on_one_device", "sharding", "spread",
    "spread_slices",
]  # fmt: skip


class Placement(NamedTuple):
    """Layouts of the inputs and results of a graph on a mesh of devices.

    Attributes:
        devices: the JAX devices.
        inputs: the layout of each input, or ``None`` if XLA's partitioner chooses the layout.
        outputs: the layout of each result, or ``None`` if XLA's partitioner chooses the layout.
    """

    devices: tuple[Any, ...]
    inputs: Sequence[Axes | None]
    outputs: Sequence[Axes | None]

    def sharding(self, axes: Axes | None) -> Any:
        """Convert a layout to a JAX sharding; return ``None`` for ``None``."""
        return None if axes is None else sharding(self.devices, axes)

    def input_sharding(self, position: int) -> Any:
        """Return the JAX sharding of input ``position``, or ``None`` if XLA chooses it."""
        return self.sharding(self.inputs[position])

    def output_shardings(self) -> list[Any]:
        """Return the JAX sharding of each result, or ``None`` if XLA chooses it."""
        return list(map(self.sharding, self.outputs))

    @contextmanager
    def lowering(self) -> Iterator[None]:
        """A ``with`` block in which sharding constraints use these devices as their mesh."""

        def constraint(count: int, axes: Axes) -> Any:
            if count != len(self.devices):
                raise RuntimeError(
                    f"a graph for {len(self.devices)} devices contains a layout for {count} devices, "
                    f"because the number of devices was changed while the graph was traced. Set the number "
                    f"before the first call."
                )
            return sharding(self.devices, axes)

        token = mesh.set(constraint)
        try:
            yield
        finally:
            mesh.reset(token)

    def laid_out(self, compiled: Any, undonated: Sequence[int], donated: Sequence[int]) -> list[Any]:
        """Return the JAX sharding of each input, or ``None`` for an unused input.

        Args:
            compiled: compiled JAX function with three groups of arguments: inputs that are not donated,
                donated inputs, and hoisted constants.
            undonated, donated: positions of the inputs in the first two groups, among all inputs of the
                graph.
        """
        of_undonated, of_donated, _ = compiled.input_shardings[0]
        by_position = dict(zip([*undonated, *donated], [*of_undonated, *of_donated], strict=True))
        return [by_position[k] for k in range(len(by_position))]

    def constants(self, compiled: Any, arrays: Sequence[Any], mover: Callable[[Any], Any]) -> list[Any]:
        """Put the hoisted constants of a compiled function on its devices.

        Args:
            compiled: the compiled JAX function.
            arrays: values of the constants.
            mover: function that puts an array on one device, for constants that ``compiled`` does not use.
        """
        shardings = compiled.input_shardings[0][2]
        return [
            mover(array) if target is None else spread(array, target)
            for array, target in zip(arrays, shardings, strict=True)
        ]

    def noted(self, compiled: Any, graph: Any) -> Any:
        """Wrap ``compiled`` to record its calls if several processes run it."""
        return noted(compiled, graph) if is_joint(self.devices) else compiled


@lru_cache(maxsize=8)
def _mesh(devices: tuple[Any, ...]) -> Any:
    sizes = mesh_sizes(len(devices))
    names = [f"m{k}" for k in range(len(sizes))]
    return jax_module("jax.sharding").Mesh(np.array(devices, object).reshape(sizes), tuple(names))


@lru_cache(maxsize=4096)
def sharding(devices: tuple[Any, ...], axes: Axes) -> Any:
    """Return the JAX sharding of an array with layout ``axes`` over ``devices``."""
    module = jax_module("jax.sharding")
    entries = [
        module.PartitionSpec.UNCONSTRAINED if entry is None else tuple(f"m{k}" for k in entry) or None
        for entry in axes
    ]
    return module.NamedSharding(_mesh(devices), module.PartitionSpec(*entries))


def spread(array: Any, target: Any) -> Any:
    """Distribute ``array`` among devices as the sharding ``target`` specifies.

    If ``array`` already has an equivalent sharding, return it unchanged.

    Args:
        array: a NumPy or JAX array. If ``target`` has devices of several processes, each process must pass
            the whole array.
        target: a JAX sharding.
    """
    jax = jax_module()
    own = getattr(array, "sharding", None)
    if own is not None and (own is target or own == target or own.is_equivalent_to(target, array.ndim)):
        return array
    with jax.enable_x64(True):
        if not (own is None or own.is_fully_addressable):
            return jax.jit(lambda x: x, out_shardings=target)(array)  # processes exchange slices
        if target.is_fully_addressable:
            return jax.device_put(array, target)
        whole = np.asarray(array)
        return jax.make_array_from_callback(whole.shape, target, whole.__getitem__)


def joint_samples(rows: np.ndarray, devices: tuple[Any, ...]) -> Any:
    """Concatenate the samples of all processes to one sharded array.

    Args:
        rows: samples of this process. All processes must have the same number of samples.
        devices: devices of the result. All processes must have the same number of devices.

    Raises:
        ValueError: If the number of samples is not a multiple of the number of devices of this process.
    """
    jax = jax_module()
    processes = len({device.process_index for device in devices})
    own = len(devices) // processes
    if len(rows) % own:
        raise ValueError(
            f"each process has {own} of {len(devices)} devices, which do not divide its {len(rows)} "
            f"samples of shape {rows.shape[1:]} equally. Choose another batch size, or call "
            f"set_auto_parallel_context(full_batch=True) if all processes pass the same arguments."
        )
    every_axis = tuple(range(len(mesh_sizes(len(devices)))))
    target = sharding(devices, (every_axis, *replicated(rows.ndim - 1)))
    shape = (len(rows) * processes, *rows.shape[1:])
    with jax.enable_x64(True):
        return jax.make_array_from_process_local_data(target, rows, shape)


def spread_slices(shape: Sequence[int], target: Any, read: Callable[[Any], np.ndarray]) -> Any:
    """Create an array with the sharding ``target`` without building the whole array.

    ``read(index)`` must return the slice of the array at ``index``, a tuple of Python slices.
    """
    jax = jax_module()
    with jax.enable_x64(True):
        return jax.make_array_from_callback(tuple(shape), target, read)


def is_divided(array: Any) -> bool:
    """Return whether a JAX array is distributed over several devices."""
    own = getattr(array, "sharding", None)
    return own is not None and len(own.device_set) > 1


def is_joint(devices: Sequence[Any]) -> bool:
    """Return whether ``devices`` belong to more than one process."""
    return len({device.process_index for device in devices}) > 1


def on_one_device(array: Any, transfer: Callable[[np.ndarray], Any]) -> Any:
    """Gather an array from several devices, and apply ``transfer`` to it.

    Returns:
        The result of ``transfer``, or ``array`` itself if it is on one device.
    """
    return transfer(np.asarray(array)) if is_divided(array) else array
