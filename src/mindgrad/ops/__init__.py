"""Operators on tensors, as functions and as classes, under MindSpore's names."""

from mindgrad.functional.gradient import GradOperation, grad
from mindgrad.ops import methods as _methods
from mindgrad.ops.arithmetic import *  # noqa: F403
from mindgrad.ops.contraction import *  # noqa: F403
from mindgrad.ops.math import *  # noqa: F403
from mindgrad.ops.operations import *  # noqa: F403

__all__ = ["GradOperation", "grad"]
