"""Intermediate representation: a first-order, typed, immutable list of equations.

    graph     ::=  inputs; equation*; outputs
    equation  ::=  variable+ = primitive[parameters](atom*)
    atom      ::=  variable | constant

Every variable is defined once. Atoms have Python's arithmetic operators, so that a derivative rule reads like
a formula. Each arithmetic operator emits an equation into the builder of this thread (see ``ir.build``).

An atom has *marks* (``Atom.tainted``, a bit mask). A mark states that elements of the value can be infinite,
or that some of its zeros discard the other factor of a product. In a derivative, the product of a zero and an
infinite value is NaN, unless the zero discards the infinite value (``primitives.exact_zeros``).
"""

from __future__ import annotations

import cmath
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final

import numpy as np

from mindgrad.core.base.location import Line
from mindgrad.core.ir.memo import interned, memoized
from mindgrad.core.ir.rules import Array, Atoms, Operand, Rule, Statics
from mindgrad.core.ir.types import TensorType, type_of

if TYPE_CHECKING:
    from mindgrad.core.ir.dtype import DType
    from mindgrad.core.ir.primitive import Primitive

__all__ = [
    "ABSORBING", "APPLY", "CUT", "DISCARDS", "INFINITE", "INHERITED", "MASKED", "STEADY", "UNIFORM",
    "Atom", "Constant", "DerivativeOf", "Equation", "Graph", "Variable", "all_equations", "calls_back",
    "derivative_of", "is_all", "is_finite", "made_with", "silent", "without_effects",
]  # fmt: skip

Result = TypeVar("Result")

#: mark of a value: an element can be infinite or NaN
INFINITE = 1
#: mark of a value: some elements are zero because a selection, such as ``where``, discarded them. The product
#: of such a zero and an infinite value is zero instead of NaN
MASKED = 2
#: mark of a cotangent: some elements are zero because a slice or lookup did not read them. The product of
#: such a zero and a value with the mark ``INFINITE`` is zero instead of NaN
CUT = 4
#: mark of a cotangent: the product of one of its zeros and any value is zero, even if the value does not have
#: the mark ``INFINITE`` (``primitives.exact_zeros.discarding``)
DISCARDS = 32
#: mark of an input: in every run, all its elements are equal. Results do not inherit this mark
UNIFORM = 8
#: mark of a residual: it does not depend on the inputs of the derivative. Results do not inherit this mark
STEADY = 16
#: marks that results inherit from their operands
INHERITED = INFINITE | MASKED | CUT | DISCARDS
#: marks of factors: a product with such a factor can contain zero times infinity, which must be zero
ABSORBING = INFINITE | MASKED | DISCARDS

_NO_GRAPHS: Mapping[str, Graph] = {}
_SMALL = 64  # constants with at most this many elements are compared by value


def is_finite(array: Array) -> bool:
    """Return whether all elements of a NumPy array are finite."""
    if array.dtype.kind not in "fcV":  # NumPy assigns kind "V" to dtypes of extensions, such as bfloat16
        return True
    if array.ndim == 0:
        return cmath.isfinite(array.item())
    if array.dtype.char in "fd" and array.flags.c_contiguous and isfinite(np.vdot(array, array)):
        return True  # 2× faster than the next line, which is also correct if the sum of squares overflows
    return bool(np.logical_and.reduce(np.isfinite(array), axis=None))


#: functions that apply Python's operators to atoms. ``primitives.arithmetic`` fills this table
APPLY: dict[str, Rule] = {}


class _Arithmetic:
    """Base class of variables and constants, with Python's arithmetic operators."""

    __slots__ = ()
    __array_ufunc__ = (
        None  # NumPy's operators defer to the operators below, and its functions raise TypeError
    )
    type: TensorType

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.type.shape

    @property
    def dtype(self) -> DType:
        """The element type of the value."""
        return self.type.dtype

    def __add__(self, other: Operand) -> Atom:
        return APPLY["add"](self, other)

    def __radd__(self, other: Operand) -> Atom:
        return APPLY["add"](other, self)

    def __sub__(self, other: Operand) -> Atom:
        return APPLY["sub"](self, other)

    def __rsub__(self, other: Operand) -> Atom:
        return APPLY["sub"](other, self)

    def __mul__(self, other: Operand) -> Atom:
        return APPLY["mul"](self, other)

    def __rmul__(self, other: Operand) -> Atom:
        return APPLY["mul"](other, self)

    def __truediv__(self, other: Operand) -> Atom:
        return APPLY["div"](self, other)

    def __rtruediv__(self, other: Operand) -> Atom:
        return APPLY["div"](other, self)

    def __pow__(self, other: Operand) -> Atom:
        return APPLY["pow"](self, other)

    def __neg__(self) -> Atom:
        return APPLY["neg"](self)

    def __lt__(self, other: Operand) -> Atom:
        return APPLY["less"](self, other)

    def __le__(self, other: Operand) -> Atom:
        return APPLY["less_equal"](self, other)

    def __gt__(self, other: Operand) -> Atom:
        return APPLY["greater"](self, other)

    def __ge__(self, other: Operand) -> Atom:
        return APPLY["greater_equal"](self, other)


@final
class Variable(_Arithmetic):
    """A value that an equation defines, or an input of a graph.

    Attributes:
        linear: whether the value depends on a tangent. The builder stores linear equations separately.
        tainted: bit mask of marks, such as ``INFINITE``.
        made_by: the equation that defines the variable, or ``None`` for an input.
    """

    __slots__ = ("linear", "made_by", "tainted", "type")

    def __init__(self, type: TensorType, linear: bool = False, tainted: int = 0) -> None:
        self.type = type
        self.linear = linear
        self.tainted = tainted
        self.made_by: Equation | None = None

    def __repr__(self) -> str:
        return f"<variable {self.type}>"


@final
class Constant(_Arithmetic):
    """A value known when the graph is built.

    A *splat* is a constant whose elements are all equal. Only one element is stored, together with the full
    type, so that zeros and ones in derivatives need no memory.
    """

    __slots__ = ("_tainted", "is_splat", "key", "marks", "type", "value")
    linear = False

    def __init__(self, value: Array, type: TensorType | None = None) -> None:
        self.value = np.asarray(value)
        self.type = type_of(self.value) if type is None else type
        self.is_splat = self.value.ndim == 0
        self._tainted: bool | None = None
        self.marks = 0  #: marks of the cotangents that constant folding combined into this constant
        small = self.value.size <= _SMALL
        if small:
            self.key: tuple = (self.type, self.value.shape, self.value.tobytes())
        else:  # large constants are equal only if they are the same memory, so that no elements are compared
            memory = self.value.__array_interface__["data"][0]
            self.key = (self.type, memory, self.value.strides)

    @property
    def tainted(self) -> int:  # type: ignore[override]
        """The constant's marks, with ``INFINITE`` if an element is infinite or NaN."""
        if self._tainted is None:
            self._tainted = not is_finite(self.value)
        return self._tainted | self.marks

    def array(self) -> Array:
        """Return the value in its full shape; for a splat, this is a read-only view."""
        return np.broadcast_to(self.value, self.type.shape)

    def smallest(self) -> Array:
        """Return the value with size 1 along each axis on which all elements are repeated."""
        value = self.value
        index = tuple([slice(None) if step else slice(0, 1) for step in value.strides])
        return np.ascontiguousarray(value[index]) if value.size else value

    def __repr__(self) -> str:
        return f"<constant {self.type} {self.value if self.is_splat else '…'}>"


#: a value in a graph
Atom: TypeAlias = Variable | Constant


def is_all(atom: Atom, number: complex) -> bool:
    """Return whether ``atom`` is a constant splat whose elements equal ``number``."""
    return type(atom) is Constant and atom.is_splat and bool(atom.value == number)


class DerivativeOf(tuple):
    """Source line ``(file, line)`` of an equation that a derivative rule has emitted.

    The line is the source of the differentiated equation.

    Attributes:
        cell, layer: names of the module and the layer to which the line belongs, or ``""`` (:class:`Line`).
    """

    cell: str = ""
    layer: str = ""


def made_with(atom: Atom, name: str) -> Equation | None:
    """Return the equation that computes ``atom`` if it applies the primitive ``name``."""
    made_by: Equation | None = getattr(atom, "made_by", None)
    return made_by if made_by is not None and made_by.primitive.name == name else None


def derivative_of(source: tuple[str, int] | None) -> tuple[str, int] | None:
    """Convert an equation's source line to the source line of its derivative."""
    if source is None:
        return None
    derived = DerivativeOf(source)
    if isinstance(source, (Line, DerivativeOf)):
        derived.cell, derived.layer = source.cell, source.layer
    return derived


class Equation:
    """Application of a primitive: ``outputs = primitive[parameters](inputs)``."""

    __slots__ = (
        "graphs", "has_effect", "inputs", "is_unique", "outputs", "parameters", "primitive", "source",
    )  # fmt: skip

    def __init__(
        self,
        primitive: Primitive,
        inputs: tuple[Atom, ...],
        parameters: Statics,
        outputs: tuple[Variable, ...],
        source: tuple[str, int] | None = None,
    ) -> None:
        self.primitive = primitive
        self.inputs = inputs
        self.parameters = parameters
        self.outputs = outputs
        self.source = source
        #: whether the equation has a side effect, so that it must not be eliminated
        self.has_effect = primitive.effects.observable
        #: Whether value numbering must not merge this equation with an equal equation. True if the field
        #: ``unique`` is set for its primitive, or for a primitive in its inner graphs
        self.is_unique = primitive.effects.unique
        #: maps parameter names to graphs, for all parameters that are graphs, such as a loop body
        self.graphs: Mapping[str, Graph] = _NO_GRAPHS
        if primitive.kind == "control":
            self.graphs = {name: value for name, value in parameters.items() if isinstance(value, Graph)}
            graphs = self.graphs.values()
            self.has_effect |= primitive.inner.run and any(graph.has_effect for graph in graphs)
            self.is_unique |= any(graph.is_unique for graph in graphs)

    @property
    def is_only_effect(self) -> bool:
        """Whether the equation has a side effect but no outputs, as for printing."""
        return self.has_effect and not self.outputs


class Graph:
    """A closed function: ``equations`` compute ``outputs`` from ``inputs`` in order.

    >>> import mindgrad as ms
    >>> from mindgrad.frontend.programs.compiled import trace
    >>> print(trace(lambda x: x * x + 1.0, ms.Tensor([1.0, 2.0])))
    graph(a: Float32[2])
      b: Float32[2] = mul(a, a)
      c: Float32[2] = add(b, 1.0)
      return c
    """

    __slots__ = ("__weakref__", "derived", "equations", "has_effect", "inputs", "is_unique", "outputs")

    #: function that checks every new graph (``ir.verify``); ``None``: graphs are not checked
    verifier: Callable[[Graph], None] | None = None

    def __init__(self, inputs: Sequence[Variable], equations: Sequence[Equation], outputs: Atoms) -> None:
        self.inputs = tuple(inputs)
        self.equations = tuple(equations)
        self.outputs = tuple(outputs)
        self.has_effect: bool = any(equation.has_effect for equation in self.equations)
        self.is_unique: bool = any(equation.is_unique for equation in self.equations)
        #: cache of results that were computed from this graph (``ir.memo``)
        self.derived: dict[Hashable, Any] = {}  # type: ignore[explicit-any]  # the type depends on the key
        if Graph.verifier is not None:
            Graph.verifier(self)

    def __len__(self) -> int:
        return len(self.equations)

    def __str__(self) -> str:
        return self.text()

    def text(self, names: Sequence[str] = ()) -> str:
        """Return the graph as a string, with ``names`` for its inputs."""
        return "\n".join(_render(self, names))

    def has_halves(self) -> bool:
        """Return whether the graph computes a float16 or bfloat16 value."""
        return any(atom.type.dtype.is_half for equation in self.equations for atom in equation.outputs)

    def key(self) -> tuple[tuple, tuple, tuple]:
        """Return a cache key that is equal for two graphs with the same structure.

        Two such graphs have the same primitives, parameters, types, and constants, but different ``Variable``
        objects. Large constants are compared by their memory address, so the graph must stay alive while the
        key is used.
        """
        key = self.derived.get("key")
        if key is None:
            key = self.derived["key"] = self._key()
        return key

    def _key(self) -> tuple[tuple, tuple, tuple]:
        numbers: dict[Variable, int] = {v: k for k, v in enumerate(self.inputs)}

        def named(atom: Atom) -> Hashable:
            return numbers[atom] if type(atom) is Variable else atom.key

        rows = []
        for equation in self.equations:
            operands = tuple(map(named, equation.inputs))
            parameters = equation.parameters.items()
            if equation.primitive.kind == "control":
                parameters = [(name, _interned(value)) for name, value in parameters]  # type: ignore[assignment]
            rows.append((equation.primitive, operands, tuple(parameters)))
            for y in equation.outputs:
                numbers[y] = len(numbers)
        types = tuple([(v.type, v.tainted) for v in self.inputs])
        return types, tuple(rows), tuple(map(named, self.outputs))

    def count(self) -> dict[str, int]:
        """Count the equations of each primitive by name."""
        counts: dict[str, int] = {}
        for equation in self.equations:
            name = equation.primitive.name
            counts[name] = counts.get(name, 0) + 1
        return counts


def _interned(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(_interned, value))
    return interned(value) if isinstance(value, Graph) else value


def live_equations(equations: Sequence[Equation], outputs: Iterable[Atom]) -> list[Equation]:
    """Return the equations that ``outputs`` need, and equations with side effects."""
    needed = {atom for atom in outputs if type(atom) is Variable}
    live: list[Equation] = []
    for equation in reversed(equations):
        if equation.has_effect or not needed.isdisjoint(equation.outputs):
            live.append(equation)
            needed.update(atom for atom in equation.inputs if type(atom) is Variable)
    live.reverse()
    return live


@memoized
def calls_back(graph: Graph) -> bool:
    """Return whether ``graph`` or an inner graph calls a Python function when it runs."""
    return any(
        e.primitive.effects.calls_back or any(map(calls_back, e.graphs.values())) for e in graph.equations
    )


@memoized
def communicates(graph: Graph) -> bool:
    """Return whether ``graph`` or an inner graph combines arrays of several processes."""
    return any(map(is_communication, graph.equations))


def all_equations(equations: Iterable[Equation]) -> Iterator[Equation]:
    """Yield each equation, followed by the equations of its inner graphs."""
    for equation in equations:
        yield equation
        if equation.graphs:
            for graph in equation.graphs.values():
                yield from all_equations(graph.equations)


def is_communication(equation: Equation) -> bool:
    """Return whether ``equation`` combines arrays of several processes."""
    primitive = equation.primitive
    if primitive.kind != "control":
        return primitive.communicates and len(equation.parameters["ranks"]) > 1
    return any(map(communicates, equation.graphs.values()))


@memoized
def without_effects(graph: Graph) -> Graph:
    """Return ``graph`` without side effects, so that a second run does not print."""
    if not graph.has_effect:
        return graph
    equations = []
    for equation in graph.equations:
        if equation.is_only_effect:
            continue
        if equation.has_effect:
            parameters = silent(equation.parameters)
            equation = Equation(
                equation.primitive, equation.inputs, parameters, equation.outputs, equation.source
            )
        equations.append(equation)
    return Graph(graph.inputs, live_equations(equations, graph.outputs), graph.outputs)


def silent(parameters: Statics) -> Statics:
    """Return ``parameters`` with all side effects removed from their graphs."""
    return {k: without_effects(v) if isinstance(v, Graph) else v for k, v in parameters.items()}


def _letters(index: int) -> str:
    name = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, 26)
        name = chr(ord("a") + digit) + name
    return name


def _render(graph: Graph, named: Sequence[str] = ()) -> Iterable[str]:
    names: dict[Atom, str] = dict(zip(graph.inputs, named, strict=False))
    letters = filter(lambda name: not iskeyword(name) and name not in named, map(_letters, itertools.count()))

    def name(atom: Atom) -> str:
        if isinstance(atom, Constant):
            return str(atom.value) if atom.is_splat else f"<{atom.type}>"
        return names.get(atom) or names.setdefault(atom, next(letters))

    yield f"graph({', '.join(f'{name(v)}: {v.type}' for v in graph.inputs)})"
    for equation in graph.equations:
        shown = [f"{k}={v}" for k, v in equation.parameters.items() if not isinstance(v, Graph)]
        operands = ", ".join([name(x) for x in equation.inputs] + shown)
        targets = ", ".join(f"{name(v)}: {v.type}" for v in equation.outputs)
        equals = " = " if targets else ""
        yield f"  {targets}{equals}{equation.primitive.name}({operands})"
        for key, value in equation.parameters.items():
            if isinstance(value, Graph):
                yield f"    {key}:"
                yield from (f"      {line}" for line in _render(value))
    yield f"  return {', '.join(name(v) for v in graph.outputs)}"
