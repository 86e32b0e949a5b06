"""Names of ``mindgrad.numpy``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ir.dtype import bfloat16 as bfloat16
from mindgrad.ir.dtype import bool_ as bool_
from mindgrad.ir.dtype import complex128 as complex128
from mindgrad.ir.dtype import complex64 as complex64
from mindgrad.ir.dtype import float16 as float16
from mindgrad.ir.dtype import float32 as float32
from mindgrad.ir.dtype import float64 as float64
from mindgrad.ir.dtype import int16 as int16
from mindgrad.ir.dtype import int32 as int32
from mindgrad.ir.dtype import int64 as int64
from mindgrad.ir.dtype import int8 as int8
from mindgrad.ir.dtype import uint16 as uint16
from mindgrad.ir.dtype import uint32 as uint32
from mindgrad.ir.dtype import uint64 as uint64
from mindgrad.ir.dtype import uint8 as uint8
from mindgrad.numpy.analysing import clip as clip
from mindgrad.numpy.analysing import convolve as convolve
from mindgrad.numpy.analysing import corrcoef as corrcoef
from mindgrad.numpy.analysing import correlate as correlate
from mindgrad.numpy.analysing import cov as cov
from mindgrad.numpy.analysing import diff as diff
from mindgrad.numpy.analysing import digitize as digitize
from mindgrad.numpy.analysing import divmod as divmod
from mindgrad.numpy.analysing import ediff1d as ediff1d
from mindgrad.numpy.analysing import gradient as gradient
from mindgrad.numpy.analysing import interp as interp
from mindgrad.numpy.analysing import promote_types as promote_types
from mindgrad.numpy.analysing import ravel_multi_index as ravel_multi_index
from mindgrad.numpy.analysing import result_type as result_type
from mindgrad.numpy.analysing import searchsorted as searchsorted
from mindgrad.numpy.analysing import unwrap as unwrap
from mindgrad.numpy.arranging import array_str as array_str
from mindgrad.numpy.arranging import atleast_1d as atleast_1d
from mindgrad.numpy.arranging import atleast_2d as atleast_2d
from mindgrad.numpy.arranging import atleast_3d as atleast_3d
from mindgrad.numpy.arranging import broadcast_arrays as broadcast_arrays
from mindgrad.numpy.arranging import expand_dims as expand_dims
from mindgrad.numpy.arranging import flip as flip
from mindgrad.numpy.arranging import rollaxis as rollaxis
from mindgrad.numpy.arranging import size as size
from mindgrad.numpy.arranging import transpose as transpose
from mindgrad.numpy.choosing import apply_along_axis as apply_along_axis
from mindgrad.numpy.choosing import apply_over_axes as apply_over_axes
from mindgrad.numpy.choosing import argwhere as argwhere
from mindgrad.numpy.choosing import choose as choose
from mindgrad.numpy.choosing import intersect1d as intersect1d
from mindgrad.numpy.choosing import piecewise as piecewise
from mindgrad.numpy.choosing import select as select
from mindgrad.numpy.choosing import setdiff1d as setdiff1d
from mindgrad.numpy.choosing import take_along_axis as take_along_axis
from mindgrad.numpy.choosing import unique as unique
from mindgrad.numpy.choosing import unravel_index as unravel_index
from mindgrad.numpy.choosing import where as where
from mindgrad.numpy.concatenation import append as append
from mindgrad.numpy.concatenation import concatenate as concatenate
from mindgrad.numpy.concatenation import dsplit as dsplit
from mindgrad.numpy.concatenation import hsplit as hsplit
from mindgrad.numpy.concatenation import split as split
from mindgrad.numpy.concatenation import tile as tile
from mindgrad.numpy.concatenation import vsplit as vsplit
from mindgrad.numpy.counting import bincount as bincount
from mindgrad.numpy.counting import histogram as histogram
from mindgrad.numpy.counting import histogram2d as histogram2d
from mindgrad.numpy.counting import histogram_bin_edges as histogram_bin_edges
from mindgrad.numpy.counting import histogramdd as histogramdd
from mindgrad.numpy.counting import polyadd as polyadd
from mindgrad.numpy.counting import polyder as polyder
from mindgrad.numpy.counting import polyint as polyint
from mindgrad.numpy.counting import polymul as polymul
from mindgrad.numpy.counting import polysub as polysub
from mindgrad.numpy.counting import polyval as polyval
from mindgrad.numpy.creating import arange as arange
from mindgrad.numpy.creating import array as array
from mindgrad.numpy.creating import asarray as asarray
from mindgrad.numpy.creating import asfarray as asfarray
from mindgrad.numpy.creating import copy as copy
from mindgrad.numpy.creating import diag as diag
from mindgrad.numpy.creating import diag_indices as diag_indices
from mindgrad.numpy.creating import empty_like as empty_like
from mindgrad.numpy.creating import eye as eye
from mindgrad.numpy.creating import full as full
from mindgrad.numpy.creating import full_like as full_like
from mindgrad.numpy.creating import geomspace as geomspace
from mindgrad.numpy.creating import identity as identity
from mindgrad.numpy.creating import linspace as linspace
from mindgrad.numpy.creating import logspace as logspace
from mindgrad.numpy.creating import ones_like as ones_like
from mindgrad.numpy.creating import trace as trace
from mindgrad.numpy.creating import tri as tri
from mindgrad.numpy.creating import tril_indices as tril_indices
from mindgrad.numpy.creating import tril_indices_from as tril_indices_from
from mindgrad.numpy.creating import triu_indices as triu_indices
from mindgrad.numpy.creating import triu_indices_from as triu_indices_from
from mindgrad.numpy.creating import vander as vander
from mindgrad.numpy.creating import zeros_like as zeros_like
from mindgrad.numpy.grids import indices as indices
from mindgrad.numpy.grids import ix_ as ix_
from mindgrad.numpy.grids import meshgrid as meshgrid
from mindgrad.numpy.grids import mgrid as mgrid
from mindgrad.numpy.grids import ogrid as ogrid
from mindgrad.numpy.grids import rand as rand
from mindgrad.numpy.grids import randint as randint
from mindgrad.numpy.grids import randn as randn
from mindgrad.numpy.margins import pad as pad
from mindgrad.numpy.products import cross as cross
from mindgrad.numpy.products import dot as dot
from mindgrad.numpy.products import inner as inner
from mindgrad.numpy.products import kron as kron
from mindgrad.numpy.products import matmul as matmul
from mindgrad.numpy.products import outer as outer
from mindgrad.numpy.products import tensordot as tensordot
from mindgrad.numpy.reducing import array_equal as array_equal
from mindgrad.numpy.reducing import array_equiv as array_equiv
from mindgrad.numpy.reducing import average as average
from mindgrad.numpy.reducing import cumprod as cumprod
from mindgrad.numpy.reducing import in1d as in1d
from mindgrad.numpy.reducing import isscalar as isscalar
from mindgrad.numpy.reducing import nancumsum as nancumsum
from mindgrad.numpy.reducing import nanmax as nanmax
from mindgrad.numpy.reducing import nanmin as nanmin
from mindgrad.numpy.reducing import nanstd as nanstd
from mindgrad.numpy.reducing import nanvar as nanvar
from mindgrad.numpy.reducing import sometrue as sometrue
from mindgrad.numpy.reducing import sum as sum

__all__: list[str]

Inf: float
Infinity: float
NAN: float
NINF: float
NZERO: float
NaN: float
PINF: float
PZERO: float
def abs(x: Any, dtype: Any = None) -> Tensor:
    """The absolute value |x|. See `mindgrad.ops._absolute`."""
def absolute(x: Any, dtype: Any = None) -> Tensor:
    """The absolute value |x|. See `mindgrad.ops._absolute`."""
def add(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x + y; its derivatives are 1 and 1. See `mindgrad.ops.add`."""
def amax(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The greatest element over ``axis``; elements that tie for it share the derivative."""
def amin(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The smallest element over ``axis``; elements that tie for it share the derivative."""
def arccos(x: Any, dtype: Any = None) -> Tensor:
    """The angle in [0, π] whose cosine is ``x``, NaN outside [−1, 1]; derivative −1 / √(1 − x²). See `mindgrad.ops.acos`."""
def arccosh(x: Any, dtype: Any = None) -> Tensor:
    """The inverse of ``cosh`` that is not negative, NaN below 1; derivative 1 / √(x² − 1). See `mindgrad.ops.acosh`."""
def arcsin(x: Any, dtype: Any = None) -> Tensor:
    """The angle in [−π/2, π/2] whose sine is ``x``, NaN outside [−1, 1]; derivative 1 / √(1 − x²). See `mindgrad.ops.asin`."""
def arcsinh(x: Any, dtype: Any = None) -> Tensor:
    """The inverse of ``sinh``; its derivative is 1 / √(1 + x²). See `mindgrad.ops.asinh`."""
def arctan(x: Any, dtype: Any = None) -> Tensor:
    """The angle in [−π/2, π/2] whose tangent is ``x``; derivative 1 / (1 + x²). See `mindgrad.ops.atan`."""
def arctan2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The angle of the point (``x2``, ``x1``) in (−π, π]: atan(x / y) in the right quadrant. See `mindgrad.ops.atan2`."""
def arctanh(x: Any, dtype: Any = None) -> Tensor:
    """The inverse of ``tanh``, ±inf at ±1 and NaN outside; its derivative is 1 / (1 − x²). See `mindgrad.ops.atanh`."""
def argmax(a: Any, axis: int | None = None) -> Tensor:
    """The index of the greatest element along ``axis``: the first of equal ones, the first NaN."""
def argmin(a: Any, axis: int | None = None) -> Tensor:
    """The index of the smallest element along ``axis``: the first of equal ones, the first NaN."""
def around(a: Any, decimals: int = 0) -> Tensor:
    """``a`` rounded to ``decimals`` places, of two equally near numbers to the even one."""
def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """``x`` cut into ``indices_or_sections`` parts, or before the places in it."""
def bartlett(M: int) -> Tensor:
    """The triangle 1 − |t| at t from −1 to 1."""
def bitwise_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The bits that are set in both. See `mindgrad.ops.bitwise_and`."""
def bitwise_not(x: Any, dtype: Any = None) -> Tensor:
    """The bits that are not set: −1 − x of signed integers. See `mindgrad.ops.bitwise_not`."""
def bitwise_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The bits that are set in one or both. See `mindgrad.ops.bitwise_or`."""
def bitwise_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The bits that are set in one and not in both. See `mindgrad.ops.bitwise_xor`."""
def blackman(M: int) -> Tensor:
    """0.42 + ½ cos πt + 0.08 cos 2πt at t from −1 to 1; arguments as for `bartlett_window`."""
def broadcast_to(array: Any, shape: Any) -> Tensor:
    """``array`` repeated to ``shape`` by NumPy's rules."""
def cbrt(x: Any, dtype: Any = None) -> Tensor:
    """The real cube root of ``x``; its derivative is 1 / (3 ∛x²). See `mindgrad.ops.cbrt`."""
def ceil(x: Any, dtype: Any = None) -> Tensor:
    """The smallest integer not below ``x``; its derivative is 0. See `mindgrad.ops.ceil`."""
def column_stack(tup: Any) -> Tensor:
    """The ``tup`` side by side, vectors taken as columns."""
def copysign(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The size of ``x1`` with the sign of ``other``. See `mindgrad.ops.copysign`."""
def cos(x: Any, dtype: Any = None) -> Tensor:
    """The cosine of ``x`` in radians; its derivative is −sin x. See `mindgrad.ops.cos`."""
def cosh(x: Any, dtype: Any = None) -> Tensor:
    """The hyperbolic cosine of ``x``; its derivative is sinh x. See `mindgrad.ops.cosh`."""
def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The number of elements over ``axis`` that are not 0."""
def cumsum(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum along ``axis``, or of the flattened tensor; of truth values whether one was true."""
def deg2rad(x: Any, dtype: Any = None) -> Tensor:
    """Degrees as radians: x π / 180. See `mindgrad.ops.deg2rad`."""
def diagflat(v: Any, k: int = 0) -> Tensor:
    """A matrix with all elements of ``v`` on its diagonal."""
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The elements of ``a`` at equal places along two axes, which become the last axis."""
def divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x / y; its derivatives are 1 / y and −x / y². See `mindgrad.ops.true_divide`."""
def dstack(tup: Any) -> Tensor:
    """The ``tup`` joined along the third axis, which is made if it is missing."""
e: float
def empty(shape: Any, dtype: Any = ...) -> Tensor:
    """Zeros of shape ``shape``, by default Float32."""
def equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x = y. NaN equals nothing, not even itself. See `mindgrad.ops.equal`."""
euler_gamma: float
def exp(x: Any, dtype: Any = None) -> Tensor:
    """e to the power of ``x``; it is its own derivative. See `mindgrad.ops.exp`."""
def exp2(x: Any, dtype: Any = None) -> Tensor:
    """2 to the power of ``x``; its derivative is 2ˣ log 2. See `mindgrad.ops.exp2`."""
def expm1(x: Any, dtype: Any = None) -> Tensor:
    """eˣ − 1, exact for small ``x``; its derivative is eˣ. See `mindgrad.ops.expm1`."""
def fabs(x: Any, dtype: Any = None) -> Tensor:
    """|x|, real also for complex ``x``; its derivative is sign x, which is 0 at 0. See `mindgrad.ops.abs`."""
def fix(x: Any, dtype: Any = None) -> Tensor:
    """``x`` without its fraction; its derivative is 0. See `mindgrad.ops.trunc`."""
def fliplr(m: Any) -> Tensor:
    """`flip` along the second axis."""
def flipud(m: Any) -> Tensor:
    """`flip` along the first axis."""
def float_power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1`` to the power of ``x2``, as floating-point numbers. See `mindgrad.ops._power_of_floats`."""
def floor(x: Any, dtype: Any = None) -> Tensor:
    """The largest integer not above ``x``; its derivative is 0. See `mindgrad.ops.floor`."""
def floor_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x / y rounded down, as Python's ``//``; its derivatives are 0. See `mindgrad.ops.floor_div`."""
def fmod(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x − y · trunc(x / y), as C's ``fmod``: with the sign of ``x1``; derivatives 1 and −trunc(x / y). See `mindgrad.ops.fmod`."""
def gcd(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The greatest common divisor of each pair of integers; of 0 and n it is |n|. See `mindgrad.ops.gcd`."""
def greater(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x > y; false where an element is NaN. Complex numbers have no order: a TypeError. See `mindgrad.ops.greater`."""
def greater_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x ≥ y; false where an element is NaN. Complex numbers have no order: a TypeError. See `mindgrad.ops.greater_equal`."""
def hamming(M: int) -> Tensor:
    """alpha + beta · cos πt at t from −1 to 1; arguments as for `bartlett_window`."""
def hanning(M: int) -> Tensor:
    """½ + ½ cos πt at t from −1 to 1; arguments as for `bartlett_window`."""
def heaviside(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """0 below 0, 1 above, and ``values`` at 0. See `mindgrad.ops.heaviside`."""
def hstack(tup: Any) -> Tensor:
    """The ``tup`` side by side: joined along the second axis, or along the only one."""
def hypot(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """√(x² + y²) without overflow; derivatives x / r and y / r, both 0 at the origin. See `mindgrad.ops.hypot`."""
inf: float
infty: float
def invert(x: Any, dtype: Any = None) -> Tensor:
    """The bits that are not set: −1 − x of signed integers. See `mindgrad.ops.bitwise_not`."""
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether |input − other| ≤ atol + rtol · |other|; equal infinities are close."""
def isfinite(x: Any, dtype: Any = None) -> Tensor:
    """Whether each element is neither infinite nor NaN, as Bool. See `mindgrad.ops.isfinite`."""
def isin(element: Any, test_elements: Any, invert: bool = False) -> Tensor:
    """Whether each element equals one of ``test_elements``."""
def isinf(x: Any, dtype: Any = None) -> Tensor:
    """Whether each element is inf or −inf, as Bool. See `mindgrad.ops.isinf`."""
def isnan(x: Any, dtype: Any = None) -> Tensor:
    """Whether each element is NaN, as Bool. See `mindgrad.ops.isnan`."""
def isneginf(x: Any, dtype: Any = None) -> Tensor:
    """Whether elements are −∞. See `mindgrad.ops.isneginf`."""
def isposinf(x: Any, dtype: Any = None) -> Tensor:
    """Whether elements are +∞. See `mindgrad.ops.isposinf`."""
def lcm(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The least common multiple of each pair of integers; of 0 and n it is 0. See `mindgrad.ops.lcm`."""
def less(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x < y; false where an element is NaN. Complex numbers have no order: a TypeError. See `mindgrad.ops.less`."""
def less_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x ≤ y; false where an element is NaN. Complex numbers have no order: a TypeError. See `mindgrad.ops.less_equal`."""
def log(x: Any, dtype: Any = None) -> Tensor:
    """The natural logarithm of ``x``, −inf at 0 and NaN below; its derivative is 1 / x. See `mindgrad.ops.log`."""
def log10(x: Any, dtype: Any = None) -> Tensor:
    """The logarithm to base 10; its derivative is 1 / (x log 10). See `mindgrad.ops.log10`."""
def log1p(x: Any, dtype: Any = None) -> Tensor:
    """log(1 + x), exact for small ``x``; derivative 1 / (1 + x). See `mindgrad.ops.log1p`."""
def log2(x: Any, dtype: Any = None) -> Tensor:
    """The logarithm to base 2; its derivative is 1 / (x log 2). See `mindgrad.ops.log2`."""
def logaddexp(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """log(eˣ + eʸ) without overflow; derivatives eˣ / (eˣ + eʸ) and eʸ / (eˣ + eʸ). See `mindgrad.ops.logaddexp`."""
def logaddexp2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """log₂(2ˣ + 2ʸ) without overflow. See `mindgrad.ops.logaddexp2`."""
def logical_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x and y; an element that is not 0 is true. See `mindgrad.ops.logical_and`."""
def logical_not(x: Any, dtype: Any = None) -> Tensor:
    """Not x; an element that is not 0 is true. See `mindgrad.ops.logical_not`."""
def logical_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x or y; an element that is not 0 is true. See `mindgrad.ops.logical_or`."""
def logical_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Either x or y, not both; an element that is not 0 is true. See `mindgrad.ops.logical_xor`."""
def matrix_power(a: Any, n: int) -> Tensor:
    """The product of ``n`` equal matrices; of their inverses for negative ``n``."""
def max(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The greatest element over ``axis``; elements that tie for it share the derivative."""
def maximum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The greater of two elements, NaN if one is; where they are equal they share the derivative. See `mindgrad.ops.maximum`."""
def mean(a: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The mean of the elements over ``axis``; its derivative is 1 / n."""
def min(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The smallest element over ``axis``; elements that tie for it share the derivative."""
def minimum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The smaller of two elements, NaN if one is; where they are equal they share the derivative. See `mindgrad.ops.minimum`."""
def mod(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x − y · floor(x / y), as Python's ``%``: with the sign of ``x2``; derivatives 1 and −floor(x / y). See `mindgrad.ops.floor_mod`."""
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """``a`` with the axes ``source`` moved to the places ``destination``, the others in their order."""
def multi_dot(arrays: Any) -> Tensor:
    """The product of several matrices, in the order in which the fewest multiplications are needed."""
def multiply(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x · y; its derivatives are y and x. See `mindgrad.ops.mul`."""
nan: float
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The mean of the elements that are numbers; NaN where there is none. Arguments as for `nansum`."""
def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum of the elements that are numbers; those that are NaN count as 0."""
def negative(x: Any, dtype: Any = None) -> Tensor:
    """−x; its derivative is −1. See `mindgrad.ops.neg`."""
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors or matrices; its derivative at zero is 0, the subgradient of least norm."""
def not_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x ≠ y. See `mindgrad.ops.not_equal`."""
def ones(shape: Any, dtype: Any = ...) -> Tensor:
    """Ones of shape ``shape``, by default Float32; errors as for `zeros`."""
pi: float
def positive(x: Any, dtype: Any = None) -> Tensor:
    """+x: ``x`` as it is. See `mindgrad.ops.positive`."""
def power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """input to the power of exponent; its derivatives are n xⁿ⁻¹ and xⁿ log x. See `mindgrad.ops.pow`."""
def ptp(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest minus the smallest element over ``axis``."""
def rad2deg(x: Any, dtype: Any = None) -> Tensor:
    """Radians as degrees: x · 180 / π. See `mindgrad.ops.rad2deg`."""
def radians(x: Any, dtype: Any = None) -> Tensor:
    """Degrees as radians: x π / 180. See `mindgrad.ops.deg2rad`."""
def ravel(x: Any) -> Tensor:
    """All elements of ``x`` in row-major order as one axis."""
def reciprocal(x: Any, dtype: Any = None) -> Tensor:
    """1 / x; its derivative is −1 / x². See `mindgrad.ops.reciprocal`."""
def remainder(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x − y · floor(x / y), as Python's ``%``: with the sign of ``x2``; derivatives 1 and −floor(x / y). See `mindgrad.ops.floor_mod`."""
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element of ``a`` along ``axis`` repeated."""
def reshape(x: Any, new_shape: Any) -> Tensor:
    """The elements of ``x``, in row-major order, in another shape."""
def rint(x: Any, dtype: Any = None) -> Tensor:
    """The nearest integer, of two the even one; its derivative is 0. See `mindgrad.ops.rint`."""
def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """``a`` with its elements moved on by ``shift`` places, those at the end to the front."""
def rot90(a: Any, k: int = 1, axes: Any = ...) -> Tensor:
    """``a`` turned ``k`` times by 90 degrees, from the first axis of ``axes`` towards the second."""
def round(a: Any, decimals: int = 0) -> Tensor:
    """``a`` rounded to ``decimals`` places, of two equally near numbers to the even one."""
def sign(x: Any, dtype: Any = None) -> Tensor:
    """−1, 0 or 1 as ``x`` is below, at or above 0; derivative 0. See `mindgrad.ops.sign`."""
def signbit(x: Any, dtype: Any = None) -> Tensor:
    """Whether numbers are negative, −0.0 among them. See `mindgrad.ops.signbit`."""
def sin(x: Any, dtype: Any = None) -> Tensor:
    """The sine of ``x`` in radians; its derivative is cos x. See `mindgrad.ops.sin`."""
def sinh(x: Any, dtype: Any = None) -> Tensor:
    """The hyperbolic sine of ``x``; its derivative is cosh x. See `mindgrad.ops.sinh`."""
def sqrt(x: Any, dtype: Any = None) -> Tensor:
    """The square root of ``x``, NaN below 0; its derivative is 1 / (2 √x), infinite at 0. See `mindgrad.ops.sqrt`."""
def square(x: Any, dtype: Any = None) -> Tensor:
    """x · x; its derivative is 2 x. See `mindgrad.ops.square`."""
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """``a`` without its axes of size 1, or without those of them that ``axis`` names."""
def stack(arrays: Any, axis: int = 0) -> Tensor:
    """The ``arrays``, all of one shape, along a new axis."""
def std(x: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation, the root of the variance, over ``axis``."""
def subtract(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x − y; its derivatives are 1 and −1. See `mindgrad.ops.sub`."""
def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """``x`` with two of its axes exchanged."""
def take(a: Tensor, indices: Any, axis: int | None = None, mode: str = 'clip') -> Tensor:
    """Elements along an axis, or of the flattened tensor."""
def tan(x: Any, dtype: Any = None) -> Tensor:
    """The tangent of ``x`` in radians; its derivative is 1 + tan² x. See `mindgrad.ops.tan`."""
def tanh(x: Any, dtype: Any = None) -> Tensor:
    """The hyperbolic tangent of ``x``; derivative 1 − tanh² x. See `mindgrad.ops.tanh`."""
def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """The integral of values by the trapezoidal rule: Σ (x[i + 1] − x[i]) (y[i + 1] + y[i]) / 2."""
def tril(m: Any, k: int = 0) -> Tensor:
    """The matrices in the last two axes of ``m`` with zeros above a diagonal."""
def triu(m: Any, k: int = 0) -> Tensor:
    """The matrices in the last two axes of ``m`` with zeros below a diagonal; as `tril`."""
def true_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """x / y; its derivatives are 1 / y and −x / y². See `mindgrad.ops.true_divide`."""
def trunc(x: Any, dtype: Any = None) -> Tensor:
    """``x`` without its fraction; its derivative is 0. See `mindgrad.ops.trunc`."""
def var(x: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Tensor:
    """The variance Σ (x − mean)² / (n − ddof) over ``axis``; its derivative is 2 (x − mean) / (n − ddof)."""
def vstack(tup: Any) -> Tensor:
    """The ``tup`` below each other: joined along the first axis, vectors taken as rows."""
def zeros(shape: Any, dtype: Any = ...) -> Tensor:
    """Zeros of shape ``shape``, by default Float32."""
