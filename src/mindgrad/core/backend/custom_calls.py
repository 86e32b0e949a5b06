"""Prepare custom calls before an executable from the compile cache runs.

XLA runs some operators, such as a Cholesky factorization, by calling a function of a separate library. The
compiled code contains the name of this function, its *target*. JAX prepares the library only when it lowers
such an operator, that is, converts it to code for XLA. For example, it looks up the addresses of LAPACK
functions when it lowers the first factorization. An executable that is loaded from the disk is not lowered.
Its first call would jump to an address that was never set, and the process would crash.

The compile cache (``backend.disk``) therefore stores two lists with each executable: its targets, and the
positions of equations whose lowered code contains them. Before a process loads the executable, it lowers each
of these equations separately, which prepares the libraries. It then checks that the lowered code contains all
targets. Thus mindgrad does not need a list of the operators that call libraries. If a target does not occur
in the lowered code of any equation, the executable is not stored, and every process compiles the graph.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mindgrad.core.backend.xla import lower_ahead
from mindgrad.core.ir.graph import Equation, Graph, Variable, all_equations

__all__ = ["described", "is_prepared", "targets_of"]

#: pairs (target, platform) of the custom calls that this process has lowered. Their libraries are prepared,
#: because lowering prepares them
_prepared: set[tuple[str, str]] = set()


def targets_of(lowered: Any) -> set[str]:
    """Return the names of the custom calls (targets) in a lowered object of JAX."""
    targets: set[str] = set()
    unread = [lowered.compiler_ir("stablehlo").operation]
    while unread:
        operation = unread.pop()
        if operation.name.endswith("custom_call"):
            targets.add(str(operation.attributes["call_target_name"].value))
        for region in operation.regions:
            for block in region.blocks:
                unread.extend([inner.operation for inner in block.operations])
    return targets


def described(lowered: Any, graph: Graph | None) -> bytes | None:
    """Describe the custom calls of a graph, as input of :func:`is_prepared`.

    Args:
        lowered: the lowered object of JAX for ``graph``.
        graph: the graph, or ``None`` if every process lowers the graph before it loads the executable.

    Returns:
        A list of the targets and of the positions of their equations, as JSON. ``None`` if the executable
        cannot be stored, because a target does not occur in the lowered code of any equation.
    """
    positions: list[int] = []
    try:
        missing = set() if graph is None else targets_of(lowered)
    except Exception:  # later versions of JAX may represent lowered code differently
        return None
    targets = sorted(missing)
    if graph is not None and missing:
        equations = list(all_equations(graph.equations))
        for position in _candidates(equations):
            named = _targets_of_equation(equations[position])
            if not missing.isdisjoint(named):
                positions.append(position)
                missing -= named
            if not missing:
                break
    return None if missing else json.dumps([targets, positions]).encode()


def is_prepared(description: bytes, graph: Graph | None, platform: str) -> bool:
    """Prepare the custom calls of an executable before it is loaded.

    Args:
        description: the result of :func:`described` for the graph.
        graph: the graph, or ``None`` if this process has already lowered it.
        platform: kind of device, by its JAX name, such as ``"cpu"``.

    Returns:
        Whether this process has lowered every target of the executable, so that it can be loaded.
    """
    if graph is None:
        return True
    try:
        targets, positions = json.loads(description)
        missing = {(platform, target) for target in targets} - _prepared
        if missing:
            equations = list(all_equations(graph.equations))
            for position in positions:
                named = _targets_of_equation(equations[position])
                _prepared.update([(platform, target) for target in named])
        return missing <= _prepared
    except (ValueError, TypeError, LookupError):  # the stored description is damaged
        return False


def _candidates(equations: Sequence[Equation]) -> list[int]:
    """Return the positions of distinct equations, likely custom calls first.

    Equations with equal operators, operand types, and parameters have the same lowered code, so only the
    first one is listed.
    """
    kinds: dict[Any, int] = {}
    for position, equation in enumerate(equations):
        # Each equation with inner graphs, such as a loop, is a separate candidate and comes last: the
        # equations of its inner graphs are also candidates, and may already contain the missing targets
        kind: Any = position
        if not equation.graphs:
            kind = equation.primitive, tuple([x.type for x in equation.inputs]), repr(equation.parameters)
        kinds.setdefault(kind, position)

    def order(position: int) -> tuple[bool, bool]:
        return bool(equations[position].graphs), equations[position].primitive.pointwise

    return sorted(kinds.values(), key=order)


def _targets_of_equation(equation: Equation) -> set[str]:
    """Return the custom-call targets of one equation; ``set()`` if lowering fails."""
    inputs = [Variable(x.type, tainted=x.tainted) for x in equation.inputs]
    outputs = tuple([Variable(y.type, tainted=y.tainted) for y in equation.outputs])
    alone = Equation(equation.primitive, tuple(inputs), equation.parameters, outputs)
    try:
        return targets_of(lower_ahead(Graph(inputs, [alone], outputs)))
    except Exception:  # JAX does not document which errors lowering can raise; try the other equations
        return set()
