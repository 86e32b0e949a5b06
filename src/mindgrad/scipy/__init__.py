"""SciPy functions as in ``mindspore.scipy``: fft, linalg, optimize, and sparse."""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.scipy import fft, linalg, ops, optimize, sparse

__all__ = ["fft", "linalg", "ops", "optimize", "sparse"]

_explain_room(__name__)
