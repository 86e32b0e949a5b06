"""SciPy functions as in ``mindspore.scipy``: fft, linalg, optimize, and sparse."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.scipy import fft, linalg, ops, optimize, sparse

__all__ = ["fft", "linalg", "ops", "optimize", "sparse"]

_explain_package(__name__)
