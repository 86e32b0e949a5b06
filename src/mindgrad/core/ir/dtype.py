"""Element types with MindSpore's names, and the promotion table.

A :class:`DType` prints as MindSpore prints it (``str``: ``Float32``; ``repr``: ``mindspore.float32``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from mindgrad.core.ir.rules import NumpyType

if TYPE_CHECKING:
    from mindgrad.core.ir.types import TensorType

__all__ = ["BY_NUMPY", "DTYPES", "DType", "as_dtype", "promote", "promote_scalar"]


class DType:
    """One element type.

    Args:
        name (str): the name that MindSpore prints.
        identifier (str): name of the constant, such as ``"float32"``.
        storage (numpy.dtype or type): the NumPy dtype of arrays with this element type.
        kind (str): ``"bool"``, ``"int"``, ``"uint"``, ``"float"``, or ``"complex"``.

    Attributes:
        name: the name that MindSpore prints, such as ``"Float32"``.
        numpy: the NumPy dtype of arrays with this element type.
        kind: one of ``"bool" | "int" | "uint" | "float" | "complex"``.
        is_float: whether the type is a real floating-point type.
        is_half: whether the type is float16 or bfloat16.
        is_inexact: whether the type is floating-point or complex.

    >>> from mindgrad import float32
    >>> str(float32), repr(float32), float32.itemsize
    ('Float32', 'mindspore.float32', 4)

    See Also:
        :class:`mindgrad.Tensor`, :func:`mindgrad.dtype_to_nptype`, :func:`mindgrad.pytype_to_dtype`
    """

    __slots__ = (
        "_types", "identifier", "is_float", "is_half", "is_inexact", "itemsize", "kind", "name", "numpy",
        "rank",
    )  # fmt: skip

    def __init__(self, name: str, identifier: str, storage: np.typing.DTypeLike, kind: str) -> None:
        self.name = name
        self.identifier = identifier
        self.numpy: NumpyType = np.dtype(storage)
        self.kind = kind
        self.is_float = kind == "float"
        self.is_inexact = kind in ("float", "complex")
        self.itemsize = self.numpy.itemsize
        self.is_half = self.is_float and self.itemsize == 2
        #: the types of tensors with this element type, by shape (``core.ir.types``)
        self._types: dict[tuple[int, ...], TensorType] = {}
        self.rank = ("bool", "int", "uint", "float", "complex").index(kind)

    @property
    def dtype(self) -> NumpyType:
        """The NumPy dtype, so that ``np.zeros(3, mindgrad.float32)`` works."""
        return self.numpy

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"mindspore.{self.identifier}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        try:
            return self is as_dtype(other)
        except TypeError:
            return NotImplemented

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Callable, tuple[str]]:
        return (as_dtype, (self.identifier,))


bool_ = DType("Bool", "bool_", np.bool_, "bool")
int8 = DType("Int8", "int8", np.int8, "int")
int16 = DType("Int16", "int16", np.int16, "int")
int32 = DType("Int32", "int32", np.int32, "int")
int64 = DType("Int64", "int64", np.int64, "int")
uint8 = DType("UInt8", "uint8", np.uint8, "uint")
uint16 = DType("UInt16", "uint16", np.uint16, "uint")
uint32 = DType("UInt32", "uint32", np.uint32, "uint")
uint64 = DType("UInt64", "uint64", np.uint64, "uint")
float16 = DType("Float16", "float16", np.float16, "float")
float32 = DType("Float32", "float32", np.float32, "float")
float64 = DType("Float64", "float64", np.float64, "float")
bfloat16 = DType("BFloat16", "bfloat16", ml_dtypes.bfloat16, "float")
complex64 = DType("Complex64", "complex64", np.complex64, "complex")
complex128 = DType("Complex128", "complex128", np.complex128, "complex")

DTYPES: tuple[DType, ...] = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, float32, float64, bfloat16, complex64, complex128,
)  # fmt: skip

BY_NUMPY: Mapping[NumpyType, DType] = {d.numpy: d for d in DTYPES}
_BY_NAME: Mapping[str, DType] = {d.identifier: d for d in DTYPES} | {d.name: d for d in DTYPES}
_BY_PYTHON: Mapping[type, DType] = {bool: bool_, int: int64, float: float32, complex: complex64}


def as_dtype(value: object) -> DType:
    """Return the :class:`DType` that ``value`` denotes.

    ``value`` is a DType, a NumPy dtype, a Python type, or a string.

    Raises:
        TypeError: If ``value`` is not an element type of tensors.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, np.dtype):
        dtype = BY_NUMPY.get(value)
    elif isinstance(value, str):
        dtype = _BY_NAME.get(value.removeprefix("mindspore."))
    elif isinstance(value, type) and value in _BY_PYTHON:
        dtype = _BY_PYTHON[value]
    else:
        dtype = None
    if dtype is None:
        try:
            known: NumpyType = np.dtype(value)  # type: ignore[call-overload]  # other objects raise TypeError
            dtype = BY_NUMPY.get(known.newbyteorder("="))
        except TypeError:
            dtype = None
    if dtype is None:
        names = ", ".join(d.identifier for d in DTYPES)
        raise TypeError(f"{value!r} is not a dtype of a Tensor; use one of: {names}.")
    return dtype


_SIGNED_ABOVE = {"UInt8": int16, "UInt16": int32, "UInt32": int64}


def _promote(a: DType, b: DType) -> DType:
    if a is b:
        return a
    low, high = (a, b) if (a.rank, a.itemsize) <= (b.rank, b.itemsize) else (b, a)
    if low.kind == high.kind:
        # float16 and bfloat16 promote to float32, because each can represent values that the other cannot
        return float32 if low.itemsize == high.itemsize else high
    if low.kind == "int" and high.kind == "uint":
        if low.itemsize > high.itemsize:
            return low
        above = _SIGNED_ABOVE.get(high.name)
        return float64 if above is None else above
    if high.kind == "complex" and low is float64:
        return complex128
    return high


_PROMOTED: Mapping[tuple[DType, DType], DType] = {(a, b): _promote(a, b) for a in DTYPES for b in DTYPES}


def promote(a: DType, b: DType) -> DType:
    """Return the element type of an operation on tensors of types ``a`` and ``b``.

    As in MindSpore, types have categories: bool < integers < float < complex. If the categories differ, the
    result is the type of the higher category. Otherwise, it is the wider type. For an unsigned integer and a
    signed integer of the same or a smaller size, the result is the next wider signed type; for uint64 it is
    float64.

    >>> from mindgrad.core.ir.dtype import promote, uint8, int8, int32, float16
    >>> str(promote(uint8, int8)), str(promote(int32, float16))
    ('Int16', 'Float16')
    """
    return _PROMOTED[a, b]


def promote_scalar(dtype: DType, scalar: bool | int | float | complex) -> DType:
    """Return the element type of an operation on a tensor and a Python number.

    The categories are bool < integers < float < complex. A number of the same or a lower category does not
    change the type: ``float16 + 1.5`` is float16. A number of a higher category changes the type:
    ``int32 + 1.5`` is float32.
    """
    if isinstance(scalar, (bool, np.bool_)):
        return dtype
    if isinstance(scalar, int):
        return int64 if dtype is bool_ else dtype
    if isinstance(scalar, float):
        return dtype if dtype.is_inexact else float32
    if dtype.kind == "complex":
        return dtype
    return complex128 if dtype is float64 else complex64
