"""``scipy.sparse`` is slow to import: ``matrices`` imports this module when it is needed."""

from scipy import sparse  # type: ignore[import-untyped]

__all__ = ["sparse"]
