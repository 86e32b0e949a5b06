"""Transforms of arrays: type conversion, one-hot vectors, masks, slices, padding."""

from __future__ import annotations

import operator as python_operator
from enum import IntEnum
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import as_dtype
from mindgrad.dataset.rows import array_of
from mindgrad.dataset.transforms import compound
from mindgrad.dataset.transforms.compound import *  # noqa: F403
from mindgrad.ops.arguments import whole_number

__all__ = [
    "Concatenate", "Duplicate", "Fill", "Mask", "OneHot", "OneHotOp", "PadEnd", "PyTensorOperation",
    "Relational",
    "Slice", "TensorOperation", "TypeCast", "Unique",
]  # fmt: skip
__all__ += compound.__all__


class TensorOperation:
    """Base class of user-defined transforms, which define ``__call__``."""


class PyTensorOperation(TensorOperation):
    """Base class of user-defined Python transforms, which define ``__call__``."""


class TypeCast:
    """Transform that converts data to another dtype.

    Args:
        data_type (DType or numpy.dtype, optional): dtype of the result, for example ``mindgrad.float32``.
            Default: ``None``.
        output_type (DType or numpy.dtype, optional): name of ``data_type`` in MindSpore 1.x.
            Default: ``None``.

    >>> import mindgrad as ms
    >>> from mindgrad.dataset import transforms
    >>> transforms.TypeCast(ms.float32)([1, 2])
    array([1., 2.], dtype=float32)
    """

    def __init__(self, data_type: Any = None, *, output_type: Any = None) -> None:
        if (data_type is None) == (output_type is None):
            raise TypeError("For 'TypeCast', pass either 'data_type' or its synonym 'output_type'.")
        self.data_type = as_dtype(output_type if data_type is None else data_type)

    def __call__(self, data: Any) -> np.ndarray:
        array = array_of(data, "For 'TypeCast', the data")
        return array.astype(self.data_type.numpy)


class OneHot:
    """Transform that converts class indices to one-hot vectors.

    Args:
        num_classes (int): number of classes, the length of each one-hot vector.
        smoothing_rate (float, optional): label smoothing: the part of the 1 that is distributed evenly over
            all classes. Default: ``0.0``.

    Raises:
        ValueError: If a class index is not from 0 to ``num_classes`` − 1, or ``smoothing_rate`` is not in the
            range [0, 1].

    >>> from mindgrad.dataset import transforms
    >>> transforms.OneHot(3)(1)
    array([0, 1, 0])
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        if not 0 <= smoothing_rate <= 1:
            raise ValueError(f"For 'OneHot', 'smoothing_rate' must be from 0 to 1, but got {smoothing_rate}.")
        self.num_classes = num_classes
        self.smoothing_rate = smoothing_rate

    def __call__(self, label: Any) -> np.ndarray:
        classes = array_of(label, "For 'OneHot', the label")
        if classes.dtype.kind not in "iu" or classes.ndim > 1 or (classes.ndim and classes.shape != (1,)):
            raise TypeError(f"For 'OneHot', the label must be one integer, but got {label!r}.")
        number = int(classes.reshape(()))
        if not 0 <= number < self.num_classes:
            raise ValueError(
                f"For 'OneHot', the label must be from 0 to below {self.num_classes}, but got {number}."
            )
        vector = np.zeros(self.num_classes, classes.dtype)
        vector[number] = 1
        if not self.smoothing_rate:
            return vector
        return vector * (1 - self.smoothing_rate) + self.smoothing_rate / self.num_classes


class Concatenate:
    """Transform that concatenates several columns to one.

    Args:
        axis (int, optional): axis along which to concatenate. Default: ``0``.
        prepend (array, optional): array to insert before the columns. Default: ``None``.
        append (array, optional): array to insert after the columns. Default: ``None``.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Concatenate(append=[9])([1, 2], [3])
    array([1, 2, 3, 9])
    """

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        self.axis = axis
        self._before = [] if prepend is None else [array_of(prepend, "For 'Concatenate', 'prepend'")]
        self._behind = [] if append is None else [array_of(append, "For 'Concatenate', 'append'")]

    def __call__(self, *data: Any) -> np.ndarray:
        columns = [array_of(each, "For 'Concatenate', the data") for each in data]
        return np.concatenate([*self._before, *columns, *self._behind], self.axis)


class Duplicate:
    """Transform that duplicates a column.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Duplicate()(3)
    (3, 3)
    """

    def __call__(self, data: Any) -> tuple[Any, Any]:
        return data, data


class OneHotOp(OneHot):
    """:class:`OneHot`, under its name in MindSpore 1.x.

    Args:
        num_classes (int): number of classes, the length of each one-hot vector.
        smoothing_rate (float, optional): label smoothing: the part of the 1 that is distributed evenly over
            all classes. Default: ``0.0``.

    >>> from mindgrad.dataset import transforms
    >>> transforms.OneHotOp(3)(1)
    array([0, 1, 0])
    """


class Fill:
    """Transform that replaces all elements by one value, in the dtype of the data.

    Args:
        fill_value (number): value of all elements of the result.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Fill(7)([1, 2])
    array([7, 7])
    """

    def __init__(self, fill_value: Any) -> None:
        self.fill_value = fill_value

    def __call__(self, data: Any) -> np.ndarray:
        """Return an array like ``data`` whose elements all are the fill value."""
        return np.full_like(array_of(data, "For 'Fill', the data"), self.fill_value)


class Relational(IntEnum):
    """Comparison operators of :class:`Mask`."""

    EQ = 0
    NE = 1
    LT = 2
    LE = 3
    GT = 4
    GE = 5


class Mask:
    """Transform that compares each element with a constant.

    The result has Booleans, or elements of another dtype.

    Args:
        operator (Relational): comparison operator.
        constant (number or str): right-hand side of the comparison.
        dtype (DType, optional): dtype of the result. Default: ``np.bool_``.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Mask(transforms.Relational.GE, 2)([1, 2, 3])
    array([False,  True,  True])
    """

    def __init__(self, operator: Relational, constant: Any, dtype: Any = np.bool_) -> None:
        if not isinstance(operator, Relational):
            raise TypeError(f"For 'Mask', 'operator' must be a Relational, but got {operator!r}.")
        self.compare = getattr(python_operator, operator.name.lower())
        self.constant = constant
        self.dtype = as_dtype(dtype).numpy

    def __call__(self, data: Any) -> np.ndarray:
        """Compare each element of ``data`` with the constant."""
        return np.asarray(self.compare(array_of(data, "For 'Mask', the data"), self.constant)).astype(
            self.dtype
        )


class PadEnd:
    """Transform that pads or crops data at the end of each axis to a given shape.

    Args:
        pad_shape (list of int): shape of the result. ``None`` for an axis keeps its size.
        pad_value (number or str, optional): value of new elements. ``None``: zero, or an empty string.
            Default: ``None``.

    >>> from mindgrad.dataset import transforms
    >>> transforms.PadEnd([4], -1)([1, 2])
    array([ 1,  2, -1, -1])
    """

    def __init__(self, pad_shape: Any, pad_value: Any = None) -> None:
        if not isinstance(pad_shape, (list, tuple)):
            raise TypeError(f"For 'PadEnd', 'pad_shape' must be a list of ints, but got {pad_shape!r}.")
        self.pad_shape = [
            None if size is None else whole_number(size, "PadEnd", "pad_shape", 0) for size in pad_shape
        ]
        self.pad_value = pad_value

    def __call__(self, data: Any) -> np.ndarray:
        """Pad or crop ``data`` at the end of each axis."""
        array = array_of(data, "For 'PadEnd', the data")
        if array.ndim != len(self.pad_shape):
            raise RuntimeError(
                f"For 'PadEnd', 'pad_shape' has {len(self.pad_shape)} axes, but the data have {array.ndim}."
            )
        shape = [old if new is None else new for old, new in zip(array.shape, self.pad_shape, strict=True)]
        common = tuple(slice(min(old, new)) for old, new in zip(array.shape, shape, strict=True))
        text = array.dtype.kind in "SU"
        value = array.dtype.type() if self.pad_value is None else self.pad_value
        dtype = np.result_type(array.dtype, np.asarray(value).dtype) if text else array.dtype
        result = np.full(shape, value, dtype)
        result[common] = array[common]
        return result


class Slice:
    """Transform that selects a part of the data.

    Args:
        *slices (Any): one selection for each axis: an index, a list of indices, a ``slice``, or ``...`` or
            ``None`` for the whole axis.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Slice(slice(1, 3))([1, 2, 3, 4])
    array([2, 3])
    """

    def __init__(self, *slices: Any) -> None:
        self.slices = tuple(
            slice(None) if part is None or part is True else [part] if isinstance(part, int) else part
            for part in slices
        )

    def __call__(self, data: Any) -> np.ndarray:
        """Return the selected part of ``data``."""
        array = array_of(data, "For 'Slice', the data")
        for axis, part in enumerate(self.slices):
            if part is not Ellipsis:
                array = array[(slice(None),) * axis + (part,)]
        return array


class Unique:
    """Transform that returns unique values, inverse indices, and counts.

    The values are in order of appearance.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Unique()([3, 1, 3])
    (array([3, 1]), array([0, 1, 0], dtype=int32), array([2, 1], dtype=int32))
    """

    def __call__(self, data: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the three arrays. The last two have dtype int32."""
        array = array_of(data, "For 'Unique', the data").ravel()
        values, first, inverse, counts = np.unique(array, True, True, True)
        order = np.argsort(first)
        rank = np.argsort(order)
        return values[order], rank[inverse].astype(np.int32), counts[order].astype(np.int32)
