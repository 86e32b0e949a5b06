"""Import SciPy's modules at their first use, because their import is slow."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["scipy_module"]


@cache
def scipy_module(name: str) -> Any:
    """Import and return the module ``scipy.name``."""
    return import_module(f"scipy.{name}")
