"""Element types under MindSpore's names: ``from mindgrad import dtype as mstype``."""

from typing import Any

from mindgrad.core.dtype import (
    DType,
    as_dtype,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "DType", "bfloat16", "bool_", "complex64", "complex128", "float16", "float32", "float64",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

# --- further names of MindSpore's ---

float_ = float64
int_ = int64
uint = uint64
byte, short, intc, long, intp = int8, int16, int32, int64, int64
ubyte, ushort, uintc, uintp = uint8, uint16, uint32, uint64
half, single, double = float16, float32, float64
cfloat, cdouble = complex64, complex128
float_type = (float16, float32, float64, bfloat16)
int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
complex_type = (complex64, complex128)
number_type = (*int_type, *uint_type, *float_type, *complex_type)


def dtype_to_nptype(type_: Any) -> Any:
    """The NumPy type that stores an element type.

    >>> from mindgrad.common import dtype as mstype
    >>> mstype.dtype_to_nptype(mstype.int32)
    <class 'numpy.int32'>
    """
    return as_dtype(type_).numpy.type


def dtype_to_pytype(type_: Any) -> type:
    """The Python type of the numbers of an element type.

    >>> from mindgrad.common import dtype as mstype
    >>> mstype.dtype_to_pytype(mstype.float16)
    <class 'float'>
    """
    kinds: dict[str, type] = {"bool": bool, "int": int, "uint": int, "float": float, "complex": complex}
    return kinds[as_dtype(type_).kind]


def pytype_to_dtype(obj: Any) -> DType:
    """The element type that a Python or NumPy type names: int and float are 64 bits wide.

    >>> from mindgrad.common import dtype as mstype
    >>> mstype.pytype_to_dtype(float)
    mindspore.float64
    """
    return {int: int64, float: float64}.get(obj) or as_dtype(obj)
