"""A primitive is one row: everything the system knows about one operator.

Rows are made by the kinds of ``mindgrad.rows.kinds``, which derive most fields. Parameters
are static and passed by keyword; operands are atoms and passed by position.

Conventions of the rules (``x`` inputs, ``y`` output, ``t`` tangent, ``ct`` cotangent, ``p`` partial):

- ``type_rule(*types, **parameters)`` gives the output's :class:`TensorType` (a tuple of them when
  ``multiple`` is set) or raises ``TypeError``/``ValueError`` with a message for the user.
- ``numpy(*arrays, **parameters)`` is the NumPy kernel, ``xla`` the name of a function of
  ``jax.lax`` or a callable ``xla(jax, *arrays, **parameters)``, to which parameters that are graphs
  come as functions from arrays to a list of arrays.
- ``jvp(y, xs, ts, **parameters)`` gives the output's tangent, linear in ``ts``; a tangent that is
  known to be zero is ``None``, on the way in and on the way out.
- ``jvp_with_values(xs, ts, **parameters)``, of loops and branches, gives outputs and tangents: one equation
  computes both, and stands for the one that computed the outputs alone.
- ``transpose(ct, *xs, **parameters)`` exists for operators that are linear in the operands whose
  ``linear`` is set; it gives one cotangent per operand, ``None`` for those that are not linear.
- ``taint`` says whether the output can be infinite or NaN: ``"starts"``: yes, ``"passes"``: if an
  operand can, ``"stops"``: no (see ``rows.kinds``); or ``taint(*xs, **parameters)`` gives one
  of these, or marks that are added to those of the operands.
- ``effect`` rows do something that is seen (print): they are never merged, folded or left out; nor
  are those with a graph in them (a loop's body) in which such a row stands; where ``runs_graphs`` is not set,
  graphs are run by the derivative only, and so are their effects.
- ``unique`` rows are never merged, though nothing is seen of them: two calls with the same operands stay two.
- ``calls_back`` rows call Python functions of this process while a compiled program runs: such programs are
  not kept on disk, and a call waits for their results, so that an error of the function is raised by it.
- ``communicates`` rows combine the arrays of several processes: they run where they stand, the same on every
  rank, so that they are never folded, nor part of what eager mode compiles on the side, by its clock; one
  that sends nothing itself has ``sends=False``.
- ``keeps_type`` says that all operands and the result have one type; it comes with the type rule.
- ``series(equation, coefficients, order)`` gives the Taylor coefficients 0 … ``order`` of each output of an
  operator with graphs in it, for those of each operand, ``None`` for zero (see ``transforms.taylor``);
  other rows need none.
- ``axes`` (an :class:`mindgrad.ir.index_map.Axes`) says which axes of operands and results run together and
  how elements meet along each, and gives the parameters for operands whose axes stand otherwise; without it
  all elements are taken to meet. Pointwise rows need none.
- ``linear_in`` are the operands in which a linear operator is linear together, ``None`` for all of them;
  ``moves`` says that its result consists of elements of these operands, and zeros, wherever they come from.
- ``stops`` says that no derivative goes through it.
- ``work`` (an :class:`mindgrad.ir.work.Work`) says how dear it is.
- ``symbol`` is Python's operator for it (``+``).
- ``pattern(run, equation, patterns)`` gives the sparsity pattern of each output, for those of the operands,
  where it says more than the axes (``sparse.sparsity``); of a row that ``moves``, where the positions are not
  known.
- ``recurrence(equation, coefficient, k)`` gives Taylor coefficient k of a pointwise row that is solved for
  it, from ``coefficient(atom, j)``.
- ``contracted(xs, along, **parameters)`` gives the sum over j of the row on slices j of its operands, each
  along an axis of its own, as one equation.
- ``passage(equation)`` gives the axis of a result that carries an axis of an operand, by operand, result and
  axis, where no map of axes says it.

For rows with graphs in them:

- ``expand(**parameters)`` gives the graph that a lazy row stands for (``control.lazy``).
- ``closed`` says that its derivative along the operand by which it differentiates is an equation of the row.
- ``by_user`` says that its derivative is the user's own.
- ``reads_cotangent`` says that second derivatives need reverse mode, because the rule reads the form of the
  cotangent (``rows.spectra``).
- ``replaceable`` says that the graphs may be replaced by others that compute the same.
- ``programs(equation, trips)`` gives an :class:`mindgrad.ir.inner_programs.Inner` for every graph that runs.
- ``trip(equation)`` gives the graph of one trip, and its operands, where the parameters hold none.
- ``paths(equation, after)`` gives how the outputs of a program depend on each operand, for how they depend on
  each result (``transforms.zero_gradients``); without it, they depend on all operands like on the results.
- ``batch(size, xs, axes, **parameters)`` gives ``(output, axis)`` for operands of which some carry
  a batch axis (``axes[i]`` an int, or ``None``); where ``multiple`` is set, a tuple of each. It is for those
  to which a batch is not one more parallel axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.ir import build
from mindgrad.ir.graph import Atom, Constant, Variable
from mindgrad.ir.index_map import UNIFORM, Axes
from mindgrad.ir.work import ARITHMETIC, FUNCTION, LIBRARY, Work

__all__ = ["REGISTRY", "Primitive"]

#: every row by its name
REGISTRY: dict[str, Primitive] = {}


class Primitive:
    """One operator. Calling it on atoms emits an equation into the current builder."""

    # fields that few rows have, and what they are for the others
    linear_in: Sequence[int] | None = None
    moves: bool = False
    stops: bool = False
    runs_graphs: bool = True
    symbol: str | None = None
    pattern: Callable[..., Any] | None = None
    recurrence: Callable[..., Any] | None = None
    contracted: Callable[..., Any] | None = None
    passage: Callable[..., Any] | None = None
    expand: Callable[..., Any] | None = None
    closed: bool = False
    calls_back: bool = False
    by_user: bool = False
    reads_cotangent: bool = False
    replaceable: bool = False
    programs: Callable[..., Any] | None = None
    trip: Callable[..., Any] | None = None
    paths: Callable[..., Any] | None = None

    __slots__ = (
        "__dict__", "axes", "batch", "communicates", "commutative", "effect", "jvp", "jvp_with_values",
        "keeps_type", "kind", "multiple", "name", "numpy", "pointwise", "samples", "sends", "series",
        "simplify", "taint", "transpose", "type_rule", "unique", "work", "xla",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        *,
        type_rule: Callable[..., Any],
        numpy: Callable[..., Any],
        xla: str | Callable[..., Any],
        jvp: Callable[..., Any] | None = None,
        jvp_with_values: Callable[..., Any] | None = None,
        transpose: Callable[..., Any] | None = None,
        batch: Callable[..., Any] | None = None,
        samples: Any = None,
        multiple: bool = False,
        commutative: bool = False,
        simplify: Callable[..., Any] | None = None,
        taint: str | Callable[..., str | int] = "stops",
        effect: bool = False,
        unique: bool = False,
        communicates: bool = False,
        sends: bool | None = None,
        series: Callable[..., Any] | None = None,
        axes: Axes | None = None,
        work: Work | None = None,
        **further: Any,
    ) -> None:
        if name in REGISTRY:
            raise ValueError(f"an operator named {name!r} already exists.")
        if unknown := further.keys() - Primitive.__annotations__.keys():
            raise TypeError(f"an operator has no field {', '.join(sorted(unknown))!r}.")
        self.__dict__.update(further)
        self.name = name
        self.kind = kind
        self.pointwise = kind in build.POINTWISE
        self.type_rule = type_rule
        self.keeps_type = getattr(type_rule, "keeps_type", False)
        self.numpy = numpy
        self.xla = xla
        self.jvp_with_values = jvp_with_values
        if jvp is None and jvp_with_values is not None:
            jvp = _tangents_of(jvp_with_values)
        self.jvp = jvp
        self.transpose = transpose
        self.work = work or {"elementwise": FUNCTION}.get(kind, ARITHMETIC if self.pointwise else LIBRARY)
        self.batch = batch
        self.axes = UNIFORM if axes is None and self.pointwise and not multiple else axes
        self.samples = samples
        self.multiple = multiple
        self.commutative = commutative
        self.effect = effect
        self.unique = unique or effect
        self.communicates = communicates
        self.sends = communicates if sends is None else sends
        self.series = series
        self.simplify = simplify
        self.taint = taint
        REGISTRY[name] = self

    def linear_operands(self, count: int) -> Sequence[int]:
        """Those of ``count`` operands in which a linear operator is linear together; of others, none."""
        if not self.is_linear and not self.moves:
            return ()
        return range(count) if self.linear_in is None else self.linear_in

    @property
    def is_linear(self) -> bool:
        """Whether the operator is linear in its operands together, or in some of them."""
        return self.kind in ("linear", "pointwise linear")

    @property
    def is_product(self) -> bool:
        """Whether the operator is linear in each operand by itself."""
        return self.kind in ("multilinear", "pointwise multilinear") and self.linear_in is None

    @property
    def has_derivative(self) -> bool:
        """Whether a derivative goes through the operator."""
        has_rule = self.jvp is not None or self.jvp_with_values is not None or self.series is not None
        return has_rule and not self.stops

    @property
    def can_batch(self) -> bool:
        """Whether the operator runs on a batch at once."""
        return self.batch is not None or self.axes is not None

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def __call__(self, *operands: Any, **parameters: Any) -> Any:
        """Emit this operator on atoms (Python numbers are lifted to the type of the first atom)."""
        for operand in operands:
            if type(operand) is not Variable and type(operand) is not Constant:
                operands = lift(operands)
                break
        return build.current().emit(self, operands, parameters)


def _tangents_of(jvp_with_values: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ys, xs, ts, **parameters: jvp_with_values(xs, ts, **parameters)[1]


def lift(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Python numbers among ``operands`` as splat constants of the type of the first atom."""
    like = next(operand for operand in operands if isinstance(operand, Atom)).type
    return tuple(
        operand if isinstance(operand, Atom) else Constant(np.asarray(operand, like.dtype.numpy), like)
        for operand in operands
    )
