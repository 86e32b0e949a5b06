"""Layers: Cells with Parameters, and Cells that apply one function."""

from mindgrad.nn.layer import (
    activation,
    attention,
    basic,
    combined,
    container,
    conv,
    dropout,
    embedding,
    image,
    image_quality,
    linear,
    math,
    normalization,
    padding,
    pooling,
    rnn_cells,
    rnns,
    sync_batch_norm,
    transformer,
)
from mindgrad.nn.layer import inner_operators as _inner_operators  # noqa: F401 - attaches them
from mindgrad.nn.layer.activation import *  # noqa: F403
from mindgrad.nn.layer.attention import *  # noqa: F403
from mindgrad.nn.layer.basic import *  # noqa: F403
from mindgrad.nn.layer.combined import *  # noqa: F403
from mindgrad.nn.layer.container import *  # noqa: F403
from mindgrad.nn.layer.conv import *  # noqa: F403
from mindgrad.nn.layer.dropout import *  # noqa: F403
from mindgrad.nn.layer.embedding import *  # noqa: F403
from mindgrad.nn.layer.image import *  # noqa: F403
from mindgrad.nn.layer.image_quality import *  # noqa: F403
from mindgrad.nn.layer.linear import *  # noqa: F403
from mindgrad.nn.layer.math import *  # noqa: F403
from mindgrad.nn.layer.normalization import *  # noqa: F403
from mindgrad.nn.layer.padding import *  # noqa: F403
from mindgrad.nn.layer.pooling import *  # noqa: F403
from mindgrad.nn.layer.rnn_cells import *  # noqa: F403
from mindgrad.nn.layer.rnns import *  # noqa: F403
from mindgrad.nn.layer.sync_batch_norm import *  # noqa: F403
from mindgrad.nn.layer.transformer import *  # noqa: F403

__all__: list[str] = []
__all__ += activation.__all__
__all__ += attention.__all__
__all__ += basic.__all__
__all__ += combined.__all__
__all__ += container.__all__
__all__ += conv.__all__
__all__ += dropout.__all__
__all__ += embedding.__all__
__all__ += image.__all__
__all__ += image_quality.__all__
__all__ += linear.__all__
__all__ += math.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += rnn_cells.__all__
__all__ += rnns.__all__
__all__ += sync_batch_norm.__all__
__all__ += transformer.__all__
