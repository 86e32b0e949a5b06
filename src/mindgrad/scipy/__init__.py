"""SciPy under MindSpore's names (``import mindspore.scipy``): ``linalg``, ``optimize``."""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.scipy import linalg, optimize

__all__ = ["linalg", "optimize"]

_explain_room(__name__)
