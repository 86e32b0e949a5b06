"""Datasets of Python objects: ``GeneratorDataset`` and ``NumpySlicesDataset``."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mindgrad._base.shared_docs import SharedSections
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.tensor import Tensor
from mindgrad.dataset import config
from mindgrad.dataset.columns import names_of
from mindgrad.dataset.config import Draw, RandomStep
from mindgrad.dataset.pipeline import Dataset
from mindgrad.dataset.reading import Step
from mindgrad.dataset.rows import Row, array_of, called, counted, listed, picked, row_of
from mindgrad.dataset.samplers import (
    DistributedSampler,
    IterSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    SubsetSampler,
)
from mindgrad.dataset.workers import note_workers
from mindgrad.ops.arguments import whole_number

__all__ = ["GeneratorDataset", "NumpySlicesDataset"]

#: sections that the docstrings of all sources have in common
documented_source = SharedSections("""
    Args:
        dataset_dir (str or PathLike): folder that contains the files of the dataset.
        dataset_files (str, PathLike, or list of both): path of the file to read, or a list of paths.
        usage (str): part of the dataset to read: ``"train"``, ``"test"``, or ``"all"``. ``None``: the parts
            whose files exist.
        num_samples (int): maximum number of samples to read. ``None``: all samples.
        num_parallel_workers (int): accepted for compatibility.
        shuffle (bool): whether to shuffle the samples, differently in each pass. ``None``: ``True``.
        sampler (Sampler or iterable): sampler that selects and orders the samples: a :class:`Sampler` or a
            list of indices.
        decode (bool): whether to decode the images, which requires Pillow.
        num_shards (int): number of shards into which to divide the samples. ``None``: no division.
        shard_id (int): index of the shard that this dataset reads, from 0.
        cache (DatasetCache): accepted for compatibility.
        decrypt (Callable): function that receives the name of a file and returns its decrypted bytes.
""")


class GeneratorDataset(Dataset):
    """A dataset of the samples that a Python object returns.

    Args:
        source (Callable, iterable, or object): a function without arguments that returns an iterator (a
            generator function), an iterable, or an object with ``__getitem__`` and ``__len__`` (random
            access). Each item is one sample: a tuple, list, or iterator with one value (array, number,
            string, Tensor) for each column, or the value itself for one column. An iterator that can be read
            only once is stored in memory.
        column_names (str or list of str, optional): names of the columns. Default: ``None``.
        column_types (list of dtypes, optional): expected dtype of each column. A different dtype raises an
            error. Default: ``None``.
        schema (None, optional): not supported; use ``column_names``. Default: ``None``.
        num_samples (int, optional): maximum number of samples to read. ``None``: all samples. Default:
            ``None``.
        num_parallel_workers (int, optional): values above 1 have no effect, with a warning: the calling
            thread creates the samples. Default: ``1``.
        shuffle (bool, optional): whether to shuffle the samples, differently in each pass. ``None``: sources
            with random access are shuffled, others are not. A source without random access is read completely
            before it is shuffled. Default: ``None``.
        sampler (Sampler or iterable, optional): sampler that selects and orders the samples: a
            :class:`Sampler` or a list of indices. Default: ``None``.
        num_shards (int, optional): number of shards into which the samples are divided. Default: ``None``.
        shard_id (int, optional): index of the shard that this dataset reads, from 0. Default: ``None``.
        python_multiprocessing (bool, optional): accepted for compatibility. Default: ``True``.
        max_rowsize (Any, optional): accepted for compatibility.
        batch_sampler (None, optional): not supported; use ``batch``. Default: ``None``.
        collate_fn (None, optional): not supported; use ``batch(per_batch_map=...)``. Default: ``None``.

    Raises:
        TypeError: If ``source`` has an unsupported type. During iteration, if a value cannot be converted to
            an array.
        ValueError: If arguments contradict each other, such as ``sampler`` and ``shuffle``. During iteration,
            if a sample does not have one value for each column.
        RuntimeError: During iteration, if the source raises an error, which is the ``__cause__``.

    >>> from mindgrad import dataset as ds
    >>> def squares():
    ...     for i in range(3):
    ...         yield i, float(i * i)
    >>> for row in ds.GeneratorDataset(squares, ["x", "y"]).batch(3).create_dict_iterator(num_epochs=1):
    ...     print(row["x"], row["y"])
    [0 1 2] [0. 1. 4.]

    See Also:
        :class:`mindgrad.dataset.NumpySlicesDataset`, :class:`mindgrad.dataset.Dataset`
    """

    def __init__(
        self,
        source: Any,
        column_names: str | Sequence[str] | None = None,
        column_types: Sequence[Any] | None = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: Any = None,
        batch_sampler: Any = None,
        collate_fn: Any = None,
    ) -> None:
        kind = type(self).__name__
        note_workers(num_parallel_workers)
        for name, value, instead in (
            ("schema", schema, "name the columns in 'column_names'"),
            ("batch_sampler", batch_sampler, "use batch(batch_size)"),
            ("collate_fn", collate_fn, "use batch(batch_size, per_batch_map=...)"),
        ):
            if value is not None:
                raise ValueError(f"For '{kind}', '{name}' is not supported; {instead}.")
        if column_names is None:
            raise ValueError(
                f"For '{kind}', 'column_names' must be given: a name for each value of a sample."
            )
        names = tuple(names_of(column_names, kind, "column_names"))
        self._where = f"{kind}({', '.join(names)})"
        self._names = names
        self._types = None if column_types is None else _types(column_types, names, kind)
        self._random = RandomStep(0)
        number = None if num_samples is None else whole_number(num_samples, kind, "num_samples", 0) or None
        if hasattr(source, "__getitem__") and hasattr(source, "__len__") and not isinstance(source, type):
            self._source = source
            self._sampler = _sampler(kind, number, shuffle, sampler, num_shards, shard_id)
            super().__init__(self._step_at_any_place())
            return
        if sampler is not None or num_shards is not None or shard_id is not None:
            raise ValueError(
                f"For '{kind}', 'sampler', 'num_shards' and 'shard_id' require a source with '__getitem__' "
                f"and '__len__', but {_described(source)} does not have both. Leave these arguments out, "
                "or define both methods."
            )
        opened = _opener(source, kind)
        begin = lambda draw: self._iterated(opened, number, bool(shuffle), draw)
        super().__init__(Step(self._where, names, begin, lambda: None))

    # -- sources that are iterated ---------------------------------------------------------------

    def _iterated(
        self, opened: Callable[[], Iterator[Any]], most: int | None, shuffle: bool, draw: Draw
    ) -> Iterator[Row]:
        rows = itertools.islice(self._rows_of(opened), most)
        if not shuffle:
            return rows
        held = list(rows)
        return picked(held, draw.generator(self._random).permutation(len(held)).tolist())

    def _rows_of(self, opened: Callable[[], Iterator[Any]]) -> Iterator[Row]:
        source = called(opened, (), lambda: f"the source of {self._where}")
        end = object()
        for number in itertools.count():
            describe = lambda number=number: f"the source of {self._where}, at sample {number},"
            value = called(next, (source, end), describe)
            if value is end:
                return
            yield self._row(value, describe)

    # -- sources with random access --------------------------------------------------------------

    def _step_at_any_place(self) -> Step:
        return Step(
            self._where, self._names, self._read_at_places,
            count=lambda: self._sampler.count(self._length()), subset=self._with_rows,
        )  # fmt: skip

    def _length(self) -> int:
        return int(called(len, (self._source,), lambda: f"'__len__' of the source of {self._where}"))

    def _order(self, draw: Draw) -> Iterable[int]:
        size = self._length()
        indices = self._sampler.indices(size, draw.generator(self._random))
        if isinstance(indices, (range, np.ndarray)):
            places = np.asarray(indices)
            if len(places):
                self._place(places.min(), size)
                self._place(places.max(), size)
            return places
        return (self._place(each, size) for each in indices)

    def _place(self, index: Any, size: int) -> int:
        """Check an index that a sampler returned."""
        try:
            position = operator.index(index)
        except TypeError:
            raise TypeError(
                f"in {self._where}, the sampler returned {index!r}, which is not an index."
            ) from None
        if not 0 <= position < size:
            raise ValueError(
                f"in {self._where}, the sampler returned the index {position}, but the source has {size} "
                f"samples."
            )
        return position

    def _read_at_places(self, draw: Draw) -> Iterator[Row]:
        for place in map(int, self._order(draw)):
            what = lambda place=place: f"the source of {self._where}, at index {place},"
            yield self._row(called(operator.getitem, (self._source, place), what), what)

    def _with_rows(self, places: Sequence[int]) -> Dataset:
        """Return a copy of the dataset with some of its samples, given by their indices."""
        shuffles = isinstance(self._sampler, (RandomSampler, SubsetRandomSampler))
        if not (isinstance(self._sampler, RandomSampler) and self._sampler.num_samples is None):
            order = list(self._order(Draw(config.seed_in_force())))
            places = [order[i] for i in places]
        chosen = SubsetRandomSampler(places) if shuffles else SubsetSampler(places)
        dataset = object.__new__(type(self))
        dataset.__dict__.update(self.__dict__)
        dataset._sampler = chosen
        dataset._random = RandomStep(0)
        Dataset.__init__(dataset, dataset._step_at_any_place())
        return dataset

    # -- conversion of one row -------------------------------------------------------------------

    def _row(self, given: Any, describe: Callable[[], str]) -> Row:
        row = row_of(given, self._names, describe)
        if self._types is not None:
            for name, array, dtype in zip(self._names, row, self._types, strict=True):
                if array.dtype != dtype:
                    raise TypeError(
                        f"{describe()} returned {array.dtype} for '{name}', but 'column_types' declares "
                        f"{dtype}; convert it in the source, or change 'column_types'."
                    )
        return row


@documented_source
class NumpySlicesDataset(GeneratorDataset):
    """A dataset of the slices of arrays along their first axis.

    Args:
        data (numpy.ndarray, list, tuple, or dict): an array or list (one column), a tuple of arrays or lists
            (one column each), or a dict that maps column names to arrays. All arrays have the same length.
        column_names (str or list of str): names of the columns. ``None``: the keys of the dict, or
            ``column_0``, ``column_1``, ...

    Raises:
        TypeError: If a column is not an array of numbers, Booleans, or strings.
        ValueError: If ``data`` has no samples, columns differ in length, or the number of ``column_names``
            differs from the number of columns.

    >>> import numpy as np
    >>> from mindgrad import dataset as ds
    >>> points = {"x": np.linspace(0, 1, 3), "u": np.zeros(3, np.float32)}
    >>> for row in ds.NumpySlicesDataset(points, shuffle=False).batch(3).create_dict_iterator(num_epochs=1):
    ...     print(row["x"], row["u"].dtype)
    [0.  0.5 1. ] Float32

    See Also:
        :class:`mindgrad.dataset.GeneratorDataset`, :class:`mindgrad.dataset.Dataset`
    """

    def __init__(
        self,
        data: Any,
        column_names: str | Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        names: list[str]
        if isinstance(data, dict):
            names, columns = [str(name) for name in data], list(data.values())
        else:
            columns = list(data) if isinstance(data, tuple) else [data]
            names = [f"column_{i}" for i in range(len(columns))]
        if column_names is not None:
            renamed = names_of(column_names, "NumpySlicesDataset", "column_names")
            if len(renamed) != len(columns):
                raise ValueError(
                    f"For 'NumpySlicesDataset', got {counted(len(columns), 'column')}, but {len(renamed)} "
                    f"'column_names': {listed(renamed)}."
                )
            names = renamed
        arrays = [_column(each, name) for each, name in zip(columns, names, strict=True)]
        lengths = {name: len(each) for each, name in zip(arrays, names, strict=True)}
        if len(set(lengths.values())) > 1:
            raise ValueError(
                f"For 'NumpySlicesDataset', all columns must have the same length, but got {lengths}."
            )
        if not lengths or not next(iter(lengths.values())):
            raise ValueError("For 'NumpySlicesDataset', 'data' must have at least one sample.")
        self._arrays = arrays
        super().__init__(
            _Slices(arrays), names, None, None, num_samples, num_parallel_workers, shuffle, sampler,
            num_shards, shard_id,
        )  # fmt: skip

    def _step_at_any_place(self) -> Step:
        step = super()._step_at_any_place()
        step.arrays = self._in_order
        return step

    def _in_order(self, draw: Draw) -> tuple[np.ndarray, list[np.ndarray]]:
        order = self._order(draw)
        return order if isinstance(order, np.ndarray) else np.fromiter(order, np.int64), self._arrays


class _Slices:
    """Slices of arrays, as a source with random access."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, index: int) -> Row:
        return tuple(np.asarray(array[index]) for array in self.arrays)


# -- checks of arguments ---------------------------------------------------------------------------


def _column(data: Any, name: str) -> np.ndarray:
    array = array_of(data, f"For 'NumpySlicesDataset', the column '{name}'")
    if array.ndim == 0:
        raise TypeError(
            f"For 'NumpySlicesDataset', the column '{name}' must have a first axis to slice along, but got "
            f"{data!r}."
        )
    return array


def _types(column_types: Sequence[Any], names: Sequence[str], kind: str) -> list[np.dtype]:
    if len(column_types) != len(names):
        raise ValueError(
            f"For '{kind}', got {counted(len(names), 'column')}, but {len(column_types)} 'column_types'."
        )
    return [as_dtype(each).numpy for each in column_types]


def _sampler(
    kind: str, number: int | None, shuffle: Any, sampler: Any, num_shards: int | None, shard_id: int | None
) -> Sampler:
    if shuffle is not None and not isinstance(shuffle, bool):
        raise TypeError(f"For '{kind}', 'shuffle' must be a bool or None, but got {shuffle!r}.")
    if (num_shards is None) != (shard_id is None):
        raise ValueError(f"For '{kind}', 'num_shards' and 'shard_id' must be given together.")
    if sampler is not None:
        if number is not None or shuffle is not None or num_shards is not None:
            raise ValueError(
                f"For '{kind}', a 'sampler' determines the samples and their order: leave out 'num_samples', "
                f"'shuffle', 'num_shards' and 'shard_id'."
            )
        if isinstance(sampler, Sampler):
            return sampler
        if hasattr(sampler, "__iter__") and not isinstance(sampler, (str, Tensor)):
            return SubsetSampler(sampler)
        if hasattr(sampler, "__getitem__") and hasattr(sampler, "__len__") and not isinstance(sampler, str):
            return IterSampler(sampler)
        raise TypeError(
            f"For '{kind}', 'sampler' must be a Sampler or a list of indices, but got {sampler!r}."
        )
    if num_shards is not None and shard_id is not None:
        return DistributedSampler(num_shards, shard_id, shuffle is not False, number)
    return SequentialSampler(None, number) if shuffle is False else RandomSampler(num_samples=number)


def _opener(source: Any, kind: str) -> Callable[[], Iterator[Any]]:
    """Return a function that starts a new iteration over the source."""
    if isinstance(source, type) or not (hasattr(source, "__iter__") or hasattr(source, "__next__")):
        if not callable(source):
            raise TypeError(
                f"For '{kind}', 'source' must be a generator function, an iterable, or an object with "
                f"'__getitem__' and '__len__', but got {_described(source)}."
            )
        return lambda: iter(source())
    if hasattr(source, "__next__") and (not hasattr(source, "__iter__") or iter(source) is source):
        return _Kept(source).read
    return lambda: iter(source)


class _Kept:
    """A single-use iterator, with a buffer of its items for repeated reads."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator
        self.given: list[Any] = []

    def read(self) -> Iterator[Any]:
        for index in itertools.count():
            while index >= len(self.given):
                try:
                    self.given.append(next(self.iterator))
                except StopIteration:
                    return
            yield self.given[index]


def _described(value: Any) -> str:
    return f"a {type(value).__name__}"
