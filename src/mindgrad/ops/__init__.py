"""Operators on tensors, as functions and as classes, under MindSpore's names.

Functions: ``ops.matmul(x, y)`` (``mindgrad.ops.functional``). Classes: ``ops.MatMul()(x, y)``
(``mindgrad.ops.operations``). Derivatives: ``ops.GradOperation``, ``ops.grad``, ``ops.jvp``, ``ops.vjp``.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from mindgrad.ops import composite, functional, operations
from mindgrad.ops import functional as function  # noqa: F401 - its name in MindSpore 2.x
from mindgrad.ops import methods as _methods  # noqa: F401 - attaches the methods of Tensor
from mindgrad.ops.composite import *  # noqa: F403
from mindgrad.ops.functional import *  # noqa: F403
from mindgrad.ops.operations import *  # noqa: F403

__all__ = list(dict.fromkeys(composite.__all__ + functional.__all__ + operations.__all__))

if _TYPE_CHECKING:
    # the names are collected from many files, which a type checker does not follow

    def __getattr__(name: str) -> _Any: ...
