"""Tensors whose values are being computed: in MindSpore a class of their own, here any Tensor."""

from mindgrad.core.tensor import Tensor as StubTensor

__all__ = ["StubTensor"]
