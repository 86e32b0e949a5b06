"""Detect, undo, and reject changes of objects from outside during a trace.

An object *from outside* existed before the trace, such as a global list. If traced code appends to it, the
list changes once, at compile time, and not when the compiled function runs. Therefore, at the end of the
trace, this module compares the contents of each object that the trace has read (``guards``). This comparison
detects changes by any function, such as ``heapq.heappush``, ``operator.setitem``, or NumPy functions with
``out=``.

Other modules handle two kinds of changes. ``ir.scope.rebind`` records assignments to tensor elements in the
graph. ``side_effects`` makes assigned attributes and variables outputs of the graph.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir.scope import GraphScope
from mindgrad.frontend import state
from mindgrad.frontend.contents import Kind
from mindgrad.frontend.control import snapshots
from mindgrad.frontend.effect_log import Attribute
from mindgrad.frontend.guard_reads import stands, static
from mindgrad.frontend.guards import Dependencies
from mindgrad.frontend.owned_objects import is_of_program
from mindgrad.frontend.reach import objects_in_reach

__all__ = ["check", "refused"]


@contextmanager
def refused(
    dependencies: Dependencies, program: GraphScope, function: Any, leaves: Sequence[Any]
) -> Iterator[None]:
    """A context for the trace of ``function``, which must not change outside objects.

    Args:
        dependencies: the Python state that the trace reads.
        program: scope of the trace.
        function: the traced function.
        leaves: leaves of the arguments of the function.

    Raises:
        CompileError: If the trace has changed an object that existed before it. The object is restored first.
    """
    dependencies.roots = [(function, "the function"), *[(leaf, "an argument") for leaf in leaves]]
    error: BaseException | None = None
    try:
        with snapshots.iterators_kept(dependencies.roots):
            yield
    except BaseException as raised:
        error = raised
        raise
    finally:
        changed = _from_outside(dependencies, dependencies.effects())
        restored = [_restored(entry) for entry in changed]
        if changed and error is None:
            target = getattr(getattr(function, "construct", function), "__code__", None)
            at = target and (target.co_filename, target.co_firstlineno, None, None, target.co_name)
            _refuse(changed[0], all(restored), at)
        if error is None:
            _refuse_elements(dependencies, program)


def check(*owners: Any) -> None:
    """Raise ``CompileError`` if a call has changed one of ``owners``.

    The runtime calls this function directly after the call, so that the error points to the line of the call.
    """
    dependencies = state.noted()
    if dependencies is not None:
        found = [dependencies.effect_on(owner) for owner in owners]
        entries = [entry for entry in found if entry is not None and not is_of_program(entry[1])]
        for entry in _from_outside(dependencies, entries):
            _refuse(entry, _restored(entry), None)


def _from_outside(dependencies: Dependencies, entries: list[list[Any]]) -> list[list[Any]]:
    """Select the entries of objects that existed before the trace.

    They are the objects that code can access through the traced function or its arguments. The trace itself
    created all other objects.
    """
    if not entries:
        return []
    reached = {id(owner) for owner, _ in objects_in_reach(dependencies.roots)}
    owners = {id(vars(cell)): cell for cell in dependencies.owners()}
    outside = []
    for entry in entries:
        owner = owners.get(id(entry[1]), entry[1])
        is_namespace = entry[0] is dict.get and owner is entry[1]
        if is_namespace or id(owner) in reached or isinstance(owner, contextvars.ContextVar):
            outside.append(entry)
    return outside


def _refuse_elements(dependencies: Dependencies, program: GraphScope) -> None:
    """Raise ``CompileError`` if the trace assigned elements of an outside tensor.

    An example is ``x[0] = 1`` for a global tensor ``x``.
    """
    lines = {key: line for key, (_, _, line) in program.restored.items() if line is not None}
    if not lines:
        return
    for tensor, label in objects_in_reach(dependencies.roots, lines):
        if id(tensor) not in lines:
            continue
        file, line = lines[id(tensor)]
        refuse(
            f"a Tensor ({label}) is changed in place in a compiled function, which stores such changes only "
            f"in Parameters. The Tensor would keep its old elements",
            "Use a Parameter, Parameter(x, requires_grad=False). Or change a copy, y = x.copy(), and return "
            "it or assign it to the attribute or variable. Or run in PYNATIVE_MODE.",
            at=(file, line, None, None, ""),
            is_final=True,
        )


def _restored(entry: list[Any]) -> bool:
    """Restore the recorded contents of an object; return whether this succeeded."""
    read, holder, name, value, _, _ = entry
    try:
        if read is dict.get:
            holder[name] = value
        elif read is getattr or read is static:
            Attribute(holder, name).put(value)
        elif read.write is not None:
            read.write(holder, value)
    except Exception:
        return False
    return stands(entry)


def _refuse(entry: list[Any], is_restored: bool, at: Any) -> None:
    kind = type(entry[1]).__name__
    restored = "it has been restored" if is_restored else "it could not be restored"
    subject = f"the contents of {entry[4]} ({kind}) are" if type(entry[0]) is Kind else f"{entry[4]} is"
    refuse(
        f"{subject} changed in a compiled function. This would happen once, at compile time, and not when "
        f"the function runs ({restored})",
        "Change a copy, return the new value and change the object after the call, or run in PYNATIVE_MODE.",
        at=at,
        is_final=True,
    )
