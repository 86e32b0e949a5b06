"""The dense layer with the arguments of MindSpore 2.5 and later."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import float32
from mindgrad.nn.layer.basic import Dense

__all__ = ["Linear"]


class Linear(Dense):
    """A fully connected layer ``y = x Wᵀ + b``, with the argument names of PyTorch.

    Args:
        in_features (int): size of the last axis of the input.
        out_features (int): size of the last axis of the output.
        bias (bool): whether to add the bias b.
        weight_init (Tensor, str, Initializer, or number): initial weight W. ``None``: uniform in
            ±1/√in_features.
        bias_init (Tensor, str, Initializer, or number): initial bias b. ``None``: uniform in ±1/√in_features.
        dtype (DType): dtype of the Parameters. ``None``: float32.

    >>> from mindgrad import Tensor, mint
    >>> print(mint.nn.Linear(2, 1, weight_init=Tensor([[1.0, 2.0]]), bias=False)(Tensor([[1.0, 1.0]])))
    [[3.]]

    See Also:
        :class:`mindgrad.nn.Dense`, :func:`mindgrad.mint.nn.functional.linear`
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_features, out_features, weight_init, bias_init, bias, None, float32 if dtype is None else dtype
        )
        self.in_features, self.out_features = in_features, out_features
