"""``mint.special``: names of functions that ``mint`` itself has, which gives them to this module."""

_NAMES = ("erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc")
__all__ = list(_NAMES)
