"""Names of ``mindgrad.mint``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ir.tensor import Tensor as Tensor
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
    """Whether every element over ``dim`` is true, that is not 0; true for no elements."""
def amax(input: Any, dim: Any = ..., keepdim: bool = False) -> Tensor:
    """The greatest element over ``dim``; elements that tie for it share the derivative."""
def amin(input: Any, dim: Any = ..., keepdim: bool = False) -> Tensor:
    """The smallest element over ``dim``; elements that tie for it share the derivative."""
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether an element over ``dim`` is true, that is not 0; false for no elements."""
def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the smallest element along ``dim``: the first of equal ones, the first NaN."""
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: Any = False) -> Tensor:
    """The indices that sort ``input`` along ``dim``, as Int32; as `sort`."""
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """β · input + α · the products of batches of matrices."""
def bmm(input: Any, mat2: Any) -> Tensor:
    """The products of batches of matrices; axes in front of the last two broadcast."""
def cat(tensors: Any, dim: int = 0) -> Tensor:
    """`concat` under its other name."""
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """The p-norms of the differences between all vectors of two sets: ‖x1[…, i, :] − x2[…, j, :]‖."""
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``input`` cut into at most ``chunks`` parts of one size, the last one smaller if need be."""
def concat(tensors: Any, dim: int = 0) -> Tensor:
    """`concat` under its other name."""
def count_nonzero(input: Any, dim: Any = None) -> Tensor:
    """The number of elements over ``dim`` that are not 0."""
def cummax(input: Any, dim: int) -> tuple[Tensor, Tensor]:
    """The greatest element so far along ``dim``, and where it stands: of equal ones the last."""
def cummin(input: Any, dim: int) -> tuple[Tensor, Tensor]:
    """The smallest element so far along ``dim``, and where it stands: of equal ones the last."""
def cumsum(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """The running sum y_i = x_0 + … + x_i along ``dim``."""
def deg2rad(input: Any) -> Tensor:
    """Degrees as radians: x π / 180."""
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbours along ``dim``, ``n`` times: x[i + 1] − x[i]."""
def empty_like(input: Any, *, dtype: Any = None, device: Any = None, pin_memory: Any = False) -> Tensor:
    """Zeros of the shape and element type of ``input``."""
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim`` made one; by default all but the first."""
def frac(input: Any) -> Tensor:
    """x − trunc x, the fraction with the sign of ``input``; its derivative is 1."""
def gather(input: Any, dim: int, index: Any) -> Tensor:
    """``y[i, j, …] = input[index[i, j, …], j, …]``, with the index in the place of axis ``dim``."""
def gcd(input: Any, other: Any) -> Tensor:
    """The greatest common divisor of each pair of integers; of 0 and n it is |n|."""
def imag(input: Any) -> Tensor:
    """The imaginary part; that of a real tensor is 0."""
def index_select(input: Any, dim: int, index: Any) -> Tensor:
    """The parts of ``input`` at the places ``index``, one-dimensional, along ``dim``."""
def isnan(input: Any) -> Any:
    """Whether each element is NaN, as Bool."""
def logaddexp2(input: Any, other: Any) -> Tensor:
    """log₂(2ˣ + 2ʸ) without overflow."""
def logical_and(input: Any, other: Any) -> Tensor:
    """x and y; an element that is not 0 is true."""
def logical_not(input: Any) -> Tensor:
    """Not x; an element that is not 0 is true."""
def logical_or(input: Any, other: Any) -> Tensor:
    """x or y; an element that is not 0 is true."""
def logical_xor(input: Any, other: Any) -> Tensor:
    """Either x or y, not both; an element that is not 0 is true."""
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Tensor:
    """log Σ exp x over ``dim`` without overflow; its derivative is softmax."""
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements over ``dim``; its derivative is 1 / n."""
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of the elements that are numbers; those that are NaN count as 0."""
def narrow(input: Any, dim: int, start: int, length: int) -> Tensor:
    """``length`` elements of ``input`` from ``start`` on, along ``dim``."""
def permute(input: Any, dims: Any) -> Tensor:
    """`transpose` under its other name."""
def positive(input: Any) -> Tensor:
    """+x: ``input`` as it is."""
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product of the elements over ``dim``; the derivative is the product of the others."""
def rad2deg(input: Any) -> Tensor:
    """Radians as degrees: x · 180 / π."""
def real(input: Any) -> Tensor:
    """The real part; a real tensor is its own."""
def repeat_interleave(input: Any, repeats: Any, dim: int | None = None, *, output_size: Any = None) -> Tensor:
    """Each element of ``input`` along ``dim`` repeated."""
def round(input: Any, *, decimals: int = 0) -> Tensor:
    """``input`` rounded to ``decimals`` places, of two equally near numbers to the even one."""
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """``y[indices[i, j, …], j, …] = updates[i, j, …]``, with the index in the place of ``dim``."""
def sinc(input: Any) -> Tensor:
    """sin(π x) / (π x), and 1 at 0."""
def softmax(input: Any, dim: Any, *, dtype: Any = None) -> Tensor:
    """exp(x_i) / Σ_j exp(x_j) over ``dim``, without overflow."""
def sort(input: Any, *, dim: int = -1, descending: bool = False, stable: Any = False) -> tuple[Tensor, Tensor]:
    """The elements of ``input`` in order along ``dim``, and where they stood (Int32)."""
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """``tensor`` cut into parts along ``dim``."""
def square(input: Any) -> Tensor:
    """x · x; its derivative is 2 x."""
def stack(tensors: Any, dim: int = 0) -> Tensor:
    """The ``tensors``, all of one shape, along a new axis."""
def std(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Tensor:
    """The standard deviation, the root of the variance, over ``dim``."""
def std_mean(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean over ``dim``; arguments and errors as for `std`."""
def take(input: Any, index: Any) -> Tensor:
    """The elements of ``input`` at ``index``, along ``axis`` or of the flattened tensor."""
def topk(input: Any, k: int, dim: int | None = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The ``k`` largest elements of ``input`` along an axis, in order, and where they stood (Int32)."""
def trace(input: Any) -> Tensor:
    """The sum of a diagonal; arguments and errors as for `diagonal`."""
def transpose(input: Any, dim0: int, dim1: int) -> Tensor:
    """``input`` with two of its axes exchanged."""
def var(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Tensor:
    """The variance Σ (x − mean)² / (n − ddof) over ``dim``; its derivative is 2 (x − mean) / (n − ddof)."""
def var_mean(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The variance and the mean over ``dim``; arguments and errors as for `var`."""
