"""Arguments and outputs of differential operators: what they must be, and what is said where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.api.vjp_call import Run
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType

__all__ = ["check_arguments", "check_coefficients", "check_field", "check_rows", "rows_are_mixed"]


def check_arguments(owner: str, inputs: Sequence[Any], extras: Sequence[Any]) -> None:
    """Refuse inputs that are no real tensors of points, and further arguments of another type.

    Raises:
        TypeError: an input is no Tensor of a floating-point type, or a further argument of another dtype.
        ValueError: an input has no axis of coordinates.
    """
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(
                f"For '{owner}', an input that is differentiated must be a Tensor whose rows are points, "
                f"but got "
                f"{type(x).__name__}."
            )
        if not x.dtype.is_float:
            raise TypeError(
                f"For '{owner}', an input that is differentiated must be of a real floating-point type, "
                f"but got a "
                f"Tensor of dtype {x.dtype}; convert it: x.astype(...)."
            )
        if not x.ndim or not x.shape[-1]:
            raise ValueError(
                f"For '{owner}', the last axis of the input must hold the coordinates and have at least "
                "size 1, but "
                f"got a Tensor of shape {x.shape}."
            )
    for extra in extras:
        if not isinstance(extra, Tensor):
            raise TypeError(
                f"For '{owner}', the last argument must be a Tensor, but got {type(extra).__name__}."
            )
        for x in inputs:
            if extra.dtype is not x.dtype:
                raise TypeError(
                    f"For '{owner}', the last argument must have the dtype of the input, {x.dtype}, but got "
                    f"{extra.dtype}."
                )


def check_rows(owner: str, run: Run, extras: Sequence[Tensor]) -> None:
    """Raise ValueError where an output is not one value, or several, per row of every input."""
    for y in _real_outputs(owner, run):
        for x in run.inputs.tensors:
            lead = x.shape[:-1]
            if y.shape[: len(lead)] != lead:
                raise ValueError(
                    f"For '{owner}', the function must give a value for every row of its input: for an "
                    f"input of "
                    f"shape {x.shape} an output of shape {lead} or {(*lead, 1)}, but got {y.shape}. The "
                    "last axis of the input holds the coordinates."
                )


def check_field(owner: str, run: Run, extras: Sequence[Tensor]) -> None:
    """Raise ValueError where an output is not a vector per row."""
    for y in _real_outputs(owner, run):
        for x in run.inputs.tensors:
            if y.shape != x.shape:
                raise ValueError(
                    f"For '{owner}', the function must give a vector of the size of the row for every row "
                    f"of its "
                    f"input: for an input of shape {x.shape} an output of that shape, but got {y.shape}."
                )


def _real_outputs(owner: str, run: Run) -> list[Tensor]:
    for y in run.outputs:
        if not y.dtype.is_float:
            raise TypeError(
                f"For '{owner}', the outputs must be of a real floating-point type, but got a Tensor of "
                f"dtype "
                f"{y.dtype}."
            )
    return run.outputs


def check_coefficients(owner: str, coefficients: Tensor, x: TensorType, factored: bool) -> None:
    """Raise ValueError where the coefficients do not fit points of type ``x``; ``factored``: as a factor."""
    *lead, size = x.shape
    shape = coefficients.shape
    if factored:
        fits = len(shape) >= 2 and shape[-2] == size and shape[:-2] in ((), tuple(lead)) and shape[-1] > 0
        expected = f"({size}, K) or {(*lead, size, 'K')}".replace("'", "")
    else:
        fits = shape in ((size,), (size, size), (*lead, size, size))
        expected = f"({size},), ({size}, {size}) or {(*lead, size, size)}"
    if not fits:
        raise ValueError(
            f"For '{owner}', the last argument must have shape {expected} for an input of shape {x.shape}, "
            f"but got "
            f"{shape}."
        )


def rows_are_mixed(owner: str, x: Any, equation: Any) -> str:
    """The message about an equation that mixes rows."""
    location = f" in {equation.source[0]}:{equation.source[1]}" if equation.source else ""
    return (
        f"For '{owner}', each value of the function must depend only on its own row of the input, but for "
        f"an input of shape {x.shape} the rows are mixed by "
        f"'{equation.primitive.name}'{location}, as batch normalization does in training. Take "
        f"'{owner}' of the function of one point and map it over the rows: "
        f"mindgrad.vmap(mindgrad.{owner}(f))(x)."
    )
