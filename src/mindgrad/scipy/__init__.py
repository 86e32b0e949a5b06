"""SciPy's functions on tensors, under MindSpore's names (``import mindspore.scipy``): ``optimize``."""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.scipy import optimize

__all__ = ["optimize"]

_explain_room(__name__)
