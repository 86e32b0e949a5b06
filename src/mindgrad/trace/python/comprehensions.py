"""Run ``sum``, ``any``, and ``all`` of a comprehension as a loop.

    sum(f(x) for x in xs if c(x))   ->   for x in xs:
                                             if c(x): total = total + f(x)

If ``c(x)`` is a tensor, the number of items that pass the filter is not known at compile time, so Python
cannot evaluate the comprehension. The loop can be traced, and becomes one ``scan`` if it has many iterations
(``trace.control.runtime``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.scope import GraphScope, innermost
from mindgrad.ir.tensor import Tensor
from mindgrad.trace import state

__all__ = ["CONSUMERS", "consumed"]

#: names of the functions whose comprehensions become loops
CONSUMERS = ("sum", "any", "all")


def consumed(
    runtime: Any,
    function: Any,
    items: Any,
    test: Callable[..., Any] | None,
    element: Callable[..., Any],
    is_list: bool,
    others: tuple[Any, ...],
) -> Any:
    """Evaluate ``function((element(x) for x in items if test(x)), *others)``.

    Args:
        runtime: the ``Runtime``, which runs and traces statements.
        function: value of the name ``sum``, ``any``, or ``all`` in the user's code. It may be another
            function, which is called with the comprehension.
        items: the iterable.
        test, element: functions of an unused argument and an item.
        is_list: whether the comprehension is a list comprehension, not a generator expression.
        others: further arguments, such as the start of a sum.
    """
    if isinstance(innermost(), GraphScope):
        if function is sum:
            return _sum(runtime, items, test, element, *others)
        if function in (any, all) and not others:
            return _decided(runtime, function is any, items, test, element, is_list)
    made = (element(None, x) for x in _read(items) if test is None or test(None, x))
    return runtime.call(function)(runtime.made(list(made)) if is_list else made, *others)


def _read(items: Any) -> Any:
    return state.read(items) if isinstance(items, Tensor) else items


def _decided(
    runtime: Any,
    is_any: bool,
    items: Any,
    test: Callable[..., Any] | None,
    element: Callable[..., Any],
    is_list: bool,
) -> Any:
    """Evaluate ``any`` or ``all`` of a comprehension as a loop.

    The loop ends early, except for a list comprehension, which evaluates all its elements.
    """
    verdict: Any = not is_any

    def get() -> tuple[Any, ...]:
        return (verdict,)

    def put(values: tuple[Any, ...]) -> None:
        nonlocal verdict
        (verdict,) = values

    def holds(x: Any) -> Any:
        def truth() -> Any:
            return runtime.not_(runtime.not_(element(None, x)))

        if test is None:
            return truth()
        if is_any:
            return runtime.and_(runtime.not_(runtime.not_(test(None, x))), truth)
        return runtime.or_(runtime.not_(test(None, x)), truth)

    def iteration(x: Any) -> None:
        nonlocal verdict
        decided = runtime.or_ if is_any else runtime.and_
        if is_list:
            value = holds(x)
            verdict = decided(verdict, lambda: value)
        else:
            verdict = decided(verdict, lambda: holds(x))

    items = _read(items)
    # iterables of other types may be infinite, so their loop ends at the first decisive item
    is_finite = isinstance(items, (range, Tensor))
    stopped = None if is_finite or is_list else lambda: verdict if is_any else runtime.not_(verdict)
    runtime.for_(items, iteration, get, put, ("the result of 'any' or 'all'",), stopped)
    return verdict


def _sum(
    runtime: Any, items: Any, test: Callable[..., Any] | None, element: Callable[..., Any], start: Any = 0
) -> Any:
    if isinstance(start, (str, bytes)):
        return sum([], start)  # raises Python's error
    total = start

    def get() -> tuple[Any, ...]:
        return (total,)

    def put(values: tuple[Any, ...]) -> None:
        nonlocal total
        (total,) = values

    def iteration(x: Any) -> None:
        nonlocal total
        if test is None:
            total = total + element(None, x)
        else:
            runtime.if_(test(None, x), lambda: add(x), lambda: None, get, put, names)

    def add(x: Any) -> None:
        nonlocal total
        total = total + element(None, x)

    names = ("the sum",)
    items = _read(items)
    if isinstance(items, range) or (isinstance(items, Tensor) and items.shape and items.shape[0] > 1):
        # add the first item before the loop, so that the carry ``total`` has the type of the sum
        for first in items[:1]:  # type: ignore[index]
            iteration(first)
        items = items[1:]  # type: ignore[index]
    runtime.for_(items, iteration, get, put, names)
    return total
