"""``scipy.ndimage`` is slow to import: ``matrices`` imports this module when it is needed."""

from scipy import ndimage  # type: ignore[import-untyped]

__all__ = ["ndimage"]
