"""Adam that updates the rows of sparse gradients only; for dense gradients it is Adam."""

from __future__ import annotations

from typing import Any

from mindgrad.nn.optim.adam import Adam

__all__ = ["LazyAdam"]


class LazyAdam(Adam):
    """:class:`Adam`, under the name of MindSpore's variant for sparse gradients.

    Gradients are dense here, and for those the two are the same. The arguments are those of
    :class:`Adam` as far as ``loss_scale``.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> ms.nn.LazyAdam([w], learning_rate=0.5)((ms.Tensor([3.0, -4.0]),))
    True
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(
            params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale
        )
