"""Operators on tensors, as functions and as classes, under MindSpore's names."""

from mindgrad.functional.gradient import GradOperation, get_grad, grad, value_and_grad
from mindgrad.functional.hooks import HookBackward, InsertGradientOf
from mindgrad.functional.jacobian import jacfwd, jacrev
from mindgrad.functional.jvp import jvp, linearize
from mindgrad.functional.vjp import vjp
from mindgrad.ops import (
    activation,
    affine,
    arithmetic,
    comparison,
    complexes,
    contraction,
    conversion,
    convolution,
    creation,
    cumulative,
    extremes,
    factorisation,
    indexing,
    joining,
    layout,
    limits,
    linalg,
    math,
    matrices,
    moving,
    ordering,
    padding,
    rectifiers,
    reduction,
    rounding,
    scattering,
    slices,
    special,
    statistics,
)
from mindgrad.ops import methods as _methods
from mindgrad.ops.activation import *  # noqa: F403
from mindgrad.ops.affine import *  # noqa: F403
from mindgrad.ops.arithmetic import *  # noqa: F403
from mindgrad.ops.comparison import *  # noqa: F403
from mindgrad.ops.complexes import *  # noqa: F403
from mindgrad.ops.contraction import *  # noqa: F403
from mindgrad.ops.conversion import *  # noqa: F403
from mindgrad.ops.convolution import *  # noqa: F403
from mindgrad.ops.creation import *  # noqa: F403
from mindgrad.ops.cumulative import *  # noqa: F403
from mindgrad.ops.extremes import *  # noqa: F403
from mindgrad.ops.factorisation import *  # noqa: F403
from mindgrad.ops.indexing import *  # noqa: F403
from mindgrad.ops.joining import *  # noqa: F403
from mindgrad.ops.layout import *  # noqa: F403
from mindgrad.ops.limits import *  # noqa: F403
from mindgrad.ops.linalg import *  # noqa: F403
from mindgrad.ops.math import *  # noqa: F403
from mindgrad.ops.matrices import *  # noqa: F403
from mindgrad.ops.moving import *  # noqa: F403
from mindgrad.ops.operations import *  # noqa: F403
from mindgrad.ops.ordering import *  # noqa: F403
from mindgrad.ops.padding import *  # noqa: F403
from mindgrad.ops.rectifiers import *  # noqa: F403
from mindgrad.ops.reduction import *  # noqa: F403
from mindgrad.ops.rounding import *  # noqa: F403
from mindgrad.ops.scattering import *  # noqa: F403
from mindgrad.ops.slices import *  # noqa: F403
from mindgrad.ops.special import *  # noqa: F403
from mindgrad.ops.statistics import *  # noqa: F403

__all__ = [
    "GradOperation", "HookBackward", "InsertGradientOf", "get_grad", "grad", "jacfwd", "jacrev", "jvp", "linearize", "value_and_grad", "vjp",
    *activation.__all__, *affine.__all__, *arithmetic.__all__, *convolution.__all__, *factorisation.__all__, *linalg.__all__, *comparison.__all__,
    *complexes.__all__, *contraction.__all__, *cumulative.__all__, *extremes.__all__, *limits.__all__,
    *math.__all__, *rectifiers.__all__, *reduction.__all__, *rounding.__all__, *special.__all__,
    *statistics.__all__,
    *conversion.__all__, *creation.__all__, *indexing.__all__, *joining.__all__, *layout.__all__,
    *matrices.__all__, *moving.__all__, *ordering.__all__, *padding.__all__, *scattering.__all__,
    *slices.__all__,
]  # fmt: skip
