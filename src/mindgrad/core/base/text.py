"""Formatting of tensors: pure functions from arrays to strings.

``str`` of a tensor is the same as ``str`` of the NumPy array. ``repr`` has the following format, which is
also used for the elements of a tuple, list or dict::

    Tensor(shape=[2, 2], dtype=Float32, value=
    [[ 1.00000000e+00,  2.50000000e+00],
     [ 3.00000000e+00, -4.00000005e-07]])

The rules of ``repr`` are:

* The values begin on a new line if the tensor has two or more dimensions. A tensor without elements has no
  values after ``value=``.
* Each kind of dtype has a style (``_style``): width, precision, and number of values per line of a 1-D
  tensor.
* If a dimension has more than 6 entries, only its first 3 and last 3 entries are shown. A 1-D tensor is
  shortened only if it has more than 1000 entries. Values that are not shown are not read, so the cost does
  not depend on the size of the tensor.

``repr`` does not depend on NumPy's print options, and has no state shared between threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["tensor_format", "tensor_repr", "tensor_str"]

_EDGE = 3  # entries shown at each end of a shortened dimension
_LONGEST_DIMENSION = 2 * _EDGE  # longest dimension, of two or more, that is not shortened
_LONGEST_VECTOR = 1000  # longest 1-D array that is not shortened


class _Style(NamedTuple):
    """The format of the elements of one dtype in ``repr``."""

    scalar: Callable[[Any], str]  # formats the value of a 0-D array
    element: Callable[[Any], str]  # formats an element of a larger array
    per_line: int  # values per line of a 1-D array
    aligned: bool  # whether to pad every value to the width of the widest one


def _general(value: Any) -> str:
    """Format a number with six significant digits, in fixed or exponent notation."""
    return f"{float(value):g}"


def _general_complex(value: Any) -> str:
    return f"{value.real:g}{value.imag:+g}j"


# The widths include a space for the sign. NaN and infinities have the same width.
_HALF = _Style(_general, "{:11.4e}".format, per_line=12, aligned=False)
_FLOAT = _Style(_general, "{:15.8e}".format, per_line=12, aligned=False)
_BRAIN_FLOAT = _Style(_general, _general, per_line=24, aligned=True)
_BOOL = _Style(str, "{!s:>5}".format, per_line=12, aligned=False)
_COMPLEX = _Style(_general_complex, _general_complex, per_line=24, aligned=False)
_PLAIN = _Style(str, str, per_line=24, aligned=True)  # integers and all other dtypes


def _is_bfloat16(dtype: np.dtype[Any]) -> bool:
    # compare the name, because NumPy has no bfloat16: the package ml_dtypes registers it
    return dtype.name == "bfloat16"


def _style(dtype: np.dtype[Any]) -> _Style:
    if _is_bfloat16(dtype):
        return _BRAIN_FLOAT
    if dtype.kind == "f":
        return _HALF if dtype.itemsize == 2 else _FLOAT
    return {"b": _BOOL, "c": _COMPLEX}.get(dtype.kind, _PLAIN)


def _is_shortened(length: int, ndim: int) -> bool:
    return length > (_LONGEST_VECTOR if ndim == 1 else _LONGEST_DIMENSION)


def _shown_values(array: NDArray[Any], ndim: int) -> Iterator[Any]:
    """Yield the values that are shown as Python scalars.

    Args:
        array: an array, or a part of one.
        ndim: number of dimensions of the whole array.
    """
    shortened = _is_shortened(len(array), ndim)
    parts = [array[:_EDGE], array[-_EDGE:]] if shortened else [array]
    for part in parts:
        if part.ndim == 1:
            yield from part.tolist()
        else:
            for row in part:
                yield from _shown_values(row, ndim)


def _vector_text(texts: Sequence[str], per_line: int) -> str:
    """Format a 1-D array without omitting elements.

    Every full line ends with a newline, even the last line.
    """
    lines = [", ".join(texts[start : start + per_line]) for start in range(0, len(texts), per_line)]
    last_is_full = len(texts) % per_line == 0
    return "[" + ", \n ".join(lines) + ("\n ]" if last_is_full else "]")


def _nested_text(texts: Iterator[str], shape: Sequence[int], depth: int, ndim: int) -> str:
    """Format the next elements in nested brackets.

    Args:
        texts: yields the formatted elements that are shown.
        shape: the trailing dimensions to format.
        depth: number of leading dimensions, which is also the indentation in spaces.
        ndim: number of dimensions of the whole array.
    """
    shortened = _is_shortened(shape[0], ndim)
    count = 2 * _EDGE if shortened else shape[0]
    if len(shape) == 1:
        entries = [next(texts) for _ in range(count)]
        separator, gap = ", ", " ... "
    else:
        entries = [_nested_text(texts, shape[1:], depth + 1, ndim) for _ in range(count)]
        line = "\n" + " " * (depth + 1)
        separator, gap = "," + line, "," + line + "..." + line
    if shortened:
        body = separator.join(entries[:_EDGE]) + gap + separator.join(entries[_EDGE:])
    else:
        body = separator.join(entries)
    return "[" + body + "]"


def _value_text(array: NDArray[Any]) -> str:
    if array.size == 0:
        return ""
    style = _style(array.dtype)
    if array.ndim == 0:
        return style.scalar(array.item())
    texts = [style.element(value) for value in _shown_values(array, array.ndim)]
    if style.aligned:
        width = max(map(len, texts))
        texts = [text.rjust(width) for text in texts]
    if array.ndim == 1 and not _is_shortened(len(array), 1):
        return _vector_text(texts, style.per_line)
    return _nested_text(iter(texts), array.shape, 0, array.ndim)


def tensor_str(array: NDArray[Any]) -> str:
    """Format a tensor for ``str``, in the same way as NumPy formats the array.

    bfloat16 is converted to float32. ``np.set_printoptions`` applies to this function, and not to ``repr``.

    >>> print(tensor_str(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)))
    [[1. 2.]
     [3. 4.]]
    """
    array = np.asarray(array)
    return str(array.astype(np.float32) if _is_bfloat16(array.dtype) else array)


def tensor_repr(array: NDArray[Any], dtype_name: str) -> str:
    """Format a tensor for ``repr``, and as an element of a container.

    NaN is printed without its sign.

    Args:
        array: values of any shape and dtype.
        dtype_name: name that is printed for the dtype.

    >>> tensor_repr(np.array([0, 1.5, -2], np.float32), "Float32")
    'Tensor(shape=[3], dtype=Float32, value= [ 0.00000000e+00,  1.50000000e+00, -2.00000000e+00])'
    >>> print(tensor_repr(np.arange(16).reshape(2, 8), "Int64"))
    Tensor(shape=[2, 8], dtype=Int64, value=
    [[ 0,  1,  2 ...  5,  6,  7],
     [ 8,  9, 10 ... 13, 14, 15]])
    """
    array = np.asarray(array)
    shape = ", ".join(map(str, array.shape))
    gap = "\n" if array.ndim > 1 else " "
    return f"Tensor(shape=[{shape}], dtype={dtype_name}, value={gap}{_value_text(array)})"


def tensor_format(array: NDArray[Any], specification: str) -> str:
    """Format each element of a tensor by a format specification.

    A tensor with one element is formatted like a Python scalar, without brackets.

    Raises:
        ValueError: If the dtype does not support the specification.

    >>> tensor_format(np.array([1.0, 2.0], np.float32), ".3f")
    '[1.000 2.000]'
    """
    array = np.asarray(array)
    if array.size == 1:
        return format(array.item(), specification)
    formatter: Any = {"all": lambda x: format(x.item(), specification)}
    return np.array2string(array, formatter=formatter)
