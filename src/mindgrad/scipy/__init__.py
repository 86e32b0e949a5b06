"""SciPy's functions on tensors, under MindSpore's names (``import mindspore.scipy``): ``optimize``."""

from mindgrad.scipy import optimize

__all__ = ["optimize"]
