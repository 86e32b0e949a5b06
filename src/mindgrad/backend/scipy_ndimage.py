"""``scipy.ndimage``, which takes long to import: ``matrices`` imports this when it is needed."""

from scipy import ndimage  # type: ignore[import-untyped]

__all__ = ["ndimage"]
