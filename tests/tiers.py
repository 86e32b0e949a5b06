"""Eager mode in tests: the switch, whether calls are compiled, and results as arrays."""

import contextlib

import numpy as np

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir import settings

__all__ = ["arrays", "eager", "is_compiled"]


@contextlib.contextmanager
def eager(switch):
    """Calls of eager mode as ``MINDGRAD_EAGER=switch`` has them."""
    before = settings.get("eager")
    settings.store("eager", switch)
    try:
        yield
    finally:
        settings.store("eager", before)


def is_compiled(function):
    """Whether all kinds of calls of ``function`` are compiled."""
    lines = ms.cache_info(function).eager
    return bool(lines) and all(": compiled: " in line for line in lines)


def arrays(result):
    """The leaves of a result, tensors as arrays."""
    return [np.array(x.asnumpy()) if isinstance(x, Tensor) else x for x in flatten(result)[0]]
