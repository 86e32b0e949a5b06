"""Types of values in a graph: element type and shape."""

from __future__ import annotations

import math

from mindgrad.core.base.location import user_location
from mindgrad.core.ir.dtype import BY_NUMPY, DType, as_dtype
from mindgrad.core.ir.rules import Array, Element

__all__ = ["Shape", "TensorType", "tensor_type", "type_of"]

Shape = tuple[int, ...]


class TensorType:
    """Element type and shape of a tensor; create one with :func:`tensor_type`.

    >>> from mindgrad.core.ir.types import tensor_type
    >>> tensor_type("float32", (2, 3))
    Float32[2,3]
    """

    __slots__ = ("dtype", "rank", "shape", "size")

    def __init__(self, dtype: DType, shape: Shape) -> None:
        self.dtype = dtype
        self.shape = shape
        self.rank = len(shape)
        self.size = math.prod(shape)

    def __repr__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    def __call__(self, dtype: object = None) -> str:
        """Return the name of the element type, as ``x.type()`` in MindSpore does.

        Raises:
            TypeError: If ``dtype`` is given, because a type has no tensor to convert.
        """
        if dtype is not None:
            raise TypeError(f"x.type(dtype) does not convert a tensor. Use x.astype({dtype}).")
        return str(self.dtype)

    def with_shape(self, shape: Shape) -> TensorType:
        """Return the type with the same element type and shape ``shape``."""
        return tensor_type(self.dtype, shape)

    def with_dtype(self, dtype: DType) -> TensorType:
        """Return the type with element type ``dtype`` and the same shape."""
        return tensor_type(dtype, self.shape)


def tensor_type(dtype: object, shape: Shape) -> TensorType:
    """Return the :class:`TensorType` object for this element type and shape.

    Equal types are one object, which the element type stores. Therefore types can be compared by ``is``, and
    the key of a call is hashed fast.

    Raises:
        MemoryError: If a tensor of this type would need 1 TiB or more.
    """
    resolved = dtype if isinstance(dtype, DType) else as_dtype(dtype)
    interned = resolved._types.get(shape)
    if interned is None:
        shape = tuple(int(n) for n in shape)
        candidate = TensorType(resolved, shape)
        if candidate.size * resolved.itemsize >= _LARGEST:
            size = candidate.size * resolved.itemsize / 2**40
            raise MemoryError(
                f"a tensor of shape {shape} and type {resolved} would need {size:.4g} TiB of memory "
                f"(line {user_location()[1]} of {user_location()[0]}); no tensor may take 1 TiB or more."
            )
        interned = resolved._types.setdefault(shape, candidate)
    return interned


# Largest number of bytes of a tensor. Without this limit, a mistake such as a huge shape would not raise an
# error: a tensor of equal elements stores only one element, and the computation would take hours.
_LARGEST = 2**40


def type_of(array: Array | Element) -> TensorType:
    """Return the :class:`TensorType` of a NumPy array or a device array."""
    dtype = BY_NUMPY.get(array.dtype)
    found = None if dtype is None else dtype._types.get(array.shape)
    return tensor_type(array.dtype, array.shape) if found is None else found
