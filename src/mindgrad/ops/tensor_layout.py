"""Layouts, which assign the axes of a tensor to named axes of a device mesh."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindgrad._base.shared_docs import with_sections
from mindgrad.distributed.partition import Allocation, Axes

__all__ = ["Layout"]

#: entry of ``tensor_map`` for an axis that is not divided
_WHOLE = "None"


@with_sections
class Layout:
    """Layout of tensors over a mesh of devices.

    Call the Layout with names of mesh axes to create the layout of one tensor.

    Args:
        device_matrix (tuple of int): sizes of the axes of the device mesh. Their product is the number of
            devices.
        alias_name (tuple of str): name of each axis of the device mesh.
        rank_list (list of int or None): indices of the devices in the mesh, in ascending order. ``None``
            means 0, 1, 2, ….

    Inputs:
        *tensor_map (str or tuple of str): for each axis of the tensor, the name of a mesh axis, a tuple of
            names, or ``"None"`` for an axis that is not divided.

    Returns:
        The Layout of a tensor.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is not positive, ``alias_name`` and ``device_matrix`` have different lengths, a
            name is repeated or unknown, or ``rank_list`` is not in ascending order.

    >>> from mindgrad import Layout
    >>> layout = Layout((2, 4), ("dp", "tp"))
    >>> layout("dp", ("tp",)), layout("None", ("dp", "tp")).slices()
    (Layout((2, 4), ('dp', 'tp'))('dp', 'tp'), (1, 8))
    """

    def __init__(
        self, device_matrix: Sequence[int], alias_name: Sequence[str], rank_list: Sequence[int] | None = None
    ) -> None:
        if not isinstance(device_matrix, tuple) or not all(type(size) is int for size in device_matrix):
            raise TypeError(
                f"For 'Layout', the 'device_matrix' must be a tuple of ints, but got {device_matrix!r}."
            )
        if not isinstance(alias_name, tuple) or not all(isinstance(name, str) for name in alias_name):
            raise TypeError(
                f"For 'Layout', the 'alias_name' must be a tuple of strings, but got {alias_name!r}."
            )
        if min(device_matrix, default=1) < 1:
            raise ValueError(
                f"For 'Layout', the sizes of the 'device_matrix' must be positive, but got {device_matrix}."
            )
        if len(alias_name) != len(device_matrix):
            raise ValueError(
                "For 'Layout', the 'alias_name' must have a name for each axis of the 'device_matrix' "
                f"{device_matrix}, but got {alias_name}."
            )
        if len({*alias_name}) != len(alias_name) or {"", _WHOLE} & {*alias_name}:
            raise ValueError(
                f"For 'Layout', the names must differ, and be neither empty nor 'None', but got {alias_name}."
            )
        if "interleaved_parallel" in alias_name:
            raise ValueError(
                "For 'Layout', 'interleaved_parallel' is not supported, because XLA overlaps "
                "communication and computation by itself. Leave the axis out."
            )
        if rank_list is not None and list(rank_list) != list(range(math.prod(device_matrix))):
            raise ValueError(
                f"For 'Layout', the 'rank_list' must list all {math.prod(device_matrix)} devices in the "
                f"order 0, 1, 2, …, in which compiled functions use them, but got {rank_list}."
            )
        self.device_matrix, self.alias_name = device_matrix, alias_name
        #: for each tensor axis, the names of the mesh axes that divide it. ``None`` before the layout is
        #: called
        self.names: tuple[tuple[str, ...], ...] | None = None

    def __call__(self, *tensor_map: str | tuple[str, ...]) -> Layout:
        layout = Layout(self.device_matrix, self.alias_name)
        names = [self._names(entry) for entry in tensor_map]
        used = [name for entry in names for name in entry]
        if len({*used}) != len(used):
            raise ValueError(
                f"For 'Layout', an axis of the mesh can divide one axis of a tensor only, but got "
                f"{tensor_map}."
            )
        layout.names = tuple(names)
        return layout

    def _names(self, entry: Any) -> tuple[str, ...]:
        names = entry if isinstance(entry, tuple) else (entry,)
        if not all(isinstance(name, str) for name in names):
            raise TypeError(
                f"For 'Layout', an axis must be a string, or a tuple of strings, but got {entry!r}. Write "
                "'None', in quotes, for an axis that is not divided."
            )
        for name in names:
            if name not in (*self.alias_name, _WHOLE):
                raise ValueError(
                    f"For 'Layout', there is no axis {name!r} in the mesh; there are "
                    f"{', '.join(self.alias_name)}."
                )
        return tuple(name for name in names if name != _WHOLE)

    @property
    def devices(self) -> int:
        """The number of devices of the mesh."""
        return math.prod(self.device_matrix)

    def slices(self) -> tuple[int, ...]:
        """Return the number of slices of each axis of the tensor."""
        sizes = dict(zip(self.alias_name, self.device_matrix, strict=True))
        return tuple(math.prod(sizes[name] for name in names) for names in self._of_tensor())

    def axes(self) -> Axes:
        """The mesh axes that divide each tensor axis, in the form of ``partition.Axes``."""
        allocation = Allocation(self.devices)
        by_name = {
            name: allocation.take(size) or ()
            for name, size in zip(self.alias_name, self.device_matrix, strict=True)
        }
        return tuple(tuple(axis for name in names for axis in by_name[name]) for names in self._of_tensor())

    def to_dict(self) -> dict[str, Any]:
        """Return the layout in MindSpore's format.

        The format counts mesh axes from the last axis; −1 means that an axis is not divided.
        """
        last = len(self.alias_name) - 1
        numbers = [tuple(last - self.alias_name.index(name) for name in names) for names in self._of_tensor()]
        tensor_map = tuple(entry[0] if len(entry) == 1 else entry or -1 for entry in numbers)
        return {
            "device_matrix": self.device_matrix, "tensor_map": tensor_map, "interleaved_parallel": False,
            "alias_name": self.alias_name, "rank_list": list(range(self.devices)),
        }  # fmt: skip

    def _of_tensor(self) -> tuple[tuple[str, ...], ...]:
        if self.names is None:
            raise ValueError(
                "For 'Layout', call it with an axis of the mesh for each axis of the tensor: "
                "layout('dp', 'None')."
            )
        return self.names

    def __repr__(self) -> str:
        entries = () if self.names is None else self.names
        shown = ", ".join(repr(names[0] if len(names) == 1 else names or _WHOLE) for names in entries)
        return f"Layout({self.device_matrix}, {self.alias_name})" + (
            f"({shown})" if self.names is not None else ""
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.device_matrix, self.alias_name, self.names
