"""Convert the operands of a function to tensors of one element type and shape.

A Python number becomes a :class:`Number`: a scalar (0-D) tensor with the precision of Python's numbers, which
does not change the element type of a tensor with which it is combined. An operator on numbers alone returns a
number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mindgrad.core.ir.array_conversion import is_other_array
from mindgrad.core.ir.dtype import DType, complex128, float64, promote, promote_scalar
from mindgrad.core.ir.graph import Constant, Variable
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, reshape
from mindgrad.core.trace import references

__all__ = [
    "applied", "broadcast_shapes", "broadcast_to", "broadcast_together", "cast", "inexact", "operand",
    "pointwise", "promoted",
]  # fmt: skip

Shape = tuple[int, ...]

#: pairs of a Python number type and the NumPy type for its values. ``bool`` comes first, because it is a
#: subclass of ``int``
_PRECISION = ((bool, np.bool_), (int, np.int64), (float, np.float64), (complex, np.complex128))


def operand(x: object, operator: str) -> Tensor:
    """Convert ``x`` to a tensor.

    ``operator`` is the name of the calling operator in error messages.

    Raises:
        TypeError: If ``x`` cannot be converted to a tensor.
    """
    if isinstance(x, Tensor):
        return references.read(x) if x.is_parameter else x
    for kind, dtype in _PRECISION:
        if isinstance(x, kind):
            return make_number(make_tensor(np.asarray(x, dtype)))
    if isinstance(x, (np.ndarray, np.generic)) or is_other_array(x):
        return Tensor(x)
    if isinstance(x, (list, tuple)):
        return _stacked(x, operator)
    fix = " In rules and rewrites, use the primitives." if isinstance(x, (Variable, Constant)) else ""
    raise TypeError(
        f"For '{operator}', the input must be a Tensor or a number, but got {x!r} of type {type(x).__name__}."
        + fix
    )


def _stacked(x: Sequence[object], operator: str) -> Tensor:
    """Convert a nested list of numbers and tensors to one tensor."""
    if not _has_tensor(x):
        return Tensor(x)
    rows = promoted(operator, *x)
    return apply(concatenate, *[apply(reshape, row, shape=(1, *row.shape)) for row in rows], axis=0)


def _has_tensor(x: object) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_has_tensor, x))
    return isinstance(x, Tensor)


def cast(x: Tensor, dtype: DType) -> Tensor:
    """Convert ``x`` to element type ``dtype``."""
    return x if (x._type or x.type).dtype is dtype else apply(convert, x, dtype=dtype)


def inexact(x: Tensor) -> Tensor:
    """Convert an integer or Boolean tensor to floating point; return others unchanged."""
    dtype = x.type.dtype
    if dtype.is_inexact:
        return x
    return make_number(cast(x, float64)) if type(x) is Number else cast(x, promote_scalar(dtype, 1.0))


def broadcast_shapes(operator: str, *shapes: Shape) -> Shape:
    """Return the shape to which ``shapes`` broadcast by NumPy's rules.

    Raises:
        ValueError: If the shapes do not broadcast.
    """
    rank = max(map(len, shapes))
    sizes = [1] * rank
    for shape in shapes:
        for position, size in enumerate(shape, rank - len(shape)):
            if size != sizes[position] and size != 1:
                if sizes[position] != 1:
                    listed = " and ".join(map(str, shapes))
                    raise ValueError(
                        f"For '{operator}', the shapes {listed} do not broadcast: from the right, "
                        f"each pair of sizes must be equal, or one of them must be 1, but axis "
                        f"{position - rank} has {sizes[position]} and {size}."
                    )
                sizes[position] = size
    return tuple(sizes)


def broadcast_to(x: Tensor, shape: Shape) -> Tensor:
    """Broadcast ``x`` to ``shape``."""
    own = x.type.shape
    if own == shape:
        return x
    return apply(broadcast_in_dim, x, **_at_the_right(own, shape))


def _at_the_right(own: Shape, shape: Shape) -> dict[str, Any]:
    return {"shape": shape, "dims": tuple(range(len(shape) - len(own), len(shape)))}


def broadcast_together(operator: str, *tensors: Tensor) -> list[Tensor]:
    """Broadcast ``tensors`` to their common shape.

    Raises:
        ValueError: If the shapes do not broadcast.
    """
    shape = broadcast_shapes(operator, *[t.type.shape for t in tensors])
    return [broadcast_to(t, shape) for t in tensors]


def promoted(operator: str, *xs: object, float_only: bool = False) -> list[Tensor]:
    """Convert ``xs`` to tensors of one element type.

    If all of ``xs`` are numbers, the results are numbers. With ``float_only``, integers are converted to
    floats.
    """
    tensors = [x if type(x) is Tensor else operand(x, operator) for x in xs]
    dtype: Any = None
    for t in tensors:
        if type(t) is not Number:
            own = (t._type or t.type).dtype
            dtype = own if dtype is None else promote(dtype, own)
    if dtype is not None:
        for t in tensors:
            if type(t) is Number:
                dtype = promote_scalar(dtype, t.sample())
        if float_only and not dtype.is_inexact:
            dtype = promote_scalar(dtype, 1.0)
        return [cast(t, dtype) for t in tensors]
    for t in tensors:
        dtype = t.type.dtype if dtype is None else promote(dtype, t.type.dtype)
    if float_only and not dtype.is_inexact:
        dtype = float64
    return [make_number(cast(t, complex128 if dtype.kind == "complex" else dtype)) for t in tensors]


def applied(primitive: Primitive, *tensors: Tensor, **parameters: object) -> Any:
    """Check the operands with the type rule of ``primitive``, and apply ``primitive``.

    If all operands are numbers and the result is a scalar, the result is a number.

    Raises:
        TypeError, ValueError: If ``primitive`` does not accept the operands or parameters.
    """
    return _applied(None, primitive, list(tensors), parameters)


def _applied(
    operator: str | None, primitive: Primitive, tensors: list[Tensor], parameters: dict[str, object]
) -> Any:
    types = tuple([t._type or t.type for t in tensors])
    try:
        spread = _checked(operator, primitive, types, tuple(parameters.items()))
    except TypeError:
        _refuse_unhashable(primitive, parameters)
        raise
    for position, wanted in spread:
        tensors[position] = apply(broadcast_in_dim, tensors[position], **wanted)
    result = apply(primitive, *tensors, **parameters)
    if type(tensors[0]) is Number and not primitive.multiple and all(type(t) is Number for t in tensors):
        return result if result.shape else make_number(result)
    return result


def _refuse_unhashable(primitive: Primitive, parameters: dict[str, object]) -> None:
    """Raise ``TypeError`` if a parameter cannot be a part of a cache key."""
    try:
        hash(tuple(parameters.items()))
    except TypeError as error:
        raise TypeError(
            f"For '{primitive.name}', the parameters {parameters} must be hashable: {error}. Pass tuples."
        ) from None


@lru_cache(maxsize=4096)
def _checked(
    operator: str | None,
    primitive: Primitive,
    types: tuple[TensorType, ...],
    parameters: tuple[tuple[str, object], ...],
) -> list[tuple[int, dict[str, Any]]]:
    """Check the types of operands with the type rule of ``primitive``.

    If the name of an elementwise ``operator`` is given, the operands are broadcast to their common shape
    before the check. Returns a pair (index, parameters of ``broadcast_in_dim``) for each operand that must be
    broadcast. The result is cached, because eager mode checks every operator of every call.
    """
    spread = []
    if operator is not None:
        shapes = [each.shape for each in types]
        shape = broadcast_shapes(operator, *shapes)
        types = tuple([each.with_shape(shape) for each in types])
        spread = [
            (position, _at_the_right(own, shape)) for position, own in enumerate(shapes) if own != shape
        ]
    result = primitive.type_rule(*types, **dict(parameters))
    results = result if primitive.multiple and isinstance(result, (tuple, list)) else [result]
    if isinstance(result, TensorType) is primitive.multiple or any(
        type(y) is not TensorType for y in results
    ):
        expected = "a tuple of TensorTypes" if primitive.multiple else "a TensorType"
        raise TypeError(
            f"the type rule of the operator '{primitive.name}' must return {expected}, but returned "
            f"{result!r}. An operator with several results declares multiple=True."
        )
    return spread


def pointwise(
    operator: str, primitive: Primitive, *xs: object, float_only: bool = False, **parameters: object
) -> Any:
    """Apply an elementwise primitive after type promotion and broadcasting of ``xs``."""
    tensors = promoted(operator, *xs, float_only=float_only)
    return _applied(operator, primitive, tensors, parameters)
