"""Recursion on an explicit stack, for graphs deeper than Python's recursion limit.

A recursive function is written as a generator function. Instead of calling itself, it yields the generator of
the recursive call, and ``yield`` returns the result of this call. :func:`trampolined` runs these generators
in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

__all__ = ["trampolined"]


def trampolined(steps: Generator[Any, Any, Any], begin: Callable[[Any], Any] = lambda steps: steps) -> Any:
    """Run a generator and all generators that it yields, and return its result.

    Args:
        steps: the outermost generator.
        begin: creates the generator to run from a yielded value. By default, the value is the generator.

    >>> def depth(nested):
    ...     return 1 + (yield depth(nested[0])) if nested else 0
    >>> nested = ()
    >>> for _ in range(5000):
    ...     nested = (nested,)
    >>> trampolined(depth(nested))
    5000
    """
    running = [steps]
    result: Any = None
    while running:
        try:
            request = running[-1].send(result)
        except StopIteration as end:
            running.pop()
            result = end.value
        else:
            running.append(begin(request))
            result = None
    return result
