"""``scipy.sparse``, which takes some 80 ms to import: ``matrices`` imports this when it is needed."""

from scipy import sparse  # type: ignore[import-untyped]

__all__ = ["sparse"]
