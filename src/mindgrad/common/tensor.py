"""Tensors under MindSpore's name: ``from mindspore.common.tensor import Tensor``."""

from mindgrad.core.tensor import Tensor

__all__ = ["Tensor"]
