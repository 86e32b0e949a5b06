"""Dropout layers, which set random elements or channels to zero in training."""

from __future__ import annotations

from typing import Any

from mindgrad.core.base.location import warn_user
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.ops import dropping

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d"]

_warned: list[bool] = []


class Dropout(Cell):
    """Set elements to zero with probability p in training, and rescale the others.

    Each element is multiplied by a random mask of zeros and ones::

        y = x · mask / keep_prob        keep_prob = 1 − p

    Outside training (``set_train(False)``, the initial state of a Cell) the input is returned unchanged.
    N. Srivastava et al., *Dropout: a simple way to prevent neural networks from overfitting* (2014).

    Args:
        keep_prob (float): probability that an element is kept. As in MindSpore it is the first argument:
            ``Dropout(0.3)`` drops 70 % of the elements, with a warning.
        p (float): probability that an element is dropped. It can be passed instead of ``keep_prob``.
        dtype (DType): accepted for compatibility; the output has the dtype of the input.

    Inputs:
        x (Tensor): floating-point tensor of any shape.

    Outputs:
        Tensor with the shape and dtype of ``x``.

    Raises:
        TypeError: If a probability is not a number, or the input does not have a floating-point dtype.
        ValueError: If ``keep_prob`` is not in (0, 1], or ``p`` is not in [0, 1].

    >>> import mindgrad as ms
    >>> ms.set_seed(1)
    >>> layer = ms.nn.Dropout(p=0.2).set_train()
    >>> found = layer(ms.ops.ones(1000))
    >>> print(f"{(found == 0).sum().item() / 1000:.1f}, {found.max().item():.2f}")
    0.2, 1.25
    >>> print(layer.set_train(False)(ms.Tensor([1.0, 2.0])))
    [1. 2.]
    """

    def __init__(self, keep_prob: float = 0.5, p: float | None = None, dtype: Any = float32) -> None:
        super().__init__()
        if p is not None:
            keep_prob = 1 - dropping.probability("Dropout", "p", p)
        else:
            keep_prob = dropping.probability("Dropout", "keep_prob", keep_prob, open_below=True)
        if p is None and keep_prob != 0.5 and not _warned:
            _warned.append(True)
            warn_user(
                f"The first argument of nn.Dropout is 'keep_prob', as in MindSpore: keep_prob={keep_prob} "
                f"drops each element with probability {1 - keep_prob:.10g}. To drop with probability "
                f"{keep_prob}, write nn.Dropout(p={keep_prob}); to keep this meaning, write "
                f"nn.Dropout(p={1 - keep_prob:.10g})."
            )
        self.p = p
        self.keep_prob = keep_prob

    def construct(self, x: Any) -> Tensor:
        """Drop elements of ``x`` in training; otherwise return ``x``."""
        if not self.training or self.keep_prob == 1:
            return x
        return dropping.dropout(x, 1 - self.keep_prob)

    def extend_repr(self) -> str:
        """Show the probability that was passed to the constructor."""
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class _Channels(Cell):
    """Base class of layers that drop whole channels."""

    _function: Any

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = dropping.probability(type(self).__name__, "p", p)

    def construct(self, x: Any) -> Tensor:
        """Drop channels of ``x`` in training; otherwise return ``x``."""
        if not self.training:
            return x
        return type(self)._function(x, self.p, True)

    def extend_repr(self) -> str:
        """Show the probability ``p``."""
        return f"p={self.p}"


class Dropout1d(_Channels):
    """Set channels of shape (L,) to zero with probability ``p`` in training.

    See :func:`ops.dropout1d`.

    Args:
        p (float): probability that a channel is set to zero in training.

    Inputs:
        x (Tensor): floating-point tensor of shape (N, C, L) or (C, L).

    Raises:
        TypeError: If ``p`` is not a number, or the input does not have a floating-point dtype.
        ValueError: If ``p`` is not in [0, 1], or ``x`` does not have the documented number of axes.

    >>> from mindgrad import nn, ops
    >>> found = nn.Dropout1d().set_train()(ops.ones((2, 3, 4)))
    >>> print((found == found[:, :, :1]).all())
    True
    """

    _function = staticmethod(dropping.dropout1d)


class Dropout2d(_Channels):
    """Set channels of shape (H, W) to zero with probability ``p`` in training.

    See :func:`ops.dropout2d`.

    Args:
        p (float): probability that a channel is set to zero in training.

    Inputs:
        x (Tensor): floating-point tensor of shape (N, C, H, W) or (C, H, W).

    Raises:
        TypeError: If ``p`` is not a number, or the input does not have a floating-point dtype.
        ValueError: If ``p`` is not in [0, 1], or ``x`` does not have the documented number of axes.

    >>> from mindgrad import nn, ops
    >>> found = nn.Dropout2d().set_train()(ops.ones((2, 3, 4, 4)))
    >>> print((found == found[:, :, :1, :1]).all())
    True
    """

    _function = staticmethod(dropping.dropout2d)


class Dropout3d(_Channels):
    """Set channels of shape (D, H, W) to zero with probability ``p`` in training.

    See :func:`ops.dropout3d`.

    Args:
        p (float): probability that a channel is set to zero in training.

    Inputs:
        x (Tensor): floating-point tensor of shape (N, C, D, H, W) or (C, D, H, W).

    Raises:
        TypeError: If ``p`` is not a number, or the input does not have a floating-point dtype.
        ValueError: If ``p`` is not in [0, 1], or ``x`` does not have the documented number of axes.

    >>> from mindgrad import nn, ops
    >>> found = nn.Dropout3d().set_train()(ops.ones((2, 3, 2, 2, 2)))
    >>> print((found == found[:, :, :1, :1, :1]).all())
    True
    """

    _function = staticmethod(dropping.dropout3d)
