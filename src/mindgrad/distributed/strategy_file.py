"""Strategy files: the layouts of Parameters on several devices, as JSON.

    {"format": "mindgrad.strategy", "version": 1, "devices": 4,
     "parameters": {"first": {"shape": [16, 64], "axes": [[], [0, 1]]}}}

For each axis of the array, ``axes`` contains the list of mesh axes (``distributed.partition``) that divide
it. Device *k* is the *k*-th element of the mesh in row-major order. To find the slice of an array axis on a
device, take the coordinates of the device along these mesh axes. They are the digits of the index of the
slice, and the first mesh axis has the most significant digit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mindgrad.core.base.replacing import replaced
from mindgrad.distributed.layouts import LayoutFile
from mindgrad.distributed.partition import mesh_sizes, slices

__all__ = ["Strategy", "read_strategy", "record", "write_strategy"]

_FORMAT = "mindgrad.strategy"


class Strategy(NamedTuple):
    """The layouts of Parameters on several devices.

    Attributes:
        devices: number of devices.
        parameters: maps the name of each Parameter to the pair ``(shape, axes)``. ``axes`` contains, for each
            axis of the Parameter, the mesh axes that divide it.
    """

    devices: int
    parameters: Mapping[str, tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]]

    def bounds(self, name: str, device: int) -> tuple[slice, ...]:
        """Return the index of the slice of the Parameter ``name`` that ``device`` stores.

        >>> Strategy(4, {"w": ((8, 6), ((0,), (1,)))}).bounds("w", 2)
        (slice(4, 8, None), slice(0, 3, None))
        """
        shape, axes = self.parameters[name]
        sizes, remaining = mesh_sizes(self.devices), device
        coordinates: list[int] = []
        for size in reversed(sizes):
            remaining, coordinate = divmod(remaining, size)
            coordinates.insert(0, coordinate)
        bounds = []
        for size, entry in zip(shape, axes, strict=True):
            number = 0
            for axis in entry:
                number = number * sizes[axis] + coordinates[axis]
            length = size // slices(self.devices, entry)
            bounds.append(slice(number * length, (number + 1) * length))
        return tuple(bounds)


def write_strategy(path: str | os.PathLike[str], strategy: Strategy) -> None:
    """Write a strategy file atomically, and create its folder if it does not exist.

    Raises:
        OSError: If the file cannot be written.
    """
    parameters = {name: {"shape": shape, "axes": axes} for name, (shape, axes) in strategy.parameters.items()}
    content = {"format": _FORMAT, "version": 1, "devices": strategy.devices, "parameters": parameters}
    Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as new:
        new.write_text(json.dumps(content))


def read_strategy(path: str | os.PathLike[str], caller: str) -> Strategy:
    """Read a strategy file.

    Args:
        path: the file.
        caller: name of the calling function, for error messages.

    Raises:
        ValueError: If the file cannot be read, is a file of MindSpore, or is damaged.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"For '{caller}', the strategy file '{path}' cannot be read: {error}") from None
    try:
        table = json.loads(content)
        if table["format"] != _FORMAT or table["version"] != 1:
            raise ValueError("another format")
        parameters = {
            name: (tuple(map(int, entry["shape"])), tuple(tuple(map(int, axes)) for axes in entry["axes"]))
            for name, entry in table["parameters"].items()
        }
        strategy = Strategy(int(table["devices"]), parameters)
        _check(strategy)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise ValueError(
            f"For '{caller}', '{path}' is not a strategy file of mindgrad, or is damaged. MindSpore's files "
            "(protobuf) are not supported. To write a file, compile the program in mindgrad after "
            f"set_auto_parallel_context(strategy_ckpt_save_file=...)."
        ) from None
    return strategy


def _check(strategy: Strategy) -> None:
    count = len(mesh_sizes(strategy.devices))
    if strategy.devices < 1:
        raise ValueError("no devices")
    for shape, axes in strategy.parameters.values():
        used = [axis for entry in axes for axis in entry]
        if len(shape) != len(axes) or len({*used}) != len(used) or not {*used} <= {*range(count)}:
            raise ValueError("axes")
        if any(size % slices(strategy.devices, entry) for size, entry in zip(shape, axes, strict=True)):
            raise ValueError("shape")


def record(file: LayoutFile, devices: int, layouts: Iterable[tuple[Any, Sequence[Any]]]) -> None:
    """Add the layouts of a program's Parameters to a strategy file.

    The file is written only if it does not contain these layouts yet. Layouts for a different number of
    devices are deleted.

    Raises:
        OSError: If the file cannot be written.
    """
    old = file.content.parameters if file.content and file.content.devices == devices else {}
    new = {
        parameter.name: (tuple(parameter.shape), tuple(tuple(entry or ()) for entry in axes))
        for parameter, axes in layouts
    }
    strategy = Strategy(devices, {**old, **new})
    if strategy != file.content:
        write_strategy(file.path, strategy)
        file.content = strategy
