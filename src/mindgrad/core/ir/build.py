"""The builder: emit the equations of a graph, and simplify them at the same time.

A builder simplifies in three ways. Value numbering: if a primitive is applied twice to the same operands with
the same parameters, the second application returns the variable of the first. Repeated subexpressions of
nested derivatives are therefore built only once. Folding: an equation on small constants becomes a constant.
Simplification: each primitive may have a local rewrite (``simplify``) that does not change the value.

While a derivative is built, an equation that depends on a tangent is *linear*. The builder stores linear
equations in a separate list, so that the list of nonlinear equations contains no tangent.

A value *moves* if it depends differentiably on an input of the derivative that is being built.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.graph import (
    CUT,
    DISCARDS,
    INFINITE,
    INHERITED,
    MASKED,
    Atom,
    Constant,
    Equation,
    Graph,
    Variable,
    live_equations,
)
from mindgrad.core.ir.rules import Array, Atoms, Results, Rule, Statics
from mindgrad.core.ir.thread_state import state
from mindgrad.core.ir.types import TensorType

if TYPE_CHECKING:
    from mindgrad.core.ir.primitive import Primitive

__all__ = [
    "EVERYTHING", "POINTWISE", "SET_LATER", "Builder", "building", "current", "is_tainted", "pass_taint",
]  # fmt: skip

#: kinds of pointwise primitives. Their operands have equal shapes, and each element of the result depends
#: only on the elements at the same index
POINTWISE = ("elementwise", "pointwise constant", "pointwise multilinear", "pointwise linear")

#: the builder merges equal constants. Constants with more bytes than this are not compared, because the
#: comparison takes too long
_COMPARED = 1 << 22
#: for constants with more bytes than this, the first elements are compared before the whole arrays
_COPIED = 1 << 12
#: marks of cotangents (``ir.graph``) that only derivative rules set. The rule ``taint``, which computes the
#: other marks of an operator's results, never sets them
SET_LATER = MASKED | CUT | DISCARDS
#: value of ``Builder.moving`` that makes :meth:`Builder.moves` true for every variable
EVERYTHING = None
_FOLD = 64  # constants with at most this many elements are folded (evaluated while the graph is built)


def current() -> Builder:
    """Return the builder that receives the equations that this thread emits."""
    builder = state.builder
    if builder is None:
        raise RuntimeError("no graph is being built: a rule was called outside a transform.")
    return builder


@contextmanager
def building(builder: Builder) -> Iterator[Builder]:
    """Make ``builder`` the current builder of this thread inside the ``with`` block."""
    previous = state.builder
    state.builder = builder
    try:
        yield builder
    finally:
        state.builder = previous


def is_tainted(
    primitive: Primitive, inputs: tuple[Atom, ...], parameters: Statics, passed: int | None = None
) -> int:
    """Return the marks of the results of ``primitive``, as a bit mask.

    A mark states, for example, that elements may be infinite (``ir.graph``). ``passed`` is the union of the
    marks that the results inherit from the operands. Default: computed from ``inputs``.
    """
    taint: str | int | Rule = primitive.taint
    if callable(taint):
        taint = taint(*inputs, **parameters)
    if taint == "stops":
        return 0
    if passed is None:
        passed = 0
        for atom in inputs:
            passed |= atom.tainted & INHERITED
    return passed | (INFINITE if taint == "starts" else 0 if taint == "passes" else taint)  # type: ignore[operator]  # other values are marks


def pass_taint(old: Atom, new: Atom) -> None:
    """Copy the marks of ``old`` to ``new``, the value that replaces it.

    If ``new`` is a constant, only marks in ``SET_LATER`` are copied, because its elements are known.
    """
    if type(new) is Constant:
        new.marks |= 0 if new.is_splat else old.tainted & SET_LATER
    elif not new.linear:
        new.tainted |= old.tainted & INHERITED


def _is_equal(a: Array, b: Array) -> bool:
    """Return whether two arrays are bitwise identical; ``False`` for large arrays."""
    if a.nbytes > _COMPARED or not (a.flags.c_contiguous and b.flags.c_contiguous):
        return False
    if a.nbytes > _COPIED and a.ravel()[:_FOLD].tobytes() != b.ravel()[:_FOLD].tobytes():
        return False
    return a.tobytes() == b.tobytes()


class Builder:
    """The equations of a graph that is being built. Each is simplified when it is emitted."""

    __slots__ = (
        "_always_move", "_constants", "_inlined", "_last", "_moves", "_rebound", "_table",
        "derived", "equations", "inputs", "is_differentiating", "known_masks", "knows_infinite",
        "linear_equations", "moving", "nonzeros", "operands", "source",
    )  # fmt: skip

    def __init__(self) -> None:
        self.inputs: list[Variable] = []
        self.equations: list[Equation] = []
        self.linear_equations: list[Equation] = []
        self.source: tuple[str, int] | None = None
        #: cache of derivative graphs. The keys identify the differentiated graphs (``trace.graph_recording``)
        self.derived: dict[Hashable, tuple[Graph, Graph | None]] = {}
        #: operands of all operators that the traced function called, including operators that constant
        #: folding or simplification has removed
        self.operands: set[Atom] = set()
        self._table: dict[Hashable, Results] = {}
        self._constants: dict[Hashable, Constant] = {}
        self._last: dict[TensorType, Constant] = {}
        self._inlined: dict[tuple[Graph | Atom, ...], list[Atom]] = {}
        #: maps each variable or constant that was passed to :meth:`rebind` to its replacement
        self._rebound: dict[Atom, Atom] = {}
        #: whether the builder is building a derivative
        self.is_differentiating = False
        #: cache of masks of exact zeros (``primitives.exact_zeros``), valid for one derivative
        self.nonzeros: dict[tuple[Atom, int | None], Atom | None] = {}
        #: values of the masks of exact zeros that depend only on constants
        self.known_masks: dict[Atom, Array | None] = {}
        #: Whether all inputs with infinite elements have the mark ``INFINITE``. True in eager mode, but not
        #: in compiled functions, whose input values are unknown
        self.knows_infinite = False
        #: Bit mask of the derivative inputs for which :meth:`moves` checks dependence; -1 for all inputs.
        #: While a linear equation is transposed, the mask contains only the inputs on which its operands
        #: depend
        self.moving: int | None = -1
        self._moves: dict[Atom, int] = {}
        self._always_move: list[Atom] = []

    def input(self, type: TensorType, linear: bool = False, tainted: int = 0) -> Variable:
        """Create an input of the graph, or, if ``linear``, a tangent that is not an input."""
        variable = Variable(type, linear, tainted)
        if not linear:
            self.inputs.append(variable)
        return variable

    def inputs_like(self, atoms: Iterable[Atom]) -> list[Variable]:
        """Create graph inputs with the types and marks of ``atoms``."""
        return [self.input(atom.type, tainted=atom.tainted) for atom in atoms]

    def constant(self, value: Array, type: TensorType | None = None) -> Constant:
        """Return a constant with the given value; equal constants are one object."""
        return self._kept(Constant(value, type))

    def _kept(self, constant: Constant) -> Constant:
        """Return an equal constant of this builder if there is one, else ``constant``.

        Small constants are compared by value. A large constant is compared only with the previous constant of
        its type. This is enough to merge a value that was computed from captured data and is read repeatedly,
        because each read creates a new array.
        """
        representative = self._constants.get(constant.key)
        if representative is None:
            representative = constant
            if constant.value.size > 1:
                last = self._last.setdefault(constant.type, constant)
                if last is not constant and _is_equal(last.value, constant.value):
                    representative = last
                self._last[constant.type] = representative
            self._constants[constant.key] = representative
        representative.marks |= constant.marks
        return representative

    def trace(
        self,
        primitive: Primitive,
        inputs: tuple[Atom, ...],
        parameters: Statics,
        source: tuple[str, int] | None,
    ) -> Results:
        """Emit an operator that the traced function called at the line ``source``."""
        self.source = source
        result = self.emit(primitive, inputs, parameters)
        self.source = None
        if not any(atom is result for atom in inputs):  # not for an operator such as x · 1, which returned x
            self.operands.update(inputs)
        return result

    def emit(
        self,
        primitive: Primitive,
        inputs: tuple[Atom, ...],
        parameters: Statics,
        counterparts: tuple[Variable, ...] | None = None,
    ) -> Results:
        """Emit an equation that applies ``primitive``, and return its result.

        ``counterparts`` are the results of the same operator on other operands of the same types. If they are
        given, the new results have their types, and the type rule is not called.
        """
        if self._rebound:
            inputs = tuple([self.value(x) for x in inputs])
        linear = False
        tainted = 0
        folds = True
        for position, atom in enumerate(inputs):
            if type(atom) is Variable:
                folds = False
                if atom.linear:
                    linear = True
                tainted |= atom.tainted
            else:
                tainted |= atom.tainted
                kept = self._constants.get(atom.key) or self._kept(atom)
                if kept is not atom:
                    inputs = inputs[:position] + (kept,) + inputs[position + 1 :]
        if primitive.simplify is not None:
            if state.builder is self:
                simpler = primitive.simplify(*inputs, **parameters)
            else:
                with building(self):  # the simplification rule emits its equations into this builder
                    simpler = primitive.simplify(*inputs, **parameters)
            if simpler is not None:
                return simpler
        if folds and inputs:
            folded = self._fold(primitive, inputs, parameters)  # type: ignore[arg-type]  # all are constants
            if folded is not None:
                folded.marks |= tainted & SET_LATER
                return folded
        key = self._key(primitive, inputs, parameters)
        found = self._table.get(key)
        if found is not None:
            return found
        tainted &= INHERITED
        if primitive.taint != "passes":
            tainted = is_tainted(primitive, inputs, parameters, tainted)
        if counterparts is None:
            types = primitive.type_rule(*[atom.type for atom in inputs], **parameters)
        if primitive.multiple:
            types = types if counterparts is None else [y.type for y in counterparts]
            outputs = tuple([Variable(each, linear, tainted) for each in types])
            result: Variable | tuple[Variable, ...] = outputs
        else:
            result = Variable(types if counterparts is None else counterparts[0].type, linear, tainted)
            outputs = (result,)
        equation = Equation(primitive, inputs, parameters, outputs, self.source)
        for output in outputs:
            output.made_by = equation
        (self.linear_equations if linear else self.equations).append(equation)
        if not equation.is_unique:
            self._table[key] = result
        return result

    def _key(self, primitive: Primitive, inputs: tuple[Atom, ...], parameters: Statics) -> Hashable:
        if primitive.algebra.commutative and id(inputs[0]) > id(inputs[1]):
            inputs = (inputs[1], inputs[0])
        return primitive, inputs, tuple(parameters.items())

    def _fold(
        self, primitive: Primitive, inputs: tuple[Constant, ...], parameters: Statics
    ) -> Constant | None:
        """Evaluate an operator on constants; ``None`` if the constants are too large."""
        if (
            primitive.multiple
            or primitive.kind == "control"
            or primitive.communicates
            or primitive.effects.observable
        ):
            return None
        splats = all(atom.is_splat for atom in inputs)
        if splats and primitive.kind in POINTWISE:
            result_type = primitive.type_rule(*[atom.type for atom in inputs], **parameters)
            with np.errstate(all="ignore"):
                value = np.asarray(primitive.numpy(*[atom.value for atom in inputs], **parameters))
            if value.ndim == 0:
                return self.constant(value.astype(result_type.dtype.numpy), result_type)
            return None
        if all(atom.type.size <= _FOLD for atom in inputs):
            result_type = primitive.type_rule(*[atom.type for atom in inputs], **parameters)
            if result_type.size <= _FOLD:
                with np.errstate(all="ignore"):
                    value = primitive.numpy(*[atom.array() for atom in inputs], **parameters)
                return self.constant(np.asarray(value, result_type.dtype.numpy))
        return None

    def emit_again(self, equation: Equation, operands: Atoms, **changed: object) -> tuple[Atom, ...]:
        """Emit the operator of ``equation`` on ``operands``, with parameters ``changed``.

        Returns the results. The new equation has the source line of ``equation``, or the current line if
        ``equation`` has none.
        """
        outer = self.source
        if equation.source is not None:
            self.source = equation.source
        parameters = {**equation.parameters, **changed} if changed else equation.parameters
        counterparts = None if changed else equation.outputs
        for old, new in zip(equation.inputs, operands, strict=True):
            if old.type is not new.type:
                counterparts = None
        result = self.emit(equation.primitive, tuple(operands), parameters, counterparts)
        self.source = outer
        results = result if equation.primitive.multiple else (result,)
        for old, new in zip(equation.outputs, results, strict=True):
            if old.tainted:
                pass_taint(old, new)
        return results

    def inline(self, graph: Graph, inputs: Atoms) -> list[Atom]:
        """Emit the equations of ``graph`` on ``inputs`` and return its outputs."""
        call = (graph, *inputs)
        if call in self._inlined:  # the same graph was inlined with the same inputs, so its results exist
            return list(self._inlined[call])
        values: dict[Variable, Atom] = dict(zip(graph.inputs, inputs, strict=True))
        for equation in graph.equations:
            operands = [values[atom] if type(atom) is Variable else atom for atom in equation.inputs]
            values.update(zip(equation.outputs, self.emit_again(equation, operands), strict=True))
        outputs = [values[atom] if type(atom) is Variable else atom for atom in graph.outputs]
        if not graph.is_unique:
            self._inlined[call] = outputs
        return list(outputs)

    # -- dependence on the inputs of a derivative ---------------------------------------------------

    def differentiate(self, inputs: Iterable[Atom]) -> None:
        """Start building a derivative with respect to ``inputs``."""
        self.is_differentiating, self.moving = True, -1
        self.nonzeros = {}
        self._moves = {x: 1 << k for k, x in enumerate(inputs)}
        self._moves.update(dict.fromkeys(self._always_move, -1))

    def let_move(self, atom: Atom) -> None:
        """Treat ``atom`` as dependent on the inputs, in this and in later derivatives."""
        self._always_move.append(atom)
        self._moves[atom] = -1

    def moves(self, atom: Atom) -> bool:
        """Return whether ``atom`` depends differentiably on an input in ``moving``."""
        if type(atom) is not Variable or self.moving is EVERYTHING:
            return type(atom) is Variable
        depends, waiting = self._moves, [atom]
        while waiting:
            x = waiting[-1]
            if x in depends:
                waiting.pop()
                continue
            equation = x.made_by
            operands = equation.inputs if equation is not None and equation.primitive.has_derivative else ()
            unknown = [y for y in operands if type(y) is Variable and y not in depends]
            waiting += unknown
            if not unknown:
                depends[x] = 0
                for y in operands:
                    depends[x] |= depends[y] if type(y) is Variable else 0
        return bool(depends[atom] & self.moving)

    # -- replacement of loops by loops that also compute derivatives -------------------------------

    def value(self, atom: Atom) -> Atom:
        """Return the value with which :meth:`rebind` replaced ``atom``; default: ``atom``."""
        rebound = self._rebound
        while atom in rebound:
            atom = rebound[atom]
        return atom

    def rebind(self, atoms: Atoms, values: Atoms) -> None:
        """Replace ``atoms`` by ``values`` in outputs and in equations emitted later."""
        for old, new in zip(atoms, values, strict=True):
            if new is old:
                continue
            self._rebound[old] = new
            if old.tainted:
                pass_taint(old, new)

    def replay(self, equations: Iterable[Equation]) -> Iterator[tuple[Equation, bool]]:
        """Remove all equations and yield them, so that the caller can replace some.

        Forward mode uses a replay to replace a loop by one loop that computes values and tangents. The new
        loop is emitted at the position of the old loop and runs once, so side effects occur once and in
        order. For each equation, the caller either emits it again (:meth:`again`), or emits another equation
        that also computes its values and calls :meth:`rebind`. The second value of each yielded pair states
        whether the equation is among ``equations``.
        """
        selection = set(equations)
        emitted, self.equations = self.equations, []
        if not selection.issubset(emitted):
            raise AssertionError(
                "equations that were replaced are replayed. This is a bug in mindgrad; please report it."
            )
        self._table.clear()
        self._inlined.clear()
        for equation in emitted:
            yield equation, equation in selection

    def again(self, equation: Equation, simplifies: bool = True) -> Atoms:
        """Emit ``equation`` again during a :meth:`replay`, and return its results.

        Operands that have been replaced are read from :meth:`value`. If there are any and ``simplifies`` is
        true, the equation is simplified again.
        """
        rebound, inputs, is_kept = self._rebound, equation.inputs, True
        for atom in inputs:
            if atom in rebound or (type(atom) is not Variable and self._kept(atom) is not atom):
                is_kept = False
        if not is_kept and simplifies:
            results = self.emit_again(equation, inputs)
        else:
            if not is_kept:
                inputs = tuple([self.value(x) if type(x) is Variable else self._kept(x) for x in inputs])
            key = self._key(equation.primitive, inputs, equation.parameters)
            result: Results = self._table.get(key)
            if result is None:
                emitted = equation if is_kept else self._copied(equation, inputs)
                self.equations.append(emitted)
                result = emitted.outputs if equation.primitive.multiple else emitted.outputs[0]
                if not equation.is_unique:
                    self._table[key] = result
            results = result if equation.primitive.multiple else (result,)
        self.rebind(equation.outputs, results)
        return results

    @staticmethod
    def _copied(equation: Equation, inputs: tuple[Atom, ...]) -> Equation:
        """Copy ``equation``, and replace its operands by ``inputs``."""
        tainted = is_tainted(equation.primitive, inputs, equation.parameters)
        outputs = tuple([Variable(y.type, False, tainted | y.tainted) for y in equation.outputs])
        copy = Equation(equation.primitive, inputs, equation.parameters, outputs, equation.source)
        for output in outputs:
            output.made_by = copy
        return copy

    def close(self, outputs: Atoms, inputs: Sequence[Variable] | None = None) -> Graph:
        """Return the graph that computes ``outputs``, without unused equations."""
        outputs = [self.value(y) for y in outputs]
        kept = live_equations(self.equations, outputs)
        return Graph(self.inputs if inputs is None else inputs, kept, outputs)
