"""Samplers, which choose the samples of a pass and their order."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

__all__ = [
    "DistributedSampler", "IterSampler", "PKSampler", "RandomSampler", "Sampler", "SequentialSampler",
    "SubsetRandomSampler", "SubsetSampler", "WeightedRandomSampler",
]  # fmt: skip


class Sampler:
    """Base class of samplers: ``__iter__`` returns the indices of one pass.

    Args:
        num_samples (int, optional): number of indices to use in each pass over the dataset. ``None``: all
            indices. Default: ``None``.

    >>> from mindgrad import dataset as ds
    >>> class Backwards(ds.Sampler):
    ...     def __iter__(self):
    ...         yield from range(self.num_rows - 1, -1, -1)
    >>> print([int(x) for x, in ds.NumpySlicesDataset([1, 2, 3], sampler=Backwards())])
    [3, 2, 1]

    See Also:
        :class:`mindgrad.dataset.SequentialSampler`, :class:`mindgrad.dataset.RandomSampler`,
        :class:`mindgrad.dataset.DistributedSampler`
    """

    #: number of samples in the source. The dataset that uses this sampler sets it
    num_rows = 0
    dataset_size = 0

    def __init__(self, num_samples: int | None = None) -> None:
        self.num_samples = _count(num_samples, "num_samples", type(self).__name__, 0) or None

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError(
            f"the sampler {type(self).__name__} has no '__iter__'; define one that yields the indices of "
            f"samples."
        )

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return the indices of one pass over a source of ``size`` samples."""
        self.num_rows = self.dataset_size = size
        found = iter(self)
        return itertools.islice(found, self.num_samples)

    def count(self, size: int) -> int | None:
        """Return the number of indices, or ``None`` if it is unknown."""
        return None


def _count(value: Any, name: str, sampler: str, least: int = 1) -> int | None:
    if value is None:
        return None
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"For '{sampler}', '{name}' must be an int, but got {value!r}.") from None
    if number < least:
        raise ValueError(f"For '{sampler}', '{name}' must be at least {least}, but got {number}.")
    return number


class SequentialSampler(Sampler):
    """A sampler that reads samples in order.

    Args:
        start_index (int, optional): index of the first sample to read. ``None``: 0. Default: ``None``.
        num_samples (int, optional): number of samples to read. ``None``: all samples up to the end. Default:
            ``None``.
    """

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.start_index = _count(start_index, "start_index", "SequentialSampler", 0) or 0

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return consecutive indices from ``start_index``, below ``size``."""
        if self.start_index >= size:
            raise ValueError(
                f"For 'SequentialSampler', 'start_index' is {self.start_index}, but there are {size} samples."
            )
        return range(self.start_index, self.start_index + (self.count(size) or 0))

    def count(self, size: int) -> int:
        """Return the number of samples after ``start_index``, at most ``num_samples``."""
        left = max(size - self.start_index, 0)
        return left if self.num_samples is None else min(left, self.num_samples)


class RandomSampler(Sampler):
    """A sampler with a different random order in each pass.

    Args:
        replacement (bool, optional): whether to draw samples with replacement. Default: ``False``.
        num_samples (int, optional): number of samples in each pass over the dataset. ``None``: all samples.
            Default: ``None``.
    """

    def __init__(self, replacement: bool = False, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        if not isinstance(replacement, bool):
            raise TypeError(f"For 'RandomSampler', 'replacement' must be a bool, but got {replacement!r}.")
        self.replacement = replacement

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return random indices below ``size``, distinct unless ``replacement`` is set."""
        number = self.count(size)
        if self.replacement:
            return generator.integers(0, size, number) if size else ()
        return generator.permutation(size)[:number]

    def count(self, size: int) -> int:
        """Return ``num_samples``; without replacement, at most ``size``."""
        if self.num_samples is None:
            return size
        return self.num_samples if self.replacement else min(size, self.num_samples)


class SubsetSampler(Sampler):
    """A sampler that reads given indices in order.

    Args:
        indices (iterable of int or int): indices of the samples to read.
        num_samples (int, optional): number of indices to use in each pass over the dataset. ``None``: all
            indices. Default: ``None``.
    """

    def __init__(self, indices: Iterable[int] | int, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        listed = [indices] if isinstance(indices, (int, np.integer)) else list(indices)
        self._indices = [_count(each, "indices", type(self).__name__, 0) or 0 for each in listed]

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return the indices that the sampler was created with, at most ``num_samples``."""
        return self._indices[: self.num_samples]

    def count(self, size: int) -> int:
        """Return the number of given indices, at most ``num_samples``."""
        return len(self._indices[: self.num_samples])


class SubsetRandomSampler(SubsetSampler):
    """A sampler that reads given indices in a different random order in each pass.

    Args:
        indices (iterable of int or int): indices of the samples to read.
        num_samples (int, optional): number of indices to use in each pass over the dataset. ``None``: all
            indices. Default: ``None``.
    """

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return the given indices in random order."""
        return [self._indices[i] for i in generator.permutation(len(self._indices))][: self.num_samples]


class WeightedRandomSampler(Sampler):
    """A sampler that draws each index with a given probability.

    Args:
        weights (list of float): weight of each sample, nonnegative and not all zero.
        num_samples (int, optional): number of samples to draw in each pass. ``None``: the number of weights.
            Default: ``None``.
        replacement (bool, optional): whether to draw samples with replacement. Default: ``True``.
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int | None = None, replacement: bool = True
    ) -> None:
        super().__init__(num_samples)
        self.weights = np.asarray(weights, np.float64)
        self.replacement = replacement
        if self.weights.ndim != 1 or not self.weights.size:
            raise ValueError("For 'WeightedRandomSampler', 'weights' must be a list of at least one number.")
        if not (np.isfinite(self.weights).all() and (self.weights >= 0).all() and self.weights.any()):
            raise ValueError(
                "For 'WeightedRandomSampler', 'weights' must be finite and nonnegative, and at least one "
                "must be positive."
            )
        possible = np.count_nonzero(self.weights)
        if not replacement and (num_samples or self.weights.size) > possible:
            raise ValueError(
                f"For 'WeightedRandomSampler', {num_samples or self.weights.size} samples without "
                f"replacement require as many nonzero weights, but there are {possible}."
            )

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return random indices with the given probabilities."""
        if self.weights.size > size:
            raise ValueError(
                f"For 'WeightedRandomSampler', there are {self.weights.size} weights, but only {size} "
                f"samples."
            )
        probabilities = self.weights / self.weights.sum()
        return generator.choice(self.weights.size, self.count(size), self.replacement, probabilities)

    def count(self, size: int) -> int:
        """Return ``num_samples``, or the number of weights."""
        return self.num_samples or self.weights.size


class DistributedSampler(Sampler):
    """A sampler that reads every ``num_shards``-th sample, starting with ``shard_id``.

    If a shard is too short, the sampler continues with the first samples.

    Args:
        num_shards (int): number of shards into which the dataset is divided.
        shard_id (int): number of the shard to read, from 0 to ``num_shards`` − 1.
        shuffle (bool, optional): whether to shuffle the samples before they are divided. With a seed, all
            shards use the same order. Default: ``True``.
        num_samples (int, optional): number of samples to read. ``None``: the whole shard. Default: ``None``.
        offset (int, optional): number of the shard that reads the first sample. −1: shard 0. Default: ``-1``.
    """

    def __init__(
        self,
        num_shards: int,
        shard_id: int,
        shuffle: bool = True,
        num_samples: int | None = None,
        offset: int = -1,
    ) -> None:
        super().__init__(num_samples)
        self.num_shards = _count(num_shards, "num_shards", "DistributedSampler") or 1
        self.shard_id = _count(shard_id, "shard_id", "DistributedSampler", 0) or 0
        if self.shard_id >= self.num_shards:
            raise ValueError(
                f"For 'DistributedSampler', 'shard_id' must be below 'num_shards', {self.num_shards}, but "
                f"got {self.shard_id}."
            )
        if not -1 <= offset < self.num_shards:
            raise ValueError(
                f"For 'DistributedSampler', 'offset' must be from -1 to below {self.num_shards}, but got "
                f"{offset}."
            )
        self.shuffle = shuffle
        self.offset = max(offset, 0)

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return the indices of the shard."""
        order = generator.permutation(size) if self.shuffle else np.arange(size)
        first = (self.shard_id - self.offset) % self.num_shards
        return [order[(first + k * self.num_shards) % size] for k in range(self.count(size))] if size else []

    def count(self, size: int) -> int:
        """Return ``size / num_shards``, rounded up, at most ``num_samples``."""
        whole = -(-size // self.num_shards)
        return whole if self.num_samples is None else min(whole, self.num_samples)


class PKSampler(Sampler):
    """A sampler that draws the same number of samples from each class.

    The samples of a class are drawn with replacement.

    Args:
        num_val (int): number of samples to draw from each class.
        num_class (None, optional): not supported; all classes are read. Default: ``None``.
        shuffle (bool, optional): whether the classes have a different random order in each pass.
            Default: ``False``.
        class_column (str, optional): name of the column that contains the classes. Default: ``"label"``.
        num_samples (int, optional): number of samples in each pass over the dataset. ``None``: all samples.
            Default: ``None``.

    Raises:
        NotImplementedError: If ``num_class`` is given.
        TypeError: When a dataset is created, if its source does not provide the classes of all samples.
            Sources of labeled images provide them.

    >>> from mindgrad import dataset as ds
    >>> ds.PKSampler(2).with_classes([1, 0, 1, 0]).count(4)
    4
    """

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__(num_samples)
        if num_class is not None:
            raise NotImplementedError(
                "For 'PKSampler', 'num_class' is not supported: leave it out, and choose the classes with "
                "filter()."
            )
        self.num_val = _count(num_val, "num_val", "PKSampler") or 1
        self.shuffle, self.class_column = shuffle, class_column
        self._rows: list[np.ndarray] | None = None

    def with_classes(self, labels: Any) -> PKSampler:
        """Return a copy of the sampler for a source with these classes.

        Args:
            labels (array): class of each sample, of shape (n,).
        """
        array = np.asarray(labels)
        sampler = PKSampler(self.num_val, None, self.shuffle, self.class_column, self.num_samples)
        sampler._rows = [np.flatnonzero(array == label) for label in np.unique(array)]
        return sampler

    def indices(self, size: int, generator: np.random.Generator) -> Iterable[int]:
        """Return random indices, one class after another."""
        groups = self._known()
        if self.shuffle:
            groups = [groups[i] for i in generator.permutation(len(groups))]
        drawn = [generator.choice(rows, self.num_val) for rows in groups]
        return np.concatenate(drawn)[: self.num_samples] if drawn else ()

    def count(self, size: int) -> int:
        """Return the number of samples of all classes, at most ``num_samples``."""
        whole = self.num_val * len(self._known())
        return whole if self.num_samples is None else min(whole, self.num_samples)

    def _known(self) -> list[np.ndarray]:
        if self._rows is None:
            raise TypeError(
                "a PKSampler needs the classes of all samples before it reads a sample. Only datasets of "
                "labeled images provide the classes in advance. Use WeightedRandomSampler."
            )
        return self._rows


class IterSampler(Sampler):
    """A sampler that reads the indices of an iterable, which each pass iterates again.

    Args:
        sampler (iterable of int): iterable of indices. Each pass over the dataset iterates it again.
        num_samples (int, optional): number of indices to use in each pass over the dataset. ``None``: all
            indices. Default: ``None``.
    """

    def __init__(self, sampler: Iterable[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.sampler = sampler

    def __iter__(self) -> Iterator[int]:
        return iter(self.sampler)

    def count(self, size: int) -> int | None:
        """Return the length of the iterable, at most ``num_samples``, or ``None``."""
        if not isinstance(self.sampler, Sized):
            return None
        whole = len(self.sampler)
        return whole if self.num_samples is None else min(whole, self.num_samples)
