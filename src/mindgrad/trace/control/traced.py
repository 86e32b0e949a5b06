"""A traced body is that of a branch or loop, recorded in a scope of its own.

The effects of a body on the program are the variables that it assigns, elements that it assigns to
tensors from outside (``x[0] = 1``), and Parameters that it writes. All of these are restored when the trace
ends; the caller binds them to the results of the equation that it makes of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, NoReturn

import numpy as np

from mindgrad._base.refusal import refuse
from mindgrad._base.tree import unflatten
from mindgrad.ir.build import building
from mindgrad.ir.graph import Graph, Variable
from mindgrad.ir.scope import BodyScope, as_it_is, identity, lifted, opened
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType
from mindgrad.rows.structural import convert
from mindgrad.trace import aliases, effect_log, owned_objects, state
from mindgrad.trace.control.identities import Contents, identity_of
from mindgrad.trace.control.snapshots import Snapshot
from mindgrad.trace.control.variables import State, containers, flattened
from mindgrad.trace.effect_log import UNDEFINED, Attribute, Local, Place

__all__ = ["Traced", "assemble", "refuse_missing", "with_assigned"]


class Traced:
    """A body that was traced: its scope, and its state at its end.

    Args:
        variables: those that it assigns.
        give: what these hold at its beginning, in a scope.
        run: runs it.
        snapshot: of what is in reach of it: no other state may change.
        copied: the numbers of the variables whose lists and dicts it gets as copies.
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
        """Variable ``k`` as the body leaves it; its own containers hold their first items again."""
        return unflatten(self.structures[k], self.leaves[k])

    def atom(self, value: Any, type: TensorType) -> Any:
        """The atom of a tensor or number as a value of ``type``."""
        builder = self.scope.builder
        if id(value) in self.changed:  # elements of it were assigned, which is undone by now
            value = self.changed[id(value)][1]
        if isinstance(value, Tensor):
            atom = self.scope.atom(state.read(value) if value.is_parameter else value)
        else:
            atom = builder.constant(np.asarray(value, type.dtype.numpy), type)
        if atom.type.dtype is not type.dtype:
            with building(builder):
                atom = convert(atom, dtype=type.dtype)
        return atom


def with_assigned(variables: State, bodies: Sequence[Traced]) -> State | None:
    """The variables with all places that the bodies assign; ``None`` if they have them already."""
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
        # on another way, or in no trip, it keeps what it holds
        if isinstance(location, Attribute):
            state.has_attribute(location.holder, location.name)
        if not owned_objects.is_own(location.holder):
            effect_log.innermost().note(location)
    return variables.extended(list(locations.values()))


def _is_named(location: Place, variables: State) -> bool:
    """Whether a place is one of the names of the construct, which holds it already."""
    if location.key not in variables.cells:
        return False
    return isinstance(location, Local) or location.value() is not UNDEFINED


def refuse_missing(location: Place, where: str) -> NoReturn:
    """Refuse a place that holds something on some ways through the program only."""
    refuse(
        f"{location.label} is assigned {where}, and has no value before",
        "Assign it before this line (an attribute: in '__init__'), with its final type and shape.",
    )


def _settled(x: Any) -> Any:
    return x if not isinstance(x, Tensor) or x.is_parameter else _same(x)


def _same(tensor: Tensor) -> Tensor:
    """The tensor object itself; one whose recording has ended is seen from where we are."""
    return tensor if lifted(tensor) is tensor else as_it_is(lifted(tensor))


def assemble(
    bodies: Sequence[Traced], outputs: Sequence[Sequence[Any]], firsts: Sequence[Sequence[Variable]]
) -> tuple[list[Graph], list[Tensor]]:
    """Graphs of bodies with the same inputs: those of ``firsts``, behind what either captured.

    Returns:
        The graphs, with inputs ``(*captured, *firsts)``, and the captured tensors.
    """
    tensors: dict[Any, Tensor] = {}
    inside: list[dict[Any, Variable]] = []
    for body in bodies:
        by_key = {}
        for variable, tensor in body.scope.captures:
            seen = lifted(state.read(tensor) if tensor.is_parameter else tensor)
            key = identity(seen)
            tensors.setdefault(key, seen)
            by_key[key] = variable
        inside.append(by_key)
    graphs = []
    for body, by_key, results, first in zip(bodies, inside, outputs, firsts, strict=True):
        inputs = [by_key[key] if key in by_key else Variable(t.type) for key, t in tensors.items()]
        graphs.append(body.scope.builder.close(results, [*inputs, *first]))
    return graphs, list(tensors.values())
