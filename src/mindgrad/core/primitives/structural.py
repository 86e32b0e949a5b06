"""Structural primitives: convert, reshape, transpose, and broadcast arrays.

All these primitives are linear. The transpose of each is usually another primitive of this module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.dtype import DType, bool_, float32, float64, int32
from mindgrad.core.ir.graph import Atom, Constant
from mindgrad.core.ir.index_map import OPAQUE, UNIFORM, Arrangement, Axes, IndexMap, Labels, Relabeling
from mindgrad.core.ir.primitive import REGISTRY, Algebra
from mindgrad.core.ir.types import Shape, TensorType, tensor_type
from mindgrad.core.ir.work import FREE, MOVE, VIEW
from mindgrad.core.primitives.kinds import constant, linear, zeros
from mindgrad.core.primitives.movement_fusion import reshaped_twice
from mindgrad.core.primitives.roots import VIEWS
from mindgrad.core.primitives.samples import case, reals

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Array, Atoms, Module, NumpyType, Statics, Tangent

__all__ = [
    "broadcast_in_dim", "check_axes", "check_ranks", "convert", "iota", "reshape", "splat", "stop_gradient",
    "transpose",
]  # fmt: skip

#: an iota with at most this many elements becomes a constant, so that equations that read it can be evaluated
#: while the graph is built
_SMALL = 64
#: number of elements that NumPy copies in about the time in which it creates a view
_COPIED = HOST.copied_elements


def splat(x: Atom, type: TensorType) -> Constant | None:
    """Convert a constant of equal elements to ``type``; ``None`` for other values."""
    if isinstance(x, Constant) and x.is_splat:
        return Constant(x.value.astype(type.dtype.numpy), type)
    return None


def check_axes(name: str, x: TensorType, axes: Shape) -> None:
    if any(not 0 <= axis < x.rank for axis in axes) or len(set(axes)) != len(axes):
        raise ValueError(
            f"For '{name}', the axes must be distinct and between 0 and {x.rank - 1} for an input "
            f"of shape {x.shape}, but got {axes}."
        )


def check_ranks(name: str, x: TensorType, **given: Shape) -> None:
    for parameter, values in given.items():
        if len(values) != x.rank:
            raise ValueError(
                f"For '{name}', '{parameter}' must have one number per axis of the input of shape "
                f"{x.shape}, but got {values}."
            )


# --- convert -------------------------------------------------------------------------------------


def _convert_simplify(x: Atom, dtype: DType) -> Atom | None:
    if x.type.dtype is dtype:
        return x
    if type(x) is Constant and x.is_splat and dtype is not bool_:
        with np.errstate(all="ignore"):
            return Constant(_convert_numpy(x.value, dtype), x.type.with_dtype(dtype))
    return None


def _convert_jvp(y: Atom, xs: Atoms, ts: Atoms, dtype: DType) -> Tangent:
    if ts[0] is None or bool_ in (dtype, xs[0].type.dtype):
        return None
    return convert(ts[0], dtype=dtype)


def _convert_numpy(x: Array, dtype: DType) -> Array:
    if x.dtype.kind == "c" and dtype.kind != "complex":
        x = x.real
    if dtype.kind in ("int", "uint") and x.dtype.kind not in "iub" and x.size:
        return _to_integers(x, dtype.numpy)
    return x.astype(dtype.numpy)


def _convert_xla(jax: Module, x: Array, dtype: DType) -> Array:
    if x.dtype.kind == "b" and dtype.is_inexact:
        # select 1 or 0, because XLA would turn a product with `convert_element_type(x)` into a selection, in
        # which 0 · NaN is 0
        return jax.lax.select(x, *[jax.numpy.full(x.shape, y, dtype.numpy) for y in (1, 0)])
    return jax.lax.convert_element_type(
        x.real if x.dtype.kind == "c" and dtype.kind != "complex" else x, dtype.numpy
    )


def _to_integers(x: Array, dtype: NumpyType) -> Array:
    """Convert floats to integers, as XLA does: clip them to the range; NaN becomes 0."""
    result = x.astype(dtype)
    ends = np.iinfo(dtype)
    limit = float(ends.max) + 1
    # a comparison with NaN is false, so arrays that contain NaN take the slower path below
    if ends.min <= float(x.min()) and float(x.max()) < limit:
        return result
    beyond = x.astype(np.float64)
    result = np.where(beyond >= limit, ends.max, np.where(beyond < ends.min, ends.min, result))
    return np.where(np.isnan(beyond), 0, result).astype(dtype)


#: ``convert(x, dtype)``: ``x`` with another dtype. A conversion from a complex to a real dtype returns the
#: real part
convert = linear(
    "convert",
    work=VIEW,
    type_rule=lambda x, dtype: x.with_dtype(dtype),
    numpy=_convert_numpy,
    xla=_convert_xla,
    jvp=_convert_jvp,
    transpose=lambda ct, x, dtype: convert(ct, dtype=x.type.dtype),
    axes=UNIFORM,
    pattern=lambda run, equation, patterns: patterns,
    simplify=_convert_simplify,
    samples=[case(reals()[3, 2], dtype=float64), case(reals()[2], dtype=float32)],
)


# --- reshape, transpose, broadcast -----------------------------------------------------------------


def _reshape_type(x: TensorType, shape: Shape) -> TensorType:
    result = x.with_shape(shape)
    if result.size != x.size:
        raise ValueError(
            f"For 'reshape', the shape {shape} has {result.size} elements, "
            f"but the input of shape {x.shape} has {x.size}."
        )
    return result


def _reshape_simplify(x: Atom, shape: Shape) -> Atom | None:
    if x.shape == shape:
        return x
    known = splat(x, x.type.with_shape(shape))
    return reshaped_twice(x, shape) if known is None else known


class _ReshapeAxes(Axes):
    """Index map of ``reshape``: axes that are neither merged nor split are parallel.

    An axis is neither merged nor split if its size, and the product of the sizes of all axes before it, do
    not change.
    """

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        (old,), new = shapes, parameters["shape"]
        labels = tuple(range(len(old)))
        result = [len(old) + axis for axis in range(len(new))]
        kinds = dict.fromkeys(labels, OPAQUE)
        for axis, size in enumerate(old if 0 not in old else ()):
            before = math.prod(old[:axis])
            for position, other in enumerate(new):
                if other == size and math.prod(new[:position]) == before and result[position] >= len(old):
                    result[position] = axis
                    del kinds[axis]
                    break
        return IndexMap((labels,), (tuple(result),), kinds)

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        (labels,) = new.operands
        if any(new.sizes[label] == 0 for label in old.operands[0]):
            count = len(labels) - len(old.operands[0])
            order = (*labels[:count], *old.results[0])
            shape = tuple([new.sizes[label] for label in order])
            is_behind = labels[count:] == old.operands[0]
            return Relabeling({**new.parameters, "shape": shape}, (order,)) if is_behind else None
        groups = _groups(old.operands[0], old.results[0], new.sizes)
        group_of = {label: group for group in groups for label in group[0]}
        added = [label for label in labels if label not in old.operands[0]]
        ordered: list[int] = []
        waiting = [label for label in labels if new.sizes[label] != 1 or label in added]
        while waiting:
            merged, split = group_of.get(waiting[0], ([waiting[0]], [waiting[0]]))
            if waiting[: len(merged)] != merged:
                return None  # the axes that this reshape merges are not adjacent in the new order
            ordered += split
            del waiting[: len(merged)]
        units = [label for label in old.results[0] if new.sizes[label] == 1]
        result = new.results[0]
        if [label for label in result if label not in units] != ordered:
            result = (*ordered, *units)
        return Relabeling(
            {**new.parameters, "shape": tuple([new.sizes[label] for label in result])}, (tuple(result),)
        )


def _groups(old: Labels, new: Labels, sizes: Mapping[int, int]) -> list[tuple[list[int], list[int]]]:
    """Divide the axes before and after a reshape into groups of equal total size.

    The groups are as small as possible: (2, 3, 4) → (6, 2, 2) has the groups (2, 3 | 6) and (4 | 2, 2).
    """
    mine = [label for label in old if sizes[label] != 1]
    theirs = [label for label in new if sizes[label] != 1]
    groups = []
    while mine or theirs:
        left, right = [mine.pop(0)], [theirs.pop(0)]
        count, other = sizes[left[0]], sizes[right[0]]
        while count != other:
            if count < other:
                left.append(mine.pop(0))
                count *= sizes[left[-1]]
            else:
                right.append(theirs.pop(0))
                other *= sizes[right[-1]]
        groups.append((left, right))
    return groups


reshape = linear(
    "reshape",
    work=FREE,
    moves=True,
    type_rule=_reshape_type,
    numpy=lambda x, shape: x.reshape(shape),
    xla="reshape",
    transpose=lambda ct, x, shape: reshape(ct, shape=x.shape),
    axes=_ReshapeAxes(),
    simplify=_reshape_simplify,
    samples=[
        case(reals()[2, 6], shape=(3, 4)),
        case(reals()[1], shape=()),
        case(reals()[0, 3], shape=(2, 0)),
    ],
)


def _transpose_simplify(x: Atom, permutation: Shape) -> Atom | None:
    if permutation == tuple(range(len(x.shape))):
        return x
    return splat(x, _transpose_type(x.type, permutation))


def _transpose_type(x: TensorType, permutation: Shape) -> TensorType:
    if sorted(permutation) != list(range(x.rank)):
        raise ValueError(
            f"For 'transpose', the permutation must contain each axis of the input of shape {x.shape} "
            f"once, but got {permutation}."
        )
    return x.with_shape(tuple(x.shape[i] for i in permutation))


class _TransposeAxes(Axes):
    """Index map of ``transpose``: all axes are parallel and may have any order."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        return IndexMap((tuple(range(len(shapes[0]))),), (parameters["permutation"],))

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        permutation = tuple([new.operands[0].index(label) for label in new.results[0]])
        return Relabeling({**new.parameters, "permutation": permutation}, (new.results[0],))


transpose = linear(
    "transpose",
    work=VIEW,
    moves=True,
    type_rule=_transpose_type,
    numpy=lambda x, permutation: x.transpose(permutation),
    xla="transpose",
    transpose=lambda ct, x, permutation: transpose(
        ct, permutation=tuple(int(i) for i in np.argsort(permutation))
    ),
    axes=_TransposeAxes(),
    simplify=_transpose_simplify,
    samples=[
        case(reals()[2, 3, 4], permutation=(2, 0, 1)),
        case(reals()[2, 3], permutation=(1, 0)),
        case(reals()[2, 0], permutation=(1, 0)),
    ],
)


def _broadcast_type(x: TensorType, shape: Shape, dims: Shape) -> TensorType:
    fits = len(dims) == x.rank and list(dims) == sorted(set(dims))
    if not fits or any(
        not 0 <= d < len(shape) or n not in (1, shape[d]) for n, d in zip(x.shape, dims, strict=True)
    ):
        raise ValueError(
            f"For 'broadcast_in_dim', an input of shape {x.shape} cannot be broadcast to the shape "
            f"{shape} with its axes at {dims}."
        )
    return x.with_shape(shape)


def _broadcast_numpy(x: Array, shape: Shape, dims: Shape) -> Array:
    if dims and dims[0] + len(dims) != len(shape):  # NumPy broadcasts only an operand that has the last axes
        expanded = [1] * len(shape)
        for axis, size in zip(dims, x.shape, strict=True):
            expanded[axis] = size
        x = np.reshape(x, expanded)
    # copy small results, because creating a view takes longer; store a single repeated element only once
    if math.prod(shape) <= (_COPIED if dims else _SMALL):
        y = np.empty(shape, x.dtype)
        y[...] = x
        return y
    return np.broadcast_to(x, shape)


def _broadcast_transpose(ct: Atom, x: Atom, shape: Shape, dims: Shape) -> Atom:
    axes = tuple(
        axis
        for axis in range(len(shape))
        if axis not in dims or (x.shape[dims.index(axis)] == 1 and shape[axis] != 1)
    )
    # `broadcast_in_dim` and `reduce_sum` are transposes of each other. Look up `reduce_sum` by its name,
    # because its module imports this module
    return reshape(REGISTRY["reduce_sum"](ct, axes=axes), shape=x.shape)


class _BroadcastAxes(Axes):
    """Index map of ``broadcast_in_dim``: parallel, except repeated axes of size 1."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        (inner,), shape, dims = shapes, parameters["shape"], parameters["dims"]
        labels = tuple(range(len(inner)))
        result = [len(inner) + axis for axis in range(len(shape))]
        kinds = {}
        for label, target in zip(labels, dims, strict=True):
            if inner[label] == shape[target]:
                result[target] = label
            else:
                kinds[label] = OPAQUE
        return IndexMap((labels,), (tuple(result),), kinds)

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        target = dict(
            zip(old.operands[0], [old.results[0][axis] for axis in new.parameters["dims"]], strict=True)
        )
        targets = [target.get(label, label) for label in new.operands[0]]
        dims = sorted([new.results[0].index(label) for label in targets])
        order = list(new.results[0])
        for axis, label in zip(dims, targets, strict=True):
            order[axis] = label  # axes of the operand keep their order
        shape = tuple([new.sizes[label] for label in order])
        return Relabeling({**new.parameters, "shape": shape, "dims": tuple(dims)}, (tuple(order),))


#: ``broadcast_in_dim(x, shape, dims)``: axis ``i`` of ``x`` becomes axis ``dims[i]`` of the result
broadcast_in_dim = linear(
    "broadcast_in_dim",
    work=FREE,
    moves=True,
    type_rule=_broadcast_type,
    numpy=_broadcast_numpy,
    xla=lambda jax, x, shape, dims: jax.lax.broadcast_in_dim(x, shape, dims),
    transpose=_broadcast_transpose,
    axes=_BroadcastAxes(),
    simplify=lambda x, shape, dims: x if x.shape == shape else splat(x, x.type.with_shape(shape)),
    samples=[
        case(reals()[3], shape=(2, 3), dims=(1,)),
        case(reals()[()], shape=(2, 3), dims=()),
        case(reals()[2, 1], shape=(2, 3), dims=(0, 1)),
        case(reals()[2, 1], shape=(2, 4, 3), dims=(0, 2)),
        case(reals()[1], shape=(0, 2), dims=(1,)),
    ],
)

#: ``stop_gradient(x)``: ``x`` itself, but with derivative zero
stop_gradient = linear(
    "stop_gradient",
    work=FREE,
    kind="pointwise linear",
    type_rule=lambda x: x,
    numpy=lambda x: x,
    xla=lambda jax, x: x,
    jvp=lambda y, xs, ts: None,
    algebra=Algebra(stops=True),
    transpose=lambda ct, x: [zeros(x.type)],
    samples=(reals(), 1, "any"),
)


# --- iota ------------------------------------------------------------------------------------------


def _iota_numpy(shape: Shape, axis: int, dtype: DType) -> Array:
    numbers = np.arange(shape[axis]).astype(dtype.numpy)
    return _broadcast_numpy(numbers, shape, (axis,))


def _iota_simplify(shape: Shape, axis: int, dtype: DType) -> Atom | None:
    if tensor_type(dtype, shape).size > _SMALL:
        return None
    return Constant(np.ascontiguousarray(_iota_numpy(shape, axis, dtype)))


#: ``iota(shape, axis, dtype)``: 0, 1, 2, … along ``axis``; it has no operands
iota = constant(
    "iota",
    work=MOVE,
    type_rule=lambda shape, axis, dtype: tensor_type(dtype, shape),
    numpy=_iota_numpy,
    xla=lambda jax, shape, axis, dtype: jax.lax.broadcasted_iota(dtype.numpy, shape, axis),
    simplify=_iota_simplify,
    samples=[
        case(shape=(3, 4), axis=1, dtype=int32),
        case(shape=(100,), axis=0, dtype=float64),
        case(shape=(0, 2), axis=1, dtype=int32),
    ],
)

VIEWS.update((reshape, transpose, broadcast_in_dim))
