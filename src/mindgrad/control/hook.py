"""Hooks: Python functions that see gradients while an eager gradient runs.

    hook(*cts) = function(cts), or cts where the function gives None

The row's kernel calls back into Python with the gradients' values. It exists in eager programs only;
what is compiled cannot call Python, and says so where the hook is attached. Limit: the derivative of
a Python function of values is unknown, so a second derivative through a hook is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.primitive import Primitive
from mindgrad.core.tensor import Tensor, make_tensor
from mindgrad.core.types import type_of

__all__ = ["hook"]


def _call(*cts: Any, function: Any) -> tuple[np.ndarray, ...]:
    given = [np.asarray(ct) for ct in cts]
    returned = function(tuple(make_tensor(ct, type_of(ct)) for ct in given))
    if returned is None:
        return tuple(given)
    listed = returned if isinstance(returned, tuple) else (returned,)
    if len(listed) != len(given):
        raise ValueError(
            f"a gradient hook must return {len(given)} gradients, or None to keep them, but got "
            f"{len(listed)}."
        )
    return tuple(_checked(new, old) for new, old in zip(listed, given, strict=True))


def _checked(new: Any, old: np.ndarray) -> np.ndarray:
    if new is None:
        return old
    if not isinstance(new, Tensor):
        raise TypeError(
            f"a gradient hook must return a Tensor, or None to keep the gradient, but got "
            f"{type(new).__name__}."
        )
    if new.shape != old.shape:
        raise ValueError(f"a gradient hook must return a gradient of shape {old.shape}, but got {new.shape}.")
    return new.numpy().astype(old.dtype)


def _no_derivative(*_: Any, **__: Any) -> Sequence[Any]:
    raise RuntimeError(
        "a gradient that passed through a hook was differentiated again; the derivative of a Python "
        "hook is not known. Use ops.InsertGradientOf(f), whose function is differentiated, or remove "
        "the hook."
    )


def _compiled(*_: Any, **__: Any) -> Any:
    raise RuntimeError("a gradient hook cannot run inside a compiled program.")


hook = Primitive(
    "hook",
    "control",
    type_rule=lambda *cts, function: cts,
    numpy=_call,
    xla=_compiled,
    jvp=_no_derivative,
    multiple=True,
)
