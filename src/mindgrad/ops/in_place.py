"""Methods of Tensor that end in ``_``: the tensor stands for the result from there on.

They bind the object anew, as ``x[0] = 1`` does, so derivatives see each value where it is used. Tensors share
no memory: what was reshaped or sliced from the tensor before does not follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.tensor import Tensor
from mindgrad.frontend import state
from mindgrad.frontend.aliases import rebind
from mindgrad.ops import (
    activation,
    arithmetic,
    creation,
    indexing,
    limits,
    math,
    members,
    overloads,
    rectifiers,
    rounding,
    scattering,
)
from mindgrad.ops.operands import broadcast_to, cast, operand

__all__ = ["IN_PLACE", "in_place"]


def _copied(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    return broadcast_to(operand(src, "Copy"), self.shape)


def _filled(self: Tensor, value: Any) -> Tensor:
    return creation.full_like(self, operand(value, "Fill"))


def _zero(self: Tensor) -> Tensor:
    return creation.zeros_like(self)


def _added(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return arithmetic.add(self, other if alpha == 1 else arithmetic.mul(alpha, other))


def _subtracted(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return arithmetic.sub(self, other if alpha == 1 else arithmetic.mul(alpha, other))


_RESULTS: dict[str, tuple[Callable[..., Any], str]] = {
    "abs_": (rounding.abs, "|x|"),
    "add_": (_added, "x + alpha · other"),
    "ceil_": (rounding.ceil, "x rounded up"),
    "clamp_": (limits.clamp, "x held between limits: :func:`mindgrad.ops.clamp`"),
    "copy_": (_copied, "the values of another tensor, broadcast"),
    "cos_": (math.cos, "cos x"),
    "div_": (arithmetic.div, "x / other"),
    "exp_": (math.exp, "exp x"),
    "fill_": (_filled, "one number everywhere"),
    "floor_": (rounding.floor, "x rounded down"),
    "index_add_": (members.index_add, "x with parts added: :meth:`index_add`"),
    "log_": (math.log, "log x"),
    "masked_fill_": (indexing.masked_fill, "a number where a mask holds: :meth:`masked_fill`"),
    "mul_": (arithmetic.mul, "x · other"),
    "neg_": (arithmetic.neg, "−x"),
    "pow_": (arithmetic.pow, "x to the power of other"),
    "reciprocal_": (math.reciprocal, "1 / x"),
    "relu_": (rectifiers.relu, "max(x, 0)"),
    "round_": (rounding.round, "x rounded"),
    "scatter_": (scattering.scatter, "x with elements written: :meth:`scatter`"),
    "scatter_add_": (overloads.scatter_add, "x with elements added: :meth:`scatter_add`"),
    "sigmoid_": (activation.sigmoid, "1 / (1 + exp(−x))"),
    "sin_": (math.sin, "sin x"),
    "sqrt_": (math.sqrt, "√x"),
    "square_": (math.square, "x²"),
    "sub_": (_subtracted, "x − alpha · other"),
    "tanh_": (math.tanh, "tanh x"),
    "zero_": (_zero, "zero everywhere"),
}


def in_place(name: str, function: Callable[..., Any], what: str) -> Callable[..., Tensor]:
    """The method, or function of a tensor, that lets the tensor be ``function(x, …)``."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        old = self.value() if self.is_parameter else self.__copy__()  # type: ignore[attr-defined]
        new = function(old, *args, **kwargs)
        if new.shape != self.shape:
            raise ValueError(
                f"For '{name}', the result must have the shape {self.shape} of the tensor, but its shape is "
                f"{new.shape}; write x = x.{name[:-1]}(...)."
            )
        if new.dtype.rank > self.dtype.rank:
            raise TypeError(
                f"For '{name}', the result is of type {new.dtype}, which a tensor of type {self.dtype} "
                f"cannot hold; write x = x.{name[:-1]}(...)."
            )
        new = cast(new, self.dtype)
        if self.is_parameter:
            state.write(self, new)
        else:
            rebind(self, new)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = (
        f"Let this tensor be {what}, of the same shape and element type; gives the tensor itself."
    )
    return method


#: the methods by name
IN_PLACE: dict[str, Callable[..., Tensor]] = {
    name: in_place(name, function, what) for name, (function, what) in _RESULTS.items()
}
