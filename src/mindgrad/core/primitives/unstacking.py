"""Primitive ``unstack``: all slices along the first axis, in one equation.

    y_k = x[k]        ẏ_k = ẋ[k]        x̄ = (ȳ_0, …, ȳ_{n−1}) stacked

If a Python loop is compiled to a ``scan``, the values that the iterations append to a list are stacked in one
array. ``unstack`` splits this array into the elements of the list. If the program joins the elements again,
the simplification of ``concatenate`` returns the original array, and no slice is computed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.index_map import WINDOWED, Arrangement, Axes, IndexMap, Relabeling
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Atoms, Statics, Tangent
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.ir.work import MOVE
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import reshape

__all__ = ["unstack"]


def _types(x: TensorType) -> tuple[TensorType, ...]:
    if not x.shape:
        raise ValueError(
            "For 'unstack', the input must have at least one axis, but it is a scalar (0-D) tensor."
        )
    return (x.with_shape(x.shape[1:]),) * x.shape[0]


def _transpose(cts: Atoms, x: Atom) -> list[Tangent]:
    if not cts:
        return [None]
    return [concatenate(*[reshape(ct, shape=(1, *ct.shape)) for ct in cts], axis=0)]


class _UnstackAxes(Axes):
    """Index map of ``unstack``, in which all axes except the first are parallel."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        labels = tuple(range(len(shapes[0])))
        return IndexMap((labels,), (labels[1:],) * shapes[0][0], {0: WINDOWED})

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        (labels,) = new.operands
        return None if labels[0] else Relabeling(dict(new.parameters), (labels[1:],) * len(old.results))


unstack: Primitive[tuple[Atom, ...]] = Primitive(
    "unstack",
    "general",
    work=MOVE,
    moves=True,
    type_rule=_types,
    numpy=lambda x: tuple(np.asarray(each) for each in x),
    xla=lambda jax, x: [x[k] for k in range(x.shape[0])],
    jvp=lambda y, xs, ts: unstack(ts[0]),
    transpose=_transpose,
    axes=_UnstackAxes(),
    multiple=True,
    taint="passes",
    samples=[case(reals()[3, 2]), case(reals()[2])],
)
