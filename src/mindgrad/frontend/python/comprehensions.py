"""Run ``sum``, ``any``, and ``all`` of a comprehension as a loop.

    sum(f(x) for x in xs if c(x))   ->   for x in xs:
                                             if c(x): total = total + f(x)

If ``c(x)`` is a tensor, the number of items that pass the filter is not known at compile time, so Python
cannot evaluate the comprehension. The loop can be traced, and becomes one ``scan`` if it has many iterations
(``frontend.control.runtime``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.scope import GraphScope, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references

__all__ = ["CONSUMERS", "consumed"]

#: functions whose comprehension argument is rewritten as a loop
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
        function: the value of the name ``sum``, ``any``, or ``all`` in the user's code. If it is not the
            built-in function, it is called with the comprehension.
        items: the iterable.
        test, element: functions of two arguments. The first argument is unused, and the second is an item.
            ``test`` is ``None`` if the comprehension has no filter.
        is_list: whether the comprehension is a list comprehension instead of a generator expression.
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
    return references.read(items) if isinstance(items, Tensor) else items


def _decided(
    runtime: Any,
    is_any: bool,
    items: Any,
    test: Callable[..., Any] | None,
    element: Callable[..., Any],
    is_list: bool,
) -> Any:
    """Evaluate ``any`` or ``all`` of a comprehension as a loop over ``items``.

    The loop ends early, except for a list comprehension, because Python evaluates all elements of a list.
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
    # other iterables may be infinite, so the loop must stop at the first item that decides the result
    is_finite = isinstance(items, (range, Tensor))
    stopped = None if is_finite or is_list else lambda: verdict if is_any else runtime.not_(verdict)
    runtime.for_(items, iteration, get, put, ("the result of 'any' or 'all'",), stopped)
    return verdict


def _sum(
    runtime: Any, items: Any, test: Callable[..., Any] | None, element: Callable[..., Any], start: Any = 0
) -> Any:
    if isinstance(start, (str, bytes)):
        return sum([], start)  # raises the same error as Python
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
