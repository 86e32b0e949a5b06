"""Loss functions as Cells."""

from mindgrad.nn.loss import loss
from mindgrad.nn.loss.loss import *  # noqa: F403

__all__ = list(loss.__all__)
