"""Convert networks, lists, and dicts to the entries of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell

__all__ = ["appended", "entries_of", "named"]


def entries_of(
    save_obj: Any, choice_func: Callable[[str], bool] | None
) -> Iterable[tuple[str, np.ndarray | str]]:
    """Yield the entries of ``save_obj`` whose names ``choice_func`` accepts.

    Raises:
        TypeError: If ``save_obj``, a name, or a value has an unsupported type.
    """
    for name, value in named(save_obj):
        if not isinstance(name, str):
            raise TypeError(
                f"For 'save_checkpoint', names must be strings, but got {name!r} of type "
                f"{type(name).__name__}."
            )
        if choice_func is None or choice_func(name):
            yield name, _content(name, value, "save_obj", (Tensor, np.ndarray, str))


def named(save_obj: Any) -> Iterable[tuple[Any, Any]]:
    """Return the names and values in a Cell, a dict, or a list.

    The elements of a list are Parameters or dicts ``{"name": …, "data": …}``.

    Raises:
        TypeError: If ``save_obj`` or an element has an unsupported type.
    """
    if isinstance(save_obj, Cell):
        return [(entry.name, entry) for entry in save_obj.get_parameters()]
    if isinstance(save_obj, dict):
        return save_obj.items()
    of_type(save_obj, (list, tuple), "save_checkpoint", "save_obj", "a Cell, a list or a dict")
    pairs = []
    for entry in save_obj:
        if isinstance(entry, Parameter):
            pairs.append((entry.name, entry))
        elif isinstance(entry, dict) and {"name", "data"} <= entry.keys():
            pairs.append((entry["name"], entry["data"]))
        else:
            raise TypeError(
                f"For 'save_checkpoint', a list must contain Parameters, or dicts of 'name' and 'data', but "
                f"got {type(entry).__name__}."
            )
    return pairs


def appended(append_dict: Any) -> Iterable[tuple[str, np.ndarray | str]]:
    """Yield the entries of an ``append_dict``.

    Raises:
        TypeError: If ``append_dict``, a name, or a value has an unsupported type.
        ValueError: If an integer does not fit int64.
    """
    if append_dict is None:
        return
    of_type(append_dict, dict, "save_checkpoint", "append_dict")
    for name, value in append_dict.items():
        if not isinstance(name, str):
            raise TypeError(
                f"For 'save_checkpoint', names in 'append_dict' must be strings, but got {name!r}."
            )
        yield name, _content(name, value, "append_dict", (Tensor, np.ndarray, str, int, float, np.generic))


def _content(name: str, value: Any, argument: str, types: tuple[type, ...]) -> np.ndarray | str:
    """Convert a value to an array or string for a file."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(
            f"For 'save_checkpoint', the number '{name}' in '{argument}' does not fit Int64. Save it as a "
            "string."
        )
    if isinstance(value, types):
        # convert a number with ``Tensor``, which chooses the same dtype as MindSpore
        return (value if isinstance(value, Tensor) else Tensor(value)).host_array()
    raise TypeError(
        f"For 'save_checkpoint', '{name}' in '{argument}' must be "
        f"{', '.join(each.__name__ for each in types)}, but got {type(value).__name__}."
    )
