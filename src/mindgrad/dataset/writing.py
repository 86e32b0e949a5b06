"""Element types of MindRecord hold those of columns: the narrowest one that holds all values is taken."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["field_of", "value_of"]


def field_of(array: np.ndarray, column: str) -> dict[str, Any]:
    """The field of a schema for a column.

    Args:
        array (numpy.ndarray): the column in the first row, of any shape.
        column (str): its name.

    Returns:
        ``{"type": ...}``, and its shape if it has axes, of which the first may have any length.

    Raises:
        TypeError: If no type of MindRecord holds its values.

    >>> import numpy as np
    >>> from mindgrad.dataset.writing import field_of
    >>> field_of(np.zeros((2, 3), np.uint8), "image")
    {'type': 'int32', 'shape': [-1, 3]}
    """
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind in "SU" and not array.ndim:
        return {"type": "string"}
    if kind in "bi" or kind == "u":
        wide = size > 4 or (kind == "u" and size == 4)
        name = "int64" if wide else "int32"
    elif kind == "f" and size <= 8:
        name = "float64" if size == 8 else "float32"
    else:
        raise TypeError(
            f"For 'save', the column '{column}' has the element type {array.dtype}, which MindRecord does "
            f"not hold; convert it with map, or leave it out with project."
        )
    return {"type": name, "shape": [-1, *array.shape[1:]]} if array.ndim else {"type": name}


def value_of(array: np.ndarray, field: dict[str, Any]) -> Any:
    """A column of one row as the field holds it: an array, a number or a text."""
    if field["type"] == "string":
        return array.item().decode() if array.dtype.kind == "S" else array.item()
    converted = array.astype(field["type"])
    return converted if converted.ndim else converted.item()
