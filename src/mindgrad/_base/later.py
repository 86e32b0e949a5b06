"""Attributes of classes that are made when they are first read, as few of a thousand texts are."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

__all__ = ["Later", "Once"]


class Later:
    """An attribute of a class that is made when it is first read: an import does not wait for it."""

    def __init__(self, make: Callable[..., Any], *args: Any, **named: Any) -> None:
        self.make = lru_cache(maxsize=1)(partial(make, *args, **named))

    def __get__(self, instance: object, owner: type) -> Any:
        return self.make()


class Once(Later):
    """A :class:`Later` whose value takes its place in the class, for what every call reads."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        value = self.make()
        home = next(base for base in owner.__mro__ if vars(base).get(self.name) is self)
        setattr(home, self.name, staticmethod(value) if callable(value) else value)
        return value
