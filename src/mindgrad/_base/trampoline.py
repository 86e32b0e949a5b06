"""Deep recursion on one explicit stack: graphs can be deeper than Python's calls may be.

A function that would call itself is written as a generator: it yields the generators whose results it needs
and receives these. :func:`trampolined` runs it in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

__all__ = ["trampolined"]


def trampolined(steps: Generator[Any, Any, Any], begin: Callable[[Any], Any] = lambda steps: steps) -> Any:
    """Run ``steps``, and for each value that is yielded a generator; the result of ``steps``.

    Args:
        steps: the outermost generator.
        begin: makes the generator of what is yielded, by default this itself.

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
