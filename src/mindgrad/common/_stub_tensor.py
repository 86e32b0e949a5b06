"""The name ``StubTensor`` of MindSpore, which is the same class as ``Tensor``."""

from mindgrad.core.ir.tensor import Tensor as StubTensor

__all__ = ["StubTensor"]
