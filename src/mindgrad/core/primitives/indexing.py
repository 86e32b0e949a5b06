"""Gather and scatter: read and write at positions given by index tensors.

    gather       y[b, r] = x[i(b), r]               scatter_add    y = x, then y[i(b), r] += u[b, r]
                                                    scatter_set    y = x, then y[i(b), r]  = u[b, r]

A *lookup* b reads or writes one slice of x. ``indices`` has shape (*b, k): its last axis contains k
positions, one along each of the k ``axes`` of x. All other axes of x are called r, so y and u have the shape
(*b, *r). The axes of x in ``batch`` correspond to the first axes of ``indices``: a lookup accesses only the
part of x that has the batch index of the lookup.

Positions count from 0. If an operator permits negative indices, it converts them first. An out-of-range index
is never replaced by another index. Reading at such an index returns NaN for floats, the smallest value for
signed integers, the largest value for unsigned integers, and False for Booleans. With ``fill="zero"``, it
returns 0. Writing at such an index does nothing. If several updates write to the same element, the last
update in the order of ``indices`` is stored. The NumPy kernels and compiled functions follow the same rules.
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.graph import Atom, Equation, is_all
from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Module, NumpyType, Propagation, Rule, Tangent
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.ir.work import MOVE, by
from mindgrad.core.primitives.accumulation_type import is_half
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.batching import at_front, moved, past, placed
from mindgrad.core.primitives.kinds import constant, cut, linear, zeros
from mindgrad.core.primitives.lookup_axes import GatherAxes, ScatterAxes, window_axes
from mindgrad.core.primitives.patterns import read_anywhere, written_anywhere
from mindgrad.core.primitives.samples import case, fixed, integers, reals
from mindgrad.core.primitives.structural import broadcast_in_dim

__all__ = ["gather", "last_write", "outside", "scatter_add", "scatter_set"]

_INT32_MAX = np.iinfo(np.int32).max


# --- shared by all primitives ----------------------------------------------------------------------


def _lookup_shape(name: str, x: TensorType, indices: TensorType, axes: Shape, batch: Shape) -> Shape:
    """Check the operands of a gather or scatter, and return the shape (*b, *r).

    This is the shape of the elements that are read or written (see the module docstring).
    """
    if indices.dtype.kind not in ("int", "uint"):
        raise TypeError(f"For '{name}', the indices must be integers, but got {indices.dtype}.")
    used = (*axes, *batch)
    if any(not 0 <= axis < x.rank for axis in used) or len(set(used)) != len(used):
        raise ValueError(
            f"For '{name}', the axes {axes} and batch axes {batch} must be distinct and inside the "
            f"input of shape {x.shape}."
        )
    if not axes or not indices.shape or indices.shape[-1] != len(axes):
        raise ValueError(
            f"For '{name}', the last axis of the indices must contain an index for each of the "
            f"{len(axes)} indexed axes, but the indices have shape {indices.shape}."
        )
    together = tuple(x.shape[axis] for axis in batch)
    if indices.shape[: len(batch)] != together or indices.rank <= len(batch):
        raise ValueError(
            f"For '{name}', the indices must begin with the batch axes {together} of the input, "
            f"but have shape {indices.shape}."
        )
    window = tuple(x.shape[axis] for axis in window_axes(x.rank, axes, batch))
    return (*indices.shape[:-1], *window)


def _places(shape: Shape, indices: Array, axes: Shape, batch: Shape) -> tuple[tuple, Array]:
    """Return ``indices`` as a NumPy index, and a mask of the lookups in range.

    The index is for an array with the axes (batch, axes, window), see :func:`_arranged`. Out-of-range
    positions are replaced by 0.
    """
    sizes = [shape[axis] for axis in axes]
    columns = [indices[..., k] for k in range(len(axes))]
    inside = np.ones(indices.shape[:-1], bool)
    for column, size in zip(columns, sizes, strict=True):
        inside &= (column >= 0) & (column < size)
    if not inside.all():
        columns = [np.where(inside, column, 0) for column in columns]
    grid = []
    for position, axis in enumerate(batch):
        expanded = [1] * (indices.ndim - 1)
        expanded[position] = shape[axis]
        grid.append(np.arange(shape[axis]).reshape(expanded))
    return (*grid, *columns), inside


def _arranged(x: Array, axes: Shape, batch: Shape) -> tuple[Array, tuple[int, ...]]:
    """Return a view of x with the axes (batch, axes, window), and the permutation."""
    order = (*batch, *axes, *window_axes(x.ndim, axes, batch))
    return np.transpose(x, order), order


def outside(dtype: NumpyType, fill: str) -> Array:
    """Return the value that an out-of-range lookup reads.

    The value is NaN for floats, and an extreme value for integers. With ``fill="zero"`` and for Booleans, it
    is 0.
    """
    if fill == "zero" or dtype.kind == "b":
        return np.zeros((), dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.asarray(limits.max if dtype.kind == "u" else limits.min, dtype)
    return np.asarray(np.nan, dtype)


def _xla_indices(indices: Array) -> Array:
    """Convert indices to a signed dtype. Clip unsigned indices to its largest value."""
    if indices.dtype.kind == "u" and indices.dtype.itemsize >= 4:
        indices = indices.clip(max=np.asarray(_INT32_MAX, indices.dtype))
    elif indices.dtype.kind == "i" and indices.dtype.itemsize >= 4:
        return indices
    return indices.astype(np.int32)


def _xla_gather(
    jax: Module, x: Array, indices: Array, axes: Shape, batch: Shape, fill: str | float, inside: bool = False
) -> Array:
    pairs = sorted(zip(batch, range(len(batch)), strict=True))
    rank, window = indices.ndim - 1, window_axes(x.ndim, axes, batch)
    if x.size == 0:
        shape = (*indices.shape[:-1], *(x.shape[axis] for axis in window))
        return jax.numpy.full(shape, fill, x.dtype)
    return jax.lax.gather(
        x,
        _xla_indices(indices),
        jax.lax.GatherDimensionNumbers(
            offset_dims=tuple(range(rank, rank + len(window))),
            collapsed_slice_dims=tuple(sorted(axes)),
            start_index_map=axes,
            operand_batching_dims=tuple(axis for axis, _ in pairs),
            start_indices_batching_dims=tuple(place for _, place in pairs),
        ),
        slice_sizes=tuple(n if axis in window else 1 for axis, n in enumerate(x.shape)),
        mode="promise_in_bounds" if inside else "fill",
        fill_value=None if inside else fill,
    )


def _xla_scatter(
    jax: Module, write: str, x: Array, indices: Array, updates: Array, axes: Shape, batch: Shape
) -> Array:
    if x.size == 0 or updates.size == 0:
        return x
    pairs = sorted(zip(batch, range(len(batch)), strict=True))
    rank = indices.ndim - 1
    return getattr(jax.lax, write)(
        x,
        _xla_indices(indices),
        updates,
        jax.lax.ScatterDimensionNumbers(
            update_window_dims=tuple(range(rank, updates.ndim)),
            inserted_window_dims=tuple(sorted(axes)),
            scatter_dims_to_operand_dims=axes,
            operand_batching_dims=tuple(axis for axis, _ in pairs),
            scatter_indices_batching_dims=tuple(place for _, place in pairs),
        ),
        mode="drop",
    )


# --- gather ----------------------------------------------------------------------------------------


def _gather_type(
    x: TensorType,
    indices: TensorType,
    axes: Shape,
    batch: Shape = (),
    fill: str = "nan",
    inside: bool = False,
) -> TensorType:
    if fill not in ("nan", "zero"):
        raise ValueError(f"For 'gather', fill must be 'nan' or 'zero', but got {fill!r}.")
    return x.with_shape(_lookup_shape("gather", x, indices, axes, batch))


def _gather_numpy(
    x: Array, indices: Array, axes: Shape, batch: Shape = (), fill: str = "nan", inside: bool = False
) -> Array:
    arranged, _ = _arranged(x, axes, batch)
    if x.size == 0:
        shape = (*indices.shape[:-1], *arranged.shape[len(axes) + len(batch) :])
        return np.full(shape, outside(x.dtype, fill))
    places, are_inside = _places(x.shape, indices, axes, batch)
    y = np.asarray(arranged[places])
    if not are_inside.all():  # writing into y is safe: it is a copy, created by indexing with arrays
        y[~are_inside] = outside(x.dtype, fill)
    return y


#: ``gather(x, indices, axes, batch=(), fill="nan", inside=False)``: the elements of x at ``indices``. If
#: ``inside`` is true, all indices must be in range (``passes.peepholes``)
gather = linear(
    "gather",
    work=MOVE,
    moves=True,
    type_rule=_gather_type,
    numpy=_gather_numpy,
    xla=lambda jax, x, indices, axes, batch=(), fill="nan", inside=False: _xla_gather(
        jax, x, indices, axes, batch, outside(x.dtype, fill).item(), inside
    ),
    linear_in=(0,),
    transpose=lambda ct, x, indices, axes, batch=(), fill="nan", inside=False: [
        cut(scatter_add(zeros(x.type), indices, ct, axes=axes, batch=batch)),
        None,
    ],
    axes=GatherAxes(),
    pattern=read_anywhere,
    samples=[
        case(reals()[4, 3], integers(0, 4)[5, 1], axes=(0,)),
        case(reals()[4, 3, 2], integers(0, 2)[2, 3, 2], axes=(2, 0)),
        case(reals()[4, 3], integers(0, 3)[2], axes=(0, 1)),
        case(reals()[2, 4, 3], integers(0, 4)[2, 5, 1], axes=(1,), batch=(0,)),
        case(reals()[3, 4, 2], integers(0, 4)[2, 3, 1], axes=(1,), batch=(2, 0)),
        case(reals()[3], fixed([[0], [3], [-1], [2]]), axes=(0,), fill="zero"),
        case(reals()[3], integers(0, 3)[0, 1], axes=(0,)),
        case(reals()[0, 2], fixed([[0], [1]]), axes=(0,), fill="zero"),
    ],
)


# --- scatter ---------------------------------------------------------------------------------------


def _scatter_type(name: str) -> Rule:
    def rule(
        x: TensorType,
        indices: TensorType,
        updates: TensorType,
        axes: Shape,
        batch: Shape = (),
        unique: bool = False,
    ) -> TensorType:
        if name == "scatter_add" and x.dtype is bool_:
            raise TypeError("For 'scatter_add', the input must be a tensor of numbers, but got Bool.")
        shape = _lookup_shape(name, x, indices, axes, batch)
        if updates.shape != shape or updates.dtype is not x.dtype:
            raise ValueError(
                f"For '{name}', the updates must have type {x.with_shape(shape)} (the indices' "
                f"shape without its last axis, then the other axes of x), but got {updates}."
            )
        return x

    return rule


def _written(x: Array, indices: Array, updates: Array, axes: Shape, batch: Shape, write: Rule) -> Array:
    """Return a copy of x into which ``write`` has written the in-range ``updates``."""
    y = np.array(x)
    if y.size == 0 or updates.size == 0:
        return y
    view, _ = _arranged(y, axes, batch)
    places, inside = _places(x.shape, indices, axes, batch)
    if not inside.all():
        places = tuple(np.broadcast_to(place, inside.shape)[inside] for place in places)
        updates = updates[inside]
    write(view, places, updates)
    return y


def _scatter_batch(row: Rule) -> Rule:
    def rule(
        size: int, xs: Atoms, at: BatchAxes, /, axes: Shape, batch: Shape = (), **parameters: object
    ) -> tuple[Atom, int]:
        (x, indices, updates), (x_at, indices_at, updates_at) = xs, at
        if indices_at is None:
            # all samples use the same indices, so each index selects a slice that contains the whole batch
            # axis
            target = 0 if x_at is None else x_at
            axes, batch = past(axes, target), past(batch, target)
            x = placed(size, x, x_at, target)
            window = window_axes(len(x.shape), axes, batch)
            place = len(indices.shape) - 1 + window.index(target)
            updates = placed(size, updates, updates_at, place)
        else:
            target = 0
            axes, batch = past(axes, 0), (0, *past(batch, 0))
            x, indices, updates = map(at_front, (size,) * 3, xs, at)
        return row()(x, indices, updates, axes=axes, batch=batch, **parameters), target

    return rule


def _scatter_add_numpy(x: Array, indices: Array, updates: Array, axes: Shape, batch: Shape = ()) -> Array:
    if is_half(x.dtype):
        wide = x.astype(np.float32), indices, updates.astype(np.float32)
        return _written(*wide, axes, batch, np.add.at).astype(x.dtype)
    return _written(x, indices, updates, axes, batch, np.add.at)


def _scatter_add_xla(
    jax: Module, x: Array, indices: Array, updates: Array, axes: Shape, batch: Shape = ()
) -> Array:
    if is_half(x.dtype):
        wide = x.astype(np.float32), indices, updates.astype(np.float32)
        return _xla_scatter(jax, "scatter_add", *wide, axes, batch).astype(x.dtype)
    return _xla_scatter(jax, "scatter_add", x, indices, updates, axes, batch)


_SCATTERS: list[tuple] = [
    (reals()[4, 3], integers(0, 4)[5, 1], reals()[5, 3], {"axes": (0,)}),
    (reals()[4, 3, 2], integers(0, 2)[2, 3, 2], reals()[2, 3, 3], {"axes": (2, 0)}),
    (reals()[4, 3], integers(0, 3)[2], reals()[()], {"axes": (0, 1)}),
    (reals()[2, 4, 3], integers(0, 4)[2, 5, 1], reals()[2, 5, 3], {"axes": (1,), "batch": (0,)}),
    (reals()[3], fixed([[0], [3], [-1], [2], [2]]), reals()[5], {"axes": (0,)}),
    (reals()[3], integers(0, 3)[0, 1], reals()[0], {"axes": (0,)}),
]


def _scatter_add_pattern(run: Propagation, equation: Equation, patterns: list) -> list:
    x, indices, updates = equation.inputs
    positions = run.value(indices)
    if patterns[2] is None:
        return [patterns[0]]
    if positions is None:
        return written_anywhere(run, equation, patterns)
    numbers = np.arange(1, x.type.size + 1).reshape(x.shape)
    parameters = equation.parameters
    # number the elements of x and gather the numbers, to find the element that each update changes
    read = gather.numpy(numbers, positions, parameters["axes"], parameters.get("batch", ()), "zero")
    target = np.ravel(read) - 1
    inside = np.flatnonzero(target >= 0)
    incidence = run.sparse.csr_array(
        (np.ones(len(inside), bool), (target[inside], inside)), (x.type.size, updates.type.size)
    )
    return [run.union([patterns[0], run.product(incidence, patterns[2])])]


#: ``scatter_add(x, indices, updates, axes, batch=())``: x with the updates added at ``indices``
scatter_add = linear(
    "scatter_add",
    work=by(lambda equation: equation.inputs[2].type.size),
    type_rule=_scatter_type("scatter_add"),
    numpy=_scatter_add_numpy,
    xla=_scatter_add_xla,
    linear_in=(0, 2),
    transpose=lambda ct, x, indices, updates, axes, batch=(): [
        ct if x.linear else None,
        None,
        gather(ct, indices, axes=axes, batch=batch, fill="zero") if updates.linear else None,
    ],
    axes=ScatterAxes(),
    pattern=_scatter_add_pattern,
    batch=_scatter_batch(lambda: scatter_add),
    simplify=lambda x, indices, updates, axes, batch=(): x if is_all(updates, 0) else None,
    samples=[case(x, i, u, accepts="number", **given) for x, i, u, given in _SCATTERS],
)


def _last_write_type(indices: TensorType, sizes: Shape, batch: int) -> TensorType:
    where = indices.with_shape((*indices.shape[:batch], *sizes))
    axes = tuple(range(batch, where.rank))
    shape = _lookup_shape("last_write", where, indices, axes, tuple(range(batch)))
    return indices.with_shape(shape).with_dtype(bool_)


def _last_write_numpy(indices: Array, sizes: Shape, batch: int) -> Array:
    axes, before = tuple(range(batch, batch + len(sizes))), tuple(range(batch))
    shape = indices.shape[:-1]
    order = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    empty = np.full((*indices.shape[:batch], *sizes), -1)
    last = _written(empty, indices, order, axes, before, np.ndarray.__setitem__)
    return _gather_numpy(last, indices, axes, before) == order


def _last_write_xla(jax: Module, indices: Array, sizes: Shape, batch: int) -> Array:
    axes, before = tuple(range(batch, batch + len(sizes))), tuple(range(batch))
    shape = indices.shape[:-1]
    order = jax.numpy.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    empty = jax.numpy.full((*indices.shape[:batch], *sizes), -1, np.int32)
    # the last update of an element has the largest number. The maximum of the numbers does not depend on the
    # order in which a device writes
    last = _xla_scatter(jax, "scatter_max", empty, indices, order, axes, before)
    return _xla_gather(jax, last, indices, axes, before, -2) == order


#: ``last_write(indices, sizes, batch)``: mask, for writes at ``indices`` into axes of the given ``sizes``,
#: that is true for each write that is in range and not overwritten by a later write. The first ``batch`` axes
#: of the indices are batch axes
last_write = constant(
    "last_write",
    type_rule=_last_write_type,
    numpy=_last_write_numpy,
    xla=_last_write_xla,
    batch=lambda size, xs, at, sizes, batch: (
        last_write(moved(xs[0], at[0], 0), sizes=sizes, batch=batch + 1),
        0,
    ),
    samples=[
        case(integers(-1, 4)[8, 1], sizes=(3,), batch=0),
        case(integers(0, 3)[2, 4, 2], sizes=(3, 2), batch=1),
        case(integers(0, 3)[0, 1], sizes=(3,), batch=0),
    ],
)


def _scatter_set_xla(
    jax: Module,
    x: Array,
    indices: Array,
    updates: Array,
    axes: Shape,
    batch: Shape = (),
    unique: bool = False,
) -> Array:
    if not unique and np.prod(indices.shape[len(batch) : -1], dtype=np.int64) > 1:
        sizes = tuple(x.shape[axis] for axis in axes)
        indices = _xla_indices(indices)
        last = _last_write_xla(jax, indices, sizes, len(batch))
        indices = jax.numpy.where(last[..., None], indices, -1)
    return _xla_scatter(jax, "scatter", x, indices, updates, axes, batch)


def _scatter_set_transpose(
    ct: Atom, x: Atom, indices: Atom, updates: Atom, axes: Shape, batch: Shape = (), unique: bool = False
) -> list[Tangent]:
    of_x = of_updates = None
    if x.linear:
        nothing = zeros(updates.type)
        of_x = cut(scatter_set(ct, indices, nothing, axes=axes, batch=batch, unique=unique))
    if updates.linear:
        of_updates = gather(ct, indices, axes=axes, batch=batch, fill="zero")
        if not unique:
            sizes = tuple(x.shape[axis] for axis in axes)
            last = last_write(indices, sizes=sizes, batch=len(batch))
            last = broadcast_in_dim(last, shape=of_updates.shape, dims=tuple(range(len(last.shape))))
            of_updates = select(last, of_updates, zeros(of_updates.type))
    return [of_x, None, of_updates]


#: ``scatter_set(x, indices, updates, axes, batch=(), unique=False)``: x with the updates written at
#: ``indices``. If ``unique`` is true, no element may be written twice, so that no search for the last write
#: is needed
scatter_set = linear(
    "scatter_set",
    work=MOVE,
    moves=True,
    type_rule=_scatter_type("scatter_set"),
    numpy=lambda x, indices, updates, axes, batch=(), unique=False: _written(
        x, indices, updates, axes, batch, np.ndarray.__setitem__
    ),
    xla=_scatter_set_xla,
    linear_in=(0, 2),
    transpose=_scatter_set_transpose,
    axes=ScatterAxes(),
    pattern=written_anywhere,
    batch=_scatter_batch(lambda: scatter_set),
    samples=[
        *(case(x, i, u, **given) for x, i, u, given in _SCATTERS),
        case(reals()[4], fixed([[2], [0]]), reals()[2], axes=(0,), unique=True),
    ],
)
