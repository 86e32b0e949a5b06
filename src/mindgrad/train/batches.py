"""Iterate over the batches of a dataset for a ``Model``, as tuples of Tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np

from mindgrad.core.base.tree import map_leaves
from mindgrad.core.ir.tensor import Tensor

__all__ = ["Batches"]


class Batches:
    """The passes over a dataset.

    Args:
        owner: the name of the API, for errors.
        name: the name of the argument ``dataset`` in that API.
        dataset: a dataset of ``mindgrad.dataset``, or an iterable of tuples, lists, dicts, or single tensors.
        passes: the number of passes; −1 for any number.

    Attributes:
        size: the number of batches in a pass, or 0 if unknown.

    Raises:
        TypeError: If the dataset is not iterable.
        ValueError: If the dataset can be iterated only once, and several passes are needed.
    """

    def __init__(self, owner: str, name: str, dataset: Any, passes: int) -> None:
        self._where = f"For '{owner}', the '{name}'"
        if hasattr(dataset, "create_tuple_iterator"):
            self.size = int(dataset.get_dataset_size())
            self._source: Any = dataset.create_tuple_iterator(num_epochs=passes)
            return
        if isinstance(dataset, (str, bytes, Tensor, np.ndarray, Mapping)) or not isinstance(
            dataset, Iterable
        ):
            raise TypeError(
                f"{self._where} must be a dataset or an iterable of batches, but got "
                f"{type(dataset).__name__}."
            )
        if passes != 1 and iter(dataset) is dataset:
            raise ValueError(
                f"{self._where} is a generator or iterator, which yields its batches only once, but "
                "several passes over the batches are needed. Pass a list, or a class whose __iter__ "
                "starts from the beginning."
            )
        self.size = len(dataset) if isinstance(dataset, Sized) else 0
        self._source = dataset

    def one_pass(self) -> Iterator[tuple[Any, ...]]:
        """Yield the batches of the next pass.

        Raises:
            ValueError: If the dataset contains no batches.
        """
        is_empty = True
        for batch in self._source:
            is_empty = False
            yield self._arguments(batch)
        if is_empty:
            raise ValueError(f"{self._where} has no batches.")

    def passes_of(self, length: int) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Yield endless passes of ``length`` batches, which continue through the dataset.

        A pass starts at the batch after the previous pass. The dataset is repeated from its beginning.
        """

        def endless() -> Iterator[tuple[Any, ...]]:
            while True:
                yield from self.one_pass()

        batches = endless()
        while True:
            yield (next(batches) for _ in range(length))

    def _arguments(self, batch: Any) -> tuple[Any, ...]:
        if isinstance(batch, Mapping):
            batch = tuple(batch.values())
        elif not isinstance(batch, (tuple, list)):
            batch = (batch,)
        return tuple([map_leaves(_as_tensor, each) for each in batch])


def _as_tensor(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return leaf
    if isinstance(leaf, (np.ndarray, np.generic)):
        return Tensor(leaf) if leaf.dtype.kind in "biufc" or leaf.dtype.kind == "V" else leaf
    return Tensor(leaf) if isinstance(leaf, (bool, int, float, complex)) else leaf
