"""Dropout layers: while training, elements or whole channels are set to zero at random."""

from __future__ import annotations

from typing import Any

from mindgrad._base.location import warn_user
from mindgrad.ir.dtype import float32
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.ops import dropping

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d"]

_warned: list[bool] = []


class Dropout(Cell):
    """Sets each element to zero with probability p while training, and divides the others by 1 − p.

        y = x · mask / keep_prob        keep_prob = 1 − p

    N. Srivastava et al., *Dropout: a simple way to prevent neural networks from overfitting* (2014). Outside
    of training (``set_train(False)``, as a Cell is when it is made) the input is returned as it is.

    Args:
        keep_prob (float): probability that an element is kept. Default: 0.5. MindSpore's order of arguments
            makes it the first one: ``Dropout(0.3)`` drops 70 % of the elements, of which one warning tells.
        p (float): probability that an element is dropped, in place of ``keep_prob``. Default: ``None``.
        dtype: accepted for compatibility; the result has the input's type.

    Called with ``x``, a tensor of a floating-point type and any shape.

    Raises:
        TypeError: a probability is no number, or the input of no floating-point type.
        ValueError: ``keep_prob`` is not in (0, 1], or ``p`` not in [0, 1].

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
        """``x`` with elements dropped, or as it is."""
        if not self.training or self.keep_prob == 1:
            return x
        return dropping.dropout(x, 1 - self.keep_prob)

    def extend_repr(self) -> str:
        """The probability as it was given."""
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class _Channels(Cell):
    """Base of the layers that drop whole channels."""

    _function: Any

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = dropping.probability(type(self).__name__, "p", p)

    def construct(self, x: Any) -> Tensor:
        """``x`` with channels dropped, or as it is."""
        if not self.training:
            return x
        return type(self)._function(x, self.p, True)

    def extend_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"


class Dropout1d(_Channels):
    """Sets channels of shape (L,) to zero with probability ``p`` while training: see :func:`ops.dropout1d`.

    Args:
        p: the probability that a channel is dropped.

    Called with ``x`` of shape (N, C, L) or (C, L).

    Raises:
        TypeError: ``p`` is no number, or the input of no floating-point type.
        ValueError: ``p`` is not in [0, 1], or the input has another number of axes.

    >>> from mindgrad import nn, ops
    >>> found = nn.Dropout1d().set_train()(ops.ones((2, 3, 4)))
    >>> print((found == found[:, :, :1]).all())
    True
    """

    _function = staticmethod(dropping.dropout1d)


class Dropout2d(_Channels):
    """Sets channels of shape (H, W) to zero with probability ``p`` while training: see :func:`ops.dropout2d`.

    Args:
        p: the probability that a channel is dropped.

    Called with ``x`` of shape (N, C, H, W) or (C, H, W); errors as for :class:`Dropout1d`.

    >>> from mindgrad import nn, ops
    >>> found = nn.Dropout2d().set_train()(ops.ones((2, 3, 4, 4)))
    >>> print((found == found[:, :, :1, :1]).all())
    True
    """

    _function = staticmethod(dropping.dropout2d)


class Dropout3d(_Channels):
    """Set channels of shape (D, H, W) to zero with probability ``p`` during training.

    See :func:`ops.dropout3d`.

    Args:
        p: the probability that a channel is dropped.

    Called with ``x`` of shape (N, C, D, H, W) or (C, D, H, W); errors as for :class:`Dropout1d`.

    >>> from mindgrad import nn, ops
    >>> found = nn.Dropout3d().set_train()(ops.ones((2, 3, 2, 2, 2)))
    >>> print((found == found[:, :, :1, :1, :1]).all())
    True
    """

    _function = staticmethod(dropping.dropout3d)
