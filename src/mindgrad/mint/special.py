"""``mint.special``: names of functions that ``mint`` itself has."""

from mindgrad.mint import elementwise
from mindgrad.mint.elementwise import round  # noqa: F401
from mindgrad.mint.reducing import log_softmax  # noqa: F401

_NAMES = ["erfc", "exp2", "expm1", "log1p", "sinc"]
globals().update({name: getattr(elementwise, name) for name in _NAMES})

_OWN = ["log_softmax", "round"]
__all__ = list(_OWN + [*_NAMES])
