"""``Dataset``: a pipeline of steps that convert the samples of one pass.

Each step has a function that starts a pass. The function maps a ``Draw`` (the seed and the number of the
pass) to an iterator of samples. A pipeline is therefore evaluated lazily, can be read repeatedly and by
several iterators at a time, and its random numbers depend only on the draw.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from mindgrad.dataset import config
from mindgrad.dataset.columns import arrangement, names_of, part_sizes
from mindgrad.dataset.config import Draw, RandomStep
from mindgrad.dataset.reading import Readable, Step
from mindgrad.dataset.rows import (
    BatchInfo,
    Row,
    batched,
    filtered,
    listed,
    mapped,
    per_batch,
    picked,
    shuffled,
)
from mindgrad.dataset.workers import note_workers
from mindgrad.ops.arguments import whole_number

__all__ = ["Dataset", "zip"]

_zip = zip
_ACCEPTED = ("python_multiprocessing", "max_rowsize", "cache", "callbacks", "offload", "num_parallel_workers")


class Dataset(Readable):
    """Samples with named columns: a source, followed by pipeline steps.

    Iteration returns each sample as a list of Tensors::

        for x, y in GeneratorDataset(source, ["x", "y"]).batch(32): ...

    Each method returns a new Dataset. Samples are in the order of the source; sources with random access are
    shuffled by default, see :class:`GeneratorDataset`. The seed is the seed of ``mindgrad.set_seed`` or
    ``dataset.config.set_seed``. Dtypes are the dtypes of the source: float64 for Python floats and NumPy's
    default.

    See Also:
        :class:`mindgrad.dataset.GeneratorDataset`, :class:`mindgrad.dataset.NumpySlicesDataset`
    """

    #: name of a method, such as ``"batch"`` -> class of the Dataset that it returns
    _kinds: ClassVar[dict[str, type[Dataset]]] = {}

    def __init_subclass__(cls, step: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if step:
            Dataset._kinds[step] = cls

    def _then(self, name: str, begin: Callable[[Draw], Iterator[Row]], **changes: Any) -> Dataset:
        step = self._step
        changes.setdefault("count", self._size_or_none)
        return self._kinds.get(name, Dataset)(
            dataclasses.replace(
                step, where=f"{step.where}.{name}", begin=begin, depth=step.depth + 1,
                **{"arrays": None, "subset": None} | changes,
            )
        )  # fmt: skip

    def _size_or_none(self) -> int | None:
        return self._size if self._size is not None else self._step.count()

    def batch(
        self,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        per_batch_map: Callable[..., Any] | None = None,
        input_columns: Any = None,
        output_columns: Any = None,
        column_order: Any = None,
        pad_info: Any = None,
        **others: Any,
    ) -> Dataset:
        """Combine samples into batches, stacked along a new first axis.

        Args:
            batch_size (int or Callable): number of samples in a batch, or a function that receives a
                BatchInfo and returns this number for each batch.
            drop_remainder (bool, optional): whether to omit an incomplete last batch. Default: ``False``.
            num_parallel_workers (int, optional): values above 1 have no effect, with a warning.
                Default: ``None``.
            per_batch_map (Callable, optional): function that creates the columns of a batch. Its arguments
                are, for each of ``input_columns``, a list with one array per sample, and then a BatchInfo. It
                returns a tuple with a list of arrays, or an array, for each of ``output_columns``. Default:
                ``None``.
            input_columns (str or list of str, optional): names of the columns that ``per_batch_map``
                receives. ``None``: all columns. Default: ``None``.
            output_columns (str or list of str, optional): names of the columns that ``per_batch_map``
                returns. ``None``: ``input_columns``. Default: ``None``.
            column_order (list of str, optional): names of the columns to keep, in this order. ``None``: all
                columns. Default: ``None``.
            pad_info (None, optional): not supported; pad in ``per_batch_map``. Default: ``None``.
            **others (Any): MindSpore's other options, accepted for compatibility.

        Returns:
            Dataset: a dataset of the batches.

        Raises:
            TypeError: If ``batch_size`` is neither an int nor callable.
            ValueError: If ``batch_size`` is less than 1. During iteration, if samples of a batch differ in
                shape or dtype.

        >>> from mindgrad import dataset as ds
        >>> print([x.shape for x, in ds.NumpySlicesDataset([1, 2, 3]).batch(2)])
        [(2,), (1,)]
        """
        _only_known("batch", others)
        note_workers(num_parallel_workers)
        if pad_info is not None:
            raise ValueError(
                "For 'batch', 'pad_info' is not supported; pad the samples to one shape in per_batch_map or "
                "in map."
            )
        if not callable(batch_size):
            batch_size = whole_number(batch_size, "batch", "batch_size", 1)
        where, step = f"{self._step.where}.batch", self._step
        columns, changed = list(step.columns), None
        if per_batch_map is not None:
            places = self._places(
                step.columns if input_columns is None else input_columns, "batch", "input_columns"
            )
            outputs = [columns[i] for i in places]
            if output_columns is not None:
                outputs = names_of(output_columns, "batch", "output_columns")
            columns, arranged = arrangement(columns, places, outputs)
            changed = per_batch(per_batch_map, places, outputs, arranged, columns, where)

        def begin(draw: Draw) -> Iterator[Row]:
            if step.arrays is not None and changed is None and not callable(batch_size):
                order, arrays = step.arrays(draw)
                end = len(order) - len(order) % batch_size if drop_remainder else len(order)
                starts = range(0, end, batch_size)
                return (tuple(array[order[i : i + batch_size]] for array in arrays) for i in starts)
            return batched(
                step.begin(draw), step.columns, batch_size, drop_remainder, draw.epoch, where, changed
            )

        def count() -> int | None:
            if callable(batch_size):
                return None
            rows = self.get_dataset_size()
            return rows // batch_size if drop_remainder else -(-rows // batch_size)

        size = 1 if callable(batch_size) else batch_size * step.batch_size
        made = self._then("batch", begin, columns=tuple(columns), count=count, batch_size=size)
        return made if column_order is None else made.project(column_order)

    def map(
        self,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        column_order: Any = None,
        num_parallel_workers: int | None = None,
        **others: Any,
    ) -> Dataset:
        """Replace columns by the results of functions.

        Args:
            operations (Callable or list of Callable): function to apply to each sample, or a list of
                functions, each applied to the results of the previous one. A function receives one array for
                each column, and returns an array, number, or Tensor, or a tuple of them.
            input_columns (str or list of str, optional): names of the columns that the first function
                receives. ``None``: the first column. Default: ``None``.
            output_columns (str or list of str, optional): names of the results of the last function.
                ``None``: ``input_columns``. If there are as many outputs as inputs, the outputs replace the
                input columns in place; otherwise the outputs precede the other columns. Default: ``None``.
            column_order (list of str, optional): names of the columns to keep, in this order. ``None``: all
                columns. Default: ``None``.
            num_parallel_workers (int, optional): values above 1 have no effect, with a warning.
                Default: ``None``.
            **others (Any): MindSpore's other options, accepted for compatibility.

        Returns:
            Dataset: a dataset of the changed samples.

        Raises:
            RuntimeError: During iteration, if a function raises an error, which is the ``__cause__``.
            ValueError: If a named column does not exist. During iteration, if the last function does not
                return one value for each of ``output_columns``.

        >>> from mindgrad import dataset as ds
        >>> data = ds.NumpySlicesDataset({"x": [1.0, 2.0]}, shuffle=False).map(lambda x: 10 * x, "x")
        >>> print([float(x) for x, in data])
        [10.0, 20.0]
        """
        _only_known("map", others)
        note_workers(num_parallel_workers)
        functions = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        wrong = [each for each in functions if not callable(each)]
        if wrong or not functions:
            raise TypeError(
                f"For 'map', 'operations' must be a function or a list of functions, but got "
                f"{wrong[0] if wrong else operations!r}."
            )
        names = self._step.columns[:1] if input_columns is None else input_columns
        places = self._places(names, "map", "input_columns")
        outputs = [self._step.columns[i] for i in places]
        if output_columns is not None:
            outputs = names_of(output_columns, "map", "output_columns")
        columns, arranged = arrangement(self._step.columns, places, outputs)
        where, before = f"{self._step.where}.map", self._step.begin
        random = RandomStep(self._step.depth + 1)
        begin = lambda draw: mapped(
            before(draw), functions, places, outputs, arranged, where, draw.generator(random)
        )
        mapping = self._then("map", begin, columns=tuple(columns))
        # the fourth positional argument is ``column_order`` in MindSpore 1.x, but ``num_parallel_workers`` in
        # 2.x
        keeps_columns = column_order is None or isinstance(column_order, int)
        return mapping if keeps_columns else mapping.project(column_order)

    def filter(
        self,
        predicate: Callable[..., Any],
        input_columns: Any = None,
        num_parallel_workers: int | None = None,
    ) -> Dataset:
        """Keep the samples for which ``predicate`` is true.

        Args:
            predicate (Callable): function that receives one array for each of ``input_columns`` and returns a
                Boolean.
            input_columns (str or list of str, optional): names of the columns that ``predicate`` receives.
                ``None``: all columns. Default: ``None``.
            num_parallel_workers (int, optional): values above 1 have no effect, with a warning.
                Default: ``None``.

        Returns:
            Dataset: a dataset of the remaining samples.
        """
        note_workers(num_parallel_workers)
        if not callable(predicate):
            raise TypeError(f"For 'filter', 'predicate' must be a function, but got {predicate!r}.")
        names = self._step.columns if input_columns is None else input_columns
        places = self._places(names, "filter", "input_columns")
        where, before = f"{self._step.where}.filter", self._step.begin
        begin = lambda draw: filtered(before(draw), predicate, places, where)
        return self._then("filter", begin, count=lambda: None)

    def shuffle(self, buffer_size: int) -> Dataset:
        """Shuffle the samples; each pass over the dataset has a different order.

        Args:
            buffer_size (int): size of the shuffle buffer, at least 2: each sample is drawn at random from the
                next ``buffer_size`` samples. If the buffer holds the whole dataset, all orders have the same
                probability.

        Returns:
            Dataset: a dataset of the shuffled samples.
        """
        number = whole_number(buffer_size, "shuffle", "buffer_size", 2)
        random, before = RandomStep(self._step.depth + 1), self._step.begin
        begin = lambda draw: shuffled(before(draw), number, draw.generator(random))
        return self._then("shuffle", begin)

    def repeat(self, count: int | None = None) -> Dataset:
        """Repeat the dataset; preceding random steps differ in each repetition.

        Args:
            count (int, optional): number of repetitions of the dataset. ``None`` or −1: unlimited. Default:
                ``None``.

        Returns:
            Dataset: a dataset of the repeated samples.
        """
        number = -1 if count is None else whole_number(count, "repeat", "count", -1)
        if number == 0:
            raise ValueError("For 'repeat', the 'count' must be -1 or at least 1, but got 0.")
        before, where = self._step.begin, f"{self._step.where}.repeat"

        def begin(draw: Draw) -> Iterator[Row]:
            for time in itertools.count() if number < 0 else range(number):
                # each repetition in each pass has a unique number, which determines its random numbers
                inner = draw.number * number + time if number > 0 else (draw.number << 32) + time
                empty = True
                for row in before(draw._replace(number=inner)):
                    empty = False
                    yield row
                if empty:
                    return  # end here, because repeating an empty dataset would never yield a row

        def size() -> int:
            if number < 0:
                raise ValueError(
                    f"{where} is endless, so its size is undefined. Give a number of repetitions, or use "
                    f"take(count)."
                )
            return self.get_dataset_size() * number

        return self._then("repeat", begin, count=size, repeat_count=number)

    def take(self, count: int = -1) -> Dataset:
        """Keep only the first samples of the dataset.

        Args:
            count (int, optional): number of samples to keep. −1: all samples. Default: ``-1``.

        Returns:
            Dataset: a dataset of the first ``count`` samples.
        """
        number = whole_number(count, "take", "count", -1)
        if number == 0:
            raise ValueError("For 'take', the 'count' must be -1 or at least 1, but got 0.")
        if number < 0:
            return self
        before = self._step.begin
        begin = lambda draw: itertools.islice(before(draw), number)
        return self._then("take", begin, count=lambda: self._least(number))

    def _least(self, number: int) -> int | None:
        if self._step.repeat_count < 0:
            return number
        return min(number, self.get_dataset_size())

    def skip(self, count: int) -> Dataset:
        """Omit the first samples of the dataset.

        Args:
            count (int): number of samples to omit.

        Returns:
            Dataset: a dataset of the remaining samples.
        """
        number = whole_number(count, "skip", "count", 0)
        before = self._step.begin
        begin = lambda draw: itertools.islice(before(draw), number, None)
        return self._then("skip", begin, count=lambda: max(self.get_dataset_size() - number, 0))

    def project(self, columns: Any) -> Dataset:
        """Select columns of the dataset, in the given order.

        Args:
            columns (str or list of str): names of the columns to keep.

        Returns:
            Dataset: a dataset with the selected columns only.
        """
        places = self._places(columns, "project", "columns")
        before = self._step.begin
        begin = lambda draw: (tuple(row[i] for i in places) for row in before(draw))
        return self._then("project", begin, columns=tuple(self._step.columns[i] for i in places))

    def sync_wait(
        self, condition_name: str, num_batch: int = 1, callback: Callable[[Any], Any] | None = None
    ) -> Dataset:
        """Register a callback for ``sync_update``; the samples do not change.

        ``sync_update`` of this dataset, or of a later step, calls ``callback``. A sample is created when it
        is requested, so all previous callbacks have already run.

        Args:
            condition_name (str): name of the callback, which is passed to ``sync_update``.
            num_batch (int, optional): accepted for compatibility. Default: ``1``.
            callback (Callable, optional): function that ``sync_update`` calls with its argument ``data``.
                Default: ``None``.

        Returns:
            Dataset: a dataset of the same samples.
        """
        conditions = {**self._step.conditions, condition_name: callback}
        return self._then("sync_wait", self._step.begin, conditions=conditions)

    def rename(self, input_columns: Any, output_columns: Any) -> Dataset:
        """Rename columns of the dataset.

        Args:
            input_columns (str or list of str): old names of the columns.
            output_columns (str or list of str): new names of the columns, one for each of ``input_columns``.

        Returns:
            Dataset: a dataset with renamed columns.
        """
        places = self._places(input_columns, "rename", "input_columns")
        names = names_of(output_columns, "rename", "output_columns")
        if len(names) != len(places):
            raise ValueError(
                f"For 'rename', 'output_columns' and 'input_columns' must have the same length, but got "
                f"{len(names)} and {len(places)}."
            )
        columns = list(self._step.columns)
        for place, name in _zip(places, names, strict=True):
            columns[place] = name
        return self._then("rename", self._step.begin, columns=tuple(columns), arrays=self._step.arrays)

    def zip(self, datasets: Any) -> Dataset:
        """Combine the columns of this and other datasets, up to the end of the shortest.

        Args:
            datasets (Dataset, tuple, or list of Dataset): one or several datasets to combine with this
                dataset.

        Returns:
            Dataset: a dataset of the combined samples.
        """
        return zip((self, *_several(datasets, "zip")))

    def concat(self, datasets: Any) -> Dataset:
        """Append the samples of other datasets with the same columns.

        Args:
            datasets (Dataset, tuple, or list of Dataset): one or several datasets to combine with this
                dataset.

        Returns:
            Dataset: a dataset of the samples of all datasets, one dataset after another.
        """
        all_ = (self, *_several(datasets, "concat"))
        for dataset in all_:
            if dataset._step.columns != self._step.columns:
                raise ValueError(
                    f"For 'concat', all datasets must have the same columns in the same order, but "
                    f"{self._step.where} has {listed(self._step.columns)} and {dataset._step.where} has "
                    f"{listed(dataset._step.columns)}; use rename or project."
                )
        begins = [dataset._step.begin for dataset in all_]
        begin = lambda draw: itertools.chain.from_iterable(start(draw) for start in begins)
        return self._then("concat", begin, count=lambda: sum(dataset.get_dataset_size() for dataset in all_))

    def __add__(self, other: Dataset) -> Dataset:
        return self.concat(other)

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Call a function with this dataset, and return its result.

        Args:
            apply_func (Callable): function that receives this Dataset and returns a Dataset.

        Returns:
            Dataset: the result of ``apply_func``.
        """
        found = apply_func(self)
        _check_dataset(found, "apply")
        return found

    def split(self, sizes: Sequence[int] | Sequence[float], randomize: bool = True) -> list[Dataset]:
        """Split the samples into disjoint parts, which are the same in each pass.

        Args:
            sizes (list of int or list of float): number of samples in each part, or each part as a fraction
                of the dataset. The sizes must add up to the number of all samples, or the fractions to 1.
            randomize (bool, optional): whether to assign samples to the parts at random instead of in order.
                Default: ``True``.

        Returns:
            list of Dataset: disjoint parts of the dataset, one for each of ``sizes``.

        Raises:
            ValueError: If ``sizes`` do not add up to all samples, or a part would be empty.

        >>> from mindgrad import dataset as ds
        >>> train, test = ds.NumpySlicesDataset(list(range(10))).split([0.8, 0.2])
        >>> len(train), len(test)
        (8, 2)
        """
        total = self.get_dataset_size()
        numbers = part_sizes(sizes, total)
        seed = config.seed_in_force()
        order = np.arange(total)
        if randomize:
            order = Draw(seed).generator(RandomStep(self._step.depth + 1)).permutation(total)
        ends = np.cumsum([0, *numbers])
        parts = [order[a:b].tolist() for a, b in itertools.pairwise(ends.tolist())]
        if self._step.subset is not None:
            return [self._step.subset(part) for part in parts]
        # use the same random numbers in all passes over all parts. Otherwise, a random step before ``split``
        # could move a sample from one part to another in the next pass
        before, pinned = self._step.begin, Draw(seed)

        def made(part: list[int]) -> Dataset:
            return self._then("split", lambda _: picked(before(pinned), part), count=lambda: len(part))

        return [made(part) for part in parts]


def zip(datasets: Sequence[Dataset]) -> Dataset:
    """Combine the columns of several datasets, up to the end of the shortest.

    Args:
        datasets (tuple or list of Dataset): datasets whose columns have different names.

    Returns:
        Dataset: a dataset of the combined samples.

    >>> from mindgrad import dataset as ds
    >>> x = ds.NumpySlicesDataset({"x": [1, 2, 3]}, shuffle=False)
    >>> y = ds.NumpySlicesDataset({"y": [4.0, 5.0]}, shuffle=False)
    >>> print([(int(a), float(b)) for a, b in ds.zip((x, y))])
    [(1, 4.0), (2, 5.0)]
    """
    parts = _several(datasets, "zip")
    if len(parts) < 2:
        raise ValueError(f"For 'zip', pass at least two datasets, but got {len(parts)}.")
    begins = [dataset._step.begin for dataset in parts]

    def begin(draw: Draw) -> Iterator[Row]:
        for rows in _zip(*(start(draw) for start in begins), strict=False):
            yield tuple(itertools.chain.from_iterable(rows))

    def count() -> int:
        ends = [dataset for dataset in parts if dataset._step.repeat_count >= 0]
        return min(dataset.get_dataset_size() for dataset in ends or parts)

    where = f"zip({', '.join(dataset._step.where for dataset in parts)})"
    columns = tuple(itertools.chain.from_iterable(dataset._step.columns for dataset in parts))
    step = Step(where, columns, begin, count, max(dataset._step.depth for dataset in parts) + 1)
    return Dataset._kinds.get("zip", Dataset)(step)


def _several(datasets: Any, method: str) -> tuple[Dataset, ...]:
    """Return one or several Datasets as a tuple."""
    listed = tuple(datasets) if isinstance(datasets, (list, tuple)) else (datasets,)
    for dataset in listed:
        _check_dataset(dataset, method)
    return listed


def _check_dataset(value: Any, method: str) -> None:
    if not isinstance(value, Dataset):
        raise TypeError(f"For '{method}', a Dataset is expected, but got {type(value).__name__}.")


def _only_known(method: str, options: dict[str, Any]) -> None:
    for name in options:
        if name not in _ACCEPTED:
            raise TypeError(f"{method}() got an unexpected keyword argument '{name}'")
    note_workers(options.get("num_parallel_workers"))
