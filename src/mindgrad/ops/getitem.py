"""``x[index]`` and ``x[index] = value`` of tensors, Parameters, and selections.

``core.arrays.getitem`` reads and writes elements. If the values of a mask are unknown at compile time,
``x[mask]`` is a selection (``ops.selection``), and only its reductions have a known shape. A write rebinds
the name ``x`` to the new tensor.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.arrays.getitem import element, iterate, updated
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend.aliases import rebind
from mindgrad.ops.operands import is_selection, operand
from mindgrad.ops.selection import selected

__all__ = ["getitem", "iterate", "setitem", "updated"]


def getitem(x: Any, index: Any) -> Tensor:
    """Read ``x[index]`` as NumPy does.

    Args:
        x: input tensor.
        index: an int, slice, ``None``, ``...``, tensor, array or list of ints or Booleans, or a tuple of
            these.

    Raises:
        IndexError: If an index is out of range and its value is known, there are too many indices, a mask
            does not match the shape, or the index has an unsupported type.
        TypeError: If a bound of a slice is not an int, or ``x`` is 0-D.
        RuntimeError: If the shape of the result depends on values that are unknown at compile time.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> print(x[1], x[:, ::-1][0], x[x > 4.0], x[[0, 1], [0, 2]])
    [4. 5. 6.] [3. 2. 1.] [5. 6.] [1. 6.]
    """
    return element(operand(x, "getitem"), index, selected)


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Assign ``x[index] = value``: rebind ``x`` to the result of :func:`updated`.

    A compiled function has separate argument objects, so the caller's tensor never changes. A Parameter is
    assigned.

    >>> from mindgrad import Tensor
    >>> x = Tensor([1.0, 2.0, 3.0])
    >>> x[0] = 5.0
    >>> print(x)
    [5. 2. 3.]
    """
    if x.is_parameter:
        references.write(x, updated(x.value(), index, _read(value)))  # type: ignore[attr-defined]
    else:
        rebind(x, updated(x.__copy__(), index, _read(value)))


def _read(value: Any) -> Any:
    if is_selection(value):
        value.refuse()  # the shape of a selection is not known
    return operand(value, "setitem") if isinstance(value, Tensor) else value
