"""Taylor mode: derivatives of several orders in one pass.

    x(s) = Σ_k x_k sᵏ    ⟹    taylor(G): (x_0, …, x_K) ↦ (y_0, …, y_K),  G(x(s)) = Σ_k y_k sᵏ + O(sᴷ⁺¹)

Most operators need no Taylor rule. A linear operator is applied to each coefficient. For a multilinear
operator, the coefficients are a Cauchy product, ``y_k = Σ_j B(a_j, b_{k−j})``. For every other operator, the
forward rule is a differential equation for the series. A dot is the derivative with respect to s:

    ẏ = jvp(y, x; ẋ)         ⟹        k y_k = (coefficient k − 1 of jvp(y, x; ẋ)),   (ẋ)_j = (j + 1) x_{j+1}

The right side is a graph of operators, for example ``cos(x) · ẋ`` for the sine. The coefficients of its
values are computed in the same way. Each step lowers the order by one, so the recursion ends. Each
coefficient is computed when it is first needed.

Two kinds of operators have special rules. The forward rule of a quotient contains quotients, so that each
order would add more quotients. Instead, the rule ``recurrence`` of a quotient ``y = a / b`` solves the Cauchy
product ``y b = a`` for ``y``. The rule ``series`` of a branch or a loop emits one branch or loop over all
coefficients.

A series needs O(K²) products per nonlinear equation, compared with 2ᴷ for nested forward mode. Every operator
must have a forward rule.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from mindgrad.core.base.trampoline import trampolined
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable, derivative_of, silent
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Atoms, Jvp, Rule, Statics, Tangent, Tangents
from mindgrad.core.primitives.kinds import accumulate, zeros

__all__ = ["taylor"]

#: generator of a rule. It yields ``(atom, k)`` to request coefficient ``k`` of ``atom``, receives this
#: coefficient, and finally returns one coefficient of the result of the operator
Steps = Generator[tuple["Atom", int], "Tangent", "Tangent"]


def taylor(graph: Graph, active: Sequence[int], order: int, degree: int | None = None) -> Graph:
    """Return the graph that computes the Taylor coefficients of its outputs.

    Args:
        graph: the graph G.
        active: positions of the inputs that depend on ``s``; all other inputs are constant.
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
        arguments = list(builder.inputs)  # copy: `_rate` adds variables to `builder.inputs`
        outputs = builder.inline(graph, inputs)
        values = series.replay(list(builder.equations))
        outputs = [builder.value(y) for y in outputs]
        coefficients: list[list[Atom]] = [[] for _ in outputs]
        for k in range(1, order + 1):
            # compute in execution order: the coefficients of a result depend on the coefficients of the
            # operands
            for value in values:
                series.coefficient(value, k)
            for of_output, y in zip(coefficients, outputs, strict=True):
                coefficient = series.coefficient(y, k)
                of_output.append(zeros(y.type) if coefficient is None else coefficient)
        atoms = [atom for of_output in coefficients for atom in of_output]
        return builder.close([*outputs, *atoms], arguments)


class _Series:
    """Taylor coefficients of the values of one graph, each computed at its first use.

    The *rate* ẋ of a value x is its derivative with respect to ``s``. To obtain ẏ of a result, its forward
    rule is called with a new variable for each rate ẋ of an operand.
    """

    def __init__(self, builder: Builder, order: int) -> None:
        self._builder = builder
        self._order = order
        self._known: dict[tuple[Atom, int], Tangent] = {}
        #: maps the variable that represents a rate ẋ to the variable x
        self._rate_of: dict[Variable, Atom] = {}
        #: maps each result y of an operator to its rate ẏ, which the forward rule returned
        self._rates: dict[Variable, Tangent] = {}
        #: cache: whether each value depends on ``s``
        self._depends: dict[Atom, bool] = {}
        #: cache: whether each value depends on a variable that represents a rate
        self._of_rates: dict[Atom, bool] = {}

    def start(self, variable: Variable, coefficients: Atoms) -> None:
        """Set the coefficients of ``variable`` of order 1 and higher."""
        self._depends[variable] = True
        for k, atom in enumerate(coefficients, 1):
            self._known[variable, k] = atom

    def replay(self, equations: Sequence[Equation]) -> list[Atom]:
        """Make branches and loops that depend on ``s`` compute their coefficients, too.

        Returns:
            All values of the graph, in execution order.
        """
        if all(equation.primitive.series is None for equation in equations):
            return [y for equation in equations for y in equation.outputs]
        values: list[Atom] = []
        for equation, _ in self._builder.replay(equations):
            operands = [self._builder.value(x) for x in equation.inputs]
            if equation.primitive.series is not None and any(map(self._varies, operands)):
                values += self._replaced(equation)
            else:
                values += self._builder.again(equation)
        return values

    def coefficient(self, atom: Atom, k: int) -> Tangent:
        """Return coefficient ``k`` of the series of ``atom``; ``None`` if it is zero."""
        return trampolined(self._coefficient(atom, k), lambda wanted: self._coefficient(*wanted))

    def _coefficient(self, atom: Atom, k: int) -> Steps:
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
        """Compute coefficient ``k`` of ``atom``, with the source line of ``atom``."""
        builder, equation = self._builder, atom.made_by
        outer = builder.source
        if equation is not None and equation.source is not None:
            builder.source = derivative_of(equation.source) if k else equation.source
        coefficient = yield from self._make(atom, k)
        builder.source = outer
        return coefficient

    def _varies(self, atom: Atom) -> bool:
        """Return whether ``atom`` depends differentiably on ``s``."""
        return _depends_on(atom, self._depends, _differentiated)

    def _has_rate(self, atom: Atom) -> bool:
        """Return whether ``atom`` depends on a variable that represents a rate ẋ.

        A value that depends on such a variable is an intermediate result of a forward rule. The variable has
        no value at run time, so even coefficient 0 of the intermediate result must be computed.
        """
        return bool(self._rate_of) and _depends_on(atom, self._of_rates, _operands)

    def _make(self, atom: Variable, k: int) -> Steps:
        equation = atom.made_by
        if equation is None:
            return None
        primitive: Primitive = equation.primitive
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
        if (recurrence := primitive.algebra.recurrence) is not None:
            return (yield from recurrence(equation, k))
        if primitive.is_product:
            return (yield from self._product(equation, k))
        rate = self._rate(equation, atom)
        coefficient = None if rate is None else (yield rate, k - 1)
        return None if coefficient is None else coefficient * (1 / k) if k > 1 else coefficient

    def _starts(self, atoms: Atoms) -> Generator[tuple[Atom, int], Tangent, list[Atom]]:
        """Return coefficient 0 of each value in ``atoms``.

        Unlike the values themselves, these coefficients do not depend on variables that represent rates ẋ.
        """
        starts = []
        for x in atoms:
            start = yield x, 0
            starts.append(zeros(x.type) if start is None else start)
        return starts

    def _replaced(self, equation: Equation) -> list[Atom]:
        """Replace a branch or loop by one that also computes coefficients.

        Returns the results of the new equation that correspond to the original results.
        """
        builder = self._builder
        operands = tuple([builder.value(x) for x in equation.inputs])
        outer, builder.source = builder.source, equation.source
        coefficients = [[self.coefficient(x, k) for k in range(self._order + 1)] for x in operands]
        series = _series(equation, operands, equation.parameters, coefficients)
        builder.source = outer
        values: list[Atom] = [of_output[0] for of_output in series]  # type: ignore[misc]  # coefficient 0 is never None
        builder.rebind(equation.outputs, values)
        for value, of_output in zip(values, series, strict=True):
            self._depends.setdefault(value, any(c is not None for c in of_output[1:]))
            for k, c in enumerate(of_output[1:], 1):
                self._known.setdefault((value, k), c)
        return values

    def _whole(self, equation: Equation, order: int) -> Generator[tuple[Atom, int], Tangent, None]:
        """Return the coefficients, up to ``order``, of a branch or loop in a forward rule.

        Each order needs a separate branch or loop, because coefficients of the operands may depend on lower
        coefficients of the results. An example is the derivative of the solution of a linear system whose
        matrix–vector product is a loop.
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
        """Return coefficient ``k`` of the result of a linear operator.

        It is the operator, applied to the coefficients ``k`` of its operands.
        """
        coefficients = []
        for x in equation.inputs:
            coefficients.append((yield x, k) if self._varies(x) else None)
        operands = yield from self._starts(equation.inputs)
        # call the forward rule instead of the operator: it accepts `None` for coefficients that are zero
        jvp: Jvp = equation.primitive.jvp  # type: ignore[assignment]  # not None: it has a derivative
        return jvp(equation.outputs[0], operands, coefficients, **equation.parameters)

    def _product(self, equation: Equation, k: int) -> Steps:
        """Return coefficient ``k`` of a product: Σ_j B(a_j, b_{k−j})."""
        a, b = equation.inputs
        if a is b and equation.primitive.algebra.commutative:
            return (yield from self._square(equation, a, k))
        terms = []
        for j in range(k + 1):
            left, right = (yield a, j), (yield b, k - j)
            if left is not None and right is not None:
                terms.append(_term(equation, left, right))
        return accumulate(terms)

    def _square(self, equation: Equation, a: Atom, k: int) -> Steps:
        """Return coefficient ``k`` of the square of ``a``. Equal terms are computed once."""
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

    def _rate(self, equation: Equation, atom: Variable) -> Tangent:
        """Return the rate ẏ of ``atom``, by the forward rule of ``equation``.

        The rule is applied to new variables, which represent the rates ẋ of the operands.
        """
        if atom not in self._rates:
            rates: list[Tangent] = []
            for x in equation.inputs:
                if not self._varies(x):
                    rates.append(None)
                    continue
                (rate,) = self._builder.inputs_like([x])
                self._builder.let_move(rate)
                self._rate_of[rate], self._depends[rate], self._of_rates[rate] = x, True, True
                rates.append(rate)
            y = equation.outputs if equation.primitive.multiple else equation.outputs[0]
            jvp: Jvp = equation.primitive.jvp  # type: ignore[assignment]  # not None: it has a derivative
            tangents = jvp(y, equation.inputs, rates, **equation.parameters)
            by_output = tangents if equation.primitive.multiple else (tangents,)
            self._rates.update(zip(equation.outputs, by_output, strict=True))
        return self._rates[atom]


def _operands(equation: Equation) -> Atoms:
    return equation.inputs


def _differentiated(equation: Equation) -> Atoms:
    """Return the operands of ``equation``, or ``()`` if its derivative is always zero."""
    primitive = equation.primitive
    has_rule = primitive.jvp is not None or primitive.series is not None
    return equation.inputs if has_rule and not primitive.algebra.stops else ()


def _depends_on(atom: Atom, answers: dict[Atom, bool], operands_of: Callable[[Equation], Atoms]) -> bool:
    """Return whether ``atom`` depends on a variable for which ``answers`` is true.

    ``answers`` is a cache: the search adds the result for each value that it visits.
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
    equation: Equation, operands: tuple[Atom, ...], parameters: Statics, coefficients: Sequence[Tangents]
) -> list[list[Tangent]]:
    """Call the rule ``series`` of a branch or loop for ``operands``."""
    rule: Rule = equation.primitive.series  # type: ignore[assignment]  # not None: the callers have checked it
    applied = Equation(equation.primitive, operands, parameters, equation.outputs, equation.source)
    return rule(applied, coefficients, len(coefficients[0]) - 1)


def _term(equation: Equation, left: Atom, right: Atom) -> Atom:
    """Return the term ``B(left, right)`` of a Cauchy product.

    The forward rule computes the term. The term is therefore zero, not NaN, if one coefficient is an exact
    zero (``primitives.exact_zeros``) and the other coefficient is infinite.
    """
    jvp: Jvp = equation.primitive.jvp  # type: ignore[assignment]  # not None: it has a derivative
    return jvp(equation.outputs[0], (left, right), (None, right), **equation.parameters)
