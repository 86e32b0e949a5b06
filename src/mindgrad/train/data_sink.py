"""``data_sink``: a function that takes its batches from a dataset by itself."""

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
    """A function without arguments that calls ``fn`` with the next batches of a dataset, over and over.

    Args:
        fn: a function of the columns of a batch.
        dataset: one of ``mindgrad.dataset``, or an iterable of batches that can be iterated again.
        sink_size: how many batches one call takes.
        jit_config: if given, ``fn`` is compiled.
        input_signature: accepted for compatibility.

    Returns:
        The function; it gives what ``fn`` gave for the last of its batches.

    Raises:
        TypeError: ``fn`` cannot be called, the dataset not be iterated, or ``sink_size`` is no int.
        ValueError: ``sink_size`` is less than 1; the dataset can be iterated only once, or is empty.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> step = ms.data_sink(lambda x: x.sum(), [np.float32([1.0, 2.0]), np.float32([3.0, 4.0])])
    >>> print(step(), step(), step())
    3.0 7.0 3.0
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
