"""``data_sink``: bind a function to the batches of a dataset."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindgrad.api.jit import jit
from mindgrad.nn.hyperparameters import positive_int
from mindgrad.train.batches import Batches

__all__ = ["data_sink"]


def data_sink(
    fn: Callable[..., Any],
    dataset: Any,
    sink_size: int = 1,
    jit_config: Any = None,
    input_signature: Any = None,
) -> Callable[[], Any]:
    """Return a function that calls ``fn`` with the next batches of a dataset.

    The function does not have arguments. It repeats the dataset indefinitely.

    Args:
        fn (Callable): function that receives the columns of a batch as arguments.
        dataset (Dataset or iterable): dataset of ``mindgrad.dataset``, or another iterable of batches that
            can be iterated several times.
        sink_size (int, optional): number of batches that one call of the returned function processes.
            Default: ``1``.
        jit_config (JitConfig, optional): options of ``jit``. If given, ``fn`` is compiled. Default: ``None``.
        input_signature (Any, optional): accepted for compatibility. Default: ``None``.

    Returns:
        Callable: function without arguments that calls ``fn`` with the next batches, and returns the result
            for the last one.

    Raises:
        TypeError: If ``fn`` is not callable, the dataset is not iterable, or ``sink_size`` is not an int.
        ValueError: If ``sink_size`` is less than 1, or the dataset is empty or can be iterated only once.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> step = ms.data_sink(lambda x: x.sum(), [np.float32([1.0, 2.0]), np.float32([3.0, 4.0])])
    >>> print(step(), step(), step())
    3.0 7.0 3.0

    See Also:
        :class:`mindgrad.train.Model`, :class:`mindgrad.DatasetHelper`
    """
    if not callable(fn):
        raise TypeError(f"For 'data_sink', the 'fn' must be a function or Cell, but got {type(fn).__name__}.")
    size = positive_int("data_sink", "sink_size", sink_size)
    passes = Batches("data_sink", "dataset", dataset, -1).passes_of(size)
    called = fn if jit_config is None else jit(fn)

    @functools.wraps(fn, updated=())
    def sink_process() -> Any:
        result = None
        for batch in next(passes):
            result = called(*batch)
        return result

    return sink_process
