"""Helpers that MindSpore programs import from ``mindspore.train._utils``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad import _checkparam
from mindgrad.core.ir.tensor import Tensor

__all__ = ["check_value_type"]


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any) -> None:
    """Check that a value has one of the given Python types.

    Raises:
        TypeError: If ``arg_value`` is not an instance of one of ``valid_types``.

    >>> from mindgrad.train._utils import check_value_type
    >>> check_value_type("rate", 0.5, (int, float))
    """
    _checkparam.check_value_type(arg_name, arg_value, valid_types)


def _make_directory(path: str, arg_name: str = "path") -> str:
    """Create a directory if necessary, and return its absolute path.

    Raises:
        TypeError: If ``path`` is not a string or path, or is empty.
        NotADirectoryError: If ``path`` is a file.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(f"The '{arg_name}' must be the path of a directory, but got {path!r}.")
    directory = Path(path).expanduser().resolve()
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(
            f"The '{arg_name}' must be the path of a directory, but {directory} is a file."
        )
    directory.mkdir(parents=True, exist_ok=True)
    return str(directory)


def _to_tensor(elem: Any, scaling_sens: Any = None) -> Any:
    """Convert arrays, and a loss scale ``scaling_sens``, to Tensors.

    Several Tensors are returned as a tuple, and a single Tensor without a tuple.

    >>> import numpy as np
    >>> from mindgrad.train._utils import _to_tensor
    >>> print(_to_tensor([np.ones(2)]))
    [1. 1.]
    """
    items = elem if isinstance(elem, (list, tuple)) else [elem]
    for item in items:
        if not isinstance(item, (np.ndarray, Tensor)):
            raise TypeError(f"Elements must be NumPy arrays, but got {type(item).__name__}.")
    tensors = [Tensor(item) for item in items]
    if scaling_sens is not None:
        tensors.append(Tensor(scaling_sens, tensors[0].dtype))
    return tensors[0] if len(tensors) == 1 else tuple(tensors)
