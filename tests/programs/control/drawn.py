"""Programs of nested control flow that hypothesis draws, as source text, and their exact derivatives.

A drawn program is an ordinary function of three numbers with a return at its end. Its bodies keep every
variable between −2 and 2 and are smooth, its loops do at most three iterations each, and its thresholds are
irrational, so that no condition is near a tie. The same text runs on tensors and on hyper-dual numbers.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from hypothesis import strategies

__all__ = ["function_of", "sources"]

# -- the text --------------------------------------------------------------------------------------

NAMES = ("a", "b", "c")
#: what a condition compares with: no value of these programs comes near by accident
THRESHOLDS = (
    -0.7320508075688772,
    -0.2360679774997897,
    0.1415926535897931,
    0.5671432904097838,
    1.0986122886681098,
)

name = strategies.sampled_from(NAMES)
threshold = strategies.sampled_from(THRESHOLDS)
value = strategies.one_of(
    strategies.builds("ops.sin({} + {})".format, name, name),
    strategies.builds("ops.cos({} * {})".format, name, name),
    strategies.builds("ops.tanh({} - 2 * {})".format, name, name),
    strategies.builds("0.5 * {} + 0.3 * {} + {:.2f}".format, name, name, strategies.floats(-0.3, 0.3)),
    strategies.builds("0.3 * {} * {} + 0.2".format, name, name),
)
comparison = strategies.builds("{} {} {}".format, name, strategies.sampled_from("<>"), threshold)
on_tensors = strategies.one_of(
    comparison,
    strategies.builds("{} and {}".format, comparison, comparison),
    strategies.builds("{} or not {}".format, comparison, comparison),
    strategies.builds(
        "{} < {} < {}".format, strategies.just(THRESHOLDS[1]), name, strategies.just(THRESHOLDS[3])
    ),
)
on_python = strategies.sampled_from(["n > 1", "n == 2", "k % 2 == 0", "k == 1", "k > 0 and n > 1"])
condition = strategies.one_of(on_tensors, on_tensors, on_python)
assignment = strategies.one_of(
    strategies.builds("{} = {}".format, name, value),
    strategies.builds("{} = {}".format, name, value),
    strategies.builds("{0}, {1} = {1}, {2}".format, name, name, value),
    strategies.builds("{} *= {}".format, name, strategies.sampled_from(["0.9", "-0.8", "ops.cos(a)"])),
    strategies.builds("{} = {} if {} else {}".format, name, value, condition, value),
)


def indented(block: list[str]) -> list[str]:
    return ["    " + line for line in block]


@strategies.composite
def blocks(draw: Callable[..., Any], depth: int, in_loop: bool) -> list[str]:
    """Lines of statements; ``depth`` counts how many constructs may still be nested in them."""
    lines: list[str] = []
    for _ in range(draw(strategies.integers(1, 3))):
        kinds = ["assign", "assign"] + (["if", "if", "while", "for", "range"] if depth else [])
        kind = draw(strategies.sampled_from(kinds))
        if kind == "assign":
            lines.append(draw(assignment))
        elif kind == "if":
            lines += draw(branches(depth - 1, in_loop))
        else:
            lines += draw(loops(kind, depth - 1))
    return lines


@strategies.composite
def branches(draw: Callable[..., Any], depth: int, in_loop: bool) -> list[str]:
    exits = ["", "", "return"] + (["break", "continue"] if in_loop else [])
    lines = []
    for start in ["if", *draw(strategies.sampled_from([[], ["else"], ["elif"], ["elif", "else"]]))]:
        lines.append("else:" if start == "else" else f"{start} {draw(condition)}:")
        lines += indented(draw(blocks(depth, in_loop)))
        left = draw(strategies.sampled_from(exits))
        if left:
            lines.append("    " + (f"return {draw(value)}" if left == "return" else left))
    return lines


@strategies.composite
def loops(draw: Callable[..., Any], kind: str, depth: int) -> list[str]:
    """A loop of at most three iterations: `while` on tensors, `for` over tensor and Python ranges."""
    level = f"i{depth}"
    body = indented(draw(blocks(depth, True)))
    if kind == "while":
        lines = [f"{level} = 0", f"while {level} < 3 and {draw(comparison)}:", f"    {level} += 1", *body]
    elif kind == "for":
        lines = [
            f"for {level} in range({draw(strategies.sampled_from(['iterations', '2', 'iterations - 1']))}):",
            *body,
        ]
        lines.insert(1, f"    {draw(name)} += 0.01 * {level}")
    else:
        lines = [f"for k in range({draw(strategies.sampled_from(['n', '2', '3']))}):", *body]
    if draw(strategies.booleans()):
        lines += ["else:", f"    {draw(assignment)}"]
    return lines


@strategies.composite
def sources(draw: Callable[..., Any], depth: int = 3) -> str:
    """The text of a function ``drawn(a, b, c, iterations)``; ``n`` and ``k`` are Python values in it."""
    lines = [f"n, k = {draw(strategies.integers(0, 3))}, {draw(strategies.integers(0, 2))}"]
    lines += draw(blocks(depth, False))
    kind = draw(strategies.sampled_from(["while", "for", "if"]))
    lines += draw(branches(depth - 1, False)) if kind == "if" else draw(loops(kind, depth - 1))
    return "\n".join(
        ["def drawn(a, b, c, iterations):", *indented(lines), "    return a * b + ops.sin(c)", ""]
    )


def function_of(source: str, ops: Any) -> Callable[..., Any]:
    """The function that the text defines, with source that linecache finds as it finds a file's."""
    filename = f"<drawn {abs(hash(source))}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    scope = {"ops": ops, "__name__": "drawn"}
    exec(compile(source, filename, "exec"), scope)
    return scope["drawn"]
