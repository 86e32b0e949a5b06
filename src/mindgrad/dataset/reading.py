"""Base class of datasets: iteration, size, and the shapes and dtypes of columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindgrad.dataset import config
from mindgrad.dataset.columns import places_of
from mindgrad.dataset.config import Draw
from mindgrad.dataset.iterators import DictIterator, TupleIterator
from mindgrad.dataset.rows import Row, listed
from mindgrad.dataset.writing import field_of, value_of
from mindgrad.mindrecord.filewriter import FileWriter
from mindgrad.ops.arguments import whole_number

__all__ = ["Readable", "Step"]


@dataclasses.dataclass
class Step:
    """One step of a pipeline."""

    #: names of the pipeline steps up to this one, for error messages
    where: str
    columns: tuple[str, ...]
    begin: Callable[[Draw], Iterator[Row]]
    #: function that returns the number of samples in a pass, or ``None`` if it is unknown
    count: Callable[[], int | None]
    #: number of pipeline steps before this one
    depth: int = 0
    batch_size: int = 1
    repeat_count: int = 1
    #: name that was passed to ``sync_wait`` -> callback that ``sync_update`` calls
    conditions: dict[str, Callable[[Any], Any] | None] = dataclasses.field(default_factory=dict)
    #: Only for sources that store arrays: function that returns the order of the samples in a pass, and all
    #: columns as arrays. ``batch`` slices these arrays, which is faster than stacking samples.
    arrays: Callable[[Draw], tuple[np.ndarray, Sequence[np.ndarray]]] | None = None
    #: only for sources with random access: function that returns the source with some of its samples, for
    #: ``split``
    subset: Callable[[Sequence[int]], Any] | None = None


def _no_rows(name: str) -> Iterator[Row]:
    raise TypeError(
        f"'{name}' is derived from Dataset, but does not define how to read samples. Pass an object with "
        f"__getitem__ and __len__ to GeneratorDataset: GeneratorDataset({name}(...), column_names)."
    )


class Readable:
    """Base class of datasets that are read pass by pass."""

    def __init__(self, step: Step | None = None) -> None:
        if step is None:  # a user's subclass of Dataset with ``__getitem__``
            step = Step(type(self).__name__, (), lambda draw: _no_rows(type(self).__name__), lambda: None)
        twice = [name for name in step.columns if step.columns.count(name) > 1]
        if twice:
            raise ValueError(
                f"in {step.where}, two columns would have the name '{twice[0]}'; rename one of them before: "
                f"rename('{twice[0]}', ...)."
            )
        self._step = step
        self._passes = 0
        self._seeded = config.times_seeded()
        self._size: int | None = None

    # -- passes over the dataset -----------------------------------------------------------------

    def _begin_pass(self, epoch: int) -> Iterator[Row]:
        if self._seeded != config.times_seeded():
            self._seeded = config.times_seeded()
            self._passes = 0
        draw = Draw(config.seed_in_force(), self._passes, epoch)
        self._passes += 1
        return self._step.begin(draw)

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DictIterator:
        """Return an iterator over samples, as dicts that map column names to values.

        Args:
            num_epochs (int, optional): maximum number of passes over the dataset. −1: unlimited. Default:
                ``-1``.
            output_numpy (bool, optional): whether the columns of a sample are NumPy arrays instead of
                Tensors. Default: ``False``.
            do_copy (bool, optional): accepted for compatibility; each sample is a copy. Default: ``False``.

        Returns:
            DictIterator: an iterator over samples as dicts.

        >>> from mindgrad import dataset as ds
        >>> for row in ds.NumpySlicesDataset({"x": [1.0, 2.0]}, shuffle=False).create_dict_iterator():
        ...     print(row["x"])
        1.0
        2.0
        """
        return DictIterator(self._begin_pass, self._step.columns, _epochs(num_epochs), output_numpy)

    def create_tuple_iterator(
        self,
        columns: Sequence[str] | None = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> TupleIterator:
        """Return an iterator over samples, as lists of columns.

        Args:
            columns (list of str, optional): names of the columns to return, in this order. ``None``: all
                columns. Default: ``None``.
            num_epochs (int, optional): maximum number of passes over the dataset. −1: unlimited. Default:
                ``-1``.
            output_numpy (bool, optional): whether the columns of a sample are NumPy arrays instead of
                Tensors. Default: ``False``.
            do_copy (bool, optional): accepted for compatibility; each sample is a copy. Default: ``False``.

        Returns:
            TupleIterator: an iterator over samples as lists.
        """
        begin = self._begin_pass
        if columns is not None:
            places = self._places(columns, "create_tuple_iterator", "columns")
            begin = lambda epoch: (tuple(row[i] for i in places) for row in self._begin_pass(epoch))
        return TupleIterator(begin, self._step.columns, _epochs(num_epochs), output_numpy)

    def __iter__(self) -> TupleIterator:
        return self.create_tuple_iterator(num_epochs=1)

    # -- sizes, shapes, and dtypes ---------------------------------------------------------------

    def get_dataset_size(self) -> int:
        """Return the number of samples in a pass; after ``batch``, the number of batches.

        A source of unknown length (a generator, a filter) is read once to count its samples.
        """
        if self._size is None:
            size = self._step.count()
            if size is None:
                size = sum(1 for _ in self._first_pass())
            self._size = size
        return self._size

    def __len__(self) -> int:
        return self.get_dataset_size()

    def _first_pass(self) -> Iterator[Row]:
        return self._step.begin(Draw(config.seed_in_force()))

    def _first_row(self) -> Row:
        for row in self._first_pass():
            return row
        raise ValueError(
            f"{self._step.where} has no samples, so the shapes and dtypes of its columns are unknown."
        )

    def get_batch_size(self) -> int:
        """Return the number of samples in a batch; 1 without ``batch``."""
        return self._step.batch_size

    def get_repeat_count(self) -> int:
        """Return the number of repetitions by ``repeat``; −1 if it is unlimited."""
        return self._step.repeat_count

    def get_col_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._step.columns)

    def output_shapes(self, estimate: bool = False) -> list[list[int]]:
        """Return the shapes of the columns of the first sample.

        Args:
            estimate (bool, optional): accepted for compatibility. Default: ``False``.
        """
        return [list(each.shape) for each in self._first_row()]

    def output_types(self) -> list[np.dtype]:
        """Return the NumPy dtypes of the columns of the first sample."""
        return [each.dtype for each in self._first_row()]

    # -- callbacks, saving, and random access ------------------------------------------------------

    def sync_update(self, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
        """Call the ``callback`` of ``sync_wait``.

        Args:
            condition_name (str): name of the callback that was passed to ``sync_wait``.
            num_batch (int, optional): accepted for compatibility. Default: ``None``.
            data (Any, optional): argument of the callback. Default: ``None``.

        Raises:
            ValueError: If ``sync_wait`` was not called with ``condition_name``.
        """
        if condition_name not in self._step.conditions:
            raise ValueError(
                f"For 'sync_update', there is no condition {condition_name!r} in {self._step.where}. Pass "
                "this name to sync_wait first. The known conditions are: "
                f"{listed(self._step.conditions) or 'none'}."
            )
        callback = self._step.conditions[condition_name]
        if callback is not None:
            callback(data)

    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Write the samples of one pass to MindRecord files, for :class:`MindDataset`.

        Integers of up to 32 bits and Booleans are written as int32, longer integers as int64, and float16 as
        float32.

        Args:
            file_name (str): name of the file to write. If ``num_files`` is above 1, a number is appended to
                it.
            num_files (int, optional): number of files among which the samples are divided. Default: ``1``.
            file_type (str, optional): must be ``"mindrecord"``. Default: ``"mindrecord"``.

        Raises:
            ValueError: If ``file_type`` is not ``"mindrecord"``, or the dataset has no samples.
            TypeError: If a column has an unsupported dtype.
        """
        if file_type != "mindrecord":
            raise ValueError(f"For 'save', 'file_type' must be 'mindrecord', but got {file_type!r}.")
        schema = {
            name: field_of(array, name)
            for name, array in zip(self._step.columns, self._first_row(), strict=True)
        }
        writer = FileWriter(file_name, num_files)
        writer.add_schema(schema)
        writer.write_raw_data(
            [
                {name: value_of(array, schema[name]) for name, array in zip(schema, row, strict=True)}
                for row in self._begin_pass(0)
            ]
        )
        writer.commit()

    def __repr__(self) -> str:
        return f"<{self._step.where}: columns {listed(self._step.columns)}>"

    def _places(self, columns: Any, method: str, argument: str) -> list[int]:
        """Return the indices of named columns."""
        return places_of(columns, self._step.columns, self._step.where, method, argument)


def _epochs(number: int) -> int:
    count = whole_number(number, "create_iterator", "num_epochs", -1)
    if count == 0:
        raise ValueError("For 'create_iterator', the 'num_epochs' must be -1 or at least 1, but got 0.")
    return count
