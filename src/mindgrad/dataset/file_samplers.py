"""Shuffling of datasets of several files: all samples, the files, or within files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from mindgrad.dataset.samplers import DistributedSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["Shuffle", "file_list", "sampler_of_files"]


class Shuffle(StrEnum):
    """Order of the samples of several files.

    ``GLOBAL`` shuffles all samples, ``FILES`` shuffles the files, and ``INFILE`` shuffles the samples within
    each file. ``ADAPTIVE`` and ``PARTIAL`` are equal to ``GLOBAL``. ``FALSE`` keeps the order.
    """

    FALSE = "false"
    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"


class _FilesSampler(Sampler):
    """Sampler that shuffles either the files or the samples within each file."""

    def __init__(
        self, lengths: Sequence[int], of_files: bool, num_samples: int | None, num_shards: int, shard_id: int
    ) -> None:
        super().__init__(num_samples)
        self.lengths, self.of_files = list(lengths), of_files
        self.num_shards, self.shard_id = num_shards, shard_id

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return the indices of the samples in one pass over the files."""
        ends = np.cumsum([0, *self.lengths])
        parts = [np.arange(*ends[i : i + 2]) for i in range(len(self.lengths))]
        if self.of_files:
            parts = [parts[i] for i in generator.permutation(len(parts))]
        else:
            parts = [generator.permutation(part) for part in parts]
        order = np.concatenate(parts)[self.shard_id :: self.num_shards]
        return order[: self.num_samples]

    def count(self, size: int) -> int:
        """Return the number of indices in one pass over ``size`` samples."""
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
    """Return the sampler of a dataset of several files.

    Args:
        name (str): the name of the API, for errors.
        shuffle (bool or Shuffle): whether, or how, to shuffle. ``None``: ``True``.
        num_samples (int): maximum number of samples.
        num_shards (int): number of parts into which the samples are divided.
        shard_id (int): the part to read.
        lengths (list or tuple of int): the number of samples in each file.

    Raises:
        TypeError: If ``shuffle`` has an unsupported type.
        ValueError: If one of ``num_shards`` and ``shard_id`` is given without the other.
    """
    if not isinstance(shuffle, (bool, Shuffle, type(None))):
        raise TypeError(f"For '{name}', 'shuffle' must be a bool or a Shuffle, but got {shuffle!r}.")
    if (num_shards is None) != (shard_id is None):
        raise ValueError(f"For '{name}', 'num_shards' and 'shard_id' must be given together.")
    if isinstance(shuffle, Shuffle) and shuffle in (Shuffle.FILES, Shuffle.INFILE):
        return _FilesSampler(lengths, shuffle == Shuffle.FILES, num_samples, num_shards or 1, shard_id or 0)
    shuffles = shuffle is not False and shuffle != Shuffle.FALSE
    if num_shards is not None and shard_id is not None:
        return DistributedSampler(num_shards, shard_id, shuffles, num_samples)
    return RandomSampler(num_samples=num_samples) if shuffles else SequentialSampler(None, num_samples)


def file_list(files: Any, name: str) -> list[str]:
    """Return one or several paths as a list, and check that the files exist.

    Raises:
        TypeError: If ``files`` is neither a path nor a list of paths.
        ValueError: If there are no paths, or a file does not exist.
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
