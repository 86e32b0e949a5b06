"""Convert operands: read Parameters, convert numbers, promote and broadcast.

Public functions convert their arguments here, so an operator receives tensors of the same dtype and shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.array_conversion import is_other_array
from mindgrad.core.ir.dtype import DType, bool_, complex128, float64, int64, promote, promote_scalar
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.scope import apply, as_it_is, outermost_program
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor, scalar_tensor
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import reshape
from mindgrad.core.trace import references
from mindgrad.core.trace.operands import broadcast_shapes, broadcast_to, broadcast_together, cast
from mindgrad.frontend import state

__all__ = [
    "accepted", "accepted_types", "applied", "binary", "broadcast_shapes", "broadcast_to",
    "broadcast_together", "cast", "choose", "full_tensor", "inexact", "is_selection", "operand", "pointwise",
    "promoted", "truth", "unary",
]  # fmt: skip

#: operators that stack the tensors if an operand is a tuple or list
_STACKING = frozenset({"Add", "Sub", "FloorDiv"})
_NUMBER = (bool, int, float, complex, np.generic)

# cache of (primitive, dtype) pairs that the type rule of the primitive has accepted
_ACCEPTED: set[tuple[Primitive, DType]] = set()

# cache of (primitive, dtype, float_only) for operands that need no conversion
_AS_THEY_ARE: set[tuple[Primitive, DType, bool]] = set()

# Cache of Python numbers converted to tensors. The key contains the primitive, ``float_only``, the type and
# value of the number, and the type of the other operand, which determines the dtype. For a zero, the value is
# its repr, because 0.0 and −0.0 are equal.
_NUMBERS: dict[tuple[Primitive, bool, type, Any, TensorType], Tensor] = {}
_NUMBERS_KEPT = 1024


def operand(x: Any, operator: str, like: Tensor | None = None) -> Tensor:
    """Convert ``x`` to a tensor: read a Parameter, or convert a number.

    Raises:
        TypeError: If ``x`` cannot be converted to a tensor.
    """
    if type(x) is Tensor:
        return x
    if isinstance(x, Tensor):
        if type(x) is Number:
            return _as_tensor(x, like)
        if not x.is_parameter:
            return x
        # Return a new object. A function may return its operand unchanged, and a later assignment to the
        # Parameter must not change the value that the function has returned.
        value = _read(x)
        return as_it_is(value) if value is x else value
    if isinstance(x, (bool, int, float, complex, np.ndarray, np.generic, list, tuple)):
        if like is not None and not isinstance(x, (np.ndarray, list, tuple)):
            number = x.item() if isinstance(x, np.generic) else x
            dtype = promote_scalar(like.dtype, number)
            if type(number) is float and dtype.is_float and abs(number) <= _LARGEST_HALF:
                return make_tensor(np.asarray(number, dtype.numpy))
            return Tensor(number, dtype)
        if isinstance(x, (list, tuple)) and any(isinstance(item, Tensor) for item in x):
            if operator not in _STACKING:
                advice = "join them first: ops.stack(...)"
                if all(type(item) is Number for item in x if isinstance(item, Tensor)):
                    advice = "pass one Tensor: Tensor([...])"
                raise TypeError(
                    f"For '{operator}', the input is a {type(x).__name__} that holds tensors; {advice}."
                )
            rows = promoted(operator, *x, broadcast=False)
            return apply(concatenate, *(apply(reshape, y, shape=(1, *y.shape)) for y in rows), axis=0)
        return Tensor(x)
    if is_selection(x):
        return x
    if is_other_array(x):
        return Tensor(x)
    if getattr(x, "is_missing", False):
        raise TypeError(f"For '{operator}', the input is missing: call it with a Tensor or a number.")
    raise TypeError(
        f"For '{operator}', the input must be a Tensor or a number, but got {x!r} of type {type(x).__name__}."
    )


def _read(parameter: Tensor) -> Tensor:
    """Read a Parameter in the floating-point type in which the running Cell computes."""
    found = references.read(parameter)
    wanted = state.float_type()
    return cast(found, wanted) if wanted is not None and found.type.dtype.is_float else found


def _as_tensor(number: Number, like: Tensor | None) -> Tensor:
    """Convert a traced number to a tensor of the type that a Python number would get."""
    sample = number.sample()
    if like is not None:
        dtype = promote_scalar(like.type.dtype, sample)
    elif type(sample) is float and (program := outermost_program()) is not None and program.has_scalars:
        dtype = float64
    else:
        dtype = Tensor(sample).dtype
    return cast(as_it_is(number), dtype)


def _with_numbers(primitive: Primitive, operator: str, a: Any, b: Any, float_only: bool) -> Tensor:
    """Apply a primitive if an operand is a traced number; two numbers return a number."""
    samples = [x.sample() if type(x) is Number else x for x in (a, b)]
    if any(isinstance(x, Tensor) for x in samples) or not all(isinstance(x, _NUMBER) for x in samples):
        a, b = promoted(operator, a, b)
        if float_only:
            a, b = inexact(a), inexact(b)
        accepted(primitive, operator, a, b)
        return apply(primitive, a, b)
    kinds = (bool, int, float, complex)
    kind = kinds[max(next(k for k, each in enumerate(kinds) if isinstance(x, each)) for x in samples)]
    if float_only and kind is not complex:
        kind = float
    if kind is bool:
        kind = int
    dtype = {int: int64, float: float64, complex: complex128}[kind]
    a, b = [cast(as_it_is(x), dtype) if isinstance(x, Tensor) else Tensor(x, dtype) for x in (a, b)]
    accepted(primitive, operator, a, b)
    return make_number(apply(primitive, a, b))


def accepted(primitive: Primitive, operator: str, *tensors: Tensor, **parameters: Any) -> None:
    """Check the dtypes of the operands, once for each primitive and dtype.

    Raises:
        TypeError: If the primitive does not accept the dtypes.
    """
    if (primitive, (tensors[0]._type or tensors[0].type).dtype) not in _ACCEPTED:
        accepted_types(primitive, operator, *[tensor.type for tensor in tensors], **parameters)


def accepted_types(primitive: Primitive, operator: str, *types: TensorType, **parameters: Any) -> None:
    """Check the dtypes of operands, as :func:`accepted`, given their types."""
    key = (primitive, types[0].dtype)
    if key not in _ACCEPTED:
        _check(primitive, operator, types, parameters)
        _ACCEPTED.add(key)


def applied(primitive: Primitive, operator: str, *tensors: Tensor, **parameters: Any) -> Any:
    """Apply a primitive after its type rule has checked types, shapes, and parameters.

    Without this check, an eager kernel would find a mistake later or not at all, with another message.

    Raises:
        TypeError, ValueError: If the primitive does not accept the operands or parameters.
    """
    _check(primitive, operator, [tensor.type for tensor in tensors], parameters)
    return apply(primitive, *tensors, **parameters)


def _check(
    primitive: Primitive, operator: str, types: Sequence[TensorType], parameters: dict[str, Any]
) -> None:
    try:
        primitive.type_rule(*types, **parameters)
    except (TypeError, ValueError) as error:
        named = str(error).replace(f"'{primitive.name}'", f"'{operator}'", 1)
        raise type(error)(named) from None


def inexact(x: Tensor) -> Tensor:
    """Convert ints and Booleans to float32; return other types unchanged."""
    return x if (x._type or x.type).dtype.is_inexact else cast(x, promote_scalar(x.type.dtype, 1.0))


def truth(x: Any, operator: str) -> Tensor:
    """Convert ``x`` to Bool: whether each element is nonzero."""
    return cast(operand(x, operator), bool_)


def promoted(operator: str, *xs: Any, broadcast: bool = True) -> list[Tensor]:
    """Convert ``xs`` to a common dtype and, if ``broadcast``, to a common shape."""
    tensors: list[Tensor] = []
    dtype: Any = None
    mixed = False
    for x in xs:
        if type(x) is not Tensor:
            # a number gets the dtype of the first tensor; other operands ignore this argument
            x = operand(x, operator, None if getattr(x, "is_parameter", False) else _anchor(xs))
        tensors.append(x)
        own = (x._type or x.type).dtype
        if own is not dtype:
            mixed = dtype is not None
            dtype = promote(dtype, own) if mixed else own
    if mixed:
        tensors = [cast(t, dtype) for t in tensors]
    if broadcast:
        types = [t._type or t.type for t in tensors]
        if types.count(types[0]) < len(types):
            return broadcast_together(operator, *tensors)
    return tensors


def _anchor(xs: Sequence[Any]) -> Tensor | None:
    """Return the first tensor among ``xs`` that is not a number."""
    return next((x for x in xs if isinstance(x, Tensor) and type(x) is not Number), None)


def binary(primitive: Primitive, operator: str, a: Any, b: Any, float_only: bool = False) -> Tensor:
    """Apply a pointwise primitive to two operands after promotion and broadcasting."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is Tensor:
        like = a._type or a.type
        if kind_b is not Tensor and isinstance(b, Tensor) and b.is_parameter:
            b, kind_b = _read(b), Tensor
        if kind_b is Tensor:
            other = b._type or b.type
            if like.dtype is other.dtype and (primitive, like.dtype, float_only) in _AS_THEY_ARE:
                if like is not other:
                    a, b = broadcast_together(operator, a, b)
                return apply(primitive, a, b)
        elif kind_b is float or kind_b is int:
            constant = _NUMBERS.get((primitive, float_only, kind_b, b or repr(b), like))
            if constant is not None:
                return apply(primitive, a, constant)
    elif kind_b is Tensor and (kind_a is float or kind_a is int):
        constant = _NUMBERS.get((primitive, float_only, kind_a, a or repr(a), b._type or b.type))
        if constant is not None:
            return apply(primitive, constant, b)
    return _binary(primitive, operator, a, b, float_only)


def is_selection(x: Any) -> bool:
    """Return whether ``x`` is a deferred selection ``x[mask]`` (``ops.selection``)."""
    return getattr(type(x), "is_selection", False)


def _binary(primitive: Primitive, operator: str, a: Any, b: Any, float_only: bool) -> Tensor:
    if is_selection(a):
        return a.joined(b, lambda x, y: binary(primitive, operator, x, y, float_only), True)
    if is_selection(b):
        return b.joined(a, lambda x, y: binary(primitive, operator, x, y, float_only), False)
    a_tensor, b_tensor = isinstance(a, Tensor), isinstance(b, Tensor)
    if type(a) is Number or type(b) is Number:
        return _with_numbers(primitive, operator, a, b, float_only)
    if a_tensor and b_tensor:
        if a.is_parameter:
            a = _read(a)
        if b.is_parameter:
            b = _read(b)
        dtype = a.type.dtype
        if dtype is b.type.dtype and (dtype.is_inexact or not float_only):
            if a.type is not b.type:
                a, b = broadcast_together(operator, a, b)
            if (primitive, dtype, float_only) not in _AS_THEY_ARE:
                accepted(primitive, operator, a, b)
                _AS_THEY_ARE.add((primitive, dtype, float_only))
            return apply(primitive, a, b)
    elif a_tensor or b_tensor:
        tensor, number = (a, b) if a_tensor else (b, a)
        if isinstance(number, np.generic):
            number = number.item()
        if isinstance(number, (bool, int, float, complex)):
            tensor = _read(tensor) if tensor.is_parameter else tensor
            key = (primitive, float_only, type(number), number or repr(number), tensor.type)
            other = _NUMBERS.get(key)
            if other is not None:
                return apply(primitive, tensor, other) if a_tensor else apply(primitive, other, tensor)
            dtype = promote_scalar(tensor.type.dtype, number)
            if float_only and not dtype.is_inexact:
                dtype = promote_scalar(dtype, 1.0)
            is_like = tensor.type.dtype is dtype
            tensor = cast(tensor, dtype)
            other = _constant(number, tensor, operator)
            accepted(primitive, operator, tensor, other)
            if is_like and type(number) in (float, int):
                if len(_NUMBERS) >= _NUMBERS_KEPT:
                    _NUMBERS.clear()
                other._array.flags.writeable = False
                _NUMBERS[key] = other
            return apply(primitive, tensor, other) if a_tensor else apply(primitive, other, tensor)
    a, b = promoted(operator, a, b)
    if float_only:
        a, b = inexact(a), inexact(b)
    accepted(primitive, operator, a, b)
    return apply(primitive, a, b)


def pointwise(primitive: Primitive, operator: str, *xs: Any, float_only: bool = False) -> Tensor:
    """Apply a pointwise primitive to operands after promotion and broadcasting.

    A number next to tensors is stored as one element, whatever the shape of the tensors.
    """
    numbers = [isinstance(x, _NUMBER) for x in xs]
    if all(numbers):
        numbers = [False] * len(xs)
    tensors = promoted(operator, *[x for x, number in zip(xs, numbers, strict=True) if not number])
    dtype = tensors[0].type.dtype
    for x, number in zip(xs, numbers, strict=True):
        if number:
            dtype = promote_scalar(dtype, x.item() if isinstance(x, np.generic) else x)
    if float_only and not dtype.is_inexact:
        dtype = promote_scalar(dtype, 1.0)
    tensors = [cast(tensor, dtype) for tensor in tensors]
    given = iter(tensors)
    operands = [
        _constant(x, tensors[0], operator) if number else next(given)
        for x, number in zip(xs, numbers, strict=True)
    ]
    accepted(primitive, operator, *operands)
    return apply(primitive, *operands)


def choose(condition: Tensor, a: Any, b: Any) -> Tensor:
    """Select ``a`` where ``condition`` is true, else ``b``; one may be a number."""
    like = (a if isinstance(a, Tensor) else b).type
    first = a if isinstance(a, Tensor) else scalar_tensor(a, like)
    second = b if isinstance(b, Tensor) else scalar_tensor(b, like)
    return apply(select, condition, first, second)


_LARGEST_HALF = 65504.0


def _constant(number: Any, like: Tensor, operator: str) -> Tensor:
    try:
        if type(number) is float and abs(number) > _LARGEST_HALF:
            with np.errstate(over="ignore"):  # a number that is too large for the dtype becomes infinite
                return scalar_tensor(number, like.type)
        return scalar_tensor(number, like.type)
    except OverflowError:
        raise OverflowError(
            f"For '{operator}', the number {number} does not fit the dtype {like.dtype} "
            f"of the tensor; convert the tensor first, or write a float."
        ) from None


def unary(primitive: Primitive, operator: str, x: Any, float_only: bool = False, **parameters: Any) -> Tensor:
    """Apply a primitive to one operand; ``float_only`` converts ints to float32."""
    if type(x) is Tensor and (primitive, (x._type or x.type).dtype, float_only) in _AS_THEY_ARE:
        return apply(primitive, x, **parameters)
    if type(x) is Number and not float_only:
        return make_number(apply(primitive, as_it_is(x), **parameters))
    if is_selection(x):
        return x.mapped(lambda values: unary(primitive, operator, values, float_only, **parameters))
    tensor = operand(x, operator)
    if float_only:
        tensor = inexact(tensor)
    accepted(primitive, operator, tensor, **parameters)
    if tensor is x:
        _AS_THEY_ARE.add((primitive, tensor.type.dtype, float_only))
    return apply(primitive, tensor, **parameters)


def full_tensor(number: Any, dtype: DType, shape: tuple[int, ...]) -> Tensor:
    """Create a tensor whose elements all equal ``number``."""
    # call this before ``make_tensor``, because it raises an error if the shape is too large
    made = tensor_type(dtype, shape)
    return make_tensor(np.full(shape, number, dtype.numpy), made)
