"""The operators and methods of Tensor, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit. When a program runs,
there is no such module: `mindgrad.core.ir.tensor` names it for type checkers only.
"""

from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.tensor_hooks import HookHandle

#: what stands on the other side of an operator
Operand: TypeAlias = Tensor | _complex | np.ndarray[Any, Any] | np.generic | Sequence[Any]

class TensorMembers:
    def __add__(self, other: Operand) -> Tensor: ...
    def __radd__(self, other: Operand) -> Tensor: ...
    def __sub__(self, other: Operand) -> Tensor: ...
    def __rsub__(self, other: Operand) -> Tensor: ...
    def __mul__(self, other: Operand) -> Tensor: ...
    def __rmul__(self, other: Operand) -> Tensor: ...
    def __truediv__(self, other: Operand) -> Tensor: ...
    def __rtruediv__(self, other: Operand) -> Tensor: ...
    def __floordiv__(self, other: Operand) -> Tensor: ...
    def __rfloordiv__(self, other: Operand) -> Tensor: ...
    def __mod__(self, other: Operand) -> Tensor: ...
    def __rmod__(self, other: Operand) -> Tensor: ...
    def __divmod__(self, other: Operand) -> tuple[Tensor, Tensor]: ...
    def __pow__(self, other: Operand) -> Tensor: ...
    def __rpow__(self, other: Operand) -> Tensor: ...
    def __matmul__(self, other: Operand) -> Tensor: ...
    def __rmatmul__(self, other: Operand) -> Tensor: ...
    def __and__(self, other: Operand) -> Tensor: ...
    def __rand__(self, other: Operand) -> Tensor: ...
    def __or__(self, other: Operand) -> Tensor: ...
    def __ror__(self, other: Operand) -> Tensor: ...
    def __xor__(self, other: Operand) -> Tensor: ...
    def __rxor__(self, other: Operand) -> Tensor: ...
    def __lshift__(self, other: Operand) -> Tensor: ...
    def __rlshift__(self, other: Operand) -> Tensor: ...
    def __rshift__(self, other: Operand) -> Tensor: ...
    def __rrshift__(self, other: Operand) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __round__(self, digits: _int | None = None) -> Tensor: ...
    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __lt__(self, other: Operand) -> Tensor: ...
    def __le__(self, other: Operand) -> Tensor: ...
    def __gt__(self, other: Operand) -> Tensor: ...
    def __ge__(self, other: Operand) -> Tensor: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __setitem__(self, index: Any, value: Operand) -> None: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __contains__(self, value: Operand) -> _bool: ...
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any: ...
    def __dlpack__(self, other: Operand) -> Tensor: ...
    def __dlpack_device__(self, other: Operand) -> Tensor: ...
    @property
    def H(self) -> Tensor: ...
    @property
    def T(self) -> Tensor: ...
    @property
    def const_arg(self) -> _bool: ...
    @property
    def data(self) -> Tensor: ...
    @property
    def device(self) -> str: ...
    @property
    def has_init(self) -> _bool: ...
    @property
    def mH(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    @property
    def strides(self) -> tuple[_int, ...]: ...
    def abs(self) -> Tensor:
        """Compute the absolute value |x|; its derivative is sign x, which is 0 at 0."""
    def abs_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with |x|."""
    def absolute(self) -> Tensor:
        """Compute the absolute value |x|; its derivative is sign x, which is 0 at 0."""
    def acos(self) -> Tensor:
        """Compute the inverse cosine in [0, π]; its derivative is −1 / √(1 − x²)."""
    def acosh(self) -> Tensor:
        """Compute the inverse hyperbolic cosine; its derivative is 1 / √(x² − 1)."""
    def add(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """Add ``alpha · other`` to the tensor; see `mindgrad.ops.add`."""
    def add_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x + alpha · other."""
    def addbmm(self, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """Compute β · input + α · Σ batch1[i] batch2[i] for batches of matrices."""
    def addcdiv(self, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
        """Compute input + value · tensor1 / tensor2."""
    def addcmul(self, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
        """Compute input + value · tensor1 · tensor2."""
    def addmm(self, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """Compute β · input + α · mat1 mat2 for matrices mat1 and mat2."""
    def addmm_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with β · x + α · a · b: :meth:`addmm`."""
    def addmv(self, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """Compute β · input + α · mat vec for a matrix and a vector."""
    def addr(self, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """Compute β · input + α · the outer product of two vectors."""
    def adjoint(self) -> Tensor:
        """Return the conjugate transpose of matrices."""
    def all(self, axis: Any = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Check whether all elements along axes are true (nonzero)."""
    def allclose(self, other: Any, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Any:
        """Check whether all elements are close."""
    def amax(self, axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
        """Return the largest element along axes; tied elements share the derivative."""
    def amin(self, axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
        """Return the smallest element along axes; tied elements share the derivative."""
    def aminmax(self, *, axis: Any = 0, keepdims: _bool = False) -> tuple[Tensor, Tensor]:
        """Return the smallest and the largest element along axes."""
    def angle(self) -> Tensor:
        """Return the angle atan2(imag, real) of each element in radians."""
    def any(self, axis: Any = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Check whether any element along axes is true (nonzero)."""
    def approximate_equal(self, y: Any = ..., tolerance: _float = 1e-05, *, other: Any = ...) -> Tensor:
        """Check whether |x − y| < tolerance."""
    def arccos(self) -> Tensor:
        """Compute the inverse cosine in [0, π]; its derivative is −1 / √(1 − x²)."""
    def arccosh(self) -> Tensor:
        """Compute the inverse hyperbolic cosine; its derivative is 1 / √(x² − 1)."""
    def arcsin(self) -> Tensor:
        """Compute the inverse sine in [−π/2, π/2]; its derivative is 1 / √(1 − x²)."""
    def arcsinh(self) -> Tensor:
        """Compute the inverse hyperbolic sine; its derivative is 1 / √(1 + x²)."""
    def arctan(self) -> Tensor:
        """Compute the inverse tangent in [−π/2, π/2]; its derivative is 1 / (1 + x²)."""
    def arctan2(self, other: Any) -> Tensor:
        """Compute the angle atan(x / y) of the point (``y``, ``x``) in (−π, π]."""
    def arctanh(self) -> Tensor:
        """Compute the inverse hyperbolic tangent; its derivative is 1 / (1 − x²)."""
    def argmax(self, axis: _int | None = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Return the index of the largest element along an axis."""
    def argmax_with_value(self, axis: _int | None = 0, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> tuple[Tensor, Tensor]:
        """Return the largest element along an axis, and its index."""
    def argmin(self, axis: _int | None = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Return the index of the smallest element along an axis."""
    def argmin_with_value(self, axis: _int | None = 0, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> tuple[Tensor, Tensor]:
        """Return the smallest element along an axis, and its index."""
    def argsort(self, axis: _int = -1, descending: _bool = False, *, stable: Any = True, dim: Any = ...) -> Tensor:
        """Return the indices that sort a tensor along an axis."""
    def argwhere(self) -> Tensor:
        """Return the indices of nonzero elements; NumPy's name of `nonzero`."""
    def asin(self) -> Tensor:
        """Compute the inverse sine in [−π/2, π/2]; its derivative is 1 / √(1 − x²)."""
    def asinh(self) -> Tensor:
        """Compute the inverse hyperbolic sine; its derivative is 1 / √(1 + x²)."""
    def assign_value(self, value: Any) -> Tensor:
        """Replace the value of this tensor."""
    def astype(self, dtype: Any, copy: _bool = True) -> Tensor:
        """Convert to another dtype; see `mindgrad.ops.cast`."""
    def atan(self) -> Tensor:
        """Compute the inverse tangent in [−π/2, π/2]; its derivative is 1 / (1 + x²)."""
    def atan2(self, other: Any) -> Tensor:
        """Compute the angle atan(x / y) of the point (``y``, ``x``) in (−π, π]."""
    def atanh(self) -> Tensor:
        """Compute the inverse hyperbolic tangent; its derivative is 1 / (1 − x²)."""
    def baddbmm(self, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """Compute β · input + α · batch1 batch2 for batches of matrices."""
    def bernoulli(self, p: Any = 0.5, seed: _int | None = None) -> Tensor:
        """Draw ones with probability ``p`` and zeros otherwise."""
    def bernoulli_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with ones with probability ``p``, else zeros: ``bernoulli_(p=0.5, *, generator=None)``."""
    def bfloat16(self) -> Tensor:
        """Convert to dtype bfloat16."""
    def bincount(self, weights: Any = None, minlength: _int = 0) -> Tensor:
        """Count the occurrences of 0, 1, …, or sum their weights."""
    def bitwise_and(self, other: Any) -> Tensor:
        """Compute the bitwise AND of integers."""
    def bitwise_left_shift(self, other: Any) -> Tensor:
        """Shift bits to the left: x · 2ʸ without the bits that overflow."""
    def bitwise_not(self) -> Tensor:
        """Compute the bitwise NOT of integers: −1 − x for signed integers."""
    def bitwise_or(self, other: Any) -> Tensor:
        """Compute the bitwise OR of integers."""
    def bitwise_right_shift(self, other: Any) -> Tensor:
        """Shift bits to the right: x / 2ʸ rounded down."""
    def bitwise_xor(self, other: Any) -> Tensor:
        """Compute the bitwise XOR of integers."""
    def bmm(self, mat2: Any) -> Tensor:
        """Compute the products of batches of matrices."""
    def bool(self) -> Tensor:
        """Convert to dtype bool."""
    def broadcast_to(self, shape: Any) -> Tensor:
        """Broadcast a tensor to a shape by NumPy's rules."""
    def bucketize(self, boundaries: Any, *, right: _bool = False) -> Tensor:
        """Return the index of the interval between boundaries for each element."""
    def byte(self) -> Tensor:
        """Convert to dtype uint8."""
    def cast(self, dtype: Any) -> Tensor:
        """Convert a tensor to another dtype."""
    def ceil(self) -> Tensor:
        """Round up to an integer; the derivative is 0."""
    def ceil_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x rounded up."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """Compute the Cholesky factor L with L Lᴴ = A."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """Compute the inverse of A, given the Cholesky factor of A."""
    def cholesky_solve(self, input2: Any, upper: _bool = False) -> Tensor:
        """Solve A X = B, given the Cholesky factor of A."""
    def choose(self, choices: Any, mode: str = 'clip') -> Tensor:
        """Choose elements from tensors by the indices in this tensor."""
    def chunk(self, chunks: _int, axis: _int = 0, *, dim: Any = ...) -> tuple[Tensor, ...]:
        """Split a tensor into at most ``chunks`` parts of equal size."""
    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """Clip values to an interval; another name of `clip_by_value`."""
    def clamp_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with clipped values: `mindgrad.ops.clamp`."""
    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """Clip values to an interval; another name of `clip_by_value`."""
    def clone(self) -> Tensor:
        """Copy the tensor; derivatives pass through the copy."""
    def cond(self, p: Any = None) -> Tensor:
        """Compute the condition number ‖A‖ ‖A⁻¹‖ of matrices."""
    def conj(self) -> Tensor:
        """Return the complex conjugate; a real tensor is returned unchanged."""
    def contiguous(self) -> Tensor:
        """Return the tensor itself."""
    def copy(self) -> Tensor:
        """Copy the tensor; derivatives pass through the copy."""
    def copy_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the values of another tensor, broadcast."""
    def copysign(self, other: Any) -> Tensor:
        """Combine the absolute value of ``x`` with the sign of ``other``."""
    def cos(self) -> Tensor:
        """Compute the cosine of angles in radians; its derivative is −sin x."""
    def cos_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with cos x."""
    def cosh(self) -> Tensor:
        """Compute the hyperbolic cosine; its derivative is sinh x."""
    def count_nonzero(self, axis: Any = ..., keep_dims: _bool = False, dtype: Any = ...) -> Tensor:
        """Count the nonzero elements along axes."""
    def cov(self, *, correction: _int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
        """Compute the covariance matrix of variables (rows) over observations (columns)."""
    def cross(self, other: Any, dim: _int | None = None) -> Tensor:
        """Compute the cross product of vectors of three elements."""
    def cummax(self, axis: _int) -> tuple[Tensor, Tensor]:
        """Return the cumulative maximum along an axis, and its indices."""
    def cummin(self, axis: _int) -> tuple[Tensor, Tensor]:
        """Return the cumulative minimum along an axis, and its indices."""
    def cumprod(self, dim: _int, dtype: Any = None) -> Tensor:
        """Compute the cumulative product y_i = x_0 · … · x_i along an axis."""
    def cumsum(self, axis: _int | None = None, dtype: Any = None, *, dim: Any = ...) -> Tensor:
        """Compute the cumulative sum along an axis, or of the flattened tensor."""
    def deg2rad(self) -> Tensor:
        """Convert degrees to radians: x π / 180."""
    def det(self) -> Tensor:
        """Compute the determinant; it is differentiable at singular matrices too."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """Return a diagonal of a matrix, or a matrix with a given diagonal."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Create matrices with the last axis of a tensor as their diagonal."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """Create a matrix with all elements of a tensor on its diagonal."""
    def diagonal(self, offset: _int = 0, axis1: _int = 0, axis2: _int = 1, *, dim1: Any = ..., dim2: Any = ...) -> Tensor:
        """Return a diagonal of the matrices that two axes form, as the last axis."""
    def diagonal_scatter(self, src: Any, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """Replace a diagonal of the matrices that two axes form."""
    def diff(self, n: _int = 1, axis: _int = -1, prepend: Any = None, append: Any = None) -> Tensor:
        """Compute the differences x[i + 1] − x[i] along an axis, ``n`` times."""
    def digamma(self) -> Tensor:
        """Compute the digamma function Γ'(x) / Γ(x), the derivative of ``lgamma``."""
    def dim(self) -> _int:
        """Return the number of axes."""
    def dist(self, other: Any, p: _float = 2) -> Tensor:
        """Compute the p-norm of the difference of two tensors, over all elements."""
    def div(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """Divide ``input`` by ``other``, and optionally round the quotient."""
    def div_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x / other."""
    def divide(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """Divide ``input`` by ``other``, and optionally round the quotient."""
    def dot(self, other: Any) -> Tensor:
        """Compute the dot product of two tensors, as ``numpy.dot``."""
    def double(self) -> Tensor:
        """Convert to dtype float64."""
    def dsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """Split a tensor along the third axis."""
    def eigvals(self) -> Tensor:
        """Compute the eigenvalues of general matrices."""
    def element_size(self) -> _int:
        """Return the number of bytes of one element."""
    def eq(self, other: Any) -> Tensor:
        """Check elementwise whether x = y; NaN is not equal to itself."""
    def equal(self, other: Any) -> Tensor:
        """Check elementwise whether x = y; NaN is not equal to itself."""
    def erf(self) -> Tensor:
        """Compute the error function 2/√π ∫₀ˣ exp(−t²) dt."""
    def erfc(self) -> Tensor:
        """Compute 1 − erf(x), accurate for large x."""
    def erfinv(self) -> Tensor:
        """Compute the inverse error function."""
    def erfinv_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with erf⁻¹ x."""
    def exp(self) -> Tensor:
        """Compute the exponential eˣ; it is its own derivative."""
    def exp_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with exp x."""
    def expand(self, *size: Any) -> Tensor:
        """Broadcast the tensor to a shape; see `mindgrad.ops.broadcast_to`."""
    def expand_as(self, other: Any = ..., *, x: Any = ...) -> Tensor:
        """Broadcast a tensor to a shape by NumPy's rules."""
    def expand_dims(self, axis: _int) -> Tensor:
        """Insert an axis of size 1."""
    def expm1(self) -> Tensor:
        """Compute eˣ − 1, accurate for small x; its derivative is eˣ."""
    def exponential_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with exponentially distributed numbers: ``exponential_(lambd=1, *, generator=None)``."""
    def fill(self, value: Any) -> Tensor:
        """Return a tensor of the same shape and dtype, filled with one value."""
    def fill_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with a constant."""
    def fill_diagonal(self, fill_value: _float, wrap: _bool = False) -> Tensor:
        """Fill the main diagonal of a matrix with a number."""
    def fill_diagonal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the result of :meth:`fill_diagonal`."""
    def fills(self, value: Any) -> Tensor:
        """Return a tensor of the same shape and dtype, filled with one value."""
    def flatten(self, *args: Any, order: str = 'C', start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Merge axes of the tensor into one; see `mindgrad.ops.flatten`."""
    def flip(self, *dims: Any) -> Tensor:
        """Reverse the elements along axes: ``x.flip(0, 1)`` or ``x.flip((0, 1))``."""
    def fliplr(self) -> Tensor:
        """Reverse the order of elements along the second axis."""
    def flipud(self) -> Tensor:
        """Reverse the order of elements along the first axis."""
    def float(self) -> Tensor:
        """Convert to dtype float32."""
    def float_power(self, exponent: Any = ..., *, other: Any = ...) -> Tensor:
        """Raise ``input`` to a power in float64 or complex128."""
    def floor(self) -> Tensor:
        """Round down to an integer; the derivative is 0."""
    def floor_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x rounded down."""
    def floor_divide(self, other: Any) -> Tensor:
        """Compute x / y rounded down, as Python's ``//``; the derivatives are 0."""
    def floor_divide_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x / other rounded down."""
    def flush_from_cache(self, *args: Any) -> None:
        """Do nothing; accepted for compatibility."""
    def fmax(self, other: Any) -> Tensor:
        """Return the elementwise maximum, which is NaN only if both elements are NaN."""
    def fmin(self, other: Any) -> Tensor:
        """Return the elementwise minimum, which is NaN only if both elements are NaN."""
    def fmod(self, other: Any) -> Tensor:
        """Compute the remainder x − y · trunc(x / y), with the sign of x."""
    def fold(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        """Sum columns into images: the transpose of `unfold`."""
    def frac(self) -> Tensor:
        """Compute the fraction x − trunc x, with the sign of x; its derivative is 1."""
    def gather(self, *args: Any, **named: Any) -> Tensor:
        """Gather elements: ``x.gather(dim, index)`` or ``x.gather(indices, axis)``."""
    def gather_elements(self, dim: _int, index: Any) -> Tensor:
        """Gather one element per index along an axis."""
    def gather_nd(self, indices: Any) -> Tensor:
        """Gather slices at multi-dimensional indices."""
    def ge(self, other: Any) -> Tensor:
        """Check elementwise whether x ≥ y; false if an element is NaN."""
    def ger(self, vec2: Any) -> Tensor:
        """Compute the outer product y_ij = a_i b_j of two vectors."""
    def greater(self, other: Any) -> Tensor:
        """Check elementwise whether x > y; false if an element is NaN."""
    def greater_equal(self, other: Any) -> Tensor:
        """Check elementwise whether x ≥ y; false if an element is NaN."""
    def gt(self, other: Any) -> Tensor:
        """Check elementwise whether x > y; false if an element is NaN."""
    def half(self) -> Tensor:
        """Convert to dtype float16."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """Set elements with |x| ≤ λ to 0, and return the others unchanged."""
    def heaviside(self, values: Any) -> Tensor:
        """Compute the Heaviside step function: 0 below 0, 1 above, ``values`` at 0."""
    def histc(self, bins: _int = 100, min: Any = 0.0, max: Any = 0.0) -> Tensor:
        """Count elements in ``bins`` intervals of equal width from ``min`` to ``max``."""
    def hooks(self) -> list[Callable[[Tensor], Any]]:
        """List the hooks of this tensor, in the order in which they are called."""
    def hsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """Split a tensor along the second axis, or a vector along its only axis."""
    def hypot(self, other: Any) -> Tensor:
        """Compute r = √(x² + y²) without overflow."""
    def igamma(self, other: Any) -> Tensor:
        """Compute the regularized lower incomplete gamma function P(a, x)."""
    def igammac(self, other: Any) -> Tensor:
        """Compute the regularized upper incomplete gamma function Q(a, x) = 1 − P(a, x)."""
    def imag(self) -> Tensor:
        """Return the imaginary part of a tensor; it is 0 for a real tensor."""
    def index(self, indices: Any) -> Tensor:
        """Select elements with one index tensor per axis: ``x[tuple(indices)]``."""
    def index_add(self, dim: _int = ..., index: Any = ..., source: Any = ..., *, alpha: Any = 1, axis: Any = ..., indices: Any = ..., y: Any = ...) -> Tensor:
        """Add slices, multiplied by ``alpha``, at indices along an axis."""
    def index_add_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the result of :meth:`index_add`."""
    def index_fill(self, axis: _int, index: Any, value: Any) -> Tensor:
        """Fill slices at indices along an axis with a value."""
    def index_fill_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the result of :meth:`index_fill`."""
    def index_put(self, indices: Any, values: Any, accumulate: _bool = False) -> Tensor:
        """Return a copy of the tensor with values written or added at indices."""
    def index_select(self, axis: _int = ..., index: Any = ..., *, dim: Any = ...) -> Tensor:
        """Select slices along an axis."""
    def init_data(self) -> Tensor:
        """Return the tensor itself."""
    def inner(self, other: Any) -> Tensor:
        """Sum products over the last axis of both tensors."""
    def inplace_update(self, v: Any, indices: Any) -> Tensor:
        """Replace rows of a tensor at given indices, and return the new tensor."""
    def int(self) -> Tensor:
        """Convert to dtype int32."""
    def inv(self) -> Tensor:
        """Compute the reciprocal 1 / x of each element."""
    def inverse(self) -> Tensor:
        """Invert square matrices; another name of `matrix_inverse`."""
    def invert(self) -> Tensor:
        """Compute the bitwise NOT of integers: −1 − x for signed integers."""
    def is_complex(self) -> _bool:
        """Check whether the dtype is complex."""
    def is_contiguous(self) -> _bool:
        """Check whether the elements are in row-major order; they always are."""
    def is_floating_point(self) -> _bool:
        """Check whether the dtype is a floating-point type."""
    def is_nonzero(self) -> Any:
        """Check whether the only element of a tensor is nonzero."""
    def is_signed(self) -> _bool:
        """Check whether the elements can be negative."""
    def is_tensor(self) -> _bool:
        """Check whether an object is a tensor."""
    def isclose(self, other: Any, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Check whether elements are close: |input − other| ≤ atol + rtol · |other|."""
    def isfinite(self) -> Tensor:
        """Check elementwise for finite numbers, neither infinite nor NaN."""
    def isin(self, test_elements: Any, *, invert: _bool = False) -> Tensor:
        """Check whether each element is equal to one of the test elements."""
    def isinf(self) -> Tensor:
        """Check elementwise for inf and −inf."""
    def isnan(self) -> Tensor:
        """Check elementwise for NaN."""
    def isneginf(self) -> Tensor:
        """Check whether elements are −∞."""
    def isposinf(self) -> Tensor:
        """Check whether elements are +∞."""
    def isreal(self) -> Tensor:
        """Check whether elements have no imaginary part."""
    def itemset(self, *args: Any) -> Tensor:
        """Return a tensor with one element replaced: ``x.itemset(index, value)``."""
    def ldexp(self, other: Any) -> Tensor:
        """Compute x · 2^other."""
    def le(self, other: Any) -> Tensor:
        """Check elementwise whether x ≤ y; false if an element is NaN."""
    def lerp(self, end: Any, weight: Any) -> Tensor:
        """Interpolate linearly: input + weight · (end − input)."""
    def less(self, other: Any) -> Tensor:
        """Check elementwise whether x < y; false if an element is NaN."""
    def less_equal(self, other: Any) -> Tensor:
        """Check elementwise whether x ≤ y; false if an element is NaN."""
    def lgamma(self) -> Tensor:
        """Compute log |Γ(x)|, the logarithm of the gamma function."""
    def log(self) -> Tensor:
        """Compute the natural logarithm; its derivative is 1 / x."""
    def log10(self) -> Tensor:
        """Compute the logarithm to base 10; its derivative is 1 / (x log 10)."""
    def log1p(self) -> Tensor:
        """Compute log(1 + x), accurate for small x; its derivative is 1 / (1 + x)."""
    def log2(self) -> Tensor:
        """Compute the logarithm to base 2; its derivative is 1 / (x log 2)."""
    def log_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with log x."""
    def log_matrix_determinant(self) -> tuple[Tensor, Tensor]:
        """Compute the sign and the logarithm of the absolute determinant."""
    def log_softmax(self, axis: Any = -1) -> Tensor:
        """Compute the logarithm of the softmax, x_i − log Σ_j exp(x_j), along an axis."""
    def logaddexp(self, other: Any) -> Tensor:
        """Compute log(eˣ + eʸ) without overflow."""
    def logaddexp2(self, y: Any = ..., *, other: Any = ...) -> Tensor:
        """Compute log₂(2ˣ + 2ʸ) without overflow."""
    def logcumsumexp(self, axis: _int) -> Tensor:
        """Compute the cumulative logsumexp log Σ_{j ≤ i} exp x_j along an axis."""
    def logdet(self) -> Tensor:
        """Compute the logarithm of the determinant."""
    def logical_and(self, y: Any = ..., *, other: Any = ...) -> Tensor:
        """Compute the logical AND; nonzero elements are true."""
    def logical_not(self) -> Tensor:
        """Compute the logical negation; nonzero elements are true."""
    def logical_or(self, y: Any = ..., *, other: Any = ...) -> Tensor:
        """Compute the logical OR; nonzero elements are true."""
    def logical_xor(self, y: Any = ..., *, other: Any = ...) -> Tensor:
        """Compute the logical XOR; nonzero elements are true."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """Compute log(x / (1 − x)), the inverse of the sigmoid."""
    def logsumexp(self, axis: Any = None, keep_dims: _bool = False, *, dim: Any = ..., keepdim: Any = ...) -> Tensor:
        """Compute log Σ exp x along axes without overflow; its derivative is softmax."""
    def long(self) -> Tensor:
        """Convert to dtype int64."""
    def lt(self, other: Any) -> Tensor:
        """Check elementwise whether x < y; false if an element is NaN."""
    def masked_fill(self, mask: Any, value: Any) -> Tensor:
        """Replace elements where a mask is true."""
    def masked_fill_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the result of :meth:`masked_fill`."""
    def masked_scatter(self, mask: Any, source: Any) -> Tensor:
        """Write elements of ``source``, one after another, where a mask is true."""
    def masked_scatter_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the result of :meth:`masked_scatter`."""
    def masked_select(self, mask: Any) -> Tensor:
        """Return the elements where a mask is true, as a 1-D tensor."""
    def matmul(self, other: Any = ..., *, tensor2: Any = ...) -> Tensor:
        """Compute the matrix product, with the rules of ``numpy.matmul``."""
    def matrix_determinant(self) -> Tensor:
        """Compute the determinant; it is differentiable at singular matrices too."""
    def matrix_power(self, n: _int) -> Tensor:
        """Raise square matrices to an integer power."""
    def max(self, axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = True, return_indices: _bool = False, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Any:
        """Return the largest element along axes, optionally with its index."""
    def maximum(self, other: Any) -> Tensor:
        """Return the elementwise maximum, or NaN; equal elements share the derivative."""
    def mean(self, axis: Any = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Average the elements along axes."""
    def median(self, axis: _int = -1, keepdims: _bool = False, *, dim: Any = ..., keepdim: Any = ...) -> tuple[Tensor, Tensor]:
        """Return the median along an axis, and its index."""
    def min(self, axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = True, return_indices: _bool = False, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Any:
        """Return the smallest element along axes, optionally with its index."""
    def minimum(self, other: Any) -> Tensor:
        """Return the elementwise minimum, or NaN; equal elements share the derivative."""
    def mm(self, mat2: Any) -> Tensor:
        """Compute the product of two matrices."""
    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """Move axes to new positions; the other axes keep their order."""
    def movedim(self, source: Any, destination: Any) -> Tensor:
        """Move axes to new positions; another name of `moveaxis`."""
    def msort(self) -> Tensor:
        """Sort a tensor along its first axis."""
    def mul(self, other: Any) -> Tensor:
        """Multiply two tensors; the derivatives are y and x."""
    def mul_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x · other."""
    def multinomial(self, num_samples: _int, replacement: _bool = True, seed: _int | None = None) -> Tensor:
        """Draw category indices with given probabilities."""
    def multiply(self, other: Any = ..., *, value: Any = ...) -> Tensor:
        """Multiply two tensors; the derivatives are y and x."""
    def mv(self, vec: Any) -> Tensor:
        """Compute the product of a matrix and a vector."""
    def mvlgamma(self, p: _int) -> Tensor:
        """Compute the logarithm of the multivariate gamma function."""
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """Replace NaN and infinities with numbers; replaced elements have derivative 0."""
    def nanmean(self, axis: Any = None, keepdims: _bool = False, *, dtype: Any = None) -> Tensor:
        """Average the elements along axes, ignoring NaN."""
    def nanmedian(self, axis: _int = -1, keepdims: _bool = False) -> tuple[Tensor, Tensor]:
        """Return the median along an axis, ignoring NaN, and its index."""
    def nanquantile(self, q: Any, axis: _int | None = None, keepdims: _bool = False) -> Tensor:
        """Compute quantiles, ignoring NaN."""
    def nansum(self, axis: Any = None, keepdims: _bool = False, *, dtype: Any = None) -> Tensor:
        """Sum the elements along axes, with NaN counted as 0."""
    def narrow(self, axis: _int, start: _int, length: _int) -> Tensor:
        """Return ``length`` elements along an axis, beginning at ``start``."""
    def ndimension(self) -> _int:
        """Return the number of axes."""
    def ne(self, other: Any) -> Tensor:
        """Check elementwise whether x ≠ y."""
    def neg(self) -> Tensor:
        """Negate a tensor; the derivative is −1."""
    def neg_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with −x."""
    def negative(self) -> Tensor:
        """Negate a tensor; the derivative is −1."""
    def nelement(self) -> _int:
        """Return the number of elements."""
    def new_empty(self, size: Any, dtype: Any = None) -> Tensor:
        """Create a tensor of zeros, by default with the same dtype."""
    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
        """Create a tensor filled with one number, by default with the same dtype."""
    def new_ones(self, size: Any, dtype: Any = None) -> Tensor:
        """Create a tensor of ones, by default with the same dtype."""
    def new_tensor(self, data: Any, *, dtype: Any = None) -> Tensor:
        """Create a tensor from data, by default with the dtype of this tensor."""
    def new_zeros(self, size: Any, dtype: Any = None) -> Tensor:
        """Create a tensor of zeros, by default with the same dtype."""
    def nonzero(self, *, as_tuple: _bool = False) -> Tensor:
        """Return the indices of nonzero elements."""
    def norm(self, ord: Any = None, dim: Any = None, keepdim: _bool = False, *, dtype: Any = None) -> Tensor:
        """Compute a vector or matrix norm."""
    def normal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with normal numbers: ``normal_(mean=0, std=1, *, generator=None)``."""
    def not_equal(self, other: Any) -> Tensor:
        """Check elementwise whether x ≠ y."""
    def numel(self) -> _int:
        """Return the number of elements."""
    def outer(self, vec2: Any) -> Tensor:
        """Compute the outer product y_ij = a_i b_j of two vectors."""
    def permute(self, *axes: Any, dims: Any = None) -> Tensor:
        """Permute the axes: ``x.permute(1, 0)`` or ``x.permute((1, 0))``."""
    def pinv(self, *, atol: _float | None = None, rtol: _float | None = None, hermitian: _bool = False) -> Tensor:
        """Compute the Moore–Penrose pseudoinverse of matrices."""
    def positive(self) -> Tensor:
        """Return ``x`` unchanged: the operator +x."""
    def pow(self, exponent: Any) -> Tensor:
        """Raise ``input`` to a power; the derivatives are n xⁿ⁻¹ and xⁿ log x."""
    def pow_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with its power with the exponent ``other``."""
    def prod(self, axis: Any = None, keepdims: _bool = False, dtype: Any = None, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Multiply the elements along axes."""
    def ptp(self, axis: Any = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Return the largest minus the smallest element along axes."""
    def qr(self, mode: str = 'reduced') -> tuple[Tensor, Tensor]:
        """Compute the QR factorization A = Q R."""
    def quantile(self, q: Any, axis: _int | None = None, keepdims: _bool = False) -> Tensor:
        """Compute quantiles, interpolated linearly between neighboring elements."""
    def rad2deg(self) -> Tensor:
        """Convert radians to degrees: x · 180 / π."""
    def random_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with integers from ``from_`` to below ``to``: ``random_(from_=0, to=None, *, generator=None)``."""
    def random_categorical(self, num_sample: _int, seed: _int | None = 0, dtype: Any = ...) -> Tensor:
        """Draw category indices with probabilities softmax(``logits``)."""
    def ravel(self) -> Tensor:
        """Flatten a tensor to one axis in row-major order."""
    def real(self) -> Tensor:
        """Return the real part of a tensor; a real tensor is returned unchanged."""
    def reciprocal(self) -> Tensor:
        """Compute the reciprocal 1 / x; its derivative is −1 / x²."""
    def reciprocal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with 1 / x."""
    def register_hook(self, hook: Callable[[Tensor], Any]) -> HookHandle:
        """Call ``hook(gradient)`` whenever the gradient of this tensor is computed."""
    def relu(self) -> Tensor:
        """Compute max(x, 0); its derivative at 0 is 0."""
    def relu_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with max(x, 0)."""
    def remainder(self, other: Any = ..., *, divisor: Any = ...) -> Tensor:
        """Compute the remainder x − y · floor(x / y), with the sign of y."""
    def remainder_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x − y · floor(x / y)."""
    def renorm(self, p: _int, axis: _int, maxnorm: _float) -> Tensor:
        """Scale slices along an axis so that their p-norm is at most ``maxnorm``."""
    def repeat(self, *repeats: Any, axis: _int | None = None, **named: Any) -> Tensor:
        """Repeat the whole tensor along each axis, or each element along one axis."""
    def repeat_interleave(self, repeats: Any, axis: _int | None = None, *, output_size: Any = None, dim: Any = ...) -> Tensor:
        """Repeat each element along an axis."""
    def reshape(self, *sizes: Any, shape: Any = None) -> Tensor:
        """Change the shape: ``x.reshape(2, -1)`` or ``x.reshape((2, -1))``."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """Change the shape to the shape of another tensor."""
    def resize(self, *new_shape: Any) -> Tensor:
        """Change the shape, and drop elements or append zeros if the size changes."""
    def reverse(self, *dims: Any) -> Tensor:
        """Reverse the elements along axes: ``x.flip(0, 1)`` or ``x.flip((0, 1))``."""
    def reverse_sequence(self, seq_lengths: Any, seq_dim: _int, batch_dim: _int = 0) -> Tensor:
        """Reverse the first elements of each sample along an axis."""
    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """Shift elements cyclically along axes."""
    def rot90(self, k: _int, dims: Any) -> Tensor:
        """Rotate a tensor by 90 degrees ``k`` times in the plane of two axes."""
    def round(self, decimals: _int = 0) -> Tensor:
        """Round to ``decimals`` decimal places, ties to even; the derivative is 0."""
    def round_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x rounded."""
    def rsqrt(self) -> Tensor:
        """Compute 1 / √x; its derivative is −1 / (2 x √x)."""
    def scatter(self, axis: _int = ..., index: Any = ..., src: Any = None, *, value: Any = None, dim: Any = ...) -> Tensor:
        """Write values at given indices along an axis; see `mindgrad.ops.scatter`."""
    def scatter_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the result of :meth:`scatter`."""
    def scatter_add(self, *args: Any, **named: Any) -> Tensor:
        """Add values: ``x.scatter_add(dim, index, src)`` or ``(indices, updates)``."""
    def scatter_add_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the result of :meth:`scatter_add`."""
    def scatter_div(self, indices: Any, updates: Any) -> Tensor:
        """Divide a tensor by updates at multi-dimensional indices."""
    def scatter_max(self, indices: Any, updates: Any) -> Tensor:
        """Set elements at multi-dimensional indices to their maximum with updates."""
    def scatter_min(self, indices: Any, updates: Any) -> Tensor:
        """Set elements at multi-dimensional indices to their minimum with updates."""
    def scatter_mul(self, indices: Any, updates: Any) -> Tensor:
        """Multiply a tensor by updates at multi-dimensional indices."""
    def scatter_sub(self, indices: Any, updates: Any) -> Tensor:
        """Subtract updates from a tensor at multi-dimensional indices."""
    def searchsorted(self, v: Any, side: str = 'left', sorter: Any = None) -> Tensor:
        """Return insertion indices of values in this sorted tensor, as int32."""
    def select(self, condition: Any = ..., other: Any = ..., *, dim: Any = ..., index: Any = ..., y: Any = ...) -> Tensor:
        """Choose elements by a condition: ``x.select(condition, other)``."""
    def select_scatter(self, src: Any, axis: _int, index: _int) -> Tensor:
        """Write a tensor at one index along an axis."""
    def set_const_arg(self, const_arg: _bool = True) -> Tensor:
        """Choose whether compiled functions treat the tensor as a constant."""
    def sgn(self) -> Tensor:
        """Compute x / |x|, and 0 at 0: the sign, or the direction of a complex number."""
    def short(self) -> Tensor:
        """Convert to dtype int16."""
    def sigmoid(self) -> Tensor:
        """Compute the sigmoid 1 / (1 + exp(−x)); its derivative is y (1 − y)."""
    def sigmoid_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with 1 / (1 + exp(−x))."""
    def sign(self) -> Tensor:
        """Compute the sign: −1, 0, or 1; its derivative is 0."""
    def sign_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with the sign of x."""
    def signbit(self) -> Tensor:
        """Check whether numbers are negative, including −0.0."""
    def sin(self) -> Tensor:
        """Compute the sine of angles in radians; its derivative is cos x."""
    def sin_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with sin x."""
    def sinc(self) -> Tensor:
        """Compute sin(π x) / (π x), and 1 at 0."""
    def sinh(self) -> Tensor:
        """Compute the hyperbolic sine; its derivative is cosh x."""
    def slice_scatter(self, src: Any, axis: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """Write a tensor into the slice ``start:end:step`` along an axis."""
    def slogdet(self) -> tuple[Tensor, Tensor]:
        """Compute the sign and the logarithm of the absolute determinant."""
    def soft_shrink(self, lambd: _float = 0.5) -> Tensor:
        """Compute x − λ above λ, x + λ below −λ, and 0 between them."""
    def softmax(self, axis: Any = -1, *, dtype: Any = None) -> Tensor:
        """Compute the softmax exp(x_i) / Σ_j exp(x_j) along an axis, without overflow."""
    def sort(self, axis: _int = -1, descending: _bool = False, *, stable: _bool = True, dim: Any = ...) -> tuple[Tensor, Tensor]:
        """Sort along an axis, and return the original indices too."""
    def split(self, split_size_or_sections: Any = ..., axis: _int = 0, *, dim: Any = ..., split_size: Any = ...) -> tuple[Tensor, ...]:
        """Split a tensor into parts along an axis."""
    def sqrt(self) -> Tensor:
        """Compute the square root; its derivative is 1 / (2 √x), infinite at 0."""
    def sqrt_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with √x."""
    def square(self, *, x: Any = ...) -> Tensor:
        """Compute the square x · x; its derivative is 2 x."""
    def square_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x²."""
    def squeeze(self, axis: Any = None) -> Tensor:
        """Remove axes of size 1."""
    def std(self, axis: Any = None, ddof: Any = 0, keepdims: _bool = False, *, correction: Any = ..., dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Compute the standard deviation along axes."""
    def storage_offset(self) -> _int:
        """Return the offset of the first element in memory; it is always 0."""
    def stride(self, dim: _int | None = None) -> list[_int] | _int:
        """Return the strides in elements: the distance between neighbors along each axis."""
    def sub(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """Compute input − alpha · other."""
    def sub_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with x − alpha · other."""
    def subtract(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """Compute input − alpha · other."""
    def sum(self, axis: Any = None, dtype: Any = None, keepdims: _bool = False, initial: Any = None, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Sum the elements along axes; see `mindgrad.ops.sum`."""
    def sum_to_size(self, *size: Any) -> Tensor:
        """Sum over the axes along which a tensor of another shape would be broadcast."""
    def svd(self, full_matrices: _bool = False, compute_uv: _bool = True) -> Any:
        """Compute the singular value decomposition A = U diag(s) Vᴴ."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Swap two axes."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Swap two axes; another name of `swapaxes`."""
    def t(self) -> Tensor:
        """Transpose a matrix; a vector is returned unchanged."""
    def take(self, indices: Any, axis: _int | None = None, mode: str = 'clip') -> Tensor:
        """Select elements by index along an axis or from the flattened tensor."""
    def tan(self) -> Tensor:
        """Compute the tangent of angles in radians; its derivative is 1 + tan² x."""
    def tanh(self) -> Tensor:
        """Compute the hyperbolic tangent; its derivative is 1 − tanh² x."""
    def tanh_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with tanh x."""
    def tensor_split(self, indices_or_sections: Any, axis: _int = 0) -> tuple[Tensor, ...]:
        """Split a tensor into a number of parts, or at given indices."""
    def tile(self, *dims: Any) -> Tensor:
        """Repeat the tensor along axes: ``x.tile(2, 1)`` or ``x.tile((2, 1))``."""
    def to(self, dtype: Any) -> Tensor:
        """Convert to another dtype."""
    def to_tensor(self) -> Tensor:
        """Return the tensor itself."""
    def top_k(self, k: _int, dim: _int | None = None, largest: _bool = True, sorted: _bool = True) -> tuple[Tensor, Tensor]:
        """Return the ``k`` largest elements along an axis, and their indices."""
    def topk(self, k: _int, dim: _int | None = None, largest: _bool = True, sorted: _bool = True) -> tuple[Tensor, Tensor]:
        """Return the ``k`` largest elements along an axis, and their indices."""
    def trace(self, offset: _int = 0, axis1: _int = 0, axis2: _int = 1, dtype: Any = None) -> Tensor:
        """Sum a diagonal, of integers as int64; see `mindgrad.ops.trace`."""
    def transpose(self, *axes: Any, **dims: Any) -> Tensor:
        """Swap two axes, or permute all axes; without arguments reverse them."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """Return the lower triangles of matrices, with zeros above a diagonal."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """Return the upper triangles of matrices, with zeros below a diagonal."""
    def true_divide(self, other: Any = ..., *, divisor: Any = ...) -> Tensor:
        """Divide two tensors; the derivatives are 1 / y and −x / y²."""
    def trunc(self) -> Tensor:
        """Round towards 0 to an integer; the derivative is 0."""
    def type_as(self, other: Tensor) -> Tensor:
        """Convert to the dtype of another tensor."""
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """Split a tensor into its slices along an axis; another name of ``unstack``."""
    def unfold(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        """Extract the windows of images as columns."""
    def uniform_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with uniform numbers: ``uniform_(from_=0, to=1, *, generator=None)``."""
    def unique(self, sorted: _bool | None = None, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """Return the distinct elements."""
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """Remove elements that equal the element before them."""
    def unique_with_pad(self, pad_num: Any) -> tuple[Tensor, Tensor]:
        """Return the distinct elements, padded to the length of the input."""
    def unsorted_segment_max(self, segment_ids: Any, num_segments: _int) -> Tensor:
        """Compute the elementwise maximum of the slices of each segment."""
    def unsorted_segment_min(self, segment_ids: Any, num_segments: _int) -> Tensor:
        """Compute the elementwise minimum of the slices of each segment."""
    def unsorted_segment_prod(self, segment_ids: Any, num_segments: _int) -> Tensor:
        """Multiply the slices of each segment."""
    def unsorted_segment_sum(self, segment_ids: Any, num_segments: _int) -> Tensor:
        """Sum the slices of each segment: Σ of x[i] with segment_ids[i] = s."""
    def unsqueeze(self, dim: _int) -> Tensor:
        """Insert an axis of size 1; another name of `expand_dims`."""
    def value(self) -> Tensor:
        """Return the tensor itself."""
    def var(self, axis: Any = None, ddof: Any = 0, keepdims: _bool = False, *, correction: Any = ..., dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Compute the variance Σ (x − mean)² / (n − ddof) along axes."""
    def vecdot(self, y: Any, axis: _int = -1) -> Tensor:
        """Sum conj(x) · y along an axis."""
    def view(self, *sizes: Any, shape: Any = None) -> Tensor:
        """Return the elements in another shape, or their bytes in another dtype."""
    def view_as(self, other: Tensor) -> Tensor:
        """Change the shape to the shape of another tensor."""
    def view_as_real(self) -> Tensor:
        """Convert complex numbers to pairs of real numbers along a new last axis."""
    def vsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """Split a tensor along the first axis."""
    def where(self, condition: Any, y: Any = ..., *, other: Any = ...) -> Tensor:
        """Choose elements from two tensors by a condition; NumPy's name of ``select``."""
    def xdivy(self, y: Any) -> Tensor:
        """Compute x / y; the result is 0 if ``x`` is 0 and ``y`` is 0 or NaN."""
    def xlogy(self, other: Any) -> Tensor:
        """Compute x · log y, and 0 where x is 0; the derivatives are log y and x / y."""
    def zero_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Replace the tensor, in place, with zero everywhere."""
    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any]) -> Tensor: ...
