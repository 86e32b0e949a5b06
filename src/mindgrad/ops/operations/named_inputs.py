"""Inputs of operator classes by name, as in ``ops.ReduceSum()(x, axis=1)``.

MindSpore has renamed inputs from release to release (``input_x``, ``x``, ``input``). An input can be passed
by the parameter name of the function that computes the operator, or by a synonym of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindgrad.ops.define import NOT_GIVEN

__all__ = ["input_names", "meant", "optional_inputs", "with_named"]

#: groups of argument names with the same meaning. A name may be in several groups
_SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(names.split())
    for names in (
        "input input_x x x1 inputs input_params logits tensor value",
        "other y x2 mat2 input_y",
        "indices input_indices index",
        "shape input_shape dims",
        "dims perm input_perm multiples",
        "label labels target",
        "dtype type",
        "start begin",
        "end limit stop",
        "num steps",
        "delta step",
        "sequence sorted_sequence",
        "weight pos_weight posWeight",
    )
)


def input_names(function: Callable[..., Any], skip: int) -> list[str]:
    """Return the names of positional parameters, without the first ``skip``."""
    code = inspect.unwrap(function).__code__
    return list(code.co_varnames[skip : code.co_argcount])


def optional_inputs(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the defaults of the positional parameters that a call may omit."""
    defaults = inspect.unwrap(function).__defaults__ or ()
    names = input_names(function, 0)
    pairs = zip(names[len(names) - len(defaults) :], defaults, strict=True)
    return {name: default for name, default in pairs if default is not NOT_GIVEN}


def with_named(
    operator: str, function: Callable[..., Any], skip: int, inputs: tuple[Any, ...], named: dict[str, Any]
) -> list[Any]:
    """Order inputs passed by position (``inputs``) and by name (``named``).

    Raises:
        TypeError: If a name is unknown, or an input is missing or passed twice.

    >>> from mindgrad.ops.operations.named_inputs import with_named
    >>> with_named("Gather", lambda x, indices, axis: None, 0, ("x",), {"axis": 0, "input_indices": "i"})
    ['x', 'i', 0]
    """
    names = input_names(function, skip)
    values = dict(zip(names, inputs, strict=False))
    for name, value in named.items():
        position = meant(name, [own for own in names if own not in values]) if name not in names else name
        if position is None:
            raise TypeError(
                f"For '{operator}', the input '{name}' is unknown, or was already passed by position; the "
                f"inputs are {', '.join(names) or 'not named'}."
            )
        if position in values:
            raise TypeError(f"For '{operator}', the input '{position}' is given twice.")
        values[position] = value
    by_default = optional_inputs(function)
    last = max((k for k, own in enumerate(names) if own in values), default=-1)
    for own in names[: last + 1]:
        if own not in values and own not in by_default:
            raise TypeError(f"For '{operator}', the input '{own}' is missing.")
    return [values.get(own, by_default.get(own)) for own in names[: last + 1]]


def meant(name: str, free: list[str]) -> str | None:
    """Return the parameter in ``free`` for which ``name`` is a synonym."""
    return next((own for group in _SYNONYMS if name in group for own in free if own in group), None)
