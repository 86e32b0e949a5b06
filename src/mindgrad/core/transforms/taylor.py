"""Taylor mode: derivatives of several orders in one pass.

    x(s) = Σ_k x_k sᵏ    ⟹    taylor(G): (x_0, …, x_K) ↦ (y_0, …, y_K),  G(x(s)) = Σ_k y_k sᵏ + O(sᴷ⁺¹)

Most operators need no Taylor rule. A linear operator is applied to each coefficient. For a multilinear
operator, the coefficients are a Cauchy product, ``y_k = Σ_j B(a_j, b_{k−j})``. For every other operator, the
forward rule is a differential equation for the series. A dot is the derivative with respect to s:

    ẏ = jvp(y, x; ẋ)         ⟹        k y_k = (coefficient k − 1 of jvp(y, x; ẋ)),   (ẋ)_j = (j + 1) x_{j+1}

The right side is a graph of operators, for example ``cos(x) · ẋ`` for the sine. Its coefficients are computed
in the same way. Each step lowers the order by one, so the recursion ends. A coefficient is computed when it
is first needed.

Two kinds of operators have special rules. The forward rule of a quotient contains quotients, so that each
order would add more quotients. Its rule ``recurrence`` solves the Cauchy product ``y b = a`` for ``y``
instead. The rule ``series`` of a branch or a loop emits one branch or loop over all coefficients.

A series needs O(K²) products per nonlinear equation, compared with 2ᴷ for nested forward mode. Every operator
needs a forward rule.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from mindgrad.core.base.trampoline import trampolined
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Equation, Graph, Variable, derivative_of, silent
from mindgrad.core.primitives.kinds import accumulate, zeros

__all__ = ["taylor"]

#: a rule as a generator: it yields ``(atom, k)`` for each coefficient that it needs, receives this
#: coefficient, and returns its own coefficient
Steps = Generator[tuple[Any, int], Any, Any]


def taylor(graph: Graph, active: Sequence[int], order: int, degree: int | None = None) -> Graph:
    """Return the graph of the Taylor coefficients of the outputs.

    Args:
        graph: the graph.
        active: positions of the inputs that depend on ``s``; the other inputs are constant.
        order: highest order K, at least 1.
        degree: highest order D of the inputs; higher coefficients are zero. Default: K.

    Returns:
        A graph with inputs ``(*inputs, x_1, …, x_D of each active input)`` and outputs
        ``(*outputs, y_1, …, y_K of each output)``. The coefficients belong to powers of ``s``, so they are
        derivatives divided by factorials.

    Raises:
        ValueError: If ``order`` is less than 1.
    """
    if order < 1:
        raise ValueError(f"the order of a Taylor series must be at least 1, but got {order}.")
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        series = _Series(builder, order)
        builder.differentiate([inputs[index] for index in active])
        for index in active:
            own = [inputs[index]] * (order if degree is None else degree)
            series.start(inputs[index], builder.inputs_like(own))
        arguments = list(builder.inputs)  # copied, because `_rate` adds further variables to `builder.inputs`
        outputs = builder.inline(graph, inputs)
        values = series.replay(list(builder.equations))
        outputs = [builder.value(y) for y in outputs]
        coefficients: list[list[Any]] = [[] for _ in outputs]
        for k in range(1, order + 1):
            # compute in program order, so that the coefficients of an equation's operands exist before its
            # own coefficients
            for value in values:
                series.coefficient(value, k)
            for of_output, y in zip(coefficients, outputs, strict=True):
                coefficient = series.coefficient(y, k)
                of_output.append(zeros(y.type) if coefficient is None else coefficient)
        atoms = [atom for of_output in coefficients for atom in of_output]
        return builder.close([*outputs, *atoms], arguments)


class _Series:
    """Taylor coefficients of the values of one graph, each computed at its first use.

    The *rate* ẋ of a value x is its derivative with respect to ``s``. Forward rules are called with a new
    variable for each rate ẋ.
    """

    def __init__(self, builder: Builder, order: int) -> None:
        self._builder = builder
        self._order = order
        self._known: dict[tuple[Any, int], Any] = {}
        #: maps the variable of each rate ẋ to the variable of x
        self._rate_of: dict[Variable, Variable] = {}
        #: maps each value to its rate, which the forward rule returned
        self._rates: dict[Variable, Any] = {}
        #: cache: whether a value depends on ``s``
        self._depends: dict[Any, bool] = {}
        #: cache: whether a value depends on the variable of a rate
        self._of_rates: dict[Any, bool] = {}

    def start(self, variable: Variable, coefficients: Sequence[Any]) -> None:
        """Set the coefficients of order 1 and higher of ``variable``."""
        self._depends[variable] = True
        for k, atom in enumerate(coefficients, 1):
            self._known[variable, k] = atom

    def replay(self, equations: Sequence[Equation]) -> list[Any]:
        """Let branches and loops that depend on ``s`` also compute coefficients.

        Returns:
            All values of the graph, in program order.
        """
        if all(equation.primitive.series is None for equation in equations):
            return [y for equation in equations for y in equation.outputs]
        values: list[Any] = []
        for equation, _ in self._builder.replay(equations):
            operands = [self._builder.value(x) for x in equation.inputs]
            if equation.primitive.series is not None and any(map(self._varies, operands)):
                values += self._replaced(equation)
            else:
                values += self._builder.again(equation)
        return values

    def coefficient(self, atom: Any, k: int) -> Any:
        """Return coefficient ``k`` of the series of ``atom``; ``None`` if it is zero."""
        return trampolined(self._coefficient(atom, k), lambda wanted: self._coefficient(*wanted))

    def _coefficient(self, atom: Any, k: int) -> Steps:
        if type(atom) is not Variable:
            return atom if k == 0 else None
        base = self._rate_of.get(atom)
        if base is not None:
            coefficient = yield base, k + 1
            return None if coefficient is None else (k + 1) * coefficient if k else coefficient
        if k == 0 and not self._has_rate(atom):
            return atom
        key = (atom, k)
        if key not in self._known:
            self._known[key] = (yield from self._located(atom, k)) if self._varies(atom) else None
        return self._known[key]

    def _located(self, atom: Variable, k: int) -> Steps:
        """Compute a coefficient of ``atom``, with the source line of ``atom``."""
        builder, equation = self._builder, atom.made_by
        outer = builder.source
        if equation is not None and equation.source is not None:
            builder.source = derivative_of(equation.source) if k else equation.source
        coefficient = yield from self._make(atom, k)
        builder.source = outer
        return coefficient

    def _varies(self, atom: Any) -> bool:
        """Return whether ``atom`` depends differentiably on ``s``."""
        return _depends_on(atom, self._depends, _differentiated)

    def _has_rate(self, atom: Any) -> bool:
        """Return whether ``atom`` depends on the variable of a rate.

        Such a value is an intermediate result of a forward rule. The variable of a rate has no value, so even
        its coefficient 0 must be computed.
        """
        return bool(self._rate_of) and _depends_on(atom, self._of_rates, _operands)

    def _make(self, atom: Variable, k: int) -> Steps:
        equation = atom.made_by
        if equation is None:
            return None
        primitive: Any = equation.primitive
        if k == 0:
            operands = yield from self._starts(equation.inputs)
            if primitive.is_product:
                return _term(equation, *operands)
            results = primitive(*operands, **silent(equation.parameters))
            found = results if primitive.multiple else [results]
            self._known.update(((y, 0), value) for y, value in zip(equation.outputs, found, strict=True))
            return self._known[atom, 0]
        if primitive.series is not None:
            yield from self._whole(equation, k)
            return self._known[atom, k]
        if primitive.jvp is None:
            return None
        if primitive.is_linear:
            return (yield from self._linear(equation, k))
        if primitive.recurrence is not None:
            return (yield from primitive.recurrence(equation, k))
        if primitive.is_product:
            return (yield from self._product(equation, k))
        rate = self._rate(equation, atom)
        coefficient = None if rate is None else (yield rate, k - 1)
        return None if coefficient is None else coefficient * (1 / k) if k > 1 else coefficient

    def _starts(self, atoms: Sequence[Any]) -> Steps:
        """Return coefficient 0 of each value in ``atoms``, without variables of rates."""
        starts = []
        for x in atoms:
            start = yield x, 0
            starts.append(zeros(x.type) if start is None else start)
        return starts

    def _replaced(self, equation: Equation) -> list[Any]:
        """Emit a branch or loop that also computes coefficients; return its values."""
        builder = self._builder
        operands = tuple([builder.value(x) for x in equation.inputs])
        outer, builder.source = builder.source, equation.source
        coefficients = [[self.coefficient(x, k) for k in range(self._order + 1)] for x in operands]
        series = _series(equation, operands, equation.parameters, coefficients)
        builder.source = outer
        values = [coefficients[0] for coefficients in series]
        builder.rebind(equation.outputs, values)
        for value, coefficients in zip(values, series, strict=True):
            self._depends.setdefault(value, any(c is not None for c in coefficients[1:]))
            for k, c in enumerate(coefficients[1:], 1):
                self._known.setdefault((value, k), c)
        return values

    def _whole(self, equation: Equation, order: int) -> Steps:
        """Compute the coefficients up to ``order`` of a branch or loop in a forward rule.

        Each order needs another branch or loop, because coefficients of the operands may depend on lower
        coefficients of the results. An example is the derivative of a linear system whose matrix product is a
        loop.
        """
        coefficients = []
        for x in equation.inputs:
            of_operand = []
            for k in range(order + 1):
                of_operand.append((yield x, k))
            coefficients.append(of_operand)
        series = _series(equation, equation.inputs, silent(equation.parameters), coefficients)
        for y, found in zip(equation.outputs, series, strict=True):
            self._known.update(((y, k), c) for k, c in enumerate(found))

    def _linear(self, equation: Equation, k: int) -> Steps:
        """Apply a linear operator to coefficient ``k`` of its linear operands."""
        coefficients = []
        for x in equation.inputs:
            coefficients.append((yield x, k) if self._varies(x) else None)
        operands = yield from self._starts(equation.inputs)
        # use the forward rule, because it accepts `None` for coefficients that are zero
        jvp: Any = equation.primitive.jvp
        return jvp(equation.outputs[0], operands, coefficients, **equation.parameters)

    def _product(self, equation: Equation, k: int) -> Steps:
        """Return the Cauchy product Σ_j B(a_j, b_{k−j})."""
        a, b = equation.inputs
        if a is b and equation.primitive.commutative:
            return (yield from self._square(equation, a, k))
        terms = []
        for j in range(k + 1):
            left, right = (yield a, j), (yield b, k - j)
            if left is not None and right is not None:
                terms.append(_term(equation, left, right))
        return accumulate(terms)

    def _square(self, equation: Equation, a: Any, k: int) -> Steps:
        """Return the Cauchy product of a series with itself, with each pair computed once."""
        terms = []
        for j in range((k + 1) // 2):
            left, right = (yield a, j), (yield a, k - j)
            if left is not None and right is not None:
                terms.append(_term(equation, left, right))
        total = accumulate(terms)
        total = None if total is None else 2 * total
        middle = None if k % 2 else (yield a, k // 2)
        if middle is None:
            return total
        return accumulate([total, _term(equation, middle, middle)])

    def _rate(self, equation: Equation, atom: Variable) -> Any:
        """Return ẏ, the result of the forward rule for new variables of the rates ẋ."""
        if atom not in self._rates:
            rates: list[Any] = []
            for x in equation.inputs:
                if not self._varies(x):
                    rates.append(None)
                    continue
                (rate,) = self._builder.inputs_like([x])
                self._builder.let_move(rate)
                self._rate_of[rate], self._depends[rate], self._of_rates[rate] = x, True, True
                rates.append(rate)
            y = equation.outputs if equation.primitive.multiple else equation.outputs[0]
            jvp: Any = equation.primitive.jvp
            tangents = jvp(y, equation.inputs, rates, **equation.parameters)
            by_output = tangents if equation.primitive.multiple else (tangents,)
            self._rates.update(zip(equation.outputs, by_output, strict=True))
        return self._rates[atom]


def _operands(equation: Equation) -> Sequence[Any]:
    return equation.inputs


def _differentiated(equation: Equation) -> Sequence[Any]:
    """Return the operands of ``equation``; an empty tuple if its derivative is zero."""
    primitive = equation.primitive
    has_rule = primitive.jvp is not None or primitive.series is not None
    return equation.inputs if has_rule and not primitive.stops else ()


def _depends_on(
    atom: Any, answers: dict[Any, bool], operands_of: Callable[[Equation], Sequence[Any]]
) -> bool:
    """Return whether ``atom`` depends on a variable for which ``answers`` is true.

    ``answers`` is a cache, to which the search adds the result for each value that it visits.
    """
    if type(atom) is not Variable:
        return False
    waiting = [atom]
    while waiting:
        x = waiting[-1]
        if x in answers:
            waiting.pop()
            continue
        operands = [] if x.made_by is None else [y for y in operands_of(x.made_by) if type(y) is Variable]
        unknown = [y for y in operands if y not in answers]
        waiting += unknown
        if not unknown:
            answers[x] = any(answers[y] for y in operands)
    return answers[atom]


def _series(
    equation: Equation,
    operands: tuple[Any, ...],
    parameters: dict[str, Any],
    coefficients: Sequence[Sequence[Any]],
) -> Any:
    """Apply the rule ``series`` of a branch or loop to ``operands``."""
    rule: Any = equation.primitive.series
    applied = Equation(equation.primitive, operands, parameters, equation.outputs, equation.source)
    return rule(applied, coefficients, len(coefficients[0]) - 1)


def _term(equation: Equation, left: Any, right: Any) -> Any:
    """Return the term ``B(left, right)`` of a Cauchy product.

    The term is computed by the forward rule. It is therefore zero if one coefficient is an exact zero
    (``primitives.exact_zeros``) and the other coefficient is infinite.
    """
    jvp: Any = equation.primitive.jvp
    return jvp(equation.outputs[0], (left, right), (None, right), **equation.parameters)
