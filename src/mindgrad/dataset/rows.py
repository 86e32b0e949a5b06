"""Implementation of ``batch``, ``map``, ``filter``, and ``shuffle`` for one pass.

A row is one sample or one batch: a tuple of NumPy arrays, one for each column. The functions are generators
from rows to rows. ``where`` is the name of the dataset, for errors.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence, ValuesView
from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor
from mindgrad.dataset import pillow
from mindgrad.dataset.objects import boxed, is_boxed, unboxed
from mindgrad.dataset.randomness import drawing

__all__ = [
    "BatchInfo", "Row", "array_of", "batched", "called", "counted", "element_of", "exhausted", "filtered",
    "listed", "mapped", "per_batch", "picked", "row_of", "shuffled",
]  # fmt: skip

Row = tuple[np.ndarray, ...]
_LONGEST = 60  # maximum number of characters of a value in an error message


class BatchInfo:
    """Argument of ``per_batch_map`` and ``batch_size``: indices of batch and pass."""

    def __init__(self, batch: int, epoch: int) -> None:
        self._batch = batch
        self._epoch = epoch

    def get_batch_num(self) -> int:
        """Return the number of the batch in its pass, from 0."""
        return self._batch

    def get_epoch_num(self) -> int:
        """Return the number of the pass of this iterator, from 0."""
        return self._epoch


def array_of(value: Any, subject: str) -> np.ndarray:
    """Convert a user's value to an array of numbers, Booleans, or strings.

    Raises:
        TypeError: If ``value`` cannot be converted. The message starts with ``subject``.
    """
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        value = [
            array_of(each, subject) if isinstance(each, (Tensor, list, tuple)) else each for each in value
        ]
    try:
        array = np.asarray(value)
    except ValueError:  # the lists differ in length
        array = np.asarray(None)
    if array.dtype.hasobject or array.dtype.kind in "mM" or array.dtype.names is not None:
        shown = repr(value)
        raise TypeError(
            f"{subject} is {type(value).__name__} {shown[:_LONGEST] + '...' * (len(shown) > _LONGEST)}, "
            "which is not an array of numbers, Booleans, or strings."
        )
    return array


def element_of(value: Any, subject: str) -> np.ndarray:
    """Convert a user's value to an element of a row. A dict is stored in a 0-D object array.

    Raises:
        TypeError: If ``value`` is neither a dict nor an array. The message starts with ``subject``.
    """
    return boxed(value) if isinstance(value, dict) else array_of(value, subject)


def row_of(value: Any, columns: Sequence[str], describe: Callable[[], str]) -> Row:
    """Convert an item of a source to a row.

    A tuple, list, or iterator has one element for each column. Any other value is the only element.
    """
    value = exhausted(value, describe)
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    _check_count(values, columns, describe, "name all columns in 'column_names'")
    return tuple(
        element_of(each, f"{describe()}: '{name}'") for each, name in zip(values, columns, strict=True)
    )


def _check_count(values: Sequence[Any], columns: Sequence[str], describe: Any, advice: str) -> None:
    if len(values) != len(columns):
        raise ValueError(
            f"{describe()} returned {counted(len(values), 'value')} for the "
            f"{counted(len(columns), 'column')} {listed(columns)}. Return a tuple with one value for each "
            f"column, and {advice}."
        )


def counted(number: int, noun: str) -> str:
    """Format a number and a noun, which gets an ``s`` unless the number is 1."""
    return f"{number} {noun}{'s' * (number != 1)}"


def listed(columns: Iterable[str]) -> str:
    """Format names for a message."""
    return ", ".join(f"'{name}'" for name in columns)


def exhausted(value: Any, describe: Callable[[], str]) -> Any:
    """Convert an iterator to a tuple of its elements. Return other values unchanged."""
    if isinstance(value, Iterator):
        return called(tuple, (value,), describe)
    return tuple(value) if isinstance(value, ValuesView) else value


def called(function: Callable[..., Any], arguments: Sequence[Any], describe: Callable[[], str]) -> Any:
    """Call a user's function.

    Raises:
        RuntimeError: If the function raises an error, which is the cause. The message describes the call.
    """
    try:
        return function(*arguments)
    except Exception as error:
        raise RuntimeError(f"{describe()} raised {type(error).__name__}: {error}") from error


# -- pipeline steps: iterators of rows -------------------------------------------------------------


def mapped(
    rows: Iterable[Row],
    operations: Sequence[Callable[..., Any]],
    inputs: Sequence[int],
    outputs: Sequence[str],
    arranged: Callable[..., Row],
    where: str,
    generator: np.random.Generator,
) -> Iterator[Row]:
    """Yield each row with some columns replaced by the results of operations.

    Each operation receives the results of the previous one.

    Operations may pass Pillow images to the next operation. The results of the last operation are arrays.
    Random operations draw from ``generator``.
    """
    for number, row in enumerate(rows):
        values: tuple[Any, ...] = tuple(unboxed(row[i]) for i in inputs)
        for position, operation in enumerate(operations):

            def describe(at: int = position, operation: Any = operation, number: int = number) -> str:
                name = getattr(operation, "__name__", type(operation).__name__)
                which = (
                    f"operation {at + 1} of {len(operations)} ({name})"
                    if len(operations) > 1
                    else f"'{name}'"
                )
                return f"in {where}, {which} for sample {number}"

            with drawing(generator):
                found = exhausted(called(operation, values, describe), describe)
            results = found if isinstance(found, tuple) else (found,)
            last = position == len(operations) - 1
            passed = lambda value, last=last: (
                not last and (pillow.is_pillow(value) or isinstance(value, dict))
            )
            values = tuple(
                each if passed(each) else element_of(each, f"{describe()}: the result") for each in results
            )
        if len(values) != len(outputs):
            raise ValueError(
                f"in {where}, the operations returned {counted(len(values), 'value')} for sample {number}, "
                f"but for {counted(len(outputs), 'column')}, {listed(outputs)}. Name one column for each "
                "value in 'output_columns'."
            )
        yield arranged(row, values)


def filtered(
    rows: Iterable[Row], predicate: Callable[..., Any], inputs: Sequence[int], where: str
) -> Iterator[Row]:
    """Yield the rows for which the predicate is true."""
    for number, row in enumerate(rows):
        describe = lambda number=number: f"in {where}, the predicate for sample {number}"
        verdict = called(predicate, [unboxed(row[i]) for i in inputs], describe)
        if isinstance(verdict, Tensor):
            verdict = verdict.asnumpy()
        if np.size(verdict) != 1:
            raise ValueError(
                f"{describe()} returned {np.size(verdict)} values, but must return one Boolean. Use all() "
                "or any()."
            )
        if bool(np.reshape(verdict, ())):
            yield row


def shuffled(rows: Iterable[Row], buffer_size: int, generator: np.random.Generator) -> Iterator[Row]:
    """Yield the rows in random order, drawn from a buffer of ``buffer_size`` rows."""
    source = iter(rows)
    buffer = list(itertools.islice(source, buffer_size))
    for row in source:
        slot = int(generator.integers(len(buffer)))
        yield buffer[slot]
        buffer[slot] = row
    for slot in generator.permutation(len(buffer)):
        yield buffer[slot]


def picked(rows: Iterable[Row], chosen: Sequence[int]) -> Iterator[Row]:
    """Iterate over the rows with the indices ``chosen``, in that order."""
    held = list(rows)
    return (held[i] for i in chosen)


def batched(
    rows: Iterable[Row],
    columns: Sequence[str],
    size: int | Callable[[BatchInfo], int],
    drop_remainder: bool,
    epoch: int,
    where: str,
    collate: Callable[[list[list[np.ndarray]], BatchInfo], Row] | None = None,
) -> Iterator[Row]:
    """Yield batches of ``size`` rows, stacked along a new first axis.

    Args:
        rows (iterable of Row): the rows.
        columns (list or tuple of str): the names of the columns.
        size (int or Callable): number of rows in a batch, or a function that returns this number for each
            batch.
        drop_remainder (bool): whether to omit the last batch if it is incomplete.
        epoch (int): the number of the pass.
        where (str): the name of the dataset, for errors.
        collate (Callable, optional): function that creates a batch from a list of arrays for each column.
            Default: ``None``.
    """
    source = iter(rows)
    for number in itertools.count():
        info = BatchInfo(number, epoch)
        wanted = _size(size, info, where) if callable(size) else size
        chosen = list(itertools.islice(source, wanted))
        if not chosen or (drop_remainder and len(chosen) < wanted):
            return
        lists = [list(column) for column in zip(*chosen, strict=True)]
        if collate is not None:
            yield collate(lists, info)
        else:
            yield tuple(stack(each, name, number, where) for each, name in zip(lists, columns, strict=True))


def _size(size: Callable[[BatchInfo], int], info: BatchInfo, where: str) -> int:
    count = called(size, [info], lambda: f"in {where}, 'batch_size' for batch {info.get_batch_num()}")
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ValueError(
            f"in {where}, 'batch_size' returned {count!r} for batch {info.get_batch_num()}, but must "
            "return an int of at least 1."
        )
    return int(count)


def stack(arrays: list[np.ndarray], column: str, number: int, where: str) -> np.ndarray:
    """Stack the arrays of one column.

    Raises:
        ValueError: If the arrays differ in shape or dtype.
    """
    first = arrays[0]
    if all(map(is_boxed, arrays)):
        return boxed(_stacked([array.item() for array in arrays], column, number, where))
    for position, row in enumerate(arrays):
        if row.shape != first.shape:
            raise ValueError(
                f"in {where}, batch {number} cannot be stacked: column '{column}' has the shape "
                f"{first.shape} in its first sample and {row.shape} in sample {position}. Pad them in "
                "per_batch_map, or convert them to one shape with map."
            )
        if row.dtype != first.dtype and not (row.dtype.kind == first.dtype.kind and row.dtype.kind in "SU"):
            raise ValueError(
                f"in {where}, batch {number} cannot be stacked: column '{column}' is {first.dtype} in its "
                f"first sample and {row.dtype} in sample {position}. Give all samples one dtype in the "
                "source or in map."
            )
    return np.stack(arrays)


def _stacked(elements: list[dict[Any, Any]], column: str, number: int, where: str) -> dict[Any, Any]:
    """Stack the values of dicts with equal keys, separately for each key.

    Raises:
        ValueError: If the dicts differ in their keys, or values of one key cannot be stacked.
    """
    names = list(elements[0])
    if any(set(element) != set(names) for element in elements):
        raise ValueError(
            f"in {where}, batch {number} cannot be stacked: the dictionaries of column '{column}' have "
            f"different keys. Combine them in per_batch_map, or convert them with map."
        )
    what = f"in {where}, batch {number}: the value of column"
    columns = {
        name: [element_of(element[name], f"{what} '{column}[{name!r}]'") for element in elements]
        for name in names
    }
    return {
        name: unboxed(stack(values, f"{column}[{name!r}]", number, where)) for name, values in columns.items()
    }


def per_batch(
    function: Callable[..., Any],
    inputs: Sequence[int],
    outputs: Sequence[str],
    arranged: Callable[..., Row],
    columns: Sequence[str],
    where: str,
) -> Callable[[list[list[np.ndarray]], BatchInfo], Row]:
    """Return the ``collate`` function of :func:`batched` for ``per_batch_map``."""

    def run(lists: list[list[np.ndarray]], info: BatchInfo) -> Row:
        number = info.get_batch_num()
        describe = lambda: f"in {where}, 'per_batch_map' for batch {number}"
        found = called(function, [*([unboxed(part) for part in lists[i]] for i in inputs), info], describe)
        found = exhausted(found, describe)
        values = found if isinstance(found, tuple) else (found,)
        _check_count(values, outputs, describe, "name them in 'output_columns'")
        stacked = []
        for name, value in zip(columns, arranged(lists, values), strict=True):
            if isinstance(value, (list, tuple)):
                arrays = [element_of(part, f"{describe()}: '{name}'") for part in value]
                if not arrays:
                    raise ValueError(f"{describe()} returned an empty list for column '{name}'.")
                stacked.append(stack(arrays, name, number, where))
            else:
                stacked.append(element_of(value, f"{describe()}: '{name}'"))
        return tuple(stacked)

    return run
