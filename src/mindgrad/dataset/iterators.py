"""Iterators over the samples of a dataset, as lists or dicts of Tensors or arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor
from mindgrad.dataset.objects import converted, is_boxed
from mindgrad.dataset.rows import Row

__all__ = ["DatasetIterator", "DictIterator", "TupleIterator"]


class DatasetIterator:
    """Iterator over the samples of one pass; iterating again starts the next pass.

    After ``num_epochs`` passes, a further pass raises ``RuntimeError``, as in MindSpore. If ``num_epochs`` is
    −1, the number of passes is unlimited.
    """

    def __init__(
        self,
        begin: Callable[[int], Iterator[Row]],
        columns: Sequence[str],
        num_epochs: int,
        output_numpy: bool,
    ) -> None:
        self._begin = begin
        self._columns = columns
        self._num_epochs = num_epochs
        self._output_numpy = output_numpy
        self._epoch = 0
        self._rows: Iterator[Row] | None = None

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        if self._rows is None:
            if 0 <= self._num_epochs <= self._epoch:
                raise RuntimeError(
                    f"the dataset has already been iterated 'num_epochs' = {self._num_epochs} times. "
                    "Create a new iterator, or request more epochs: create_dict_iterator(num_epochs=...)."
                )
            self._rows = self._begin(self._epoch)
        try:
            row = next(self._rows)
        except StopIteration:
            self._rows = None
            self._epoch += 1
            raise
        except Exception:
            self._rows = None
            raise
        return self._given([self._value(each) for each in row])

    def get_next(self) -> Any:
        """Return the next sample, or raise ``StopIteration`` at the end of a pass."""
        return next(self)

    def _value(self, array: np.ndarray) -> Any:
        if is_boxed(array):
            return converted(array.item(), self._value)
        if self._output_numpy:
            return np.array(array)
        # as in MindSpore, return strings as NumPy arrays, because Tensors cannot contain strings
        return array if array.dtype.kind in "SU" else Tensor(array)

    def _given(self, values: list[Any]) -> Any:
        raise NotImplementedError


class TupleIterator(DatasetIterator):
    """Iterator that returns each sample as a list of its columns, in order."""

    def _given(self, values: list[Any]) -> list[Any]:
        return values


class DictIterator(DatasetIterator):
    """Iterator that returns each sample as a dict that maps column names to values."""

    def _given(self, values: list[Any]) -> dict[str, Any]:
        return dict(zip(self._columns, values, strict=True))
