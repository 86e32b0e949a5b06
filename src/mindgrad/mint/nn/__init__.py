"""``mint.nn``: layers and losses with the arguments of ``mint``."""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.mint.nn import functional, layers
from mindgrad.mint.nn.layers import *  # noqa: F403

__all__ = ["functional"]
__all__ += layers.__all__

_explain_room(__name__)
