"""Check the arguments and outputs of the differential operators in ``laplacian``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.api.vjp_call import Run
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType

__all__ = ["check_arguments", "check_coefficients", "check_field", "check_point_values", "points_are_mixed"]


def check_arguments(owner: str, inputs: Sequence[Any], extras: Sequence[Any]) -> None:
    """Check the differentiated inputs, and further arguments such as coefficients.

    Raises:
        TypeError: If an input is not a floating-point Tensor, or the dtype of a further argument differs from
            the dtype of the input.
        ValueError: If an input is a scalar, which has no axis of coordinates, or its last axis is empty.
    """
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(
                f"For '{owner}', a differentiated input must be a Tensor of points, with shape (..., D), but "
                f"got {type(x).__name__}."
            )
        if not x.dtype.is_float:
            raise TypeError(
                f"For '{owner}', a differentiated input must have a real floating-point dtype, but got a "
                f"Tensor of dtype {x.dtype}. Convert it: x.astype(...)."
            )
        if not x.ndim or not x.shape[-1]:
            raise ValueError(
                f"For '{owner}', the last axis of the input must hold the coordinates and have at least "
                f"size 1, but got a Tensor of shape {x.shape}."
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


def check_point_values(owner: str, run: Run, extras: Sequence[Tensor]) -> None:
    """Raise ``ValueError`` if an output does not have values for each point."""
    for y in _real_outputs(owner, run):
        for x in run.inputs.tensors:
            lead = x.shape[:-1]
            if y.shape[: len(lead)] != lead:
                raise ValueError(
                    f"For '{owner}', the function must return a value for each point: for an input of shape "
                    f"{x.shape}, an output of shape {lead} or {(*lead, 1)}, but got {y.shape}. The last axis "
                    "of the input holds the coordinates of the points."
                )


def check_field(owner: str, run: Run, extras: Sequence[Tensor]) -> None:
    """Raise ``ValueError`` if an output does not have a vector for each point."""
    for y in _real_outputs(owner, run):
        for x in run.inputs.tensors:
            if y.shape != x.shape:
                raise ValueError(
                    f"For '{owner}', the function must return a vector for each point, so the output must "
                    f"have the shape of the input, {x.shape}, but got {y.shape}."
                )


def _real_outputs(owner: str, run: Run) -> list[Tensor]:
    for y in run.outputs:
        if not y.dtype.is_float:
            raise TypeError(
                f"For '{owner}', the outputs must have a real floating-point dtype, but got a Tensor of "
                f"dtype {y.dtype}."
            )
    return run.outputs


def check_coefficients(owner: str, coefficients: Tensor, x: TensorType, factored: bool) -> None:
    """Raise ``ValueError`` if the shape of the coefficients does not fit ``x``.

    With ``factored``, the coefficients are the factor ``L`` of a matrix ``L Lᵀ``.
    """
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
            f"but got {shape}."
        )


def points_are_mixed(owner: str, x: Any, equation: Any) -> str:
    """Return the error message for an equation that combines values of several points."""
    location = f" in {equation.source[0]}:{equation.source[1]}" if equation.source else ""
    return (
        f"For '{owner}', each output value must depend on one point only, but for an input of shape "
        f"{x.shape}, points are mixed by '{equation.primitive.name}'{location}, as batch normalization does "
        f"in training. Apply '{owner}' to the function of one point, and map it over the points: "
        f"mindgrad.vmap(mindgrad.{owner}(f))(x)."
    )
