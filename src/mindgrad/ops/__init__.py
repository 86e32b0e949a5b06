"""Operators on tensors, as functions and as classes, under MindSpore's names."""

from mindgrad.functional.gradient import GradOperation, get_grad, grad, value_and_grad
from mindgrad.functional.hooks import HookBackward, InsertGradientOf
from mindgrad.functional.jacobian import jacfwd, jacrev
from mindgrad.functional.jvp import jvp, linearize
from mindgrad.functional.vjp import vjp
from mindgrad.ops import arithmetic, comparison, complexes, contraction, limits, math, rounding, special
from mindgrad.ops import methods as _methods
from mindgrad.ops.arithmetic import *  # noqa: F403
from mindgrad.ops.comparison import *  # noqa: F403
from mindgrad.ops.complexes import *  # noqa: F403
from mindgrad.ops.contraction import *  # noqa: F403
from mindgrad.ops.limits import *  # noqa: F403
from mindgrad.ops.math import *  # noqa: F403
from mindgrad.ops.operations import *  # noqa: F403
from mindgrad.ops.rounding import *  # noqa: F403
from mindgrad.ops.special import *  # noqa: F403

__all__ = [
    "GradOperation", "HookBackward", "InsertGradientOf", "get_grad", "grad", "jacfwd", "jacrev", "jvp", "linearize", "value_and_grad", "vjp",
    *arithmetic.__all__, *comparison.__all__, *complexes.__all__,
    *contraction.__all__, *limits.__all__, *math.__all__, *rounding.__all__, *special.__all__,
]  # fmt: skip
