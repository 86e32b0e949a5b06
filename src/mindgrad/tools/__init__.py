"""What people use to see and to measure a derivative."""

from mindgrad.tools import profile

__all__ = ["profile"]
