"""Gradient hooks: Python functions that receive cotangents of eager gradients.

    hook(*cts) = function(cts), or cts if the function returns None

The primitive ``hook`` calls a Python function with the values of gradients. The call is a side effect, so
value numbering (the merging of equal equations) does not merge equal calls. For a batch of gradients, the
function is called once per sample. The primitive exists only in eager mode. Attaching a hook inside a
compiled function raises an error.

A second derivative needs the derivative of the Python function. If the function object has a method
``graph(*types)``, that method must return the graph of the function, and the graph is differentiated.
Otherwise a second derivative through the hook raises ``RuntimeError``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.base.refusal import hints
from mindgrad.core.control.subgraphs import active, forward_body
from mindgrad.core.ir.build import current
from mindgrad.core.ir.primitive import Effects, InnerGraphs, Primitive
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.types import type_of
from mindgrad.core.ir.work import FREE
from mindgrad.core.primitives.batching import at_front

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Atom
    from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Tangents

__all__ = ["hook"]


def _call(*cts: Atom, function: Callable) -> tuple[Array, ...]:
    cotangents = [np.asarray(ct) for ct in cts]
    returned = function(tuple(make_tensor(ct, type_of(ct)) for ct in cotangents))
    if returned is None:
        return tuple(cotangents)
    listed = returned if isinstance(returned, tuple) else (returned,)
    if len(listed) != len(cotangents):
        raise ValueError(
            f"a gradient hook must return {len(cotangents)} gradients, or None to keep them, but got "
            f"{len(listed)}."
        )
    return tuple(_checked(new, old) for new, old in zip(listed, cotangents, strict=True))


def _checked(new: Array, old: Array) -> Array:
    if new is None:
        return old
    if not isinstance(new, Tensor):
        raise TypeError(
            f"a gradient hook must return a Tensor, or None to keep the gradient, but got "
            f"{type(new).__name__}."
        )
    if new.shape != old.shape:
        raise ValueError(
            f"a gradient hook must return a gradient of shape {old.shape}, but got shape {new.shape}."
        )
    return new.host_array().astype(old.dtype)


def _batch(size: int, cts: Atoms, at: BatchAxes, function: Callable) -> tuple:
    def rows(gradients: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        arrays = [gradient.numpy() for gradient in gradients]
        seen = [_call(*[array[row] for array in arrays], function=function) for row in range(size)]
        stacked = [np.stack(column) for column in zip(*seen, strict=True)] if size else arrays
        return tuple([make_tensor(array, type_of(array)) for array in stacked])

    operands = [at_front(size, ct, axis) for ct, axis in zip(cts, at, strict=True)]
    return hook(*operands, function=rows), 0


def _jvp(_: object, cts: Atoms, ts: Tangents, function: Callable) -> Tangents:
    traced = getattr(function, "graph", None)
    if traced is not None:
        program = traced(*[ct.type for ct in cts])
        active_inputs = active(ts)
        pushed = forward_body(program, active_inputs, tuple(range(len(cts))))
        return current().inline(pushed, [*cts, *[ts[k] for k in active_inputs]])[len(cts) :]  # type: ignore[list-item]  # no tangent is None
    raise RuntimeError(
        "cannot differentiate a gradient that passed through a hook, because the derivative of a Python "
        "hook is unknown. Remove the hook." + hints["hooks"]
    )


def _compiled(*_: object, **__: object) -> tuple:
    raise RuntimeError(
        "a gradient hook is a Python function and cannot run inside a compiled function. Remove the hook."
    )


hook: Primitive[tuple[Atom, ...]] = Primitive(
    "hook",
    "control",
    work=FREE,
    type_rule=lambda *cts, function: cts,
    numpy=_call,
    xla=_compiled,
    jvp=_jvp,
    batch=_batch,
    multiple=True,
    effects=Effects(observable=True, unique=True),
    inner=InnerGraphs(by_user=True),
)
