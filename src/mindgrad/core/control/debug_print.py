"""Debug callbacks: print values while a compiled function runs.

    show(*xs)  call function(*xs); no results, no derivative

The primitive ``show`` has an effect, so optimizations never merge, fold, or remove it. Calls run in the order
of the source code. In a branch, ``show`` runs if the branch is taken. In a loop, it runs in every iteration.
If a derivative repeats a computation, for example when it replays the iterations of a loop, ``show`` does not
run again.

The parameter ``function`` receives NumPy arrays. Each call interrupts the compiled function by a callback
into Python. For a batch, ``function`` is called once per sample. A compiled function with ``show`` must run
on one device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.base.callback_errors import note
from mindgrad.core.ir.primitive import Effects, Primitive
from mindgrad.core.ir.work import FREE
from mindgrad.core.primitives.batching import at_front
from mindgrad.core.primitives.callback import from_words, in_words

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Atom
    from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Module, Stored

__all__ = ["show"]


def _numpy(*xs: Stored, function: Callable) -> tuple[()]:
    function(*[np.asarray(x) for x in xs])
    return ()


def _xla(jax: Module, *xs: Stored, function: Callable) -> tuple[()]:
    types = [np.dtype(x.dtype) for x in xs]

    def call(*values: Array) -> None:
        try:
            function(
                *[from_words(np.asarray(value), dtype) for value, dtype in zip(values, types, strict=True)]
            )
        except FloatingPointError as error:  # the check for NaN and infinity raised this error
            note(error.with_traceback(None))

    jax.debug.callback(call, *[in_words(jax, x) for x in xs], ordered=True)
    return ()


def _batch(size: int, xs: Atoms, at: BatchAxes, function: Callable) -> tuple:
    def each(*values: Stored) -> None:
        for position in range(size):
            function(*[x if axis is None else x[position] for x, axis in zip(values, at, strict=True)])

    operands = [x if axis is None else at_front(size, x, axis) for x, axis in zip(xs, at, strict=True)]
    show(*operands, function=each)
    return (), ()


show: Primitive[tuple[Atom, ...]] = Primitive(
    "show",
    "control",
    work=FREE,
    type_rule=lambda *types, function: (),
    numpy=_numpy,
    xla=_xla,
    batch=_batch,
    multiple=True,
    effects=Effects(observable=True, unique=True, calls_back=True),
)
