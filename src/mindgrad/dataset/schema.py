"""``Schema``: the names, dtypes, and shapes of the columns of a dataset."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad.ir.dtype import as_dtype
from mindgrad.ops.arguments import whole_number

__all__ = ["Schema"]


class Schema:
    """A description of columns: their names, dtypes, and shapes.

    Args:
        schema_file (str or PathLike, optional): path of a JSON file of the form
            ``{"columns": {name: {"type": ..., "shape": [...]}}}``, or with a list of columns that have a
            ``"name"``. Default: ``None``.

    Raises:
        RuntimeError: If ``schema_file`` does not describe columns.

    >>> from mindgrad import dataset as ds
    >>> schema = ds.Schema()
    >>> schema.add_column("x", "float32", [2])
    >>> print(schema.columns)
    [{'name': 'x', 'type': 'float32', 'shape': [2]}]
    """

    def __init__(self, schema_file: str | os.PathLike[str] | None = None) -> None:
        #: one dict per column with the keys ``"name"``, ``"type"``, and optionally ``"shape"``
        self.columns: list[dict[str, Any]] = []
        self.dataset_type, self.num_rows = "", 0
        if schema_file is not None:
            self.from_json(json.loads(Path(schema_file).read_text()))

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """Add a column to the schema.

        Args:
            name (str): name of the column to add.
            de_type (DType, numpy.dtype, or str): dtype of the column, or its name. ``"string"`` for strings.
            shape (list of int, optional): shape of each value of the column; a size of −1 means any length.
                ``None``: the shape of the data. Default: ``None``.

        Raises:
            ValueError: If the schema already has a column ``name``.
            TypeError: If ``de_type`` is not a dtype.
        """
        if any(column["name"] == name for column in self.columns):
            raise ValueError(f"For 'add_column', there is a column '{name}' already.")
        kind = de_type if de_type == "string" else str(np.dtype(as_dtype(de_type).numpy))
        column: dict[str, Any] = {"name": name, "type": kind}
        if shape is not None:
            column["shape"] = [whole_number(size, "add_column", "shape", -1) for size in shape]
        self.columns.append(column)

    def parse_columns(self, columns: Any) -> None:
        """Add columns from a list of dicts with ``name`` and ``type``, or a dict of dicts."""
        if isinstance(columns, dict):
            columns = [{"name": name} | column for name, column in columns.items()]
        for column in columns:
            if "name" not in column or "type" not in column:
                raise RuntimeError(
                    f"a column of a schema must have a 'name' and a 'type', but got {column!r}."
                )
            self.add_column(column["name"], column["type"], column.get("shape"))

    def from_json(self, json_obj: dict[str, Any]) -> None:
        """Replace the columns by the columns of a JSON object."""
        if not isinstance(json_obj, dict) or "columns" not in json_obj:
            raise RuntimeError("a schema must have 'columns'.")
        self.columns = []
        self.dataset_type = json_obj.get("datasetType", "")
        self.num_rows = json_obj.get("numRows", 0)
        self.parse_columns(json_obj["columns"])

    def to_json(self) -> str:
        """Return the schema in JSON."""
        columns = {
            column["name"]: {k: v for k, v in column.items() if k != "name"} for column in self.columns
        }
        head: dict[str, Any] = {"datasetType": self.dataset_type} if self.dataset_type else {}
        return json.dumps(
            head | ({"numRows": self.num_rows} if self.num_rows else {}) | {"columns": columns}, indent=2
        )

    def __str__(self) -> str:
        return self.to_json()
