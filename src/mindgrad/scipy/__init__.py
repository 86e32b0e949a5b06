"""SciPy under MindSpore's names (``import mindspore.scipy``): ``fft``, ``linalg``, ``optimize``."""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.scipy import fft, linalg, ops, optimize

__all__ = ["fft", "linalg", "ops", "optimize"]

_explain_room(__name__)
