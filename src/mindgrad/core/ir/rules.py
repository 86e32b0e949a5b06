"""Types of atoms, arrays, and rules, for type checkers.

The rules of an operator accept its operands by position and its static parameters by keyword. Both differ
between operators. A protocol of this module therefore names only the arguments that all rules of one kind
have. The parameter specification ``P`` represents the operands and static parameters of one operator.

``T`` is the type of the tangents that a rule receives. It is ``Atom`` in rules of operators with one operand,
which are called only if its tangent is not zero. In other rules, it is ``Tangent``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from types import ModuleType

    import numpy as np

    from mindgrad.core.base.refusal import SourceLocation
    from mindgrad.core.ir.build import Builder
    from mindgrad.core.ir.graph import Atom, Variable

P = ParamSpec("P")
T = TypeVar("T", contravariant=True)
Y = TypeVar("Y", contravariant=True)
R = TypeVar("R", covariant=True)

#: a NumPy array of any dtype. In XLA kernels, it is an array of ``jax`` with the members that kernels use
Array: TypeAlias = "np.ndarray[tuple[Any, ...], np.dtype[Any]]"  # type: ignore[explicit-any]  # NumPy's default
#: a module that a kernel receives: ``jax``, or an array namespace such as ``jax.numpy``
Module: TypeAlias = "ModuleType"
#: a NumPy dtype
NumpyType: TypeAlias = "np.dtype[Any]"  # type: ignore[explicit-any]  # NumPy's default
#: a NumPy scalar
Element: TypeAlias = "np.generic[Any]"  # type: ignore[explicit-any]  # NumPy's default
#: the other operand of a Python operator on an atom
Operand: TypeAlias = "Atom | complex | Array | Element"
#: source line of an operator; ``None`` if it is not known
Source: TypeAlias = "tuple[str, int] | SourceLocation | None"
#: a tangent or cotangent; ``None`` means zero
Tangent: TypeAlias = "Atom | None"
#: operands or results of an equation
Atoms: TypeAlias = "Sequence[Atom]"
#: tangents or cotangents of several values
Tangents: TypeAlias = "Sequence[Tangent]"
#: for each operand its batch axis, or ``None``
BatchAxes: TypeAlias = "Sequence[int | None]"
#: a partial derivative: a number, factors of a product, or ``None`` for an operand without derivative
Partial: TypeAlias = "Atom | complex | tuple[Atom | complex, ...] | None"
#: a computation that requests Taylor coefficients ``(atom, k)`` and receives them
Steps: TypeAlias = "Generator[tuple[Atom, int], Tangent, Tangent]"
#: a value of user code: a tensor, a number, or a container of them
Tree: TypeAlias = object
#: a static parameter of an operator
Static: TypeAlias = Any  # type: ignore[explicit-any]  # the type depends on the parameter
#: the static parameters of an operator, by name
Statics: TypeAlias = "dict[str, Static]"
#: the result of an operator: an atom, array, or tensor; a tuple of them if the primitive is ``multiple``
Results: TypeAlias = Any  # type: ignore[explicit-any]  # the type depends on the primitive
#: an array element as a Python number
Scalar: TypeAlias = Any  # type: ignore[explicit-any]  # the type depends on the dtype
#: the content of a tensor: an array of NumPy or of a device, a ``PendingArray``, or ``None``
Stored: TypeAlias = Any  # type: ignore[explicit-any]  # the type is checked when it matters
#: a propagation of sparsity patterns, and a sparsity pattern (``sparse.sparsity``)
Propagation: TypeAlias = Any  # type: ignore[explicit-any]  # ``core.ir`` does not import the package
Pattern: TypeAlias = Any  # type: ignore[explicit-any]  # ``core.ir`` does not import the package
#: ``transform(builder, xs, ys, extras)`` emits a derivative into ``builder`` and returns its results
Transform: TypeAlias = (
    "Callable[[Builder, Sequence[Variable], Sequence[Atom], Sequence[Tangent]], Sequence[Atom]]"
)
#: a cheaper transform that returns ``None`` if it does not apply
Shortcut: TypeAlias = (
    "Callable[[Builder, Sequence[Variable], Sequence[Atom], Sequence[Tangent]], Sequence[Atom] | None]"
)


class Rule(Protocol[P, R]):
    """A rule of an operator: a function of the operands and static parameters."""

    def __call__(self, *args: P.args, **parameters: P.kwargs) -> R: ...


#: ``numpy(*arrays, **parameters)`` computes the results with NumPy
Kernel: TypeAlias = Rule
#: ``type_rule(*types, **parameters)`` returns the types of the results
TypeRule: TypeAlias = Rule
#: ``jvp_with_values(xs, ts, **parameters)`` returns the results and their tangents
JvpWithValues: TypeAlias = Rule
#: ``batch(size, xs, axes, **parameters)`` returns the results and their batch axes
Batch: TypeAlias = Rule


class XlaKernel(Protocol[P, R]):
    """Rule that computes the results with XLA: ``xla(jax, *arrays, **parameters)``."""

    def __call__(self, jax: Module, /, *arrays: P.args, **parameters: P.kwargs) -> R: ...


class Jvp(Protocol[Y, T, P, R]):
    """Rule that returns the tangents of the results: ``jvp(y, xs, ts, **parameters)``."""

    def __call__(self, y: Y, xs: Atoms, ts: Sequence[T], /, *args: P.args, **parameters: P.kwargs) -> R: ...


class Transpose(Protocol[Y, P, R]):
    """Rule ``transpose(ct, *xs, **parameters)``: one cotangent for each operand."""

    def __call__(self, ct: Y, /, *xs: P.args, **parameters: P.kwargs) -> R: ...


#: ``partials(y, *xs, **parameters)`` returns the partial derivative of each operand
Partials: TypeAlias = Transpose
