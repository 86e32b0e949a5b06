"""Convert columns to fields of MindRecord files, for ``Dataset.save``.

Each column is stored in the smallest MindRecord type that represents all values of its dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["field_of", "value_of"]


def field_of(array: np.ndarray, column: str) -> dict[str, Any]:
    """Return the field of a MindRecord schema for a column.

    Args:
        array (numpy.ndarray): the column of the first sample, of any shape.
        column (str): the name of the column.

    Returns:
        dict: ``{"type": ...}`` for a scalar. An array also has a ``"shape"``, whose first size is −1 (any).

    Raises:
        TypeError: If MindRecord does not have a type for the dtype of the column.

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
            f"For 'save', the column '{column}' has dtype {array.dtype}, which MindRecord does not "
            f"support. Convert it with map, or omit it with project."
        )
    return {"type": name, "shape": [-1, *array.shape[1:]]} if array.ndim else {"type": name}


def value_of(array: np.ndarray, field: dict[str, Any]) -> Any:
    """Convert a column of one sample for a field: to an array, a number, or a string."""
    if field["type"] == "string":
        return array.item().decode() if array.dtype.kind == "S" else array.item()
    converted = array.astype(field["type"])
    return converted if converted.ndim else converted.item()
