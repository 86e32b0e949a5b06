"""Higher-order rows: operators that hold programs, each with all its rules."""

from mindgrad.control import along, cond, custom, hook, scan, show, while_, while_pullback

__all__ = ["along", "cond", "custom", "hook", "scan", "show", "while_", "while_pullback"]
