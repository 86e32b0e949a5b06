"""Custom calls of programs are prepared before a program that was compiled by another process runs.

XLA runs an operator such as a Cholesky factorization by calling a function of another library, which the
program names: its target. jax prepares the library when it lowers the operator, and only then. For example,
it looks up the addresses of LAPACK's functions at the first factorization that it lowers. A program that is
loaded from the disk is not lowered, so that its first call would jump to an address that was never set, which
ends the process.

The compile cache (``backend.disk``) therefore stores two lists with each program: its targets, and the
positions of equations whose lowering names them. Before it loads the program, another process lowers these
equations by themselves, and checks that all targets were named. This needs no list of operators or targets:
if no equation names a target, the program is not stored, and is compiled in every process.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mindgrad.backend.xla import lower_ahead
from mindgrad.ir.graph import Equation, Graph, Variable, all_equations

__all__ = ["described", "is_prepared", "targets_of"]

#: targets that this process has lowered, each with the platform that it is for
_prepared: set[tuple[str, str]] = set()


def targets_of(lowered: Any) -> set[str]:
    """The targets of the custom calls in a program that jax lowered."""
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
    """The description of a program's custom calls that :func:`is_prepared` reads.

    Args:
        lowered: what jax lowered ``graph`` to.
        graph: the program; ``None`` if every process lowers it before it loads it.

    Returns:
        The description; ``None``: a target is named by no equation, so the program cannot be stored.
    """
    positions: list[int] = []
    try:
        missing = set() if graph is None else targets_of(lowered)
    except Exception:  # a later jax writes its programs in another way
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
    """Prepare the custom calls of a program that is going to be loaded.

    Args:
        description: what :func:`described` returned for the program.
        graph: the program; ``None`` if this process has lowered it already.
        platform: jax's name for the kind of device that it runs on.

    Returns:
        Whether this process has lowered every target of the program.
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
    except (ValueError, TypeError, LookupError):  # it is not a description
        return False


def _candidates(equations: Sequence[Equation]) -> list[int]:
    """The positions of one equation of each kind, first those that are likely to name a target."""
    kinds: dict[Any, int] = {}
    for position, equation in enumerate(equations):
        # a loop or branch is tried last, because the equations of its graphs are tried by themselves
        kind: Any = position
        if not equation.graphs:
            kind = equation.primitive, tuple([x.type for x in equation.inputs]), repr(equation.parameters)
        kinds.setdefault(kind, position)

    def order(position: int) -> tuple[bool, bool]:
        return bool(equations[position].graphs), equations[position].primitive.pointwise

    return sorted(kinds.values(), key=order)


def _targets_of_equation(equation: Equation) -> set[str]:
    """The targets that an equation names when it is lowered by itself; none if that is impossible."""
    inputs = [Variable(x.type, tainted=x.tainted) for x in equation.inputs]
    outputs = tuple([Variable(y.type, tainted=y.tainted) for y in equation.outputs])
    alone = Equation(equation.primitive, tuple(inputs), equation.parameters, outputs)
    try:
        return targets_of(lower_ahead(Graph(inputs, [alone], outputs)))
    except Exception:  # jax raises what it likes: this equation does not prepare a target
        return set()
