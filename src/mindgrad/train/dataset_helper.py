"""``DatasetHelper``: the batch iterator of MindSpore's training loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindgrad.common.dtype import pytype_to_dtype
from mindgrad.nn.cell import Cell
from mindgrad.train.batches import Batches

__all__ = ["DatasetHelper", "connect_network_with_dataset"]


class DatasetHelper:
    """An iterable of the batches of a dataset, as tuples of Tensors.

    Args:
        dataset (Dataset or iterable): dataset of ``mindgrad.dataset``, or another iterable of batches that
            can be iterated several times.
        dataset_sink_mode (bool, optional): accepted for compatibility; batches are always passed to Python.
            Default: ``True``.
        sink_size (int, optional): number of batches in one pass over this object. −1: all batches of the
            dataset. Default: ``-1``.
        epoch_num (int, optional): accepted for compatibility; the number of passes is not limited.
            Default: ``1``.

    Raises:
        TypeError: If the dataset is not iterable, or ``dataset_sink_mode`` is not a bool.
        ValueError: If ``sink_size`` is neither −1 nor positive.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> helper = ms.DatasetHelper([np.float32([1.0, 2.0]), np.float32([3.0, 4.0])], dataset_sink_mode=False)
    >>> for batch in helper:
    ...     print(batch[0])
    [1. 2.]
    [3. 4.]

    See Also:
        :func:`mindgrad.connect_network_with_dataset`, :func:`mindgrad.data_sink`
    """

    def __init__(
        self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1
    ) -> None:
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(
                f"For 'DatasetHelper', the 'dataset_sink_mode' must be a bool, but got {dataset_sink_mode!r}."
            )
        if (
            not isinstance(sink_size, int)
            or isinstance(sink_size, bool)
            or (sink_size < 1 and sink_size != -1)
        ):
            raise ValueError(
                f"For 'DatasetHelper', the 'sink_size' must be -1 or positive, but got {sink_size!r}."
            )
        self._dataset = dataset
        self._sink_size = sink_size
        batches = Batches("DatasetHelper", "dataset", dataset, -1)
        self._passes = iter(batches.one_pass, None) if sink_size == -1 else batches.passes_of(sink_size)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(next(self._passes))

    def types_shapes(self) -> tuple[list[Any], list[list[int]]]:
        """Return the dtypes and the shapes of the columns of the dataset."""
        types = [pytype_to_dtype(kind) for kind in self._dataset.output_types()]
        return types, self._dataset.output_shapes()

    #: alias of :meth:`types_shapes`
    get_data_info = types_shapes

    def sink_size(self) -> int:
        """Return 1, the number of batches for one training step."""
        return 1

    def stop_send(self) -> None:
        """Do nothing; accepted for compatibility."""

    continue_send = release = stop_send


def connect_network_with_dataset(network: Cell, dataset_helper: DatasetHelper) -> Cell:
    """Return the network unchanged, because batches are arguments of its calls.

    Args:
        network (Cell): network that is returned unchanged.
        dataset_helper (DatasetHelper): iterable of the batches.

    Returns:
        Cell: the unchanged ``network``.

    Raises:
        TypeError: If ``network`` is not a Cell, or ``dataset_helper`` is not a :class:`DatasetHelper`.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> helper = ms.DatasetHelper([np.float32([-1.0, 2.0])])
    >>> net = ms.connect_network_with_dataset(ms.nn.ReLU(), helper)
    >>> print(net(*next(iter(helper))))
    [0. 2.]

    See Also:
        :class:`mindgrad.DatasetHelper`
    """
    if not isinstance(network, Cell) or not isinstance(dataset_helper, DatasetHelper):
        raise TypeError(
            "For 'connect_network_with_dataset', the arguments must be a Cell and a DatasetHelper, but got "
            f"{type(network).__name__} and {type(dataset_helper).__name__}."
        )
    return network
