"""Arrays that are stored as slices in several files.

    region = the slices that overlap with it, each copied to its position        each element is written once

A slice has a file, a start index in the array, and a shape. If several files contain the same slice, the
first one is read. Files are read on demand: single arrays of a ``.safetensors`` file, or a whole ``.ckpt``
file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import safetensors as library

from mindgrad._base.protobuf import Malformed
from mindgrad.train import ckpt

__all__ = ["Entry", "Slice", "SlicedArrays"]


class Slice(NamedTuple):
    """A slice of an array: its file, its start index, and its shape."""

    file: str
    start: Sequence[int]
    shape: Sequence[int]


class Entry(NamedTuple):
    """An array that is stored as slices.

    Attributes:
        dtype: the dtype of the array.
        shape: the shape of the array.
        slices: the slices.
    """

    dtype: Any
    shape: tuple[int, ...]
    slices: Sequence[Slice]


class SlicedArrays:
    """Arrays that are stored as slices in several files.

    Args:
        title: a description of the checkpoint, for errors.
        folder: the folder of the files.
        entries: the arrays by name.
        texts: the strings by name.
    """

    def __init__(
        self, title: str, folder: Path, entries: Mapping[str, Entry], texts: Mapping[str, str] | None = None
    ) -> None:
        self.title, self.folder = title, folder
        self.entries, self.texts = dict(entries), dict(texts or {})
        self._contents: dict[str, Mapping[str, Any]] = {}

    def content(self) -> dict[str, np.ndarray | str]:
        """Read all arrays, undivided, and the strings.

        Raises:
            ValueError: If a file of the checkpoint is damaged or missing.
        """
        return {**{name: self.array(name) for name in self.entries}, **self.texts}

    def array(self, name: str) -> np.ndarray:
        """Read a whole array, with the same errors as :meth:`region`."""
        return self.region(name, [slice(None)] * len(self.entries[name].shape))

    def region(self, name: str, index: Sequence[slice]) -> np.ndarray:
        """Read a region of an array.

        Args:
            name: the name of the array.
            index: a slice for each axis, as in the sharding indices of JAX.

        Raises:
            ValueError: If a file of the checkpoint is damaged or missing.
        """
        dtype, shape, slices = self.entries[name]
        bounds = [part.indices(size)[:2] for part, size in zip(index, shape, strict=True)]
        region = np.empty([stop - start for start, stop in bounds], dtype.numpy)
        filled = 0
        for piece in {tuple(x.start): x for x in reversed(slices)}.values():
            common = [
                (max(low, start), min(high, start + size))
                for (low, high), start, size in zip(bounds, piece.start, piece.shape, strict=True)
            ]
            if any(low >= high for low, high in common):
                continue
            inside = tuple(slice(a - s, b - s) for (a, b), s in zip(common, piece.start, strict=True))
            outside = tuple(slice(a - low, b - low) for (a, b), (low, _) in zip(common, bounds, strict=True))
            region[outside] = self._slice(name, dtype, piece)[inside]
            filled += region[outside].size
        if filled != region.size:
            self.damaged(f"slices of '{name}' are missing")
        return region

    def damaged(self, reason: str) -> NoReturn:
        """Report a damaged or missing file.

        Raises:
            ValueError: Always.
        """
        raise ValueError(f"For 'load_checkpoint', {self.title} is damaged: {reason}.")

    def _slice(self, name: str, dtype: Any, piece: Slice) -> np.ndarray:
        try:
            array = self._array_in(piece.file, name)
        except (OSError, library.SafetensorError, Malformed, TypeError, ValueError) as error:
            self.damaged(f"{piece.file}: {error}")
        if array.shape != tuple(piece.shape) or array.dtype != dtype.numpy:
            self.damaged(
                f"the slice of '{name}' in {piece.file} is {array.dtype} of shape {array.shape} instead of "
                f"{np.dtype(dtype.numpy)} of shape {tuple(piece.shape)}"
            )
        return array

    def _array_in(self, file: str, name: str) -> np.ndarray:
        if file.endswith(".safetensors"):
            with library.safe_open(self.folder / file, framework="numpy") as opened:
                array: np.ndarray = opened.get_tensor(name)
                return array
        if file not in self._contents:
            self._contents[file] = ckpt.read((self.folder / file).read_bytes())
        if not isinstance(self._contents[file].get(name), np.ndarray):
            raise ValueError(f"the file contains no array '{name}'")
        return self._contents[file][name]
