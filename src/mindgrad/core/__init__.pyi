from mindgrad.core import numpy as numpy
from mindgrad.core.api.grad import grad as grad
from mindgrad.core.api.grad import value_and_grad as value_and_grad
from mindgrad.core.api.jit import jit as jit
from mindgrad.core.api.vjp import jvp as jvp
from mindgrad.core.api.vjp import linearize as linearize
from mindgrad.core.api.vjp import vjp as vjp
from mindgrad.core.ir.tensor import Tensor as Tensor
