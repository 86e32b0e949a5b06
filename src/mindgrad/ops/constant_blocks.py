"""Blocks without derivatives compute from values as constants: ``with mindspore._no_grad():``.

    with _no_grad():
        y = f(x)             # as y = f(stop_gradient(x))

A block concerns the derivatives that are taken around it. Those that are taken inside of it are as ever, and
their results are constants outside. A value that a block only gives on, ``y = x``, remains what it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindgrad.ir.scope import constant_block, hold_constant, open_scopes
from mindgrad.ops.flow import stop_gradient
from mindgrad.trace import user_calls

__all__ = ["_no_grad", "is_enabled", "set_enabled"]


class _no_grad:
    """A block, or with ``@_no_grad()`` a function, through which no derivative flows.

    What is computed inside is a constant for the derivatives that are taken around the block, in both modes.
    Outside of a gradient function it changes nothing: nothing is recorded there. In a new program
    :func:`mindgrad.ops.stop_gradient` says which value is a constant.

    >>> import mindgrad as ms
    >>> def f(x):
    ...     with ms._no_grad():
    ...         weight = x * x
    ...     return weight * x
    >>> print(ms.grad(f)(ms.Tensor(3.0)), ms.grad(ms.jit(f))(ms.Tensor(3.0)))
    9.0 9.0
    """

    def __init__(self) -> None:
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> None:
        self._before.append(hold_constant((len(open_scopes()), stop_gradient)))

    def __exit__(self, *_: Any) -> None:
        hold_constant(self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def without_derivatives(*args: Any, **kwargs: Any) -> Any:
            with _no_grad():
                return user_calls.run(function, *args, **kwargs)

        return without_derivatives


def set_enabled(enabled: bool) -> None:
    """Begin or end a block without derivatives: ``_pynative_executor.set_enable_grad(False)``."""
    hold_constant((0, None) if enabled else (len(open_scopes()), stop_gradient))


def is_enabled() -> bool:
    """Whether derivatives flow here."""
    return constant_block()[1] is None
