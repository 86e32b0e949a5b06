"""Primitives: one object holds all properties and rules of an operator.

The constructors in ``mindgrad.core.primitives.kinds`` create primitives and derive most fields. The operands
of an operator are atoms, which are passed by position. Its parameters are static values, which are passed by
keyword. In the names of arguments, ``x`` is an operand, ``y`` an output, ``t`` a tangent, ``ct`` a cotangent,
and ``p`` a partial derivative. The fields are:

- ``type_rule(*types, **parameters)`` returns the output's :class:`TensorType`, or a tuple of types if
  ``multiple`` is set. It raises ``TypeError`` or ``ValueError`` with a message for the user.
- ``numpy(*arrays, **parameters)`` is the NumPy kernel.
- ``xla`` is the name of a function of ``jax.lax`` or a callable ``xla(jax, *arrays, **parameters)``.
  Graphs among the parameters are passed as functions from arrays to a list of arrays.
- ``jvp(y, xs, ts, **parameters)`` is the forward rule. It returns the tangent of the output, which is linear
  in ``ts``. In ``ts`` and in the result, ``None`` means a tangent that is known to be zero.
- ``jvp_with_values(xs, ts, **parameters)`` is the forward rule of a loop or branch. It emits one equation
  that computes outputs and tangents, and returns both. This equation replaces the original equation.
- ``transpose(ct, *xs, **parameters)`` is the rule of an operator that is linear in some operands. It returns
  one cotangent per operand, and ``None`` for operands in which the operator is not linear.
- ``taint`` states which marks (``ir.graph``) the output has. ``"starts"``: the output can be infinite or NaN.
  ``"passes"``: it can be infinite only if an operand can, so it inherits the marks of the operands.
  ``"stops"``: it has no marks. A callable ``taint(*xs, **parameters)`` returns one of these strings, or marks
  that are added to the marks of the operands.
- ``communicates``: whether the operator combines arrays of several processes. Such operators run in program
  order, which is the same on every rank. They are never folded. Eager mode does not compile them in the
  background, because the time at which compilation ends differs between ranks.
- ``sends``: whether an operator that communicates sends a message. Default: ``communicates``.
- ``keeps_type``: whether all operands and the result have one type. It is an attribute of the type rule.
- ``series(equation, coefficients, order)`` returns the Taylor coefficients 0 … ``order`` of each output of an
  operator with inner graphs, from the coefficients of each operand (``None`` for zero, see
  ``transforms.taylor``). Other operators need no such rule.
- ``axes`` (an :class:`mindgrad.core.ir.index_map.Axes`) describes which axes of operands and results
  correspond to each other, and how elements along each axis depend on each other. It also converts the
  parameters if the operands are transposed or get a batch axis. Without ``axes``, every output element may
  depend on every input element. Pointwise operators need no ``axes``.
- ``linear_in``: the operands in which a linear operator is jointly linear; ``None`` for all of them.
- ``moves``: whether the operator only moves elements, like a transposition or a gather. The result consists
  of elements of the operands ``linear_in`` and zeros.
- ``work`` (an :class:`mindgrad.core.ir.work.Work`) describes the cost.
- ``symbol`` is the corresponding operator of Python, such as ``+``.
- ``pattern(run, equation, patterns)`` returns the sparsity pattern of each output from the patterns of the
  operands (``sparse.sparsity``). An operator needs it only if ``axes`` would give a pattern with too many
  entries. An operator with ``moves`` uses it if its indices are not known.

- ``reads_cotangent``: whether second derivatives need reverse mode, because the derivative rule depends on
  the equations that compute the cotangent (``primitives.spectra``).
- ``batch(size, xs, axes, **parameters)`` is the batching rule. It returns ``(output, axis)``, or, if
  ``multiple`` is set, a tuple of outputs and a tuple of axes. ``axes[i]`` is the batch axis of operand i, or
  ``None``. An operator needs this rule only if the batch axis is not one more parallel axis in ``axes``.
- ``effects`` (:class:`Effects`), ``algebra`` (:class:`Algebra`), ``inner`` (:class:`InnerGraphs`), and
  ``lazy`` (:class:`Lazy`) contain rules that few operators need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import NoneType
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from mindgrad.core.ir import build, rules
from mindgrad.core.ir.graph import Atom, Constant, Variable
from mindgrad.core.ir.index_map import UNIFORM, Axes
from mindgrad.core.ir.work import ARITHMETIC, FUNCTION, LIBRARY, Work

__all__ = ["PURE", "REGISTRY", "Algebra", "Effects", "InnerGraphs", "Lazy", "Primitive"]


class _Registry(dict[str, "Primitive"]):
    """Primitives by name. A lookup of an unknown name imports all primitives first.

    Rules of primitives look up other primitives by name if their modules would import each other.
    """

    def __missing__(self, name: str) -> Primitive:
        import_module("..catalog", __package__)
        primitive = self.get(name)
        if primitive is None:
            raise KeyError(name)
        return primitive


#: maps the name of each primitive to the primitive
REGISTRY: dict[str, Primitive] = _Registry()


class Effects(NamedTuple):
    """Side effects of an operator.

    Attributes:
        observable: whether the operator has an observable side effect such as printing. Such an operator is
            never folded or eliminated. The same holds for an operator whose inner graph (such as the body of
            a loop) contains an operator with an effect.
        unique: whether two calls with the same operands must not be merged.
        calls_back: whether the operator calls a Python function of this process while a compiled function
            runs. The compiled function is then not stored on disk. Each call waits for the results, so that
            it can raise the error of the Python function.
    """

    observable: bool = False
    unique: bool = False
    calls_back: bool = False


class Algebra(NamedTuple):
    """Identities of an operator that transforms and rewrites use.

    Attributes:
        commutative: whether the two operands can be exchanged.
        stops: whether the derivative is zero.
        recurrence: ``recurrence(equation, k)`` computes Taylor coefficient k of a pointwise operator from
            lower coefficients of its result. It is a generator that yields ``(atom, j)`` to receive
            coefficient j of an atom (``transforms.taylor``).
        contracted: ``contracted(xs, along, **parameters)`` emits one equation for Σ_j f(slice j of each
            operand), where f is the operator. ``along`` contains the axis of the slices of each operand.
    """

    commutative: bool = False
    stops: bool = False
    recurrence: rules.Rule | None = None
    contracted: rules.Rule | None = None


class InnerGraphs(NamedTuple):
    """How an operator uses its inner graphs.

    Attributes:
        run: whether the operator runs its inner graphs. If not, only its derivative runs them, and only then
            do their side effects occur.
        replaceable: whether rewrites may replace the inner graphs by equivalent graphs.
        by_user: whether the user defined the derivative.
        programs: ``programs(equation, iterations)`` returns an
            :class:`mindgrad.core.ir.inner_programs.Inner` for every inner graph that runs.
        iteration: ``iteration(equation)`` returns the graph of one iteration and its operands, if no
            parameter contains this graph.
        paths: ``paths(equation, after)`` returns how the outputs of the surrounding graph depend on each
            operand: smoothly, or only through a piecewise constant operator (``transforms.zero_gradients``).
            ``after`` states how these outputs depend on each result of the operator. Without this
            rule, the outputs are assumed to depend on every operand in the way in which they depend on the
            results.
    """

    run: bool = True
    replaceable: bool = False
    by_user: bool = False
    programs: rules.Rule | None = None
    iteration: rules.Rule | None = None
    paths: rules.Rule | None = None


class Lazy(NamedTuple):
    """An operator that represents a graph until compilation (``control.lazy``).

    Attributes:
        expand: ``expand(**parameters)`` returns the graph.
        closed: whether the derivative of the operator is again an equation of the same operator, as for
            Taylor coefficients.
        passage: ``passage(equation)`` returns a function of ``(operand, result, axis)``. It maps an axis of
            the operand with index ``operand`` to the corresponding axis of the result with index ``result``
            (``transforms.axis_propagation``).
    """

    expand: rules.Rule
    closed: bool = False
    passage: rules.Rule | None = None


#: value of ``effects`` for operators without side effects
PURE = Effects()
_NO_IDENTITIES = Algebra()
_ALL_RUN = InnerGraphs()


#: result of a call on atoms: an atom, or a tuple of atoms if the primitive is ``multiple``
R = TypeVar("R", covariant=True)


class Primitive(Generic[R]):
    """One operator. Calling it on variables and constants emits an equation."""

    __slots__ = (
        "algebra", "axes", "batch", "communicates", "effects", "inner", "is_linear", "jvp", "jvp_with_values",
        "keeps_type", "kind", "lazy", "linear_in", "moves", "multiple", "name", "numpy", "pattern",
        "pointwise", "reads_cotangent", "samples", "sends", "series", "simplify", "symbol", "taint",
        "transpose", "type_rule", "work", "xla",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        *,
        type_rule: rules.TypeRule,
        numpy: rules.Kernel,
        xla: str | rules.XlaKernel,
        jvp: rules.Jvp | None = None,
        jvp_with_values: rules.JvpWithValues | None = None,
        transpose: rules.Transpose | None = None,
        batch: rules.Batch | None = None,
        series: rules.Rule | None = None,
        simplify: rules.Rule | None = None,
        pattern: rules.Rule | None = None,
        taint: str | rules.Rule = "stops",
        multiple: bool = False,
        linear_in: Sequence[int] | None = None,
        moves: bool = False,
        reads_cotangent: bool = False,
        communicates: bool = False,
        sends: bool | None = None,
        axes: Axes | None = None,
        work: Work | None = None,
        symbol: str | None = None,
        samples: tuple | list | None = None,
        effects: Effects = PURE,
        algebra: Algebra = _NO_IDENTITIES,
        inner: InnerGraphs = _ALL_RUN,
        lazy: Lazy | None = None,
    ) -> None:
        if name in REGISTRY:
            raise ValueError(f"an operator named {name!r} already exists.")
        self.name, self.kind = name, kind
        self.pointwise, self.is_linear = kind in build.POINTWISE, kind in _LINEAR
        self.type_rule = type_rule
        self.keeps_type = getattr(type_rule, "keeps_type", False)
        self.numpy, self.xla = numpy, xla
        self.jvp_with_values = jvp_with_values
        if jvp is None and jvp_with_values is not None:
            jvp = _tangents_of(jvp_with_values)
        self.jvp, self.transpose = jvp, transpose
        self.batch, self.series, self.simplify, self.pattern = batch, series, simplify, pattern
        self.taint, self.multiple = taint, multiple
        self.linear_in, self.moves, self.reads_cotangent = linear_in, moves, reads_cotangent
        self.communicates = communicates
        self.sends = communicates if sends is None else sends
        self.axes = UNIFORM if axes is None and self.pointwise and not multiple else axes
        self.work = work or {"elementwise": FUNCTION}.get(kind, ARITHMETIC if self.pointwise else LIBRARY)
        self.symbol, self.samples = symbol, samples
        self.effects, self.algebra, self.inner, self.lazy = effects, algebra, inner, lazy
        for field, classes in _CLASSES.items():
            if not isinstance(value := getattr(self, field), classes):
                raise invalid(name, field, " or ".join([each.__name__ for each in classes]), value)
        if isinstance(taint, str) and taint not in ("starts", "passes", "stops"):
            raise invalid(name, "taint", "'starts', 'passes', 'stops', or a function", taint)
        if kind not in _KINDS:
            raise invalid(name, "kind", f"one of {', '.join(_KINDS)}", kind)
        REGISTRY[name] = self

    def linear_operands(self, count: int) -> Sequence[int]:
        """Return the positions of the operands in which the operator is jointly linear."""
        if not self.is_linear and not self.moves:
            return ()
        return range(count) if self.linear_in is None else self.linear_in

    @property
    def is_product(self) -> bool:
        """Whether the operator is linear in each operand separately."""
        return self.kind in ("multilinear", "pointwise multilinear") and self.linear_in is None

    @property
    def has_derivative(self) -> bool:
        """Whether the operator has a forward rule, and its derivative is not always zero."""
        has_rule = self.jvp is not None or self.jvp_with_values is not None or self.series is not None
        return has_rule and not self.algebra.stops

    @property
    def is_closed(self) -> bool:
        """Whether the operator is lazy and its derivative is the same operator again."""
        return self.lazy is not None and self.lazy.closed

    @property
    def can_batch(self) -> bool:
        """Whether the operator has a batching rule or an index map."""
        return self.batch is not None or self.axes is not None

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def __call__(self, *operands: rules.Operand, **parameters: object) -> R:
        """Emit an equation; Python numbers get the type of the first variable or constant."""
        for operand in operands:
            if type(operand) is not Variable and type(operand) is not Constant:
                operands = lift(operands)
                break
        return build.current().emit(self, operands, parameters)  # type: ignore[arg-type]  # atoms


#: kinds of operators that are jointly linear in their operands, or in some of them
_LINEAR = ("linear", "pointwise linear")
_KINDS = ("constant", "control", "general", "linear", "multilinear", *build.POINTWISE)
_FUNCTION: type = Callable  # type: ignore[assignment]  # it is a class at run time
_RULES = ("jvp", "jvp_with_values", "transpose", "batch", "series", "simplify", "pattern")
#: permitted classes of the fields of a declaration
_CLASSES: Mapping[str, tuple[type, ...]] = {
    "name": (str,), "type_rule": (_FUNCTION,), "numpy": (_FUNCTION,), "xla": (str, _FUNCTION),
    **dict.fromkeys(_RULES, (_FUNCTION, NoneType)), "linear_in": (list, tuple, range, NoneType),
    "taint": (str, _FUNCTION), "axes": (Axes, NoneType), "lazy": (Lazy, NoneType), "work": (Work,),
    "effects": (Effects,), "algebra": (Algebra,), "inner": (InnerGraphs,),
}  # fmt: skip


def invalid(name: str, field: str, expected: str, value: object) -> TypeError:
    """Return an error for a field of the declaration of the operator ``name``."""
    return TypeError(
        f"In the declaration of the operator {name!r}, '{field}' must be {expected}, but got {value!r}."
    )


def _tangents_of(jvp_with_values: rules.JvpWithValues) -> rules.Jvp:
    return lambda ys, xs, ts, **parameters: jvp_with_values(xs, ts, **parameters)[1]


def lift(operands: tuple[rules.Operand, ...]) -> tuple[Atom, ...]:
    """Convert Python numbers to constants of the type of the first other operand."""
    like = next((x.type for x in operands if isinstance(x, (Variable, Constant))), None)
    if like is None:
        fix = "Outside rules and rewrites, use the functions of mindgrad.core.numpy."
        raise TypeError(f"no operand of {operands} is a variable or constant of a graph. {fix}")
    return tuple(
        x if isinstance(x, (Variable, Constant)) else Constant(np.asarray(x, like.dtype.numpy), like)
        for x in operands
    )
