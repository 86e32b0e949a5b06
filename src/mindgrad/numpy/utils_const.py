"""Errors that MindSpore programs raise by names of ``mindspore.numpy.utils_const``."""

from __future__ import annotations

from typing import Any, NoReturn

__all__: list[str] = []


def _raise_value_error(info: str, param: Any = None) -> NoReturn:
    """Raises ValueError with ``info``, and with ``param`` behind it if it is given."""
    raise ValueError(info if param is None else f"{info}{param}")


def _raise_type_error(info: str, param: Any = None) -> NoReturn:
    """Raises TypeError with ``info``, and with ``param`` behind it if it is given."""
    raise TypeError(info if param is None else f"{info}{param}")
