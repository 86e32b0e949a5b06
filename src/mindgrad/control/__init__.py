"""Higher-order rows: operators that hold programs, each with all its rules."""

from mindgrad.control import cond, custom, hook, scan, show, while_, while_pullback

__all__ = ["cond", "custom", "hook", "scan", "show", "while_", "while_pullback"]
