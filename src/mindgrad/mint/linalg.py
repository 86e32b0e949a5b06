"""``mint.linalg``: norms and factorizations of matrices."""

from mindgrad.mint import conversions as _conversions
from mindgrad.ops.forms import expose as _expose

__all__: list[str] = []
_expose("mint.linalg", globals(), vars(_conversions))
