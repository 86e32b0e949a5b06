"""Functions of ``mint.special``; ``mindgrad.mint`` adds them to this module."""

_NAMES = ("erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc")
__all__ = list(_NAMES)
