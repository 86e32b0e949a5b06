"""``input_signature`` of ``jit``: declared shapes and dtypes of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from mindgrad.core.base.tree import flatten
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.programs.open_sizes import OpenSizes

__all__ = ["InputSignature", "declared_sizes"]


class InputSignature:
    """The declared inputs of a function. Each call is checked against the declaration.

    Args:
        declared: a Tensor, or a tuple or list with an entry for each input: a Tensor, ``None`` for any value,
            or a tuple, list, or dict of these. Only the shapes and dtypes of Tensors matter. A dimension of
            size ``None`` is *open*: any size is accepted.
        name: name of the function, for error messages.

    Raises:
        TypeError: If an entry of ``declared`` has any other type.
    """

    def __init__(self, declared: Any, name: str) -> None:
        self.name = name
        self.entries = tuple(declared) if isinstance(declared, (tuple, list)) else (declared,)
        #: whether a declared shape has an open size (``None``)
        self.is_open = max(map(self._check_entry, self.entries), default=False)

    def _check_entry(self, entry: Any) -> bool:
        """Check the types in ``entry``; return whether a shape in it has an open size."""
        if entry is None:
            return False
        if isinstance(entry, Tensor):
            return any(size < 0 for size in entry.type.shape)
        if isinstance(entry, (tuple, list, dict)):
            parts = entry.values() if isinstance(entry, dict) else entry
            return max(map(self._check_entry, parts), default=False)
        raise TypeError(
            f"For 'jit' of {self.name}, 'input_signature' must contain a Tensor for each tensor input, and "
            f"None for other inputs, but it contains {entry!r}. Write Tensor(shape=[None, 3], "
            f"dtype=float32)."
        )

    def check(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Check the arguments of a call against the declaration.

        Raises:
            TypeError: If an input is not a tensor, has a dtype that differs from the declaration, or is
                passed by keyword.
            ValueError: If the shape of an input or the number of inputs differs from the declaration.
        """
        if kwargs:
            raise TypeError(
                f"For 'jit' of {self.name}, inputs must be passed by position, because 'input_signature' "
                f"lists them in order, but {', '.join(map(repr, kwargs))} was given by name."
            )
        if len(args) != len(self.entries):
            raise ValueError(
                f"For 'jit' of {self.name}, 'input_signature' lists {len(self.entries)} inputs, but the call "
                f"has {len(args)}."
            )
        for position, (entry, value) in enumerate(zip(self.entries, args, strict=True)):
            self._compare(entry, value, f"input {position}")

    def open_sizes(self) -> OpenSizes | None:
        """Return an ``OpenSizes`` for the function, or ``None`` if no size is open."""
        return OpenSizes(self._open_axes, self.name) if self.is_open else None

    def _open_axes(self, args: Sequence[Any]) -> list[tuple[int, ...]]:
        """Return the indices of the open axes of each leaf of the arguments.

        Returns ``[]`` if the arguments do not match the declaration.
        """
        try:
            self.check(args, {})
        except (TypeError, ValueError):
            return []
        return list(chain.from_iterable(map(_open_axes, self.entries, args)))

    def _compare(self, entry: Any, value: Any, which: str) -> None:
        if entry is None:
            return
        if isinstance(entry, Tensor):
            self._compare_tensor(entry, value, which)
            return
        kind = dict if isinstance(entry, dict) else (tuple, list)
        is_alike = isinstance(value, kind) and len(value) == len(entry)
        if not is_alike or (isinstance(entry, dict) and entry.keys() != value.keys()):
            raise TypeError(
                f"For 'jit' of {self.name}, {which} must have the structure that 'input_signature' has, a "
                f"{type(entry).__name__} of {len(entry)}, but it is {value!r}."
            )
        for key in entry if isinstance(entry, dict) else range(len(entry)):
            self._compare(entry[key], value[key], f"{which}[{key!r}]")

    def _compare_tensor(self, entry: Tensor, value: Any, which: str) -> None:
        if not isinstance(value, (Tensor, np.ndarray)):
            raise TypeError(
                f"For 'jit' of {self.name}, {which} must be a Tensor, as 'input_signature' declares, but "
                f"it is a {type(value).__name__}."
            )
        declared, dtype, shape = entry.type, as_dtype(value.dtype), tuple(value.shape)
        if dtype is not declared.dtype:
            raise TypeError(
                f"For 'jit' of {self.name}, {which} has dtype {dtype}, but 'input_signature' declares "
                f"{declared.dtype}."
            )
        has_any_shape = declared.shape == (-2,)
        is_alike = len(shape) == len(declared.shape) and all(
            size in (-1, n) for size, n in zip(declared.shape, shape, strict=True)
        )
        if not has_any_shape and not is_alike:
            sizes = ", ".join("None" if size < 0 else str(size) for size in declared.shape)
            comma = "," if len(declared.shape) == 1 else ""
            raise ValueError(
                f"For 'jit' of {self.name}, {which} has shape {shape}, but 'input_signature' declares "
                f"({sizes}{comma})."
            )


def declared_sizes(declared: Sequence[Any] | None, name: str) -> OpenSizes | None:
    """Return an ``OpenSizes`` for declared inputs, or ``None`` if no size is open."""
    try:
        return None if declared is None else InputSignature(tuple(declared), name).open_sizes()
    except TypeError:
        return None  # this entry is not a tensor, so the signature has no open sizes


def _open_axes(entry: Any, value: Any) -> list[tuple[int, ...]]:
    if isinstance(entry, Tensor):
        return [tuple([axis for axis, size in enumerate(entry.type.shape) if size == -1])]
    if entry is None:
        return [()] * len(flatten(value)[0])
    keys = value if isinstance(value, dict) else range(len(value))  # keys in the same order as the leaves
    return list(chain.from_iterable(_open_axes(entry[key], value[key]) for key in keys))
