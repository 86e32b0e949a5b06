"""Blocks without derivatives: ``with mindspore._no_grad():``.

    with _no_grad():
        y = f(x)             # as y = f(stop_gradient(x))

A block stops the derivatives of functions that contain it. Derivatives that are computed inside the block are
unchanged, but their results are constants outside. A plain assignment in a block, ``y = x``, does not stop
derivatives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.scope import constant_block, hold_constant, open_scopes
from mindgrad.frontend import user_calls
from mindgrad.ops.flow import stop_gradient

__all__ = ["_no_grad", "is_enabled", "set_enabled"]


class _no_grad:
    """Context manager, or decorator ``@_no_grad()``, that stops derivatives.

    In eager and compiled code, results of the block are constants when code around the block is
    differentiated. Outside a gradient function, the block has no effect. New code should use
    :func:`mindgrad.ops.stop_gradient`, which names the constant value.

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
    """Begin or end a block without derivatives, as ``set_enable_grad`` does."""
    hold_constant((0, None) if enabled else (len(open_scopes()), stop_gradient))


def is_enabled() -> bool:
    """Return whether derivatives are enabled."""
    return constant_block()[1] is None
