"""Types of the rules of primitives, for type checkers. No module imports them when it runs.

An operator has operands, which are passed by position, and parameters, which are passed by keyword. The rules
of one operator share these parameters, but operators differ in them. A protocol below therefore names the
arguments that all rules of its kind have, and ``P`` stands for the operands or parameters of one operator.
Type checkers compare the first ones, and accept any operands and parameters in the place of ``P``.

``T`` is a tangent that a rule receives: an atom in rules of operators with one operand, because such a rule
is called only if the tangent is not zero; otherwise an atom, or ``None`` for zero.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from types import ModuleType
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np

from mindgrad.core.base.refusal import SourceLocation
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.primitive import Primitive

P = ParamSpec("P")
Tr = TypeVar("Tr")
T = TypeVar("T", contravariant=True)
Y = TypeVar("Y", contravariant=True)
R = TypeVar("R", covariant=True)

#: an array of NumPy, of any element type
Array: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]  # type: ignore[explicit-any]  # NumPy's default
#: an element type of NumPy
NumpyType: TypeAlias = np.dtype[Any]  # type: ignore[explicit-any]  # NumPy's default
#: one element of an array of NumPy
Element: TypeAlias = "np.generic[Any]"  # type: ignore[explicit-any]  # NumPy's default
#: what an operator of Python accepts beside an atom
Operand: TypeAlias = "Atom | complex | Array | Element"
#: line of the user's code to which an operator is attributed; ``None`` if it is not known
Source: TypeAlias = tuple[str, int] | SourceLocation | None
#: a tangent or cotangent; ``None`` is zero
Tangent: TypeAlias = Atom | None
#: a partial derivative: factors of a product, or ``None`` for an operand without derivative
Partial: TypeAlias = "Atom | complex | tuple[Atom | complex, ...] | None"
#: a computation that requests Taylor coefficients ``(atom, k)``, and receives them
Steps: TypeAlias = "Generator[tuple[Atom, int], Tangent, Tangent]"
#: a value that Python code passes or returns: a tensor, a number, or a container of them
Tree: TypeAlias = object
#: a parameter of an operator: its type differs between operators
Parameter: TypeAlias = Any  # type: ignore[explicit-any]  # each type rule declares the types
#: the parameters of an operator, by name
Parameters: TypeAlias = "dict[str, Parameter]"

#: what an operator returns: an atom (an array, a tensor), or a tuple of them if the primitive is ``multiple``
Results: TypeAlias = Any  # type: ignore[explicit-any]  # a field of the primitive says at run time which

#: an element as a number of Python
Scalar: TypeAlias = Any  # type: ignore[explicit-any]  # its type follows from the element type
#: what a tensor stores: an array of NumPy or of a device, a ``PendingArray``, or ``None``
Stored: TypeAlias = Any  # type: ignore[explicit-any]  # comparisons of exact types choose between them

#: ``transform(builder, xs, ys, extras)`` emits a derivative into ``builder`` and returns its results
Transform: TypeAlias = (
    "Callable[[Builder, Sequence[Atom], Sequence[Atom], Sequence[Tangent]], Sequence[Atom]]"
)
#: another way to do it, which returns ``None`` if it cannot
Shortcut: TypeAlias = (
    "Callable[[Builder, Sequence[Atom], Sequence[Atom], Sequence[Tangent]], Sequence[Atom] | None]"
)
#: ``runner(primitive, arrays, parameters)`` runs a kernel
KernelRunner: TypeAlias = "Callable[[Primitive, Sequence[Stored], Parameters], Results]"
#: ``check(primitive, arrays, results, parameters)`` checks the results of a kernel
KernelCheck: TypeAlias = "Callable[[Primitive, Sequence[Stored], Results, Parameters], None]"


class JaxArray(Protocol):
    """An array of jax while a function is lowered. Kernels use these of its members."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> NumpyType: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def at(self) -> JaxArray: ...
    @property
    def real(self) -> JaxArray: ...
    @property
    def imag(self) -> JaxArray: ...

    # their results are arrays of jax, and ``Callable`` alone does not say so
    __add__: Callable
    __radd__: Callable
    __sub__: Callable
    __rsub__: Callable
    __mul__: Callable
    __rmul__: Callable
    __truediv__: Callable
    __rtruediv__: Callable
    __floordiv__: Callable
    __mod__: Callable
    __pow__: Callable
    __matmul__: Callable
    __neg__: Callable
    __invert__: Callable
    __and__: Callable
    __or__: Callable
    __xor__: Callable
    __lshift__: Callable
    __rshift__: Callable
    __lt__: Callable
    __le__: Callable
    __gt__: Callable
    __ge__: Callable
    __getitem__: Callable
    astype: Callable
    reshape: Callable
    sum: Callable
    max: Callable
    min: Callable
    all: Callable
    any: Callable
    conj: Callable
    clip: Callable
    __eq__: Callable  # type: ignore[assignment]  # an array of Booleans
    swapaxes: Callable
    transpose: Callable
    set: Callable
    add: Callable


#: an array in a kernel that is written once, for NumPy and for jax
AnyArray: TypeAlias = "Array | JaxArray"


class Kernel(Protocol[P, R]):
    """``numpy(*arrays, **parameters)`` computes the results with NumPy."""

    def __call__(self, *arrays: P.args, **parameters: P.kwargs) -> R: ...


class XlaKernel(Protocol[P, R]):
    """``xla(jax, *arrays, **parameters)`` computes the results with jax."""

    def __call__(self, jax: ModuleType, /, *arrays: P.args, **parameters: P.kwargs) -> R: ...


class TypeRule(Protocol[P, R]):
    """``type_rule(*types, **parameters)`` returns the type of the result, or one type for each result."""

    def __call__(self, *types: P.args, **parameters: P.kwargs) -> R: ...


class Jvp(Protocol[Y, T, P, R]):
    """``jvp(y, xs, ts, **parameters)`` returns the tangents of the results."""

    def __call__(
        self, y: Y, xs: Sequence[Atom], ts: Sequence[T], /, *args: P.args, **parameters: P.kwargs
    ) -> R: ...


class JvpWithValues(Protocol[T, P, R]):
    """``jvp_with_values(xs, ts, **parameters)`` returns the results and their tangents."""

    def __call__(
        self, xs: Sequence[Atom], ts: Sequence[T], /, *args: P.args, **parameters: P.kwargs
    ) -> R: ...


class Transpose(Protocol[Y, P, R]):
    """``transpose(ct, *xs, **parameters)`` returns a cotangent for each operand."""

    def __call__(self, ct: Y, /, *xs: P.args, **parameters: P.kwargs) -> R: ...


class Partials(Protocol[Y, P, R]):
    """``partials(y, *xs, **parameters)`` returns a partial derivative for each operand."""

    def __call__(self, y: Y, /, *xs: P.args, **parameters: P.kwargs) -> R: ...


class Batch(Protocol[P, R]):
    """``batch(size, xs, axes, **parameters)`` returns the results, and their batch axes."""

    def __call__(
        self,
        size: int,
        xs: Sequence[Atom],
        axes: Sequence[int | None],
        /,
        *args: P.args,
        **parameters: P.kwargs,
    ) -> R: ...


class Rule(Protocol[P, R]):
    """Any other rule, called with operands and parameters of the operator."""

    def __call__(self, *args: P.args, **parameters: P.kwargs) -> R: ...
