"""Formatting of tensors and Parameters is pure functions from NumPy arrays to text.

``str`` of a tensor is NumPy's own text of its values. ``repr`` is a format of its own, and the one
that a tuple, list or dict of tensors shows::

    Tensor(shape=[2, 2], dtype=Float32, value=
    [[ 1.00000000e+00,  2.50000000e+00],
     [ 3.00000000e+00, -4.00000005e-07]])

Its rules, all in this file:

* ``value=`` is followed by a newline from two dimensions on, by a blank below that; nothing follows
  for an array without elements.
* One style per kind of value (``_style``): width, precision, and how many values of a
  one-dimensional tensor stand on a line.
* From two dimensions on, a dimension longer than 6 shows its first 3 and last 3 entries; a
  one-dimensional tensor does so only beyond 1000 entries. Values that are not shown are never read,
  so the cost depends on what is printed and not on the size of the tensor.

The ``repr`` never looks at NumPy's print options and shares no state between threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["parameter_repr", "tensor_format", "tensor_repr", "tensor_str"]

_EDGE = 3  # entries kept at each end of a shortened dimension
_LONGEST_DIMENSION = 2 * _EDGE  # of an array with two or more dimensions
_LONGEST_VECTOR = 1000  # of an array with one dimension


class _Style(NamedTuple):
    """The format of values of one dtype."""

    scalar: Callable[[Any], str]  # the only value of a 0-D array
    element: Callable[[Any], str]  # a value between brackets
    per_line: int  # values on one line of a one-dimensional array
    aligned: bool  # pad every value to the widest one that is shown


def _general(value: Any) -> str:
    """Six significant digits, the shorter of fixed and exponent notation."""
    return f"{float(value):g}"


def _general_complex(value: Any) -> str:
    return f"{value.real:g}{value.imag:+g}j"


# The widths leave a blank slot for the sign; NaN and infinities fill the same width.
_HALF = _Style(_general, "{:11.4e}".format, per_line=12, aligned=False)
_FLOAT = _Style(_general, "{:15.8e}".format, per_line=12, aligned=False)
_BRAIN_FLOAT = _Style(_general, _general, per_line=24, aligned=True)
_BOOL = _Style(str, "{!s:>5}".format, per_line=12, aligned=False)
_COMPLEX = _Style(_general_complex, _general_complex, per_line=24, aligned=False)
_PLAIN = _Style(str, str, per_line=24, aligned=True)  # integers, and whatever else NumPy can hold


def _is_bfloat16(dtype: np.dtype[Any]) -> bool:
    # By name: bfloat16 is a dtype that another package registers with NumPy.
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
    """The values that are printed, in order, as Python numbers; ``ndim`` is that of the whole."""
    shortened = _is_shortened(len(array), ndim)
    parts = [array[:_EDGE], array[-_EDGE:]] if shortened else [array]
    for part in parts:
        if part.ndim == 1:
            yield from part.tolist()
        else:
            for row in part:
                yield from _shown_values(row, ndim)


def _vector_text(texts: Sequence[str], per_line: int) -> str:
    """A whole one-dimensional array; a line that is full is always broken, also the last one."""
    lines = [", ".join(texts[start : start + per_line]) for start in range(0, len(texts), per_line)]
    last_is_full = len(texts) % per_line == 0
    return "[" + ", \n ".join(lines) + ("\n ]" if last_is_full else "]")


def _nested_text(texts: Iterator[str], shape: Sequence[int], depth: int, ndim: int) -> str:
    """Brackets around the next texts, for the trailing dimensions ``shape`` of an array."""
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
    """The text that ``str`` of a tensor gives: NumPy's text of its values.

    ``array`` has any shape and dtype; bfloat16 prints as the float32 numbers that it stands for.
    As it is NumPy's text, a program's ``np.set_printoptions`` applies to it (and only to it).

    >>> print(tensor_str(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)))
    [[1. 2.]
     [3. 4.]]
    """
    array = np.asarray(array)
    return str(array.astype(np.float32) if _is_bfloat16(array.dtype) else array)


def tensor_repr(array: NDArray[Any], dtype_name: str) -> str:
    """The text that ``repr`` of a tensor gives, and that containers of tensors show.

    ``array`` has any shape and dtype and decides how the numbers look; ``dtype_name`` is the name
    that is printed for its dtype. A NaN prints without its sign, which no arithmetic defines.

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


def parameter_repr(name: str, shape: Iterable[int], dtype_name: str, requires_grad: bool) -> str:
    """The text that both ``str`` and ``repr`` of a parameter give; it shows no values.

    >>> parameter_repr("w", (2,), "Float32", True)
    'Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)'
    """
    # A NumPy integer inside a tuple would print its type as well.
    sizes = tuple(int(size) for size in shape)
    return f"Parameter (name={name}, shape={sizes}, dtype={dtype_name}, requires_grad={requires_grad})"


def tensor_format(array: NDArray[Any], specification: str) -> str:
    """The text of ``format`` of a tensor: of one element as of its number, of several each in that form.

    Raises:
        ValueError: numbers of this type have no such form.

    >>> tensor_format(np.array([1.0, 2.0], np.float32), ".3f")
    '[1.000 2.000]'
    """
    array = np.asarray(array)
    if array.size == 1:
        return format(array.item(), specification)
    formatter: Any = {"all": lambda x: format(x.item(), specification)}
    return np.array2string(array, formatter=formatter)
