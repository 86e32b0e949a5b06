"""Loops and branches for JAX: ``jax.lax.cond``, ``while_loop``, and ``scan``.

Loop bodies and branches become functions inside the emitted function, so that they can read its variables.
The pullback of a loop (its reverse-mode derivative) runs the iterations in reverse order, starting from
stored carries. The pullback uses functions of ``control.checkpoints``, which are copied to the emitted
module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mindgrad.core.control import checkpoints
from mindgrad.core.control.while_pullback import Pullback, reverse_of
from mindgrad.core.ir.graph import Equation, Graph
from mindgrad.inspect.emit.expression import Expression
from mindgrad.inspect.emit.names import carry_names
from mindgrad.inspect.emit.program import Writer, typed_names
from mindgrad.inspect.emit.python_control import CONTROL as PYTHON_CONTROL
from mindgrad.inspect.emit.python_control import cotangent_names

__all__ = ["CONTROL"]

Operands = Sequence[Expression]
Names = Sequence[str | None]


def _tuple(texts: Sequence[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def _fresh(writer: Writer, suggested: Names, fallback: str) -> list[str]:
    return [writer.names.fresh(name or fallback) for name in suggested]


def _function(
    writer: Writer, name: str, arguments: str, unpacked: Sequence[tuple[Sequence[str], str]], graph: Graph,
    operands: Operands, result: Callable[[list[str]], str],
) -> str:  # fmt: skip
    """Write the definition of a function that runs ``graph``, and return its name."""
    name = writer.names.fresh(name)
    writer.line(f"def {name}({arguments}):")
    with writer.indented():
        for targets, value in unpacked:
            if targets:
                writer.line(f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = {value}")
        outputs = [writer.whole(x).text for x in writer.run(graph, operands)]
        writer.line(f"return {result(outputs)}")
    return name


def _called(writer: Writer, equation: Equation, names: Sequence[str], text: str) -> list[Expression]:
    if names:
        writer.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}", equation.source)
    else:
        writer.line(text, equation.source)
    return typed_names([y.type for y in equation.outputs], names)


def _cond(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    predicate, *xs = operands
    true, false = equation.parameters["true"], equation.parameters["false"]
    branches = [
        _function(writer, name, "", [], graph, xs, _tuple)
        for name, graph in (("if_true", true), ("if_false", false))
    ]
    names = _fresh(writer, suggested, "branch")
    return _called(writer, equation, names, f"jax.lax.cond({predicate.text}, {', '.join(branches)})")


def _carry_names(writer: Writer, equation: Equation, count: int) -> list[str]:
    return _fresh(writer, carry_names(equation)[:count], "carry")


def _while(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    parameters = equation.parameters
    consts, body, slots = parameters["consts"], parameters["body"], parameters.get("slots", 0)
    constants, initial = operands[:consts], operands[consts:]
    functions = []
    for name, graph, result in (
        ("condition", parameters["condition"], lambda texts: texts[0]),
        ("iteration", body, _tuple),
    ):
        inner = _carry_names(writer, equation, len(initial))
        carry = typed_names([v.type for v in body.inputs[consts:]], inner)
        functions.append(
            _function(writer, name, "carry", [(inner, "carry")], graph, [*constants, *carry], result)
        )
    first = _tuple([writer.whole(x).text for x in initial])
    names = _fresh(writer, suggested[: len(initial)], "carry")
    if not slots:
        return _called(writer, equation, names, f"jax.lax.while_loop({', '.join(functions)}, {first})")
    save = writer.target.definitions.function(checkpoints.save, "save")
    names += [writer.names.fresh(name) for name in ("iterations", "period")]
    names += [writer.names.fresh("saved") for _ in initial]
    return _called(writer, equation, names, f"{save}(jax, {', '.join(functions)}, {first}, {slots})")


def _while_pullback(
    writer: Writer, equation: Equation, operands: Operands, suggested: Names
) -> list[Expression]:
    pullback, define = Pullback(**equation.parameters), writer.target.definitions
    body, consts, carries = pullback.body, pullback.consts, len(pullback.body.outputs)
    constants, _, saved_carries, cotangents = pullback.split(operands)
    iterations = reverse_of(pullback)
    used = {x for e in iterations.equations for x in e.inputs} | set(iterations.outputs)
    needed = [k for k in range(carries) if iterations.inputs[consts + k] in used]
    first = len(pullback.active_consts)
    pull = Graph(
        iterations.inputs, iterations.equations, [*iterations.outputs[first:], *iterations.outputs[:first]]
    )
    types = [v.type for v in body.inputs[consts:]]

    inner = _carry_names(writer, equation, carries)
    iteration = _function(
        writer,
        "iteration",
        "carry",
        [(inner, "carry")],
        body,
        [*constants, *typed_names(types, inner)],
        _tuple,
    )
    bases = cotangent_names(equation, constants, suggested)
    names = _carry_names(writer, equation, carries)
    moved = _fresh(writer, bases[first:], "cotangent")
    arguments = [*constants, *typed_names(types, names), *typed_names([x.type for x in cotangents], moved)]
    unpacked = [([names[k] for k in needed], "carry"), (moved, "cotangents")]
    back = _function(writer, "pull", "carry, cotangents", unpacked, pull, arguments, _tuple)
    reverse, of_iteration, of_saved = [
        define.value(each, each.__name__)
        for each in (checkpoints.ReverseIterations, checkpoints.Iteration, checkpoints.Saved)
    ]
    known_iteration = (
        f"{of_iteration}({iteration}, lambda carry: (), lambda carry, _: tuple(carry), {back}, None)"
    )
    buffers = _tuple([x.text for x in saved_carries.buffers])
    saved = f"{of_saved}({saved_carries.iterations.text}, {saved_carries.period.text}, {buffers})"
    walker = writer.names.fresh("reverse_iterations")
    writer.line(
        f"{walker} = {reverse}(jax, {known_iteration}, {saved}, {tuple(needed)}, {pullback.slots}, 1)",
        equation.source,
    )
    zeros = _tuple([writer.target.zeros(y.type) for y in equation.outputs[:first]])
    names = _fresh(writer, bases, "cotangent")
    last = _tuple([writer.whole(x).text for x in cotangents])
    return _called(writer, equation, names, f"{walker}.run({last}, {zeros})")


def _scan(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    parameters = equation.parameters
    body, consts, carries = parameters["body"], parameters["consts"], parameters["carries"]
    end = consts + carries
    inner = _carry_names(writer, equation, carries)
    slices = [writer.names.fresh("slice_") for _ in body.inputs[end:]]
    arguments = [*operands[:consts], *typed_names([v.type for v in body.inputs[consts:]], [*inner, *slices])]
    iteration = _function(
        writer, "iteration", "carry, slices", [(inner, "carry"), (slices, "slices")], body, arguments,
        lambda texts: f"{_tuple(texts[:carries])}, {_tuple(texts[carries:])}",
    )  # fmt: skip
    initial, scanned = (
        _tuple([writer.whole(x).text for x in group]) for group in (operands[consts:end], operands[end:])
    )
    names = _fresh(writer, suggested, "carry")
    carry, stacked = (", ".join(group) + "," for group in (names[:carries], names[carries:]))
    last, ys = (
        f"({text})" if group else "_"
        for text, group in ((carry, names[:carries]), (stacked, names[carries:]))
    )
    reverse = f", reverse={parameters['reverse']}" if parameters.get("reverse") else ""
    call = f"jax.lax.scan({iteration}, {initial}, {scanned}, length={parameters['length']}{reverse})"
    writer.line(f"{last}, {ys} = {call}", equation.source)
    return typed_names([y.type for y in equation.outputs], names)


def _show(writer: Writer, equation: Equation, operands: Operands, suggested: Names) -> list[Expression]:
    texts = [writer.whole(x).text for x in operands]
    braces = " ".join(["{}"] * len(texts))
    writer.line(f"jax.debug.print({', '.join([repr(braces), *texts])}, ordered=True)", equation.source)
    return []


#: maps the name of each primitive with inner graphs to the rule that writes it
CONTROL: dict[str, Callable[[Writer, Equation, Operands, Names], list[Expression]]] = {
    "cond": _cond,
    "while": _while,
    "while_pullback": _while_pullback,
    "scan": _scan,
    "custom": PYTHON_CONTROL["custom"],
    "recomputed": PYTHON_CONTROL["recomputed"],
    "show": _show,
}
