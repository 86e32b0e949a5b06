"""Stub tensors are a class of their own in MindSpore; here any Tensor is one."""

from mindgrad.ir.tensor import Tensor as StubTensor

__all__ = ["StubTensor"]
