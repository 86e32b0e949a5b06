"""Sparse linear algebra, as in ``mindspore.scipy.sparse``."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.scipy.sparse import linalg

__all__ = ["linalg"]

_explain_package(__name__)
