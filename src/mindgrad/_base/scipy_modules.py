"""SciPy's modules are slow to import: each is imported when it is first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["scipy_module"]


@cache
def scipy_module(name: str) -> Any:
    """The module ``scipy.name``."""
    return import_module(f"scipy.{name}")
