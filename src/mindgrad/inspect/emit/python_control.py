"""Loops and branches as Python statements: ``while``, ``for``, and ``if``.

    loop:          while condition: carry = body(carry)
    its pullback:  for carry in reversed(saved): cotangents = iteration(carry, cotangents)

The *carry* of a loop is the tuple of variables that an iteration changes. The *pullback* of a loop is its
reverse-mode derivative. A differentiated loop stores the carry before each iteration in a list, and its
pullback iterates over the list in reverse order. In contrast, a loop that mindgrad compiles stores only some
carries and recomputes all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.control.while_pullback import Pullback, reverse_of
from mindgrad.core.ir.graph import Equation, Graph
from mindgrad.inspect.emit.expression import Expression
from mindgrad.inspect.emit.names import carry_names, is_numbered
from mindgrad.inspect.emit.program import Writer, typed_names

__all__ = ["CONTROL", "cotangent_names"]

Operands = Sequence[Expression]
Names = Sequence[str | None]


def _names(writer: Writer, suggested: Names, fallback: str) -> list[str]:
    return [writer.names.fresh(name or fallback) for name in suggested]


def _assign(writer: Writer, targets: Sequence[str], values: Operands, source: Any = None) -> None:
    """Write one statement that assigns all ``values`` to ``targets``."""
    pairs = [(name, x.text) for name, x in zip(targets, values, strict=True) if name != x.text]
    if pairs:
        left, right = zip(*pairs, strict=True)
        text = ", ".join(right)
        writer.line(f"{', '.join(left)} = {writer.target.wrapped(text) if len(pairs) == 1 else text}", source)


# --- branches ----------------------------------------------------------------------------------------


def _cond(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    predicate, *xs = operands
    targets = _names(writer, suggested, "branch")
    for keyword, side in ((f"if {predicate.text}:", "true"), ("else:", "false")):
        writer.line(keyword, equation.source if side == "true" else None)
        with writer.indented():
            since = len(writer.lines)
            results = writer.run(equation.parameters[side], xs)
            writer.update(targets, [writer.whole(x) for x in results], since)
    return typed_names([y.type for y in equation.outputs], targets)


# --- while -------------------------------------------------------------------------------------------


def _carried(writer: Writer, equation: Equation, initial: Operands) -> list[str]:
    """Write assignments of a loop's initial carry to variables; return their names."""
    names = _names(writer, carry_names(equation)[: len(initial)], "carry")
    for name, x in zip(names, initial, strict=True):
        writer.line(f"{name} = {writer.whole(x).text}", equation.source)
    return names


def _iterations(
    writer: Writer, condition: Graph, body: Graph, constants: Operands, names: Sequence[str],
    saved: str | None, source: Any,
) -> None:  # fmt: skip
    carry = typed_names([v.type for v in body.inputs[len(constants) :]], names)
    with writer.collected() as before:
        (continues,) = writer.run_inline(condition, [*constants, *carry])
    writer.line("while True:" if before else f"while {continues.text}:", source)
    with writer.indented():
        if before:
            writer.lines += [f"    {text}" for text in before]
            writer.line(f"if not ({continues.text}):")
            with writer.indented():
                writer.line("break")
        if saved is not None:
            writer.line(f"{saved}.append(({', '.join(names)}{',' if len(names) == 1 else ''}))")
        since = len(writer.lines)
        writer.update(names, [writer.whole(x) for x in writer.run(body, [*constants, *carry])], since)


def _while(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    parameters = equation.parameters
    consts, body = parameters["consts"], parameters["body"]
    count = len(body.outputs)
    names = _carried(writer, equation, operands[consts:])
    saved = writer.names.fresh("saved") if parameters.get("slots") else None
    if saved is not None:
        writer.line(f"{saved} = []")
    _iterations(writer, parameters["condition"], body, operands[:consts], names, saved, equation.source)
    results = typed_names([y.type for y in equation.outputs[:count]], names)
    if saved is not None:
        # the remaining outputs of the equation are the iteration count, the period, and the buffers of stored
        # carries. The emitted program stores all carries in one list instead
        mark = Expression(saved, equation.outputs[count].type, is_name=True)
        results += [mark] * (len(equation.outputs) - count)
    return results


def cotangent_names(equation: Equation, constants: Operands, suggested: Names) -> list[str | None]:
    """Suggest names for the results of a loop's pullback: ``d_w`` for variable ``w``.

    The first names are for the cotangents of the loop's constants, which are sums over iterations. The
    remaining names are for the cotangents of the carry.
    """
    parameters = equation.parameters
    carried = [carry_names(equation, "")[k] for k in parameters["moving"]]
    owners = [constants[k].text for k in parameters["active_consts"]]
    owners = [text if text.isidentifier() and not is_numbered(text) else "" for text in owners]
    owned = [f"d_{owner}" if owner else None for owner in (*owners, *carried)]
    return [name or own for name, own in zip(suggested, owned, strict=True)]


def _while_pullback(
    writer: Writer, equation: Equation, operands: Operands, suggested: Names
) -> list[Expression]:
    pullback, source = Pullback(**equation.parameters), equation.source
    constants, _, saved, cotangents = pullback.split(operands)
    count = len(pullback.active_consts)
    bases = cotangent_names(equation, constants, suggested)
    sums = [writer.assigned(Expression(writer.target.zeros(y.type), y.type), name, source).text
            for y, name in zip(equation.outputs, bases[:count], strict=False)]  # fmt: skip
    moved = _names(writer, bases[count:], "cotangent")
    _assign(writer, moved, [writer.whole(x) for x in cotangents], source)
    # name the carry like the variables of the forward loop, with a number appended
    names = _names(writer, carry_names(equation), "carry")
    loop = f"for {', '.join(names)}{',' if len(names) == 1 else ''} in reversed({saved.iterations.text}):"
    writer.line(loop, source)
    with writer.indented():
        carry = typed_names([y.type for y in pullback.body.outputs], names)
        now = typed_names([x.type for x in cotangents], moved)
        since = len(writer.lines)
        results = writer.run(reverse_of(pullback), [*constants, *carry, *now])
        parts, after = results[:count], results[count:]
        for total, part in zip(sums, parts, strict=True):
            if not part.is_literal or float(part.text) != 0:
                writer.line(f"{total} = {total} + {writer.whole(part).text}")
        writer.update(moved, [writer.whole(x) for x in after], since)
    return typed_names([y.type for y in equation.outputs], [*sums, *moved])


# --- scan --------------------------------------------------------------------------------------------


def _scan(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    parameters, target = equation.parameters, writer.target
    body, consts, carries = parameters["body"], parameters["consts"], parameters["carries"]
    length, source = parameters["length"], equation.source
    end = consts + carries
    names = _carried(writer, equation, operands[consts:end])
    stacked = _names(writer, suggested[carries:], "stacked")
    for name, y in zip(stacked, equation.outputs[carries:], strict=True):
        writer.line(f"{name} = {target.rows(y.type)}", source)
    index = writer.names.fresh("step")
    iterations = f"range({length})"
    writer.line(
        f"for {index} in {f'reversed({iterations})' if parameters.get('reverse') else iterations}:", source
    )
    with writer.indented():
        carry = typed_names([v.type for v in body.inputs[consts:end]], names)
        slices = [
            Expression(f"{writer.whole(x).text}[{index}]", v.type)
            for x, v in zip(operands[end:], body.inputs[end:], strict=True)
        ]
        since = len(writer.lines)
        results = writer.run(body, [*operands[:consts], *carry, *slices])
        for name, row in zip(stacked, results[carries:], strict=True):
            writer.line(target.row(name, index, writer.whole(row).text))
        writer.update(names, [writer.whole(x) for x in results[:carries]], since)
    for name in stacked:
        closing = target.stacked(name, bool(parameters.get("reverse")))
        if closing:
            writer.line(closing)
    return typed_names([y.type for y in equation.outputs], [*names, *stacked])


# --- inlined graphs, and print -------------------------------------------------------------------------


def _recomputed(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    return writer.run(equation.parameters["body"], operands)


def _show(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    writer.line(f"print({', '.join(writer.whole(x).text for x in operands)})", equation.source)
    return []


#: maps the name of each primitive with inner graphs to the rule that writes it
CONTROL: dict[str, Callable[[Writer, Equation, Operands, Names], list[Expression]]] = {
    "cond": _cond,
    "while": _while,
    "while_pullback": _while_pullback,
    "scan": _scan,
    "custom": lambda writer, equation, operands, suggested: list(operands[: equation.parameters["outputs"]]),
    "recomputed": _recomputed,
    "show": _show,
}
