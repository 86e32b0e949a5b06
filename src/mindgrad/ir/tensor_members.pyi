"""The operators and methods of Tensor, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit. When a program runs,
there is no such module: `mindgrad.ir.tensor` names it for type checkers only.
"""

from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from mindgrad.ir.dtype import DType
from mindgrad.ir.tensor import Tensor
from mindgrad.trace.tensor_hooks import HookHandle

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
        """|x|, real also for complex ``x``; its derivative is sign x, which is 0 at 0."""
    def abs_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be |x|, of the same shape and element type; gives the tensor itself."""
    def absolute(self) -> Tensor:
        """|x|, real also for complex ``x``; its derivative is sign x, which is 0 at 0."""
    def acos(self) -> Tensor:
        """The angle in [0, π] whose cosine is ``x``, NaN outside [−1, 1]; derivative −1 / √(1 − x²)."""
    def acosh(self) -> Tensor:
        """The inverse of ``cosh`` that is not negative, NaN below 1; derivative 1 / √(x² − 1)."""
    def add(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """``self + alpha · other``; see `mindgrad.ops.add`."""
    def add_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x + alpha · other, of the same shape and element type; gives the tensor itself."""
    def addbmm(self, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """β · input + α · the sum of the products of batches of matrices."""
    def addcdiv(self, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
        """input + value · tensor1 / tensor2."""
    def addcmul(self, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
        """input + value · tensor1 · tensor2."""
    def addmm(self, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """β · input + α · mat1 mat2, of matrices."""
    def addmm_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be β · x + α · a · b: :meth:`addmm`, of the same shape and element type; gives the tensor itself."""
    def addmv(self, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """β · input + α · mat vec, of a matrix and a vector."""
    def addr(self, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """β · input + α · the outer product of two vectors."""
    def adjoint(self) -> Tensor:
        """The conjugate of matrices with their last two axes exchanged."""
    def all(self, axis: Any = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Whether every element over ``axis`` is true, that is not 0; true for no elements."""
    def allclose(self, other: Any, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Any:
        """Whether all elements are close: a bool, or in a compiled program a Bool tensor."""
    def amax(self, axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
        """The greatest element over ``axis``; elements that tie for it share the derivative."""
    def amin(self, axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
        """The smallest element over ``axis``; elements that tie for it share the derivative."""
    def aminmax(self, *, axis: Any = 0, keepdims: _bool = False) -> tuple[Tensor, Tensor]:
        """The smallest and the largest element over ``axis``."""
    def angle(self) -> Tensor:
        """The angle atan2(imag, real) of each element in radians: 0 or π for real ones."""
    def any(self, axis: Any = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """Whether an element over ``axis`` is true, that is not 0; false for no elements."""
    def approximate_equal(self, y: Any = ..., tolerance: _float = 1e-05, *, other: Any = ...) -> Tensor:
        """Whether |x − y| < tolerance."""
    def arccos(self) -> Tensor:
        """The angle in [0, π] whose cosine is ``x``, NaN outside [−1, 1]; derivative −1 / √(1 − x²)."""
    def arccosh(self) -> Tensor:
        """The inverse of ``cosh`` that is not negative, NaN below 1; derivative 1 / √(x² − 1)."""
    def arcsin(self) -> Tensor:
        """The angle in [−π/2, π/2] whose sine is ``x``, NaN outside [−1, 1]; derivative 1 / √(1 − x²)."""
    def arcsinh(self) -> Tensor:
        """The inverse of ``sinh``; its derivative is 1 / √(1 + x²)."""
    def arctan(self) -> Tensor:
        """The angle in [−π/2, π/2] whose tangent is ``x``; derivative 1 / (1 + x²)."""
    def arctan2(self, other: Any) -> Tensor:
        """The angle of the point (``y``, ``x``) in (−π, π]: atan(x / y) in the right quadrant."""
    def arctanh(self) -> Tensor:
        """The inverse of ``tanh``, ±inf at ±1 and NaN outside; its derivative is 1 / (1 − x²)."""
    def argmax(self, axis: _int | None = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """The index of the greatest element along ``axis``: the first of equal ones, the first NaN."""
    def argmax_with_value(self, axis: _int | None = 0, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> tuple[Tensor, Tensor]:
        """The greatest element along ``axis`` and where it stands; of equal ones the first."""
    def argmin(self, axis: _int | None = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """The index of the smallest element along ``axis``: the first of equal ones, the first NaN."""
    def argmin_with_value(self, axis: _int | None = 0, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> tuple[Tensor, Tensor]:
        """The smallest element along ``axis`` and where it stands; of equal ones the first."""
    def argsort(self, axis: _int = -1, descending: _bool = False, *, stable: Any = True, dim: Any = ...) -> Tensor:
        """The indices that sort ``self`` along ``axis``, as Int32; as `sort`."""
    def argwhere(self) -> Tensor:
        """`nonzero` under NumPy's name."""
    def asin(self) -> Tensor:
        """The angle in [−π/2, π/2] whose sine is ``x``, NaN outside [−1, 1]; derivative 1 / √(1 − x²)."""
    def asinh(self) -> Tensor:
        """The inverse of ``sinh``; its derivative is 1 / √(1 + x²)."""
    def assign_value(self, value: Any) -> Tensor:
        """Let this tensor stand for ``value`` from here on; gives the tensor itself."""
    def astype(self, dtype: Any, copy: _bool = True) -> Tensor:
        """The tensor with another element type; see `mindgrad.ops.cast`."""
    def atan(self) -> Tensor:
        """The angle in [−π/2, π/2] whose tangent is ``x``; derivative 1 / (1 + x²)."""
    def atan2(self, other: Any) -> Tensor:
        """The angle of the point (``y``, ``x``) in (−π, π]: atan(x / y) in the right quadrant."""
    def atanh(self) -> Tensor:
        """The inverse of ``tanh``, ±inf at ±1 and NaN outside; its derivative is 1 / (1 − x²)."""
    def baddbmm(self, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """β · input + α · the products of batches of matrices."""
    def bernoulli(self, p: Any = 0.5, seed: _int | None = None) -> Tensor:
        """Ones with probability ``p`` and zeros, in the shape and of the element type of ``input``."""
    def bernoulli_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be ones with probability ``p``, else zeros: ``bernoulli_(p=0.5, *, generator=None)``, of the same shape and element type; gives the tensor itself."""
    def bfloat16(self) -> Tensor:
        """The tensor with the element type BFloat16."""
    def bincount(self, weights: Any = None, minlength: _int = 0) -> Tensor:
        """The number of occurrences of 0, 1, … in ``input`` (Float32), or the sums of their ``weights``."""
    def bitwise_and(self, other: Any) -> Tensor:
        """The bits that are set in both."""
    def bitwise_left_shift(self, other: Any) -> Tensor:
        """x · 2ʸ without the bits that leave the element type."""
    def bitwise_not(self) -> Tensor:
        """The bits that are not set: −1 − x of signed integers."""
    def bitwise_or(self, other: Any) -> Tensor:
        """The bits that are set in one or both."""
    def bitwise_right_shift(self, other: Any) -> Tensor:
        """x / 2ʸ rounded down."""
    def bitwise_xor(self, other: Any) -> Tensor:
        """The bits that are set in one and not in both."""
    def bmm(self, mat2: Any) -> Tensor:
        """The products of batches of matrices; axes in front of the last two broadcast."""
    def bool(self) -> Tensor:
        """The tensor with the element type Bool."""
    def broadcast_to(self, shape: Any) -> Tensor:
        """``input`` repeated to ``shape`` by NumPy's rules."""
    def bucketize(self, boundaries: Any, *, right: _bool = False) -> Tensor:
        """The number of the interval between ``boundaries`` in which elements lie."""
    def byte(self) -> Tensor:
        """The tensor with the element type UInt8."""
    def cast(self, dtype: Any) -> Tensor:
        """``input`` with the element type ``dtype``."""
    def ceil(self) -> Tensor:
        """The smallest integer not below ``x``; its derivative is 0."""
    def ceil_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x rounded up, of the same shape and element type; gives the tensor itself."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """The lower triangle L with L Lᴴ = A, for the symmetric (Hermitian) part A of ``input_x``."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of A, given the Cholesky factor of A."""
    def cholesky_solve(self, input2: Any, upper: _bool = False) -> Tensor:
        """The solution X of A X = B, given the Cholesky factor of A."""
    def choose(self, choices: Any, mode: str = 'clip') -> Tensor:
        """At each place the element of that one of ``choices`` whose number stands there in the tensor."""
    def chunk(self, chunks: _int, axis: _int = 0, *, dim: Any = ...) -> tuple[Tensor, ...]:
        """``input`` cut into at most ``chunks`` parts of one size, the last one smaller if need be."""
    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """min(max(input, low), high); the same as `clip_by_value`."""
    def clamp_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x held between limits: `mindgrad.ops.clamp`, of the same shape and element type; gives the tensor itself."""
    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """min(max(input, low), high); the same as `clip_by_value`."""
    def clone(self) -> Tensor:
        """A tensor of its own with the same value; a derivative passes through."""
    def cond(self, p: Any = None) -> Tensor:
        """The condition number of matrices: ‖A‖ ‖A⁻¹‖, by default that of the 2-norm, σ_max / σ_min."""
    def conj(self) -> Tensor:
        """The complex conjugate; a real tensor is its own."""
    def contiguous(self) -> Tensor:
        """The tensor itself."""
    def copy(self) -> Tensor:
        """A tensor of its own with the same value; a derivative passes through."""
    def copy_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be the values of another tensor, broadcast, of the same shape and element type; gives the tensor itself."""
    def copysign(self, other: Any) -> Tensor:
        """The size of ``x`` with the sign of ``other``."""
    def cos(self) -> Tensor:
        """The cosine of ``x`` in radians; its derivative is −sin x."""
    def cos_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be cos x, of the same shape and element type; gives the tensor itself."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine of ``x``; its derivative is sinh x."""
    def count_nonzero(self, axis: Any = ..., keep_dims: _bool = False, dtype: Any = ...) -> Tensor:
        """The number of elements over ``axis`` that are not 0."""
    def cov(self, *, correction: _int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
        """The covariances between variables, which stand in rows, of observations, which stand in columns."""
    def cross(self, other: Any, dim: _int | None = None) -> Tensor:
        """The vector product of vectors of three elements: x₁y₂ − x₂y₁, x₂y₀ − x₀y₂, x₀y₁ − x₁y₀."""
    def cummax(self, axis: _int) -> tuple[Tensor, Tensor]:
        """The greatest element so far along ``axis``, and where it stands: of equal ones the last."""
    def cummin(self, axis: _int) -> tuple[Tensor, Tensor]:
        """The smallest element so far along ``axis``, and where it stands: of equal ones the last."""
    def cumprod(self, dim: _int, dtype: Any = None) -> Tensor:
        """The running product y_i = x_0 · … · x_i along ``dim``."""
    def cumsum(self, axis: _int | None = None, dtype: Any = None, *, dim: Any = ...) -> Tensor:
        """The running sum along ``axis``, or of the flattened tensor; see `mindgrad.ops.cumsum`."""
    def deg2rad(self) -> Tensor:
        """Degrees as radians: x π / 180."""
    def det(self) -> Tensor:
        """The determinant; its derivative is the matrix of cofactors, at singular matrices too."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """A matrix with the vector on a diagonal, or that diagonal of a matrix."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Zeros with the last axis of ``input`` on the diagonal of two axes."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """A matrix with all elements of ``input`` on its diagonal."""
    def diagonal(self, offset: _int = 0, axis1: _int = 0, axis2: _int = 1, *, dim1: Any = ..., dim2: Any = ...) -> Tensor:
        """The elements of ``self`` at equal places along two axes, which become the last axis."""
    def diagonal_scatter(self, src: Any, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """``input`` with ``src`` on a diagonal of two of its axes."""
    def diff(self, n: _int = 1, axis: _int = -1, prepend: Any = None, append: Any = None) -> Tensor:
        """The differences of neighbours along ``axis``, ``n`` times: x[i + 1] − x[i]."""
    def digamma(self) -> Tensor:
        """The derivative Γ'(x) / Γ(x) of ``lgamma``; its own derivative is ``polygamma(1, x)``."""
    def dim(self) -> _int:
        """The number of axes."""
    def dist(self, other: Any, p: _float = 2) -> Tensor:
        """The p-norm of the difference of two tensors, over all elements."""
    def div(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """input / other, rounded if asked; the derivatives are 1 / y and −x / y², those of rounding 0."""
    def div_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x / other, of the same shape and element type; gives the tensor itself."""
    def divide(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """input / other, rounded if asked; the derivatives are 1 / y and −x / y², those of rounding 0."""
    def dot(self, other: Any) -> Tensor:
        """The sum over the last axis of ``input`` and the second to last of ``other``, as ``numpy.dot``."""
    def double(self) -> Tensor:
        """The tensor with the element type Float64."""
    def dsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along the third axis."""
    def eigvals(self) -> Tensor:
        """The eigenvalues of general matrices, as `eig` gives them."""
    def element_size(self) -> _int:
        """Bytes of one element."""
    def eq(self, other: Any) -> Tensor:
        """x = y. NaN equals nothing, not even itself."""
    def equal(self, other: Any) -> Tensor:
        """x = y. NaN equals nothing, not even itself."""
    def erf(self) -> Tensor:
        """The error function 2/√π ∫₀ˣ exp(−t²) dt; its derivative is 2/√π exp(−x²)."""
    def erfc(self) -> Tensor:
        """1 − erf(x), exact for large ``x``; its derivative is −2/√π exp(−x²)."""
    def erfinv(self) -> Tensor:
        """The inverse of ``erf``, ±inf at ±1 and NaN outside; its derivative is √π/2 exp(y²)."""
    def erfinv_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be erf⁻¹ x, of the same shape and element type; gives the tensor itself."""
    def exp(self) -> Tensor:
        """e to the power of ``x``; it is its own derivative."""
    def exp_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be exp x, of the same shape and element type; gives the tensor itself."""
    def expand(self, *size: Any) -> Tensor:
        """The tensor repeated to a shape; see `mindgrad.ops.broadcast_to`."""
    def expand_as(self, other: Any = ..., *, x: Any = ...) -> Tensor:
        """``self`` repeated to ``other`` by NumPy's rules."""
    def expand_dims(self, axis: _int) -> Tensor:
        """``input_x`` with an axis of size 1 inserted at ``axis``."""
    def expm1(self) -> Tensor:
        """eˣ − 1, exact for small ``x``; its derivative is eˣ."""
    def exponential_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be exponentially distributed numbers: ``exponential_(lambd=1, *, generator=None)``, of the same shape and element type; gives the tensor itself."""
    def fill(self, value: Any) -> Tensor:
        """A tensor of the same shape and element type, all of whose elements equal ``value``; ``None`` is NaN."""
    def fill_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be one number everywhere, of the same shape and element type; gives the tensor itself."""
    def fill_diagonal(self, fill_value: _float, wrap: _bool = False) -> Tensor:
        """A matrix with a number on its main diagonal."""
    def fill_diagonal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x with a number on its diagonal: :meth:`fill_diagonal`, of the same shape and element type; gives the tensor itself."""
    def fills(self, value: Any) -> Tensor:
        """A tensor of the same shape and element type, all of whose elements equal ``value``; ``None`` is NaN."""
    def flatten(self, *args: Any, order: str = 'C', start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """The axes from ``start_dim`` to ``end_dim`` made one; see `mindgrad.ops.flatten`."""
    def flip(self, *numbers: Any, **named: Any) -> Tensor:
        """The elements in opposite order along axes: ``x.flip(0, 1)`` or ``x.flip((0, 1))``."""
    def fliplr(self) -> Tensor:
        """`flip` along the second axis."""
    def flipud(self) -> Tensor:
        """`flip` along the first axis."""
    def float(self) -> Tensor:
        """The tensor with the element type Float32."""
    def float_power(self, exponent: Any = ..., *, other: Any = ...) -> Tensor:
        """input to the power of exponent, computed in Float64 (complex numbers in Complex128)."""
    def floor(self) -> Tensor:
        """The largest integer not above ``x``; its derivative is 0."""
    def floor_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x rounded down, of the same shape and element type; gives the tensor itself."""
    def floor_divide(self, other: Any) -> Tensor:
        """x / y rounded down, as Python's ``//``; its derivatives are 0."""
    def floor_divide_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x / other rounded down, of the same shape and element type; gives the tensor itself."""
    def flush_from_cache(self, *args: Any) -> None:
        """Accepted for compatibility: does nothing."""
    def fmax(self, other: Any) -> Tensor:
        """The greater of two elements; of a number and NaN, the number."""
    def fmin(self, other: Any) -> Tensor:
        """The smaller of two elements; of a number and NaN, the number."""
    def fmod(self, other: Any) -> Tensor:
        """x − y · trunc(x / y), as C's ``fmod``: with the sign of ``x``; derivatives 1 and −trunc(x / y)."""
    def fold(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        """Columns, as `unfold` gives them, added up to images: where windows overlap, their sum."""
    def frac(self) -> Tensor:
        """x − trunc x, the fraction with the sign of ``x``; its derivative is 1."""
    def gather(self, *args: Any, **named: Any) -> Tensor:
        """``x.gather(dim, index)`` or ``x.gather(input_indices, axis, batch_dims)``."""
    def gather_elements(self, dim: _int, index: Any) -> Tensor:
        """``y[i, j, …] = input[index[i, j, …], j, …]``, with the index in the place of axis ``dim``."""
    def gather_nd(self, indices: Any) -> Tensor:
        """The parts of ``input_x`` at ``indices``, whose last axis holds a place along its first k axes."""
    def ge(self, other: Any) -> Tensor:
        """x ≥ y; false where an element is NaN. Complex numbers have no order: a TypeError."""
    def ger(self, vec2: Any) -> Tensor:
        """The products of all elements of one vector with all of another: y_ij = a_i b_j."""
    def greater(self, other: Any) -> Tensor:
        """x > y; false where an element is NaN. Complex numbers have no order: a TypeError."""
    def greater_equal(self, other: Any) -> Tensor:
        """x ≥ y; false where an element is NaN. Complex numbers have no order: a TypeError."""
    def gt(self, other: Any) -> Tensor:
        """x > y; false where an element is NaN. Complex numbers have no order: a TypeError."""
    def half(self) -> Tensor:
        """The tensor with the element type Float16."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """x, but 0 where |x| ≤ λ."""
    def heaviside(self, values: Any) -> Tensor:
        """0 below 0, 1 above, and ``values`` at 0."""
    def histc(self, bins: _int = 100, min: Any = 0.0, max: Any = 0.0) -> Tensor:
        """The number of elements in each of ``bins`` intervals of one width from ``min`` to ``max``."""
    def hooks(self) -> list[Callable[[Tensor], Any]]:
        """The hooks that :meth:`register_hook` registered for this tensor, in the order in which they are called."""
    def hsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along the second axis, or along the only one."""
    def hypot(self, other: Any) -> Tensor:
        """√(x² + y²) without overflow; derivatives x / r and y / r, both 0 at the origin."""
    def igamma(self, other: Any) -> Tensor:
        """The regularised lower incomplete gamma function P(a, x) = 1/Γ(a) ∫₀ˣ tᵃ⁻¹ exp(−t) dt."""
    def igammac(self, other: Any) -> Tensor:
        """The regularised upper incomplete gamma function Q(a, x) = 1 − P(a, x), exact for large ``x``."""
    def imag(self) -> Tensor:
        """The imaginary part; that of a real tensor is 0."""
    def index(self, indices: Any) -> Tensor:
        """Select elements with one index tensor for each of the first axes: ``x[tuple(indices)]``."""
    def index_add(self, dim: _int = ..., index: Any = ..., source: Any = ..., *, alpha: Any = 1, axis: Any = ..., indices: Any = ..., y: Any = ...) -> Tensor:
        """The tensor with the parts of ``source``, ``alpha`` times, along ``dim`` added at ``index``."""
    def index_add_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x with parts added: :meth:`index_add`, of the same shape and element type; gives the tensor itself."""
    def index_fill(self, axis: _int, index: Any, value: Any) -> Tensor:
        """``x`` with ``value`` in the parts at ``index`` along ``axis``."""
    def index_fill_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be a number at places of an axis: :meth:`index_fill`, of the same shape and element type; gives the tensor itself."""
    def index_put(self, indices: Any, values: Any, accumulate: _bool = False) -> Tensor:
        """A tensor like this one with ``values`` written, or added, at ``indices``: one tensor for each axis."""
    def index_select(self, axis: _int = ..., index: Any = ..., *, dim: Any = ...) -> Tensor:
        """The parts of ``input`` at the places ``index``, one-dimensional, along ``axis``."""
    def init_data(self) -> Tensor:
        """The tensor itself."""
    def inner(self, other: Any) -> Tensor:
        """The sum over the last axis of both; a tensor without axes multiplies the other."""
    def inplace_update(self, v: Any, indices: Any) -> Tensor:
        """``x`` with the rows ``indices`` replaced by ``v``; ``x`` itself does not change."""
    def int(self) -> Tensor:
        """The tensor with the element type Int32."""
    def inv(self) -> Tensor:
        """1 / x; of integers the part in front of the point: ±1 of ±1, 0 of others, the least number of 0."""
    def inverse(self) -> Tensor:
        """The inverse of square matrices; the same as `matrix_inverse`."""
    def invert(self) -> Tensor:
        """The bits that are not set: −1 − x of signed integers."""
    def is_complex(self) -> _bool:
        """Whether the elements are complex numbers."""
    def is_contiguous(self) -> _bool:
        """Whether the elements lie in row-major order: always."""
    def is_floating_point(self) -> _bool:
        """Whether the elements are floating-point numbers."""
    def is_nonzero(self) -> Any:
        """Whether the one element of a tensor differs from 0: a bool, or in a compiled program a Bool tensor."""
    def is_signed(self) -> _bool:
        """Whether the elements can be negative."""
    def is_tensor(self) -> _bool:
        """Whether ``obj`` is a tensor."""
    def isclose(self, other: Any, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Whether |input − other| ≤ atol + rtol · |other|; equal infinities are close."""
    def isfinite(self) -> Tensor:
        """Whether each element is neither infinite nor NaN, as Bool."""
    def isin(self, test_elements: Any, *, invert: _bool = False) -> Tensor:
        """Whether each element equals one of ``test_elements``."""
    def isinf(self) -> Tensor:
        """Whether each element is inf or −inf, as Bool."""
    def isnan(self) -> Tensor:
        """Whether each element is NaN, as Bool."""
    def isneginf(self) -> Tensor:
        """Whether elements are −∞."""
    def isposinf(self) -> Tensor:
        """Whether elements are +∞."""
    def isreal(self) -> Tensor:
        """Whether elements have no imaginary part."""
    def itemset(self, *args: Any) -> Tensor:
        """A tensor like this one with one element replaced: ``x.itemset(index, value)``."""
    def ldexp(self, other: Any) -> Tensor:
        """x · 2^other."""
    def le(self, other: Any) -> Tensor:
        """x ≤ y; false where an element is NaN. Complex numbers have no order: a TypeError."""
    def lerp(self, end: Any, weight: Any) -> Tensor:
        """input + weight · (end − input): from ``input`` at weight 0 to ``end`` at weight 1."""
    def less(self, other: Any) -> Tensor:
        """x < y; false where an element is NaN. Complex numbers have no order: a TypeError."""
    def less_equal(self, other: Any) -> Tensor:
        """x ≤ y; false where an element is NaN. Complex numbers have no order: a TypeError."""
    def lgamma(self) -> Tensor:
        """log |Γ(x)|, the logarithm of the gamma function; its derivative is ``digamma``."""
    def log(self) -> Tensor:
        """The natural logarithm of ``x``, −inf at 0 and NaN below; its derivative is 1 / x."""
    def log10(self) -> Tensor:
        """The logarithm to base 10; its derivative is 1 / (x log 10)."""
    def log1p(self) -> Tensor:
        """log(1 + x), exact for small ``x``; derivative 1 / (1 + x)."""
    def log2(self) -> Tensor:
        """The logarithm to base 2; its derivative is 1 / (x log 2)."""
    def log_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be log x, of the same shape and element type; gives the tensor itself."""
    def log_matrix_determinant(self) -> tuple[Tensor, Tensor]:
        """The sign of the determinant and the logarithm of its absolute value."""
    def log_softmax(self, axis: Any = -1) -> Tensor:
        """x_i − log Σ_j exp(x_j) over ``axis``: the logarithm of softmax, exact for small shares."""
    def logaddexp(self, other: Any) -> Tensor:
        """log(eˣ + eʸ) without overflow; derivatives eˣ / (eˣ + eʸ) and eʸ / (eˣ + eʸ)."""
    def logaddexp2(self, y: Any = ..., *, other: Any = ...) -> Tensor:
        """log₂(2ˣ + 2ʸ) without overflow."""
    def logcumsumexp(self, axis: _int) -> Tensor:
        """The logarithm of the running sum of exponentials along ``axis``: log Σ_{j ≤ i} exp x_j."""
    def logdet(self) -> Tensor:
        """The logarithm of the determinant: NaN where that is negative, −inf where it is 0."""
    def logical_and(self, y: Any = ..., *, other: Any = ...) -> Tensor:
        """x and y; an element that is not 0 is true."""
    def logical_not(self) -> Tensor:
        """Not x; an element that is not 0 is true."""
    def logical_or(self, y: Any = ..., *, other: Any = ...) -> Tensor:
        """x or y; an element that is not 0 is true."""
    def logical_xor(self, y: Any = ..., *, other: Any = ...) -> Tensor:
        """Either x or y, not both; an element that is not 0 is true."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """log(x / (1 − x)), the inverse of ``sigmoid``; its derivative is 1 / (x (1 − x))."""
    def logsumexp(self, axis: Any = None, keep_dims: _bool = False, *, dim: Any = ..., keepdim: Any = ...) -> Tensor:
        """log Σ exp x over ``axis`` without overflow; its derivative is softmax."""
    def long(self) -> Tensor:
        """The tensor with the element type Int64."""
    def lt(self, other: Any) -> Tensor:
        """x < y; false where an element is NaN. Complex numbers have no order: a TypeError."""
    def masked_fill(self, mask: Any, value: Any) -> Tensor:
        """``input_x`` with ``value`` where ``mask`` holds."""
    def masked_fill_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be a number where a mask holds: :meth:`masked_fill`, of the same shape and element type; gives the tensor itself."""
    def masked_scatter(self, mask: Any, source: Any) -> Tensor:
        """``input`` with the first elements of ``source``, in order, where ``mask`` holds."""
    def masked_scatter_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be elements of another tensor where a mask holds: :meth:`masked_scatter`, of the same shape and element type; gives the tensor itself."""
    def masked_select(self, mask: Any) -> Tensor:
        """The elements of ``input`` where ``mask`` holds, as one axis."""
    def matmul(self, other: Any = ..., *, tensor2: Any = ...) -> Tensor:
        """The matrix product, as ``numpy.matmul``."""
    def matrix_determinant(self) -> Tensor:
        """The determinant; its derivative is the matrix of cofactors, at singular matrices too."""
    def matrix_power(self, n: _int) -> Tensor:
        """The product of ``n`` equal matrices; of their inverses for negative ``n``."""
    def max(self, axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = True, return_indices: _bool = False, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Any:
        """The largest element over ``axis``, or along one axis the largest elements and where they stand."""
    def maximum(self, other: Any) -> Tensor:
        """The greater of two elements, NaN if one is; where they are equal they share the derivative."""
    def mean(self, axis: Any = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """The mean of the elements over ``axis``; its derivative is 1 / n."""
    def median(self, axis: _int = -1, keepdims: _bool = False, *, dim: Any = ..., keepdim: Any = ...) -> tuple[Tensor, Tensor]:
        """The middle element along ``axis``, of an even number the lower one, and where it stands."""
    def min(self, axis: Any = None, keepdims: _bool = False, *, initial: Any = None, where: Any = True, return_indices: _bool = False, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Any:
        """The smallest element over ``axis``, or along one axis the smallest ones and where they stand."""
    def minimum(self, other: Any) -> Tensor:
        """The smaller of two elements, NaN if one is; where they are equal they share the derivative."""
    def mm(self, mat2: Any) -> Tensor:
        """The product of two matrices."""
    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """``x`` with the axes ``source`` moved to the places ``destination``, the others in their order."""
    def movedim(self, source: Any, destination: Any) -> Tensor:
        """`moveaxis` under its other name."""
    def msort(self) -> Tensor:
        """The elements of ``input`` in order along its first axis."""
    def mul(self, other: Any) -> Tensor:
        """x · y; its derivatives are y and x."""
    def mul_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x · other, of the same shape and element type; gives the tensor itself."""
    def multinomial(self, num_samples: _int, replacement: _bool = True, seed: _int | None = None) -> Tensor:
        """Numbers of categories, drawn with the probabilities ``input``."""
    def multiply(self, other: Any = ..., *, value: Any = ...) -> Tensor:
        """x · y; its derivatives are y and x."""
    def mv(self, vec: Any) -> Tensor:
        """The product of a matrix and a vector."""
    def mvlgamma(self, p: _int) -> Tensor:
        """The logarithm of the multivariate gamma function: p (p − 1)/4 log π + Σᵢ lgamma(x − i/2), i < p."""
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """``input`` with numbers in the place of NaN and infinities; the derivative is 0 there."""
    def nanmean(self, axis: Any = None, keepdims: _bool = False, *, dtype: Any = None) -> Tensor:
        """The mean of the elements that are numbers; NaN where there is none. Arguments as for `nansum`."""
    def nanmedian(self, axis: _int = -1, keepdims: _bool = False) -> tuple[Tensor, Tensor]:
        """The middle one of the elements that are numbers, of two the smaller, and where it stands."""
    def nanquantile(self, q: Any, axis: _int | None = None, keepdims: _bool = False) -> Tensor:
        """`quantile` of the elements that are numbers; NaN where there is none."""
    def nansum(self, axis: Any = None, keepdims: _bool = False, *, dtype: Any = None) -> Tensor:
        """The sum of the elements that are numbers; those that are NaN count as 0."""
    def narrow(self, axis: _int, start: _int, length: _int) -> Tensor:
        """``length`` elements of ``input`` from ``start`` on, along ``axis``."""
    def ndimension(self) -> _int:
        """The number of axes."""
    def ne(self, other: Any) -> Tensor:
        """x ≠ y."""
    def neg(self) -> Tensor:
        """−x; its derivative is −1."""
    def neg_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be −x, of the same shape and element type; gives the tensor itself."""
    def negative(self) -> Tensor:
        """−x; its derivative is −1."""
    def nelement(self) -> _int:
        """The number of elements."""
    def new_empty(self, size: Any, dtype: Any = None) -> Tensor:
        """Zeros of another shape and, unless ``dtype`` is given, the same element type."""
    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
        """One number in another shape and, unless ``dtype`` is given, the same element type."""
    def new_ones(self, size: Any, dtype: Any = None) -> Tensor:
        """Ones of another shape and, unless ``dtype`` is given, the same element type."""
    def new_tensor(self, data: Any, *, dtype: Any = None) -> Tensor:
        """Data as a tensor of, unless ``dtype`` is given, the same element type."""
    def new_zeros(self, size: Any, dtype: Any = None) -> Tensor:
        """Zeros of another shape and, unless ``dtype`` is given, the same element type."""
    def nonzero(self, *, as_tuple: _bool = False) -> Tensor:
        """The places of the elements that are not zero, as Int64."""
    def norm(self, ord: Any = None, dim: Any = None, keepdim: _bool = False, *, dtype: Any = None) -> Tensor:
        """The norm of vectors or matrices; its derivative at zero is 0, the subgradient of least norm."""
    def normal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be normal numbers: ``normal_(mean=0, std=1, *, generator=None)``, of the same shape and element type; gives the tensor itself."""
    def not_equal(self, other: Any) -> Tensor:
        """x ≠ y."""
    def numel(self) -> _int:
        """The number of elements."""
    def outer(self, vec2: Any) -> Tensor:
        """The products of all elements of one vector with all of another: y_ij = a_i b_j."""
    def permute(self, *axes: Any, dims: Any = None) -> Tensor:
        """The tensor with its axes in another order: ``x.permute(1, 0)`` or ``x.permute((1, 0))``."""
    def pinv(self, *, atol: _float | None = None, rtol: _float | None = None, hermitian: _bool = False) -> Tensor:
        """The pseudoinverse A⁺ (Moore–Penrose) of matrices, with the derivative at constant rank."""
    def positive(self) -> Tensor:
        """+x: ``x`` as it is."""
    def pow(self, exponent: Any) -> Tensor:
        """input to the power of exponent; its derivatives are n xⁿ⁻¹ and xⁿ log x."""
    def pow_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x to the power of other, of the same shape and element type; gives the tensor itself."""
    def prod(self, axis: Any = None, keepdims: _bool = False, dtype: Any = None, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """The product of the elements over ``axis``; the derivative is the product of the others."""
    def ptp(self, axis: Any = None, keepdims: _bool = False, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """The largest minus the smallest element over ``axis``."""
    def qr(self, mode: str = 'reduced') -> tuple[Tensor, Tensor]:
        """Q with orthonormal columns and R upper triangular, with Q R = A."""
    def quantile(self, q: Any, axis: _int | None = None, keepdims: _bool = False) -> Tensor:
        """The values below which a part ``q`` of the elements lies, interpolated linearly between neighbours."""
    def rad2deg(self) -> Tensor:
        """Radians as degrees: x · 180 / π."""
    def random_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be integers from ``from_`` to below ``to``: ``random_(from_=0, to=None, *, generator=None)``, of the same shape and element type; gives the tensor itself."""
    def random_categorical(self, num_sample: _int, seed: _int | None = 0, dtype: Any = ...) -> Tensor:
        """Numbers of categories, drawn with probabilities softmax(``logits``), row by row."""
    def ravel(self) -> Tensor:
        """All elements of ``input`` in row-major order as one axis."""
    def real(self) -> Tensor:
        """The real part; a real tensor is its own."""
    def reciprocal(self) -> Tensor:
        """1 / x; its derivative is −1 / x²."""
    def reciprocal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be 1 / x, of the same shape and element type; gives the tensor itself."""
    def register_hook(self, hook: Callable[[Tensor], Any]) -> HookHandle:
        """Call ``hook(gradient)`` whenever a gradient has been computed for this tensor."""
    def relu(self) -> Tensor:
        """max(x, 0); its derivative at 0 is 0."""
    def relu_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be max(x, 0), of the same shape and element type; gives the tensor itself."""
    def remainder(self, other: Any = ..., *, divisor: Any = ...) -> Tensor:
        """x − y · floor(x / y), as Python's ``%``: with the sign of ``y``; derivatives 1 and −floor(x / y)."""
    def remainder_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x − y · floor(x / y), of the same shape and element type; gives the tensor itself."""
    def renorm(self, p: _int, axis: _int, maxnorm: _float) -> Tensor:
        """The parts along ``axis``, those with a p-norm above ``maxnorm`` scaled down to it."""
    def repeat(self, *repeats: Any, axis: _int | None = None, **named: Any) -> Tensor:
        """The whole tensor repeated, with a number for each axis; with an ``axis`` each element."""
    def repeat_interleave(self, repeats: Any, axis: _int | None = None, *, output_size: Any = None, dim: Any = ...) -> Tensor:
        """Each element of ``self`` along ``axis`` repeated."""
    def reshape(self, *sizes: Any, shape: Any = None) -> Tensor:
        """The elements in another shape: ``x.reshape(2, -1)`` or ``x.reshape((2, -1))``."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of ``other``."""
    def resize(self, *new_shape: Any) -> Tensor:
        """The elements in another shape, cut off or continued with zeros."""
    def reverse(self, *dims: Any) -> Tensor:
        """The elements in opposite order along axes: ``x.flip(0, 1)`` or ``x.flip((0, 1))``."""
    def reverse_sequence(self, seq_lengths: Any, seq_dim: _int, batch_dim: _int = 0) -> Tensor:
        """Of each member of a batch the first elements along an axis in the opposite order."""
    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """``input`` with its elements moved on by ``shifts`` places, those at the end to the front."""
    def rot90(self, k: _int, dims: Any) -> Tensor:
        """``input`` turned ``k`` times by 90 degrees, from the first axis of ``dims`` towards the second."""
    def round(self, decimals: _int = 0) -> Tensor:
        """``input`` rounded to ``decimals`` places, of two equally near numbers to the even one."""
    def round_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x rounded, of the same shape and element type; gives the tensor itself."""
    def rsqrt(self) -> Tensor:
        """1 / √x; its derivative is −1 / (2 x √x)."""
    def scatter(self, axis: _int = ..., index: Any = ..., src: Any = None, *, value: Any = None, dim: Any = ...) -> Tensor:
        """The tensor with ``src``, or the number ``value``, at the places ``index`` along ``axis``."""
    def scatter_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x with elements written: :meth:`scatter`, of the same shape and element type; gives the tensor itself."""
    def scatter_add(self, *args: Any, **named: Any) -> Tensor:
        """``x.scatter_add(dim, index, src)`` or ``x.scatter_add(indices, updates)``."""
    def scatter_add_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x with elements added: :meth:`scatter_add`, of the same shape and element type; gives the tensor itself."""
    def scatter_div(self, indices: Any, updates: Any) -> Tensor:
        """``input_x`` divided by ``updates`` at ``indices``; as `tensor_scatter_mul`."""
    def scatter_max(self, indices: Any, updates: Any) -> Tensor:
        """The greater one of ``input_x`` and ``updates`` at ``indices``; as `tensor_scatter_mul`."""
    def scatter_min(self, indices: Any, updates: Any) -> Tensor:
        """The smaller one of ``input_x`` and ``updates`` at ``indices``; as `tensor_scatter_mul`."""
    def scatter_mul(self, indices: Any, updates: Any) -> Tensor:
        """``input_x`` multiplied by ``updates`` at ``indices``."""
    def scatter_sub(self, indices: Any, updates: Any) -> Tensor:
        """``input_x`` with ``updates`` subtracted at ``indices``; as `tensor_scatter_update`."""
    def searchsorted(self, v: Any, side: str = 'left', sorter: Any = None) -> Tensor:
        """Insertion points of values in this sorted tensor, as Int32; see `mindgrad.ops.searchsorted`."""
    def select(self, condition: Any = ..., other: Any = ..., *, dim: Any = ..., index: Any = ..., y: Any = ...) -> Tensor:
        """``x.select(condition, other)``: elements of ``x`` where the condition holds, else of ``other``."""
    def select_scatter(self, src: Any, axis: _int, index: _int) -> Tensor:
        """``input`` with ``src`` in the part at ``index`` along ``axis``."""
    def set_const_arg(self, const_arg: _bool = True) -> Tensor:
        """Let compiled functions take the tensor as a constant, or as data; gives the tensor itself."""
    def sgn(self) -> Tensor:
        """x / |x|, 0 at 0: the sign of real numbers, the direction of complex ones."""
    def short(self) -> Tensor:
        """The tensor with the element type Int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(−x)) without overflow; derivative y (1 − y)."""
    def sigmoid_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be 1 / (1 + exp(−x)), of the same shape and element type; gives the tensor itself."""
    def sign(self) -> Tensor:
        """−1, 0 or 1 as ``x`` is below, at or above 0; derivative 0."""
    def sign_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be the sign of x, of the same shape and element type; gives the tensor itself."""
    def signbit(self) -> Tensor:
        """Whether numbers are negative, −0.0 among them."""
    def sin(self) -> Tensor:
        """The sine of ``x`` in radians; its derivative is cos x."""
    def sin_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be sin x, of the same shape and element type; gives the tensor itself."""
    def sinc(self) -> Tensor:
        """sin(π x) / (π x), and 1 at 0."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine of ``x``; its derivative is cosh x."""
    def slice_scatter(self, src: Any, axis: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """``input`` with ``src`` in ``input[start:end:step]`` along ``axis``."""
    def slogdet(self) -> tuple[Tensor, Tensor]:
        """The sign of the determinant and the logarithm of its absolute value."""
    def soft_shrink(self, lambd: _float = 0.5) -> Tensor:
        """x − λ above λ, x + λ below −λ, and 0 between them."""
    def softmax(self, axis: Any = -1, *, dtype: Any = None) -> Tensor:
        """exp(x_i) / Σ_j exp(x_j) over ``axis``, without overflow."""
    def sort(self, axis: _int = -1, descending: _bool = False, *, stable: _bool = True, dim: Any = ...) -> tuple[Tensor, Tensor]:
        """The elements in order, and where they stood; see `mindgrad.ops.sort`."""
    def split(self, split_size_or_sections: Any = ..., axis: _int = 0, *, dim: Any = ..., split_size: Any = ...) -> tuple[Tensor, ...]:
        """``tensor`` cut into parts along ``axis``."""
    def sqrt(self) -> Tensor:
        """The square root of ``x``, NaN below 0; its derivative is 1 / (2 √x), infinite at 0."""
    def sqrt_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be √x, of the same shape and element type; gives the tensor itself."""
    def square(self, *, x: Any = ...) -> Tensor:
        """x · x; its derivative is 2 x."""
    def square_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x², of the same shape and element type; gives the tensor itself."""
    def squeeze(self, axis: Any = None) -> Tensor:
        """``input`` without its axes of size 1, or without those of them that ``axis`` names."""
    def std(self, axis: Any = None, ddof: Any = 0, keepdims: _bool = False, *, correction: Any = ..., dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """The standard deviation, the root of the variance, over ``axis``."""
    def storage_offset(self) -> _int:
        """The place of the first element in the memory of the tensor: 0, no tensor is a part of another's memory."""
    def stride(self, dim: _int | None = None) -> list[_int] | _int:
        """The distance of neighbours along each axis in row-major order, in elements; along one with ``dim``."""
    def sub(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """input − alpha · other; see `sub`."""
    def sub_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be x − alpha · other, of the same shape and element type; gives the tensor itself."""
    def subtract(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """input − alpha · other; see `sub`."""
    def sum(self, axis: Any = None, dtype: Any = None, keepdims: _bool = False, initial: Any = None, *, dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """The sum over ``axis``; see `mindgrad.ops.sum`."""
    def sum_to_size(self, *size: Any) -> Tensor:
        """The sum over the axes along which a tensor of shape ``size`` would be broadcast to this one's shape."""
    def svd(self, full_matrices: _bool = False, compute_uv: _bool = True) -> Any:
        """The singular values s and the orthonormal U, V with A = U diag(s) Vᴴ."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """``input`` with two of its axes exchanged."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """`swapaxes` under its other name."""
    def t(self) -> Tensor:
        """The transpose of a matrix; a vector is its own."""
    def take(self, indices: Any, axis: _int | None = None, mode: str = 'clip') -> Tensor:
        """Elements along an axis, or of the flattened tensor."""
    def tan(self) -> Tensor:
        """The tangent of ``x`` in radians; its derivative is 1 + tan² x."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent of ``x``; derivative 1 − tanh² x."""
    def tanh_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be tanh x, of the same shape and element type; gives the tensor itself."""
    def tensor_split(self, indices_or_sections: Any, axis: _int = 0) -> tuple[Tensor, ...]:
        """``input`` cut into ``indices_or_sections`` parts, or before the places in it."""
    def tile(self, *numbers: Any, **named: Any) -> Tensor:
        """The tensor repeated along axes: ``x.tile(2, 1)`` or ``x.tile((2, 1))``."""
    def to(self, dtype: Any) -> Tensor:
        """The tensor with another element type."""
    def to_tensor(self) -> Tensor:
        """The tensor itself."""
    def top_k(self, k: _int, dim: _int | None = None, largest: _bool = True, sorted: _bool = True) -> tuple[Tensor, Tensor]:
        """The ``k`` largest elements of ``input`` along an axis, in order, and where they stood (Int32)."""
    def topk(self, k: _int, dim: _int | None = None, largest: _bool = True, sorted: _bool = True) -> tuple[Tensor, Tensor]:
        """The ``k`` largest elements of ``input`` along an axis, in order, and where they stood (Int32)."""
    def trace(self, offset: _int = 0, axis1: _int = 0, axis2: _int = 1, dtype: Any = None) -> Tensor:
        """The sum of a diagonal, of integers as Int64; see `mindgrad.ops.trace`."""
    def transpose(self, *axes: Any, **dims: Any) -> Tensor:
        """The tensor with two axes exchanged, or with all in another order, by default the opposite one."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The matrices in the last two axes of ``input`` with zeros above a diagonal."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The matrices in the last two axes of ``input`` with zeros below a diagonal; as `tril`."""
    def true_divide(self, other: Any = ..., *, divisor: Any = ...) -> Tensor:
        """x / y; its derivatives are 1 / y and −x / y²."""
    def trunc(self) -> Tensor:
        """``x`` without its fraction; its derivative is 0."""
    def type_as(self, other: Tensor) -> Tensor:
        """The tensor with the element type of ``other``."""
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """`unstack` under its other name."""
    def unfold(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        """The windows of images as columns: each holds the elements of one window, channel by channel."""
    def uniform_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be uniform numbers: ``uniform_(from_=0, to=1, *, generator=None)``, of the same shape and element type; gives the tensor itself."""
    def unique(self, sorted: _bool | None = None, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The different elements; without arguments as `mindgrad.ops.unique`, in order of appearance."""
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The elements without those that equal their predecessor (eager only: the shape depends on values)."""
    def unique_with_pad(self, pad_num: Any) -> tuple[Tensor, Tensor]:
        """The different elements as they first occur, then ``pad_num`` up to the length of ``x``."""
    def unsorted_segment_max(self, segment_ids: Any, num_segments: _int) -> Tensor:
        """The largest ones of the parts of one segment; a segment without parts is the least number there is."""
    def unsorted_segment_min(self, segment_ids: Any, num_segments: _int) -> Tensor:
        """The smallest ones of the parts of one segment; a segment without parts is the largest number there is."""
    def unsorted_segment_prod(self, segment_ids: Any, num_segments: _int) -> Tensor:
        """The products of the parts of one segment; a segment without parts is 1."""
    def unsorted_segment_sum(self, segment_ids: Any, num_segments: _int) -> Tensor:
        """The sums of the parts of ``input_x`` that have one segment's number: Σ of x[i] with ids[i] = s."""
    def unsqueeze(self, dim: _int) -> Tensor:
        """`expand_dims` under its other name."""
    def value(self) -> Tensor:
        """The tensor itself."""
    def var(self, axis: Any = None, ddof: Any = 0, keepdims: _bool = False, *, correction: Any = ..., dim: Any = ..., keep_dims: Any = ..., keepdim: Any = ...) -> Tensor:
        """The variance Σ (x − mean)² / (n − ddof) over ``axis``; its derivative is 2 (x − mean) / (n − ddof)."""
    def vecdot(self, y: Any, axis: _int = -1) -> Tensor:
        """The sum of conj(x) · y along one axis."""
    def view(self, *sizes: Any, shape: Any = None) -> Tensor:
        """The elements in another shape, or their bytes as those of another element type."""
    def view_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of ``other``."""
    def view_as_real(self) -> Tensor:
        """Complex numbers as pairs of real ones, along a new last axis."""
    def vsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along the first axis."""
    def where(self, condition: Any, y: Any = ..., *, other: Any = ...) -> Tensor:
        """`select` under NumPy's name."""
    def xdivy(self, y: Any) -> Tensor:
        """x / y, and 0 where ``x`` is 0 and ``y`` is 0 or NaN; the derivatives are 0 there too."""
    def xlogy(self, other: Any) -> Tensor:
        """x · log y, and 0 where ``x`` is 0; its derivatives are log y and x / y."""
    def zero_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Let this tensor be zero everywhere, of the same shape and element type; gives the tensor itself."""
    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any]) -> Tensor: ...
