"""Sharding constraint: distribute an array over devices.

    y = x        ẏ = ẋ with the layout of y        x̄ = ȳ with the layout of y

A *layout* lists, for each axis of an array, the axes of the device mesh that divide this axis. On one device,
the constraint has no effect. For several devices, the back end sets :data:`mesh` while it lowers the compiled
function. If ``vmap`` adds a batch axis, XLA's partitioner chooses how this axis is divided.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import FREE
from mindgrad.core.primitives.axes import Entries
from mindgrad.core.primitives.kinds import linear
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.structural import splat
from mindgrad.distributed.partition import Axes, slices

__all__ = ["mesh", "with_sharding"]

#: function ``mesh(devices, axes)`` that returns the JAX sharding of a layout. It is set while a function for
#: several devices is lowered, and is ``None`` otherwise
mesh: ContextVar[Callable[[int, Axes], Any] | None] = ContextVar("mesh", default=None)


def _type_rule(x: TensorType, devices: int, axes: Axes) -> TensorType:
    if len(axes) != x.rank:
        raise ValueError(
            f"For 'with_sharding', the layout must have an entry for each axis of the input of shape "
            f"{x.shape}, but "
            f"got {axes}."
        )
    for size, entry in zip(x.shape, axes, strict=True):
        if size % slices(devices, entry):
            raise ValueError(
                f"For 'with_sharding', an axis of size {size} of the input of shape {x.shape} cannot be "
                f"divided into "
                f"{slices(devices, entry)} equal slices."
            )
    return x


_type_rule.keeps_type = True  # type: ignore[attr-defined]


def _constrained(jax: Any, x: Any, devices: int, axes: Axes) -> Any:
    sharding = mesh.get()
    return x if sharding is None else jax.lax.with_sharding_constraint(x, sharding(devices, axes))


def _simplify(x: Any, devices: int, axes: Axes) -> Any:
    made_by = getattr(x, "made_by", None)
    if made_by is not None and made_by.primitive is with_sharding and made_by.parameters["axes"] == axes:
        return x
    return splat(x, x.type)


#: ``with_sharding(x, devices, axes)``: ``x``, divided among the given number of devices. ``axes`` contains,
#: for each axis of ``x``, the mesh axes that divide it
with_sharding = linear(
    "with_sharding",
    work=FREE,
    moves=True,
    type_rule=_type_rule,
    numpy=lambda x, devices, axes: x,
    xla=_constrained,
    transpose=lambda ct, x, devices, axes: with_sharding(ct, devices=devices, axes=axes),
    axes=Entries({"axes": None}, kind=None),
    simplify=_simplify,
    samples=[
        case(reals()[4, 2], devices=8, axes=((0, 2), (1,))),
        case(reals()[3, 6], devices=6, axes=(None, ())),
    ],
)
