"""Tensors whose values are being computed: in MindSpore a class of their own, here any Tensor."""

from mindgrad.ir.tensor import Tensor as StubTensor

__all__ = ["StubTensor"]
