"""Sliced arrays lie in several files, each of which has slices of some of them; any region can be read.

    region = the slices that meet it, each put where it belongs        every element is written once

A slice says its file, where it begins in the array, and its shape. Where several files have the same slice
the first is read. Files are read as they are needed: of ``.safetensors`` single arrays, of ``.ckpt`` all.
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
    """A slice of an array: the file that has it, where it begins, and its shape."""

    file: str
    start: Sequence[int]
    shape: Sequence[int]


class Entry(NamedTuple):
    """An array in slices.

    Attributes:
        dtype: its element type.
        shape: its shape.
        slices: where it lies.
    """

    dtype: Any
    shape: tuple[int, ...]
    slices: Sequence[Slice]


class SlicedArrays:
    """Arrays that lie in slices in several files.

    Args:
        title: what they are, as errors name it.
        folder: files of slices are relative to it.
        entries: the arrays by name.
        texts: texts by name.
    """

    def __init__(
        self, title: str, folder: Path, entries: Mapping[str, Entry], texts: Mapping[str, str] | None = None
    ) -> None:
        self.title, self.folder = title, folder
        self.entries, self.texts = dict(entries), dict(texts or {})
        self._contents: dict[str, Mapping[str, Any]] = {}

    def content(self) -> dict[str, np.ndarray | str]:
        """All arrays, undivided, and the texts.

        Raises:
            ValueError: a file is damaged or missing.
        """
        return {**{name: self.array(name) for name in self.entries}, **self.texts}

    def array(self, name: str) -> np.ndarray:
        """An undivided array; errors as :meth:`region`."""
        return self.region(name, [slice(None)] * len(self.entries[name].shape))

    def region(self, name: str, index: Sequence[slice]) -> np.ndarray:
        """A region of an array.

        Args:
            name: the array.
            index: a slice for each axis, as jax gives them.

        Raises:
            ValueError: a file is damaged or missing.
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
        """Say that a file is damaged or missing.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"For 'load_checkpoint', {self.title} is damaged: {reason}.")

    def _slice(self, name: str, dtype: Any, piece: Slice) -> np.ndarray:
        try:
            array = self._array_in(piece.file, name)
        except (OSError, library.SafetensorError, Malformed, TypeError, ValueError) as error:
            self.damaged(f"{piece.file}: {error}")
        if array.shape != tuple(piece.shape) or array.dtype != dtype.numpy:
            self.damaged(
                f"the slice of '{name}' in {piece.file} is {array.dtype} of shape {array.shape}, and not "
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
            raise ValueError(f"there is no array '{name}' in it")
        return self._contents[file][name]
