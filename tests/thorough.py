"""Sizes of tests: small in an ordinary run, large with ``TEST_THOROUGH=1``.

The nightly workflow sets the variable.
"""

from __future__ import annotations

import os

__all__ = ["THOROUGH", "size"]

THOROUGH = os.environ.get("TEST_THOROUGH") == "1"


def size(ordinary: int, thorough: int) -> int:
    """Return the number of steps, layers, seeds or examples of a test."""
    return thorough if THOROUGH else ordinary
