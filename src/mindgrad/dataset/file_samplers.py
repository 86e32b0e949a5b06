"""Sampling of several files draws the order of all rows, of the files, or of the rows of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from mindgrad.dataset.samplers import DistributedSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["Shuffle", "file_list", "sampler_of_files"]


class Shuffle(StrEnum):
    """Order of the rows of files: all at random, files at random, or rows at random within their file."""

    FALSE = "false"
    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"


class _FilesSampler(Sampler):
    """The rows of files, the files in random order or the rows of each."""

    def __init__(
        self, lengths: Sequence[int], of_files: bool, num_samples: int | None, num_shards: int, shard_id: int
    ) -> None:
        super().__init__(num_samples)
        self.lengths, self.of_files = list(lengths), of_files
        self.num_shards, self.shard_id = num_shards, shard_id

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """The rows of one pass."""
        ends = np.cumsum([0, *self.lengths])
        parts = [np.arange(*ends[i : i + 2]) for i in range(len(self.lengths))]
        if self.of_files:
            parts = [parts[i] for i in generator.permutation(len(parts))]
        else:
            parts = [generator.permutation(part) for part in parts]
        order = np.concatenate(parts)[self.shard_id :: self.num_shards]
        return order[: self.num_samples]

    def count(self, size: int) -> int:
        """The number of them."""
        whole = len(range(self.shard_id, size, self.num_shards))
        return whole if self.num_samples is None else min(whole, self.num_samples)


def sampler_of_files(
    name: str,
    shuffle: bool | Shuffle | None,
    num_samples: int | None,
    num_shards: int | None,
    shard_id: int | None,
    lengths: Sequence[int],
) -> Sampler:
    """The sampler of a source of several files.

    Args:
        name (str): what errors name.
        shuffle (bool or Shuffle): a truth value, None for true, or a :class:`Shuffle`.
        num_samples (int): how many rows at most.
        num_shards (int): into how many parts the rows are divided.
        shard_id (int): which of them is read.
        lengths (list or tuple of int): the rows of each file.

    Raises:
        TypeError: If ``shuffle`` is something else.
        ValueError: If one of ``num_shards`` and ``shard_id`` is given without the other.
    """
    if not isinstance(shuffle, (bool, Shuffle, type(None))):
        raise TypeError(f"For '{name}', 'shuffle' must be a bool or a Shuffle, but got {shuffle!r}.")
    if (num_shards is None) != (shard_id is None):
        raise ValueError(f"For '{name}', 'num_shards' and 'shard_id' belong together; give both or neither.")
    if isinstance(shuffle, Shuffle) and shuffle in (Shuffle.FILES, Shuffle.INFILE):
        return _FilesSampler(lengths, shuffle == Shuffle.FILES, num_samples, num_shards or 1, shard_id or 0)
    shuffles = shuffle is not False and shuffle != Shuffle.FALSE
    if num_shards is not None and shard_id is not None:
        return DistributedSampler(num_shards, shard_id, shuffles, num_samples)
    return RandomSampler(num_samples=num_samples) if shuffles else SequentialSampler(None, num_samples)


def file_list(files: Any, name: str) -> list[str]:
    """One path or several as a list, checked to be files.

    Raises:
        TypeError: If it is neither.
        ValueError: If a file does not exist, or there is none.
    """
    paths = list(files) if isinstance(files, (list, tuple)) else [files]
    if not paths:
        raise ValueError(f"For '{name}', 'dataset_files' must name at least one file.")
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"For '{name}', 'dataset_files' must be paths, but got {path!r}.")
        if not os.path.isfile(path):
            raise ValueError(f"For '{name}', the file '{path}' does not exist.")
    return [os.fspath(path) for path in paths]
