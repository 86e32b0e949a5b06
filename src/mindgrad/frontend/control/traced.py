"""Trace the body of a branch or loop to its own graph.

A *body* is the code of one branch of an ``if`` (``branches``), or of one loop iteration (``loops``). It can
affect the rest of the function in three ways: it assigns variables, assigns elements of tensors that existed
before it (``x[0] = 1``), or writes Parameters.

At the end of the trace, these variables, tensors, and Parameters get their old values back. The caller then
emits a ``cond``, ``while``, or ``scan`` with the graph of the body, and assigns its results to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, NoReturn

import numpy as np

from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import unflatten
from mindgrad.core.ir.build import building
from mindgrad.core.ir.graph import Graph, Variable
from mindgrad.core.ir.scope import BodyScope, as_it_is, identity, lifted, opened
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.structural import convert
from mindgrad.core.trace import references
from mindgrad.frontend import aliases, effect_log, owned_objects, state
from mindgrad.frontend.control.identities import Contents, identity_of
from mindgrad.frontend.control.snapshots import Snapshot
from mindgrad.frontend.control.variables import State, containers, flattened
from mindgrad.frontend.effect_log import UNDEFINED, Attribute, Local, Place

__all__ = ["Traced", "assemble", "refuse_missing", "with_assigned"]


class Traced:
    """The trace of one branch or one loop iteration, and the values at its end.

    Args:
        variables: variables that the body assigns.
        give: receives the scope of the trace, and returns the values of the variables at the start of the
            body.
        run: runs the body.
        snapshot: the Python objects that the body can access. The body must not change them, except for
            ``variables``.
        copied: indices of variables whose lists and dicts are copied for the body (``identities``).
    """

    __slots__ = (
        "assigned",
        "changed",
        "given",
        "identities",
        "leaves",
        "refilled",
        "result",
        "scope",
        "stale",
        "structures",
        "values",
        "written",
    )

    def __init__(
        self,
        variables: State,
        give: Callable[[BodyScope], tuple[Any, ...]],
        run: Callable[[], Any],
        snapshot: Snapshot,
        copied: Set[int] = frozenset(),
    ) -> None:
        contents = Contents(variables.values, copied)
        snapshot.leave_out(contents.containers())
        with snapshot:
            self._trace(variables, give, run, contents)

    def _trace(
        self,
        variables: State,
        give: Callable[[BodyScope], tuple[Any, ...]],
        run: Callable[[], Any],
        contents: Contents,
    ) -> None:
        self.scope = scope = BodyScope()
        try:
            with opened(scope), effect_log.body() as level:
                self.given = contents.all_given(variables.values, give(scope))
                owned: dict[int, Any] = {}
                containers(self.given, owned)
                for copy in contents.copies_from_outside:
                    owned.pop(id(copy), None)
                variables.put(self.given)
                with owned_objects.open_body(owned):
                    self.result = run()
                self.assigned: dict[Any, Place] = {
                    key: place
                    for key, (place, before, surely) in level.items()
                    if surely or place.value() is not before
                }
                self.values = variables.get()
                leaves, self.structures = flattened(self.values)
                self.refilled = contents.changed()
                self.identities = [identity_of(value) for value in self.values]
                self.leaves = [[_settled(x) for x in each] for each in leaves]
                self.written = {
                    key: (parameter, scope.bindings[key]) for key, parameter in scope.written.items()
                }
                every = [tensor for tensor, _ in scope.changed.values()]
                self.stale = [tensor for tensor in every if aliases.is_stale(tensor)]
                self.changed = {
                    id(tensor): (tensor, as_it_is(lifted(tensor)))
                    for tensor in every
                    if not aliases.is_stale(tensor)
                }
            scope.close_program()
        finally:
            scope.undo()
            contents.restore()
            variables.restore()

    def final_value(self, k: int) -> Any:
        """Return the value of variable ``k`` at the end of the body."""
        return unflatten(self.structures[k], self.leaves[k])

    def atom(self, value: Any, type: TensorType) -> Any:
        """Return the variable or constant for a tensor or number in the body's graph.

        The value is converted to the dtype of ``type``.
        """
        builder = self.scope.builder
        if id(value) in self.changed:  # the body assigned elements, which are restored by now
            value = self.changed[id(value)][1]
        if isinstance(value, Tensor):
            atom = self.scope.atom(references.read(value) if value.is_parameter else value)
        else:
            atom = builder.constant(np.asarray(value, type.dtype.numpy), type)
        if atom.type.dtype is not type.dtype:
            with building(builder):
                atom = convert(atom, dtype=type.dtype)
        return atom


def with_assigned(variables: State, bodies: Sequence[Traced]) -> State | None:
    """Extend ``variables`` with attributes and nonlocal variables that bodies assign.

    Returns:
        The extended variables, or ``None`` if ``variables`` already contains all attributes and variables
        that ``bodies`` assign.
    """
    keys = {location.key for location in variables.places}
    locations = {
        key: location
        for body in bodies
        for key, location in body.assigned.items()
        if key not in keys and not _is_named(location, variables)
    }
    if not locations:
        return None
    for location in locations.values():
        # if the other branch runs, or the loop runs no iteration, the attribute keeps its old value.
        # Therefore, the trace depends on the old value
        if isinstance(location, Attribute):
            state.has_attribute(location.holder, location.name)
        if not owned_objects.is_own(location.holder):
            effect_log.innermost().note(location)
    return variables.extended(list(locations.values()))


def _is_named(location: Place, variables: State) -> bool:
    """Return whether the setter of ``variables`` already assigns ``location``."""
    if location.key not in variables.cells:
        return False
    return isinstance(location, Local) or location.value() is not UNDEFINED


def refuse_missing(location: Place, where: str) -> NoReturn:
    """Raise ``CompileError`` for an attribute or variable that may be undefined.

    Args:
        location: the attribute or variable.
        where: where the attribute or variable is assigned, such as "in only one branch of this 'if'".
    """
    refuse(
        f"{location.label} is assigned {where}, and has no value before",
        "Assign it before this line, or in '__init__' for an attribute, with its final type and shape.",
    )


def _settled(x: Any) -> Any:
    return x if not isinstance(x, Tensor) or x.is_parameter else _same(x)


def _same(tensor: Tensor) -> Tensor:
    """Return ``tensor``, or, if its recording has ended, a new tensor with its value."""
    return tensor if lifted(tensor) is tensor else as_it_is(lifted(tensor))


def assemble(
    bodies: Sequence[Traced], outputs: Sequence[Sequence[Any]], firsts: Sequence[Sequence[Variable]]
) -> tuple[list[Graph], list[Tensor]]:
    """Build the graphs of several bodies, with the same captured tensors as inputs.

    A captured tensor is a tensor of the enclosing graph that at least one body uses.

    Args:
        bodies: the traced bodies.
        outputs: for each body, the outputs of its graph.
        firsts: for each body, the inputs of its graph that follow the captured tensors.

    Returns:
        The graphs, whose inputs are ``(*captured, *firsts[k])``, and the captured tensors.
    """
    tensors: dict[Any, Tensor] = {}
    inside: list[dict[Any, Variable]] = []
    for body in bodies:
        by_key = {}
        for variable, tensor in body.scope.captures:
            seen = lifted(references.read(tensor) if tensor.is_parameter else tensor)
            key = identity(seen)
            tensors.setdefault(key, seen)
            by_key[key] = variable
        inside.append(by_key)
    graphs = []
    for body, by_key, results, first in zip(bodies, inside, outputs, firsts, strict=True):
        inputs = [by_key[key] if key in by_key else Variable(t.type) for key, t in tensors.items()]
        graphs.append(body.scope.builder.close(results, [*inputs, *first]))
    return graphs, list(tensors.values())
