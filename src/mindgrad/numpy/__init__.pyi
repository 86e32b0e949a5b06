"""Names of ``mindgrad.numpy``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.dtype import bfloat16 as bfloat16
from mindgrad.core.ir.dtype import bool_ as bool_
from mindgrad.core.ir.dtype import complex128 as complex128
from mindgrad.core.ir.dtype import complex64 as complex64
from mindgrad.core.ir.dtype import float16 as float16
from mindgrad.core.ir.dtype import float32 as float32
from mindgrad.core.ir.dtype import float64 as float64
from mindgrad.core.ir.dtype import int16 as int16
from mindgrad.core.ir.dtype import int32 as int32
from mindgrad.core.ir.dtype import int64 as int64
from mindgrad.core.ir.dtype import int8 as int8
from mindgrad.core.ir.dtype import uint16 as uint16
from mindgrad.core.ir.dtype import uint32 as uint32
from mindgrad.core.ir.dtype import uint64 as uint64
from mindgrad.core.ir.dtype import uint8 as uint8
from mindgrad.numpy.analyzing import clip as clip
from mindgrad.numpy.analyzing import convolve as convolve
from mindgrad.numpy.analyzing import corrcoef as corrcoef
from mindgrad.numpy.analyzing import correlate as correlate
from mindgrad.numpy.analyzing import cov as cov
from mindgrad.numpy.analyzing import diff as diff
from mindgrad.numpy.analyzing import digitize as digitize
from mindgrad.numpy.analyzing import divmod as divmod
from mindgrad.numpy.analyzing import ediff1d as ediff1d
from mindgrad.numpy.analyzing import gradient as gradient
from mindgrad.numpy.analyzing import interp as interp
from mindgrad.numpy.analyzing import promote_types as promote_types
from mindgrad.numpy.analyzing import ravel_multi_index as ravel_multi_index
from mindgrad.numpy.analyzing import result_type as result_type
from mindgrad.numpy.analyzing import searchsorted as searchsorted
from mindgrad.numpy.analyzing import unwrap as unwrap
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
    """Compute the absolute value |x|."""
def absolute(x: Any, dtype: Any = None) -> Tensor:
    """Compute the absolute value |x|."""
def add(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Add two tensors; the derivatives are 1 and 1."""
def amax(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """Return the largest element along axes; tied elements share the derivative."""
def amin(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """Return the smallest element along axes; tied elements share the derivative."""
def arccos(x: Any, dtype: Any = None) -> Tensor:
    """Compute the inverse cosine in [0, π]; its derivative is −1 / √(1 − x²)."""
def arccosh(x: Any, dtype: Any = None) -> Tensor:
    """Compute the inverse hyperbolic cosine; its derivative is 1 / √(x² − 1)."""
def arcsin(x: Any, dtype: Any = None) -> Tensor:
    """Compute the inverse sine in [−π/2, π/2]; its derivative is 1 / √(1 − x²)."""
def arcsinh(x: Any, dtype: Any = None) -> Tensor:
    """Compute the inverse hyperbolic sine; its derivative is 1 / √(1 + x²)."""
def arctan(x: Any, dtype: Any = None) -> Tensor:
    """Compute the inverse tangent in [−π/2, π/2]; its derivative is 1 / (1 + x²)."""
def arctan2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the angle atan(x / y) of the point (``x2``, ``x1``) in (−π, π]."""
def arctanh(x: Any, dtype: Any = None) -> Tensor:
    """Compute the inverse hyperbolic tangent; its derivative is 1 / (1 − x²)."""
def argmax(a: Any, axis: int | None = None) -> Tensor:
    """Return the index of the largest element along an axis."""
def argmin(a: Any, axis: int | None = None) -> Tensor:
    """Return the index of the smallest element along an axis."""
def around(a: Any, decimals: int = 0) -> Tensor:
    """Round to ``decimals`` decimal places, ties to even; the derivative is 0."""
def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor into a number of parts, or at given indices."""
def bartlett(M: int) -> Tensor:
    """Return a Bartlett window, the triangle 1 − |t| for t from −1 to 1."""
def bitwise_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the bitwise AND of integers."""
def bitwise_not(x: Any, dtype: Any = None) -> Tensor:
    """Compute the bitwise NOT of integers: −1 − x for signed integers."""
def bitwise_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the bitwise OR of integers."""
def bitwise_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the bitwise XOR of integers."""
def blackman(M: int) -> Tensor:
    """Return a Blackman window, 0.42 + ½ cos πt + 0.08 cos 2πt for t from −1 to 1."""
def broadcast_to(array: Any, shape: Any) -> Tensor:
    """Broadcast a tensor to a shape by NumPy's rules."""
def cbrt(x: Any, dtype: Any = None) -> Tensor:
    """Compute the real cube root; its derivative is 1 / (3 ∛x²)."""
def ceil(x: Any, dtype: Any = None) -> Tensor:
    """Round up to an integer; the derivative is 0."""
def column_stack(tup: Any) -> Tensor:
    """Join tensors along the second axis; vectors become columns."""
def copysign(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Combine the absolute value of ``x1`` with the sign of ``x2``."""
def cos(x: Any, dtype: Any = None) -> Tensor:
    """Compute the cosine of angles in radians; its derivative is −sin x."""
def cosh(x: Any, dtype: Any = None) -> Tensor:
    """Compute the hyperbolic cosine; its derivative is sinh x."""
def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Count the nonzero elements along axes."""
def cumsum(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Compute the cumulative sum along an axis, or of the flattened tensor."""
def deg2rad(x: Any, dtype: Any = None) -> Tensor:
    """Convert degrees to radians: x π / 180."""
def diagflat(v: Any, k: int = 0) -> Tensor:
    """Create a matrix with all elements of a tensor on its diagonal."""
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return a diagonal of the matrices that two axes form, as the last axis."""
def divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Divide two tensors; the derivatives are 1 / y and −x / y²."""
def dstack(tup: Any) -> Tensor:
    """Join tensors along the third axis, which is added if it is missing."""
e: float
def empty(shape: Any, dtype: Any = ...) -> Tensor:
    """Create a tensor of zeros."""
def equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Check elementwise whether x = y; NaN is not equal to itself."""
euler_gamma: float
def exp(x: Any, dtype: Any = None) -> Tensor:
    """Compute the exponential eˣ; it is its own derivative."""
def exp2(x: Any, dtype: Any = None) -> Tensor:
    """Compute 2ˣ; its derivative is 2ˣ log 2."""
def expm1(x: Any, dtype: Any = None) -> Tensor:
    """Compute eˣ − 1, accurate for small x; its derivative is eˣ."""
def fabs(x: Any, dtype: Any = None) -> Tensor:
    """Compute the absolute value |x|; its derivative is sign x, which is 0 at 0."""
def fix(x: Any, dtype: Any = None) -> Tensor:
    """Round towards 0 to an integer; the derivative is 0."""
def fliplr(m: Any) -> Tensor:
    """Reverse the order of elements along the second axis."""
def flipud(m: Any) -> Tensor:
    """Reverse the order of elements along the first axis."""
def float_power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Raise ``x1`` to the power of ``x2`` in floating-point numbers."""
def floor(x: Any, dtype: Any = None) -> Tensor:
    """Round down to an integer; the derivative is 0."""
def floor_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute x / y rounded down, as Python's ``//``; the derivatives are 0."""
def fmod(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the remainder x − y · trunc(x / y), with the sign of x."""
def gcd(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the greatest common divisor of integers; for 0 and n, it is |n|."""
def greater(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Check elementwise whether x > y; false if an element is NaN."""
def greater_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Check elementwise whether x ≥ y; false if an element is NaN."""
def hamming(M: int) -> Tensor:
    """Return a Hamming window, alpha + beta · cos πt for t from −1 to 1."""
def hanning(M: int) -> Tensor:
    """Return a Hann window, ½ + ½ cos πt for t from −1 to 1."""
def heaviside(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the Heaviside step function: 0 below 0, 1 above, ``x2`` at 0."""
def hstack(tup: Any) -> Tensor:
    """Join tensors along the second axis, or vectors along their only axis."""
def hypot(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute r = √(x² + y²) without overflow."""
inf: float
infty: float
def invert(x: Any, dtype: Any = None) -> Tensor:
    """Compute the bitwise NOT of integers: −1 − x for signed integers."""
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Check whether elements are close: |input − other| ≤ atol + rtol · |other|."""
def isfinite(x: Any, dtype: Any = None) -> Tensor:
    """Check elementwise for finite numbers, neither infinite nor NaN."""
def isin(element: Any, test_elements: Any, invert: bool = False) -> Tensor:
    """Check whether each element is equal to one of the test elements."""
def isinf(x: Any, dtype: Any = None) -> Tensor:
    """Check elementwise for inf and −inf."""
def isnan(x: Any, dtype: Any = None) -> Tensor:
    """Check elementwise for NaN."""
def isneginf(x: Any, dtype: Any = None) -> Tensor:
    """Check whether elements are −∞."""
def isposinf(x: Any, dtype: Any = None) -> Tensor:
    """Check whether elements are +∞."""
def lcm(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the least common multiple of integers; for 0 and n, it is 0."""
def less(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Check elementwise whether x < y; false if an element is NaN."""
def less_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Check elementwise whether x ≤ y; false if an element is NaN."""
def log(x: Any, dtype: Any = None) -> Tensor:
    """Compute the natural logarithm; its derivative is 1 / x."""
def log10(x: Any, dtype: Any = None) -> Tensor:
    """Compute the logarithm to base 10; its derivative is 1 / (x log 10)."""
def log1p(x: Any, dtype: Any = None) -> Tensor:
    """Compute log(1 + x), accurate for small x; its derivative is 1 / (1 + x)."""
def log2(x: Any, dtype: Any = None) -> Tensor:
    """Compute the logarithm to base 2; its derivative is 1 / (x log 2)."""
def logaddexp(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute log(eˣ + eʸ) without overflow."""
def logaddexp2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute log₂(2ˣ + 2ʸ) without overflow."""
def logical_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the logical AND; nonzero elements are true."""
def logical_not(x: Any, dtype: Any = None) -> Tensor:
    """Compute the logical negation; nonzero elements are true."""
def logical_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the logical OR; nonzero elements are true."""
def logical_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the logical XOR; nonzero elements are true."""
def matrix_power(a: Any, n: int) -> Tensor:
    """Raise square matrices to an integer power."""
def max(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """Return the largest element along axes; tied elements share the derivative."""
def maximum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Return the elementwise maximum, or NaN; equal elements share the derivative."""
def mean(a: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Average the elements along axes."""
def min(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """Return the smallest element along axes; tied elements share the derivative."""
def minimum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Return the elementwise minimum, or NaN; equal elements share the derivative."""
def mod(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the remainder x − y · floor(x / y), with the sign of y."""
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Move axes to new positions; the other axes keep their order."""
def multi_dot(arrays: Any) -> Tensor:
    """Multiply several matrices in the order with the fewest multiplications."""
def multiply(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Multiply two tensors; the derivatives are y and x."""
nan: float
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Average the elements along axes, ignoring NaN."""
def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sum the elements along axes, with NaN counted as 0."""
def negative(x: Any, dtype: Any = None) -> Tensor:
    """Negate a tensor; the derivative is −1."""
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Compute a vector or matrix norm."""
def not_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Check elementwise whether x ≠ y."""
def ones(shape: Any, dtype: Any = ...) -> Tensor:
    """Create a tensor of ones."""
pi: float
def positive(x: Any, dtype: Any = None) -> Tensor:
    """Return ``x`` unchanged: the operator +x."""
def power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Raise ``x1`` to a power; the derivatives are n xⁿ⁻¹ and xⁿ log x."""
def ptp(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the largest minus the smallest element along axes."""
def rad2deg(x: Any, dtype: Any = None) -> Tensor:
    """Convert radians to degrees: x · 180 / π."""
def radians(x: Any, dtype: Any = None) -> Tensor:
    """Convert degrees to radians: x π / 180."""
def ravel(x: Any) -> Tensor:
    """Flatten a tensor to one axis in row-major order."""
def reciprocal(x: Any, dtype: Any = None) -> Tensor:
    """Compute the reciprocal 1 / x; its derivative is −1 / x²."""
def remainder(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Compute the remainder x − y · floor(x / y), with the sign of y."""
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element along an axis."""
def reshape(x: Any, new_shape: Any) -> Tensor:
    """Change the shape of a tensor; the elements keep their row-major order."""
def rint(x: Any, dtype: Any = None) -> Tensor:
    """Round to the nearest integer, ties to even; the derivative is 0."""
def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Shift elements cyclically along axes."""
def rot90(a: Any, k: int = 1, axes: Any = ...) -> Tensor:
    """Rotate a tensor by 90 degrees ``k`` times in the plane of two axes."""
def round(a: Any, decimals: int = 0) -> Tensor:
    """Round to ``decimals`` decimal places, ties to even; the derivative is 0."""
def sign(x: Any, dtype: Any = None) -> Tensor:
    """Compute the sign: −1, 0, or 1; its derivative is 0."""
def signbit(x: Any, dtype: Any = None) -> Tensor:
    """Check whether numbers are negative, including −0.0."""
def sin(x: Any, dtype: Any = None) -> Tensor:
    """Compute the sine of angles in radians; its derivative is cos x."""
def sinh(x: Any, dtype: Any = None) -> Tensor:
    """Compute the hyperbolic sine; its derivative is cosh x."""
def sqrt(x: Any, dtype: Any = None) -> Tensor:
    """Compute the square root; its derivative is 1 / (2 √x), infinite at 0."""
def square(x: Any, dtype: Any = None) -> Tensor:
    """Compute the square x · x; its derivative is 2 x."""
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Remove axes of size 1."""
def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Join tensors of equal shape along a new axis."""
def std(x: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Tensor:
    """Compute the standard deviation along axes."""
def subtract(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Subtract two tensors; the derivatives are 1 and −1."""
def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Swap two axes."""
def take(a: Tensor, indices: Any, axis: int | None = None, mode: str = 'clip') -> Tensor:
    """Select elements by index along an axis or from the flattened tensor."""
def tan(x: Any, dtype: Any = None) -> Tensor:
    """Compute the tangent of angles in radians; its derivative is 1 + tan² x."""
def tanh(x: Any, dtype: Any = None) -> Tensor:
    """Compute the hyperbolic tangent; its derivative is 1 − tanh² x."""
def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """Integrate along an axis by the trapezoidal rule."""
def tril(m: Any, k: int = 0) -> Tensor:
    """Return the lower triangles of matrices, with zeros above a diagonal."""
def triu(m: Any, k: int = 0) -> Tensor:
    """Return the upper triangles of matrices, with zeros below a diagonal."""
def true_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Divide two tensors; the derivatives are 1 / y and −x / y²."""
def trunc(x: Any, dtype: Any = None) -> Tensor:
    """Round towards 0 to an integer; the derivative is 0."""
def var(x: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Tensor:
    """Compute the variance Σ (x − mean)² / (n − ddof) along axes."""
def vstack(tup: Any) -> Tensor:
    """Join tensors along the first axis; vectors become rows."""
def zeros(shape: Any, dtype: Any = ...) -> Tensor:
    """Create a tensor of zeros."""
