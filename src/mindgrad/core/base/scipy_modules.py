"""Import SciPy's modules at their first use, because their import is slow."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["SciPyModule"]


class SciPyModule(ModuleType):
    """The module ``scipy.name``, which is imported when an attribute is first read."""

    def __init__(self, name: str) -> None:
        super().__init__(f"scipy.{name}")

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self.__name__), attribute)
        setattr(self, attribute, value)  # later reads do not call this method
        return value
