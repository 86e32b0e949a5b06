"""Lazy imports of SciPy's sparse matrices and image functions happen when the first one is needed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

__all__ = ["scipy_ndimage", "scipy_sparse"]


@lru_cache(maxsize=1)
def scipy_sparse() -> Any:
    """The module ``scipy.sparse``."""
    from mindgrad.backend import scipy_sparse as held

    return held.sparse


@lru_cache(maxsize=1)
def scipy_ndimage() -> Any:
    """The module ``scipy.ndimage``."""
    from mindgrad.backend import scipy_ndimage as loaded

    return loaded.ndimage
