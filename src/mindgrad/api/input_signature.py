"""Input signatures: the shapes and dtypes that a compiled function is declared for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad._base.location import warn_user
from mindgrad.ir.dtype import as_dtype
from mindgrad.ir.tensor import Tensor

__all__ = ["InputSignature"]

_warned: list[bool] = []


class InputSignature:
    """The declared inputs of a function, with which every call is compared.

    Args:
        declared: a Tensor, or a tuple or list with an entry for each input: a Tensor, ``None`` for any value,
            or a tuple, list, or dict of these. Only shapes and dtypes count; a size that is ``None`` is open.
        name: the name of the function, for errors.

    Raises:
        TypeError: If an entry is something else.
    """

    def __init__(self, declared: Any, name: str) -> None:
        self.name = name
        self.entries = tuple(declared) if isinstance(declared, (tuple, list)) else (declared,)
        is_open = False
        for entry in self.entries:
            is_open |= self._check_entry(entry)
        if is_open and not _warned:
            _warned.append(True)
            warn_user(
                "jit compiles one program for each size that it is called with: sizes that 'input_signature' "
                "leaves open do not share a program. If there are many sizes, pad the inputs to a few."
            )

    def _check_entry(self, entry: Any) -> bool:
        """Whether a part of ``entry`` has an open size."""
        if entry is None:
            return False
        if isinstance(entry, Tensor):
            return any(size < 0 for size in entry.type.shape)
        if isinstance(entry, (tuple, list, dict)):
            parts = entry.values() if isinstance(entry, dict) else entry
            return max(map(self._check_entry, parts), default=False)
        raise TypeError(
            f"For 'jit' of {self.name}, 'input_signature' must consist of Tensors, and None for inputs that "
            f"are not tensors, but it has {entry!r}. Write Tensor(shape=[None, 3], dtype=float32)."
        )

    def check(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Compare the arguments of a call.

        Raises:
            TypeError: If an input is no tensor, has another dtype, or is given by name.
            ValueError: If an input has another shape, or the number of inputs is another.
        """
        if kwargs:
            raise TypeError(
                f"For 'jit' of {self.name}, inputs must be given by position, because 'input_signature' "
                f"lists them in order, but {', '.join(map(repr, kwargs))} was given by name."
            )
        if len(args) != len(self.entries):
            raise ValueError(
                f"For 'jit' of {self.name}, 'input_signature' lists {len(self.entries)} inputs, but the call "
                f"has {len(args)}."
            )
        for position, (entry, value) in enumerate(zip(self.entries, args, strict=True)):
            self._compare(entry, value, f"input {position}")

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
                f"For 'jit' of {self.name}, {which} must be a Tensor, as 'input_signature' says, but it is a "
                f"{type(value).__name__}."
            )
        declared, dtype, shape = entry.type, as_dtype(value.dtype), tuple(value.shape)
        if dtype is not declared.dtype:
            raise TypeError(
                f"For 'jit' of {self.name}, {which} has dtype {dtype}, but 'input_signature' says "
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
                f"For 'jit' of {self.name}, {which} has shape {shape}, but 'input_signature' says "
                f"({sizes}{comma})."
            )
