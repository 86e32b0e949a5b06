"""Dtypes under MindSpore's names: ``from mindgrad import dtype as mstype``."""

from typing import Any

from mindgrad.ir.dtype import (
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

# --- alternative names and type categories of MindSpore ---

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
signed_type = (*int_type, *float_type, *complex_type)
all_types = [bool_, *number_type]
np_bfloat16 = bfloat16.numpy.type
Bool = Int = UInt = Float = Complex = Type = number = DType


class OtherType:
    """The type of an object that is not a tensor, such as a string or a tuple.

    MindSpore programs compare such types, and pass them to functions.

    >>> from mindgrad.common import dtype as mstype
    >>> print(mstype.string, mstype.string == mstype.float32)
    String False
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"mindspore.{self.name}"


class TensorType(OtherType):
    """The type of tensors of a dtype, or of any tensor if ``element`` is ``None``.

    >>> import mindgrad as ms
    >>> print(ms.ops.typeof(ms.Tensor([1.0])), ms.ops.typeof(ms.Tensor([1.0])) == ms.TensorType(ms.float32))
    Tensor[Float32] True
    """

    def __init__(self, element: Any = None) -> None:
        self._element = None if element is None else as_dtype(element)
        super().__init__("Tensor" if element is None else f"Tensor[{self._element}]")

    def element_type(self) -> DType | None:
        """Return the dtype of the elements, or ``None`` for tensors of any dtype."""
        return self._element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and self._element is other._element

    def __hash__(self) -> int:
        return hash((TensorType, self._element))


string = OtherType("String")
tensor_type = TensorType()
tuple_ = OtherType("Tuple")
list_ = OtherType("List")
type_none = OtherType("TypeNone")
type_type = OtherType("TypeType")
function = OtherType("Func")
slice_ = OtherType("Slice")
csr_tensor = OtherType("CSRTensor")
coo_tensor = OtherType("COOTensor")


def dtype_to_nptype(type_: Any) -> Any:
    """Return the NumPy type of a dtype.

    Args:
        type_ (DType): dtype to convert.

    Returns:
        type: NumPy scalar type, such as ``numpy.int32``.

    >>> from mindgrad.common import dtype as mstype
    >>> mstype.dtype_to_nptype(mstype.int32)
    <class 'numpy.int32'>

    See Also:
        :func:`mindgrad.dtype_to_pytype`, :func:`mindgrad.pytype_to_dtype`
    """
    return as_dtype(type_).numpy.type


def dtype_to_pytype(type_: Any) -> type:
    """Return the Python type of the elements of a dtype.

    Args:
        type_ (DType): dtype to convert.

    Returns:
        type: Python type of the elements: bool, int, float, or complex.

    >>> from mindgrad.common import dtype as mstype
    >>> mstype.dtype_to_pytype(mstype.float16)
    <class 'float'>

    See Also:
        :func:`mindgrad.dtype_to_nptype`, :func:`mindgrad.pytype_to_dtype`
    """
    kinds: dict[str, type] = {"bool": bool, "int": int, "uint": int, "float": float, "complex": complex}
    return kinds[as_dtype(type_).kind]


def pytype_to_dtype(obj: Any) -> DType:
    """Return the dtype of a Python or NumPy type; ``int`` and ``float`` have 64 bits.

    Args:
        obj (type): Python type, such as ``float``, or NumPy type.

    Returns:
        DType: dtype of tensors with elements of this type.

    >>> from mindgrad.common import dtype as mstype
    >>> mstype.pytype_to_dtype(float)
    mindspore.float64

    See Also:
        :func:`mindgrad.dtype_to_pytype`, :func:`mindgrad.get_py_obj_dtype`
    """
    return {int: int64, float: float64}.get(obj) or as_dtype(obj)


def __getattr__(name: str) -> Any:
    """Return the dtypes called ``bool``, ``int`` and ``float``.

    These dtypes are not variables of this module, because they would hide Python's types of the same names.
    """
    if name == "int":
        return int32
    if name == "float":
        return float32
    if name == "bool":
        return bool_
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_py_obj_dtype(obj: Any) -> Any:
    """Return the dtype of a tensor or number, or the type of another Python object.

    Args:
        obj (Any): tensor, number, or other Python object.

    Returns:
        DType or Type: dtype of a tensor or number, or a type such as :data:`string` for another object.

    Raises:
        TypeError: If ``obj`` has an unsupported type.

    >>> from mindgrad.common import dtype as mstype
    >>> mstype.get_py_obj_dtype(1.0), mstype.get_py_obj_dtype("a")
    (mindspore.float64, mindspore.String)

    See Also:
        :func:`mindgrad.pytype_to_dtype`, :func:`mindgrad.dtype_to_pytype`
    """
    if hasattr(obj, "dtype"):
        return as_dtype(obj.dtype)
    others: dict[type, Any] = {str: string, tuple: tuple_, list: list_, type(None): type_none, slice: slice_}
    for kind, named in others.items():
        if isinstance(obj, kind):
            return named
    return type_type if isinstance(obj, (type, DType)) else pytype_to_dtype(type(obj))


def type_size_in_bytes(dtype: Any) -> int:
    """Return the number of bytes of one element of a dtype.

    >>> from mindgrad.common import dtype as mstype
    >>> mstype.type_size_in_bytes(mstype.float16)
    2
    """
    return as_dtype(dtype).itemsize
