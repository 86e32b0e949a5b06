"""Sparse linear algebra, as in ``mindspore.scipy.sparse``."""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.scipy.sparse import linalg

__all__ = ["linalg"]

_explain_room(__name__)
