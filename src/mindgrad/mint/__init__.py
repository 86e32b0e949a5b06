"""Functions and layers with PyTorch's arguments, as in ``mindspore.mint``.

Functions have ``dim`` and ``keepdim``, and layers have ``in_features``. All are functions of
:mod:`mindgrad.ops` and Cells of :mod:`mindgrad.nn` under different names, so they are also differentiable and
compilable. Some names have a different meaning in ``mint`` than in ``ops``: ``mint.max(x, 1)`` returns values
and indices, ``mint.transpose(x, 0, 1)`` exchanges two axes, and ``mint.var`` divides by n − 1.

>>> from mindgrad import Tensor, mint
>>> print(mint.sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1, keepdim=True))
[[3.]
 [7.]]
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad._base.shared_docs import document_all as _document_all
from mindgrad.ir.tensor import Tensor
from mindgrad.mint import arranging, conversions, elementwise, linalg, nn, optim, random, reducing, special
from mindgrad.mint.arranging import *  # noqa: F403
from mindgrad.mint.elementwise import *  # noqa: F403
from mindgrad.mint.random import *  # noqa: F403
from mindgrad.mint.reducing import *  # noqa: F403
from mindgrad.ops.define import also_named as _also_named
from mindgrad.ops.forms import expose as _expose

__all__ = list(arranging.__all__ + elementwise.__all__ + random.__all__ + reducing.__all__)
__all__ += ["Tensor", "conv2d", "linalg", "nn", "optim", "special"]

if _TYPE_CHECKING:
    # A type checker does not see the names that ``_expose`` creates at run time.

    def __getattr__(name: str) -> _Any: ...


_expose("mint", globals(), vars(conversions))
for _part in (arranging, elementwise, linalg, random, reducing):
    _document_all(vars(_part), "mindgrad.ops")
conv2d = nn.functional.conv2d
isnan = _also_named(tensor="input")(globals()["isnan"])
vars(special).update({name: globals()[name] for name in special.__all__})
_explain_package(__name__)
