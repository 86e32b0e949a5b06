"""Functions of ``mindspore.numpy.utils_const`` that raise errors."""

from __future__ import annotations

from typing import Any, NoReturn

__all__: list[str] = []


def _raise_value_error(info: str, param: Any = None) -> NoReturn:
    """Raise ValueError with ``info``, followed by ``param`` if it is given."""
    raise ValueError(info if param is None else f"{info}{param}")


def _raise_type_error(info: str, param: Any = None) -> NoReturn:
    """Raise TypeError with ``info``, followed by ``param`` if it is given."""
    raise TypeError(info if param is None else f"{info}{param}")
