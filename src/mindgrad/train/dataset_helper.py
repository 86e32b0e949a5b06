"""Iteration over a dataset gives training loops of one's own the batches as tuples of Tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindgrad.common.dtype import pytype_to_dtype
from mindgrad.train.batches import Batches

__all__ = ["DatasetHelper", "connect_network_with_dataset"]


class DatasetHelper:
    """The batches of a dataset, pass by pass.

    Args:
        dataset: one of ``mindgrad.dataset``.
        dataset_sink_mode: accepted for compatibility: there is no queue on a device, and every batch is given
            to the loop, in both modes.
        sink_size: accepted for compatibility.
        epoch_num: accepted for compatibility: it can be iterated any number of times.

    Raises:
        TypeError: ``dataset`` cannot be iterated.

    >>> import mindgrad as ms
    >>> data = ms.dataset.NumpySlicesDataset([1.0, 2.0], shuffle=False)
    >>> for (x,) in ms.DatasetHelper(data, dataset_sink_mode=False):
    ...     print(x)
    1.0
    2.0
    """

    def __init__(
        self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1
    ) -> None:
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(
                f"For 'DatasetHelper', 'dataset_sink_mode' must be a bool, but got {dataset_sink_mode!r}."
            )
        self._batches = Batches("DatasetHelper", "dataset", dataset, -1)
        self._dataset = dataset

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The batches of the next pass."""
        return self._batches.one_pass()

    def types_shapes(self) -> tuple[list[Any], list[list[int]]]:
        """The element types and shapes of the columns of the first batch."""
        types = [pytype_to_dtype(each) for each in self._dataset.output_types()]
        return types, self._dataset.output_shapes()

    def sink_size(self) -> int:
        """The number of batches that one item of the iteration is: 1."""
        return 1

    def get_data_info(self) -> tuple[list[Any], list[list[int]]]:
        """What :meth:`types_shapes` gives."""
        return self.types_shapes()

    def stop_send(self) -> None:
        """Nothing: there is no queue."""

    def release(self) -> None:
        """Nothing: there is no queue."""

    def continue_send(self) -> None:
        """Nothing: there is no queue."""


def connect_network_with_dataset(network: Any, dataset_helper: DatasetHelper) -> Any:
    """The network itself: the loop over the helper gives it its inputs.

    Args:
        network: a Cell.
        dataset_helper: a :class:`DatasetHelper`.

    Returns:
        ``network``, to be called with each item of ``dataset_helper``.

    Raises:
        TypeError: ``dataset_helper`` is none.

    >>> import mindgrad as ms
    >>> helper = ms.DatasetHelper(ms.dataset.NumpySlicesDataset([1.0, 2.0], shuffle=False))
    >>> net = ms.connect_network_with_dataset(ms.nn.ReLU(), helper)
    >>> print(*[float(net(*inputs)) for inputs in helper])
    1.0 2.0
    """
    if not isinstance(dataset_helper, DatasetHelper):
        raise TypeError(
            f"For 'connect_network_with_dataset', 'dataset_helper' must be a DatasetHelper, but got "
            f"{type(dataset_helper).__name__}."
        )
    return network
