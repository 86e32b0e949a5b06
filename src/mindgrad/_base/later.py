"""Class attributes that are computed at the first access, such as docstrings."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

__all__ = ["Later", "Once"]


class Later:
    """A class attribute that is computed at its first access, not during the import."""

    def __init__(self, make: Callable[..., Any], *args: Any, **named: Any) -> None:
        self.make = lru_cache(maxsize=1)(partial(make, *args, **named))

    def __get__(self, instance: object, owner: type) -> Any:
        return self.make()


class Once(Later):
    """A :class:`Later` attribute that is replaced by its value at the first access.

    Therefore, further accesses are as fast as for an ordinary class attribute.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        value = self.make()
        home = next(base for base in owner.__mro__ if vars(base).get(self.name) is self)
        setattr(home, self.name, staticmethod(value) if callable(value) else value)
        return value
