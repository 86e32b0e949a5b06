"""Trace both branches of an ``if`` on a tensor into one ``cond``.

The runtime calls :func:`branch` if the condition is a tensor without a known value. Each branch is traced to
a graph (``traced``). A variable may have one value at the end of the first branch and another value at the
end of the second branch. The two values are *joined*: a result of the ``cond`` replaces them. If both values
are equal, no result is needed. If two values cannot be joined, for example tensors of different shapes,
``CompileError`` is raised.

Tensors whose elements a branch assigns, and Parameters that it writes, are joined in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import unflatten
from mindgrad.core.control.cond import cond
from mindgrad.core.ir.scope import apply, as_it_is, rebind
from mindgrad.core.ir.tensor import Tensor, make_number
from mindgrad.core.ir.types import TensorType
from mindgrad.core.trace import references
from mindgrad.frontend import aliases, mutation_policy
from mindgrad.frontend.control.identities import Joining
from mindgrad.frontend.control.snapshots import Snapshot
from mindgrad.frontend.control.traced import Traced, assemble, refuse_missing, with_assigned
from mindgrad.frontend.control.variables import (
    FLAGS,
    UNDEFINED,
    Mismatch,
    State,
    blank,
    equal,
    joined_type,
    outline,
    quoted,
)  # fmt: skip
from mindgrad.frontend.effect_log import Local
from mindgrad.frontend.python.loop_exits import LEAVE

__all__ = ["VALUE", "branch"]

#: name that messages use for the value of a conditional expression ``a if c else b``
VALUE = "the value of the expression"
_JOIN = (
    "Assign the same type and shape in both branches: ops.zeros_like(x) for a missing tensor, x.astype(...) "
    "for another dtype."
)
_RETURN = (
    "The function returns None on one path, as it does if it ends without 'return'. Add an 'else' that "
    "returns a tensor of the same shape and type: return ops.zeros_like(x)."
)
_OBJECTS = (
    "Both branches must assign the same object unless it is a number, a tensor, or a container of these. "
    "Move the code that uses the object into the branches, so that they assign tensors."
)
_BOTH = "The condition is a tensor, so both branches are compiled and must give the same"


def branch(
    predicate: Tensor,
    sides: Sequence[Callable[[], Any]],
    variables: State,
    later: Any = None,
) -> None:
    """Trace both branches, emit a ``cond``, and assign its results to the variables.

    Args:
        predicate: scalar Bool tensor, the condition.
        sides: two functions. The first one runs the branch for a true condition, and the second one the other
            branch.
        variables: the variables that the branches assign.
        later: function that reads all variables used after the ``if``. It is never called, but its code shows
            which objects a branch must not change. ``None`` if these variables are not known.
    """
    snapshot = Snapshot(*sides, later=later)
    bodies = _traced(sides, variables, snapshot)
    while (more := with_assigned(variables, bodies)) is not None:
        variables = more
        bodies = _traced(sides, variables, snapshot)
    a, b = bodies
    merges: list[tuple[Any, Any, TensorType]] = []
    joint: dict[tuple[int, int], int] = {}
    joining = Joining()
    finals: list[Callable[[Sequence[Tensor]], Any]] = []
    for k, name in enumerate(variables.names):
        finals.append(_joined_variable(variables, k, name, a, b, merges, joint, joining))
    count = len(merges)
    places = []
    for key in {**a.changed, **b.changed}:
        tensor = (a.changed.get(key) or b.changed[key])[0]
        when_true, when_false = [
            body.changed[key][1] if key in body.changed else as_it_is(tensor) for body in bodies
        ]
        places.append((tensor, len(merges)))
        merges.append((when_true, when_false, tensor.type))
    writes = []
    for key in {**a.written, **b.written}:
        parameter = (a.written.get(key) or b.written[key])[0]
        when_true, when_false = [
            body.written[key][1] if key in body.written else references.read(parameter) for body in bodies
        ]
        writes.append((parameter, len(merges)))
        merges.append((when_true, when_false, when_true.type))
    outputs = [[body.atom(each[k], each[2]) for each in merges] for k, body in enumerate(bodies)]
    graphs, captured = assemble(bodies, outputs, [[], []])
    results: Sequence[Tensor] = ()
    if merges or any(graph.has_effect for graph in graphs):
        results = apply(cond, predicate, *captured, true=graphs[0], false=graphs[1])
    values = tuple([final(results) for final in finals])
    for (when_true, when_false, _), result in zip(merges[:count], results, strict=False):
        for tensor, side in ((when_true, True), (when_false, False)):
            if isinstance(tensor, Tensor) and not tensor.is_parameter:
                aliases.note(result, tensor, (predicate, side))
    mutation_policy.own(values)
    variables.put(values)
    joining.check([*a.refilled, *b.refilled])
    for tensor, k in places:
        rebind(tensor, results[k])
    for parameter, k in writes:
        references.write(parameter, results[k])
    for tensor in [*a.stale, *b.stale]:
        aliases.make_stale(tensor)


def _traced(sides: Sequence[Callable[[], Any]], variables: State, snapshot: Snapshot) -> list[Traced]:
    return [
        Traced(variables, lambda _: variables.rebuilt(variables.leaves), side, snapshot.renew(side))
        for side in sides
    ]


def _joined_variable(
    variables: State,
    k: int,
    name: str,
    a: Traced,
    b: Traced,
    merges: list,
    joint: dict[tuple[int, int], int],
    joining: Joining,
) -> Callable[[Sequence[Tensor]], Any]:
    """Join the two values of one variable at the end of the branches.

    Args:
        variables: all variables that the branches assign.
        k, name: index and name of the variable to join.
        a, b: the traced branches for a true and a false condition.
        merges: list of ``(value if true, value if false, type)``, one entry for each result of the ``cond``.
            This function appends an entry for each leaf that differs between the branches.
        joint: maps the ``id`` of both values of an entry in ``merges`` to the index of the entry.
        joining: preserves the identity of lists and dicts (``identities``).

    Returns:
        A function that builds the value of the variable from the results of the ``cond``.
    """
    x, y = a.values[k], b.values[k]
    if x is UNDEFINED or y is UNDEFINED:
        missing = a if x is UNDEFINED else b
        location = variables.place(k)
        if location is not None and not isinstance(location, Local) and x is not y:
            refuse_missing(location, "in only one branch of this 'if' on a tensor")
        if x is y or not (name.startswith(FLAGS) or _has_left(variables, missing)):
            if x is not y:
                mutation_policy.dropped(location.name if location is not None else name, _dropped(variables))
            return lambda found: UNDEFINED
        side, other = (b, a) if x is UNDEFINED else (a, b)
        leaves, structure = side.leaves[k], side.structures[k]
        empty = [each if _is_from_outside(each, side) else blank(each) for each in leaves]
        pairs = list(zip(*((empty, leaves) if other is a else (leaves, empty)), strict=True))
    else:
        if a.structures[k] != b.structures[k]:
            refuse(
                f"{_subject(name)} is {outline(a.final_value(k))} in one branch of this 'if' and "
                f"{outline(b.final_value(k))} in the other. {_BOTH} structure",
                "Assign the same containers, with the same number of items, in both branches.",
            )
        structure = a.structures[k]
        pairs = list(zip(a.leaves[k], b.leaves[k], strict=True))
    makers: list[Callable[[Sequence[Tensor]], Any]] = []
    for when_true, when_false in pairs:
        if equal(when_true, when_false):
            makers.append(partial(_kept, when_true))
            continue
        common = joined_type(when_true, when_false)
        if isinstance(common, Mismatch):
            refuse(
                f"{_subject(name)} is {common.first} in one branch of this 'if' and {common.second} in the "
                f"other. {_BOTH} type and shape",
                _advice(name, when_true, when_false),
            )
        type, is_number = common
        # if two variables refer to the same tensor in both branches, they share one result of the ``cond``
        index = joint.setdefault((id(when_true), id(when_false)), len(merges))
        if index == len(merges):
            merges.append((when_true, when_false, type))
        makers.append(_taken(index, is_number))

    def final(found: Sequence[Tensor]) -> Any:
        value = unflatten(structure, [make(found) for make in makers])
        return joining.joined(value, [a.identities[k], b.identities[k]])

    return final


def _subject(name: str) -> str:
    """Return the quoted name of a variable, or "The returned value", for messages."""
    return "The returned value" if name.startswith("result__") else quoted(name)


def _advice(name: str, when_true: Any, when_false: Any) -> str:
    """Return advice for messages: how to make the values in both branches compatible."""
    if name.startswith("result__") and (when_true is None or when_false is None):
        return _RETURN
    return _JOIN if isinstance(when_true, Tensor) or isinstance(when_false, Tensor) else _OBJECTS


def _is_from_outside(value: Any, side: Traced) -> bool:
    """Return whether ``value`` is a tensor that existed before the branch ``side``."""
    return isinstance(value, Tensor) and not value.is_parameter and value._scope is not side.scope


def _dropped(variables: State) -> str:
    if variables.names[:1] == (VALUE,):
        return "it is assigned in only one branch of this expression, whose condition is a tensor"
    return "it is assigned in only one branch of this 'if', whose condition is a tensor"


def _has_left(variables: State, side: Traced) -> bool:
    """Return whether branch ``side`` ends with ``return``, ``break``, or ``continue``.

    Code after the ``if`` does not run after such a branch, so variables may be undefined at its end.
    """
    flags = zip(variables.names, side.values, strict=True)
    return any(value is True and name.startswith(FLAGS) and not name.startswith(("result__", LEAVE))
               for name, value in flags)  # fmt: skip


def _kept(value: Any, _: Sequence[Tensor]) -> Any:
    return value


def _taken(place: int, is_number: bool) -> Callable[[Sequence[Tensor]], Any]:
    return lambda found: make_number(found[place]) if is_number else found[place]
