"""``mint.nn``: layers and losses with the arguments of ``mint``."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad._base.shared_docs import document_all as _document_all
from mindgrad.mint.nn import batch_norm as _batch_norm
from mindgrad.mint.nn import functional, layers, pooling
from mindgrad.mint.nn.layers import *  # noqa: F403
from mindgrad.nn.cell import Cell

__all__ = ["Cell", "functional"]
__all__ += layers.__all__
__all__ += list(pooling.CELLS)

globals().update({name: getattr(pooling, name) for name in pooling.CELLS})
# add these functions here and not in ``functional``, which is imported before ``pooling``
vars(functional).update({name: getattr(pooling, name) for name in pooling.FUNCTIONS})
functional.__all__ += pooling.FUNCTIONS
for _part in (layers, _batch_norm):
    _document_all(vars(_part), "mindgrad.nn")
_document_all({**vars(pooling), "__all__": pooling.FUNCTIONS}, "mindgrad.ops")

_explain_package(__name__)
