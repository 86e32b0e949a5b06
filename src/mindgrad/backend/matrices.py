"""SciPy's sparse matrices, imported when the first one is made."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

__all__ = ["scipy_sparse"]


@lru_cache(maxsize=1)
def scipy_sparse() -> Any:
    """The module ``scipy.sparse``."""
    from mindgrad.backend import scipy_sparse as held

    return held.sparse
