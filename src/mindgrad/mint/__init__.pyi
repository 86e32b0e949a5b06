"""Names of ``mindgrad.mint``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.tensor import Tensor as Tensor
from mindgrad.mint import linalg as linalg
from mindgrad.mint import nn as nn
from mindgrad.mint import optim as optim
from mindgrad.mint import special as special
from mindgrad.mint.arranging import clone as clone
from mindgrad.mint.arranging import diag as diag
from mindgrad.mint.arranging import empty as empty
from mindgrad.mint.arranging import index_add as index_add
from mindgrad.mint.arranging import linspace as linspace
from mindgrad.mint.arranging import meshgrid as meshgrid
from mindgrad.mint.arranging import ones as ones
from mindgrad.mint.arranging import scatter as scatter
from mindgrad.mint.arranging import searchsorted as searchsorted
from mindgrad.mint.arranging import select as select
from mindgrad.mint.arranging import squeeze as squeeze
from mindgrad.mint.arranging import vdot as vdot
from mindgrad.mint.arranging import where as where
from mindgrad.mint.arranging import zeros as zeros
from mindgrad.mint.elementwise import add as add
from mindgrad.mint.elementwise import sub as sub
from mindgrad.mint.nn.functional import conv2d as conv2d
from mindgrad.mint.random import bernoulli as bernoulli
from mindgrad.mint.random import multinomial as multinomial
from mindgrad.mint.random import normal as normal
from mindgrad.mint.random import rand as rand
from mindgrad.mint.random import rand_like as rand_like
from mindgrad.mint.random import randint as randint
from mindgrad.mint.random import randint_like as randint_like
from mindgrad.mint.random import randn as randn
from mindgrad.mint.random import randn_like as randn_like
from mindgrad.mint.random import randperm as randperm
from mindgrad.mint.reducing import log_softmax as log_softmax
from mindgrad.mint.reducing import max as max
from mindgrad.mint.reducing import median as median
from mindgrad.mint.reducing import min as min
from mindgrad.mint.reducing import norm as norm
from mindgrad.ops.activation import sigmoid as sigmoid
from mindgrad.ops.affine import addbmm as addbmm
from mindgrad.ops.affine import addmm as addmm
from mindgrad.ops.affine import addmv as addmv
from mindgrad.ops.arithmetic import addcdiv as addcdiv
from mindgrad.ops.arithmetic import addcmul as addcmul
from mindgrad.ops.arithmetic import div as div
from mindgrad.ops.arithmetic import div as divide
from mindgrad.ops.arithmetic import float_power as float_power
from mindgrad.ops.arithmetic import floor_div as floor_divide
from mindgrad.ops.arithmetic import floor_mod as remainder
from mindgrad.ops.arithmetic import fmod as fmod
from mindgrad.ops.arithmetic import lerp as lerp
from mindgrad.ops.arithmetic import mul as mul
from mindgrad.ops.arithmetic import neg as neg
from mindgrad.ops.arithmetic import neg as negative
from mindgrad.ops.arithmetic import pow as pow
from mindgrad.ops.clipping import clamp as clamp
from mindgrad.ops.clipping import clamp as clip
from mindgrad.ops.clipping import maximum as maximum
from mindgrad.ops.clipping import minimum as minimum
from mindgrad.ops.comparison import allclose as allclose
from mindgrad.ops.comparison import bitwise_and as bitwise_and
from mindgrad.ops.comparison import bitwise_not as bitwise_not
from mindgrad.ops.comparison import bitwise_or as bitwise_or
from mindgrad.ops.comparison import bitwise_xor as bitwise_xor
from mindgrad.ops.comparison import equal as eq
from mindgrad.ops.comparison import equal as equal
from mindgrad.ops.comparison import greater as greater
from mindgrad.ops.comparison import greater as gt
from mindgrad.ops.comparison import greater_equal as greater_equal
from mindgrad.ops.comparison import isclose as isclose
from mindgrad.ops.comparison import less as less
from mindgrad.ops.comparison import less as lt
from mindgrad.ops.comparison import less_equal as le
from mindgrad.ops.comparison import less_equal as less_equal
from mindgrad.ops.comparison import not_equal as ne
from mindgrad.ops.comparison import not_equal as not_equal
from mindgrad.ops.contraction import dot as dot
from mindgrad.ops.contraction import einsum as einsum
from mindgrad.ops.contraction import matmul as matmul
from mindgrad.ops.contraction import mm as mm
from mindgrad.ops.contraction import mv as mv
from mindgrad.ops.contraction import outer as outer
from mindgrad.ops.creation import arange as arange
from mindgrad.ops.creation import eye as eye
from mindgrad.ops.creation import full as full
from mindgrad.ops.creation import full_like as full_like
from mindgrad.ops.creation import ones_like as ones_like
from mindgrad.ops.creation import zeros_like as zeros_like
from mindgrad.ops.cumulative import cumprod as cumprod
from mindgrad.ops.extremes import argmax as argmax
from mindgrad.ops.histograms import histc as histc
from mindgrad.ops.indexing import masked_select as masked_select
from mindgrad.ops.joining import dstack as dstack
from mindgrad.ops.joining import hstack as hstack
from mindgrad.ops.joining import unbind as unbind
from mindgrad.ops.joining import vstack as vstack
from mindgrad.ops.layout import ravel as ravel
from mindgrad.ops.layout import reshape as reshape
from mindgrad.ops.layout import swapaxes as swapaxes
from mindgrad.ops.layout import unsqueeze as unsqueeze
from mindgrad.ops.linalg import inverse as inverse
from mindgrad.ops.math import acos as acos
from mindgrad.ops.math import acos as arccos
from mindgrad.ops.math import acosh as acosh
from mindgrad.ops.math import acosh as arccosh
from mindgrad.ops.math import asin as arcsin
from mindgrad.ops.math import asin as asin
from mindgrad.ops.math import asinh as arcsinh
from mindgrad.ops.math import asinh as asinh
from mindgrad.ops.math import atan as arctan
from mindgrad.ops.math import atan as atan
from mindgrad.ops.math import atan2 as arctan2
from mindgrad.ops.math import atan2 as atan2
from mindgrad.ops.math import atanh as arctanh
from mindgrad.ops.math import atanh as atanh
from mindgrad.ops.math import cos as cos
from mindgrad.ops.math import cosh as cosh
from mindgrad.ops.math import exp as exp
from mindgrad.ops.math import exp2 as exp2
from mindgrad.ops.math import expm1 as expm1
from mindgrad.ops.math import log as log
from mindgrad.ops.math import log10 as log10
from mindgrad.ops.math import log1p as log1p
from mindgrad.ops.math import log2 as log2
from mindgrad.ops.math import logaddexp as logaddexp
from mindgrad.ops.math import reciprocal as reciprocal
from mindgrad.ops.math import rsqrt as rsqrt
from mindgrad.ops.math import sin as sin
from mindgrad.ops.math import sinh as sinh
from mindgrad.ops.math import sqrt as sqrt
from mindgrad.ops.math import tan as tan
from mindgrad.ops.math import tanh as tanh
from mindgrad.ops.math import xlogy as xlogy
from mindgrad.ops.matrices import tril as tril
from mindgrad.ops.matrices import triu as triu
from mindgrad.ops.matrix_bands import t as t
from mindgrad.ops.movement import broadcast_to as broadcast_to
from mindgrad.ops.movement import flip as flip
from mindgrad.ops.movement import roll as roll
from mindgrad.ops.ordering import bincount as bincount
from mindgrad.ops.ordering import nonzero as nonzero
from mindgrad.ops.reduction import sum as sum
from mindgrad.ops.repeating import tile as tile
from mindgrad.ops.rounding import abs as abs
from mindgrad.ops.rounding import abs as absolute
from mindgrad.ops.rounding import ceil as ceil
from mindgrad.ops.rounding import floor as floor
from mindgrad.ops.rounding import isfinite as isfinite
from mindgrad.ops.rounding import isinf as isinf
from mindgrad.ops.rounding import nan_to_num as nan_to_num
from mindgrad.ops.rounding import sign as sign
from mindgrad.ops.rounding import trunc as fix
from mindgrad.ops.rounding import trunc as trunc
from mindgrad.ops.sequences import unique_consecutive as unique_consecutive
from mindgrad.ops.signs import isneginf as isneginf
from mindgrad.ops.signs import polar as polar
from mindgrad.ops.special import erf as erf
from mindgrad.ops.special import erfc as erfc
from mindgrad.ops.special import erfinv as erfinv
from mindgrad.ops.vectors import cross as cross

__all__: list[str]

def all(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Check whether all elements along axes are true (nonzero)."""
def amax(input: Any, dim: Any = ..., keepdim: bool = False) -> Tensor:
    """Return the largest element along axes; tied elements share the derivative."""
def amin(input: Any, dim: Any = ..., keepdim: bool = False) -> Tensor:
    """Return the smallest element along axes; tied elements share the derivative."""
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Check whether any element along axes is true (nonzero)."""
def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the smallest element along an axis."""
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: Any = False) -> Tensor:
    """Return the indices that sort a tensor along an axis."""
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute β · input + α · batch1 batch2 for batches of matrices."""
def bmm(input: Any, mat2: Any) -> Tensor:
    """Compute the products of batches of matrices."""
def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Join tensors along an existing axis; another name of `concat`."""
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """Compute the p-norm distances between all vectors of two sets."""
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into at most ``chunks`` parts of equal size."""
def concat(tensors: Any, dim: int = 0) -> Tensor:
    """Join tensors along an existing axis; another name of `concat`."""
def count_nonzero(input: Any, dim: Any = None) -> Tensor:
    """Count the nonzero elements along axes."""
def cummax(input: Any, dim: int) -> tuple[Tensor, Tensor]:
    """Return the cumulative maximum along an axis, and its indices."""
def cummin(input: Any, dim: int) -> tuple[Tensor, Tensor]:
    """Return the cumulative minimum along an axis, and its indices."""
def cumsum(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """Compute the cumulative sum y_i = x_0 + … + x_i along an axis."""
def deg2rad(input: Any) -> Tensor:
    """Convert degrees to radians: x π / 180."""
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Compute the differences x[i + 1] − x[i] along an axis, ``n`` times."""
def empty_like(input: Any, *, dtype: Any = None, device: Any = None, pin_memory: Any = False) -> Tensor:
    """Create a tensor of zeros in the shape of another tensor."""
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge axes of a tensor into one."""
def frac(input: Any) -> Tensor:
    """Compute the fraction x − trunc x, with the sign of x; its derivative is 1."""
def gather(input: Any, dim: int, index: Any) -> Tensor:
    """Gather one element per index along an axis."""
def gcd(input: Any, other: Any) -> Tensor:
    """Compute the greatest common divisor of integers; for 0 and n, it is |n|."""
def imag(input: Any) -> Tensor:
    """Return the imaginary part of a tensor; it is 0 for a real tensor."""
def index_select(input: Any, dim: int, index: Any) -> Tensor:
    """Select slices along an axis."""
def isnan(input: Any) -> Any:
    """Check elementwise for NaN."""
def logaddexp2(input: Any, other: Any) -> Tensor:
    """Compute log₂(2ˣ + 2ʸ) without overflow."""
def logical_and(input: Any, other: Any) -> Tensor:
    """Compute the logical AND; nonzero elements are true."""
def logical_not(input: Any) -> Tensor:
    """Compute the logical negation; nonzero elements are true."""
def logical_or(input: Any, other: Any) -> Tensor:
    """Compute the logical OR; nonzero elements are true."""
def logical_xor(input: Any, other: Any) -> Tensor:
    """Compute the logical XOR; nonzero elements are true."""
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Tensor:
    """Compute log Σ exp x along axes without overflow; its derivative is softmax."""
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Average the elements along axes."""
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum the elements along axes, with NaN counted as 0."""
def narrow(input: Any, dim: int, start: int, length: int) -> Tensor:
    """Return ``length`` elements along an axis, beginning at ``start``."""
def permute(input: Any, dims: Any) -> Tensor:
    """Permute the axes; another name of `transpose`."""
def positive(input: Any) -> Tensor:
    """Return ``input`` unchanged: the operator +x."""
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Multiply the elements along axes."""
def rad2deg(input: Any) -> Tensor:
    """Convert radians to degrees: x · 180 / π."""
def real(input: Any) -> Tensor:
    """Return the real part of a tensor; a real tensor is returned unchanged."""
def repeat_interleave(input: Any, repeats: Any, dim: int | None = None, *, output_size: Any = None) -> Tensor:
    """Repeat each element along an axis."""
def round(input: Any, *, decimals: int = 0) -> Tensor:
    """Round to ``decimals`` decimal places, ties to even; the derivative is 0."""
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """Write or add one update per index along an axis."""
def sinc(input: Any) -> Tensor:
    """Compute sin(π x) / (π x), and 1 at 0."""
def softmax(input: Any, dim: Any, *, dtype: Any = None) -> Tensor:
    """Compute the softmax exp(x_i) / Σ_j exp(x_j) along an axis, without overflow."""
def sort(input: Any, *, dim: int = -1, descending: bool = False, stable: Any = False) -> tuple[Tensor, Tensor]:
    """Sort a tensor along an axis, and return the original indices too."""
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into parts along an axis."""
def square(input: Any) -> Tensor:
    """Compute the square x · x; its derivative is 2 x."""
def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Join tensors of equal shape along a new axis."""
def std(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Tensor:
    """Compute the standard deviation along axes."""
def std_mean(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Compute the standard deviation and the mean along axes."""
def take(input: Any, index: Any) -> Tensor:
    """Take elements along an axis, or of the flattened tensor."""
def topk(input: Any, k: int, dim: int | None = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest elements along an axis, and their indices."""
def trace(input: Any) -> Tensor:
    """Compute the trace: the sum of the elements of a diagonal."""
def transpose(input: Any, dim0: int, dim1: int) -> Tensor:
    """Swap two axes."""
def var(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Tensor:
    """Compute the variance Σ (x − mean)² / (n − ddof) along axes."""
def var_mean(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Compute the variance and the mean along axes."""
