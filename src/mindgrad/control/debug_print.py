"""Debug callbacks print values while a compiled program runs.

    show(*xs): nothing; calls function(*xs)                ẏ: there is no y

The row has an effect: it is never merged, folded or left out, and it runs in the order of the program, in
the branch that is taken and in every trip of a loop. What runs a second time to make a derivative (a replay
of a loop) runs without it.

The parameter ``function`` gets NumPy arrays and gives nothing. Cost: a call from the program back into
Python. Limits: compiled programs show on one device; a batched value is shown element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad._base.callback_errors import note
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.work import FREE
from mindgrad.rows.batching import at_front
from mindgrad.rows.callback import from_words, in_words

__all__ = ["show"]


def _numpy(*xs: Any, function: Callable[..., Any]) -> tuple[()]:
    function(*[np.asarray(x) for x in xs])
    return ()


def _xla(jax: Any, *xs: Any, function: Callable[..., Any]) -> tuple[()]:
    types = [np.dtype(x.dtype) for x in xs]

    def call(*values: Any) -> None:
        try:
            function(
                *[from_words(np.asarray(value), dtype) for value, dtype in zip(values, types, strict=True)]
            )
        except FloatingPointError as error:  # of ``check_finite``
            note(error.with_traceback(None))

    jax.debug.callback(call, *[in_words(jax, x) for x in xs], ordered=True)
    return ()


def _batch(size: int, xs: Sequence[Any], at: Sequence[int | None], function: Callable[..., Any]) -> Any:
    def each(*values: Any) -> None:
        for position in range(size):
            function(*[x if axis is None else x[position] for x, axis in zip(values, at, strict=True)])

    operands = [x if axis is None else at_front(size, x, axis) for x, axis in zip(xs, at, strict=True)]
    show(*operands, function=each)
    return (), ()


show = Primitive(
    "show",
    "control",
    work=FREE,
    type_rule=lambda *types, function: (),
    numpy=_numpy,
    xla=_xla,
    batch=_batch,
    multiple=True,
    effect=True,
    calls_back=True,
)
