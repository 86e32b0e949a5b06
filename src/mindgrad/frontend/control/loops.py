"""Trace a loop on tensors to a ``while`` or a ``scan``.

The runtime calls :func:`loop` if a tensor decides when the loop ends, or for a long ``while`` loop on Python
numbers. It calls :func:`scanned` for a long ``for`` loop over a range or tensor. The body of the loop is
traced with symbols for its *carries*: the values that one iteration passes to the next (``carries``). The
carries are variables, tensors whose elements an iteration assigns, and Parameters that it writes.

Repeated traces find the carries and their types. In the first trace, only tensors and the *flags* of jumps
(``python.jumps``) are carries. If an iteration changes another value, such as a Python number, or the type of
a carry, the body is traced again with corrected carries. The traces end when all carries have the same type
before and after an iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.control.scan import scan
from mindgrad.core.ir.graph import Equation, Variable
from mindgrad.core.ir.scope import BodyScope, apply, as_it_is, identity, rebind
from mindgrad.core.ir.tensor import Number, Tensor, make_number
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.unstacking import unstack
from mindgrad.core.trace import references
from mindgrad.frontend import aliases, mutation_policy
from mindgrad.frontend.control.carries import Carry
from mindgrad.frontend.control.first_iterations import FirstIteration
from mindgrad.frontend.control.identities import Joining, identity_of, replaced_in
from mindgrad.frontend.control.loop_carries import doubles, looped
from mindgrad.frontend.control.predicates import known_truth
from mindgrad.frontend.control.snapshots import Snapshot
from mindgrad.frontend.control.traced import Traced, assemble, refuse_missing, with_assigned
from mindgrad.frontend.control.variables import (
    FLAGS,
    HANDED_ON,
    NUMBER_TYPES,
    UNDEFINED,
    GrowingList,
    Mismatch,
    State,
    blank,
    equal,
    joined_type,
    outline,
    quoted,
)  # fmt: skip
from mindgrad.frontend.effect_log import Local

__all__ = ["loop", "scanned"]


class _Loop:
    """Trace a loop's body until all carries have the same type before and after it.

    Args:
        run: runs one iteration. It receives one slice of each tensor over which the loop iterates.
        variables: the variables that the loop assigns.
        slices: for each slice, its type, and whether it represents a number.
        runs_an_iteration: whether it is certain that the loop runs at least one iteration.
        starts_unset: whether the flags of jumps (``break``, ``return``) are False at the start of each
            iteration.
    """

    def __init__(
        self,
        run: Callable[[list[Tensor]], Any],
        variables: State,
        slices: Sequence[tuple[TensorType, bool]] = (),
        runs_an_iteration: bool = False,
        starts_unset: bool = False,
    ) -> None:
        self.runs_an_iteration = runs_an_iteration
        self.starts_unset = starts_unset
        self.run = run
        self.snapshot = Snapshot(run)
        self.slices = slices
        self.changed: dict[int, tuple[Tensor, Carry]] = {}
        self.written: dict[int, tuple[Any, Carry]] = {}
        #: indices ``(variable, leaf)`` of the tensors whose elements the loop assigns in place
        self.objects: set[tuple[int, int]] = set()
        #: indices of variables that contain a list to which each iteration of a ``scan`` appends
        self.growing: set[int] = set()
        #: indices of variables that contain a list or dict that an iteration replaces by a different one
        self.copied: set[int] = set()
        self._begin(variables)
        while not self._trace():
            pass

    def _begin(self, variables: State) -> None:
        """Reset the carries to the values that ``variables`` have before the loop."""
        self.variables = variables
        self.leaves = [list(initial) for initial in variables.leaves]
        self.structures = list(variables.structures)
        self.is_defined = [value is not UNDEFINED for value in variables.values]
        self.places: list[list[Carry | None]] = [
            [None if (k, j) in self.objects else self._place_of(name, x) for j, x in enumerate(initial)]
            for k, (name, initial) in enumerate(zip(variables.names, self.leaves, strict=True))
        ]

    @staticmethod
    def _place_of(name: str, x: Any) -> Carry | None:
        if isinstance(x, Tensor):
            return None if x.is_parameter else Carry(x.type, type(x) is Number, x)
        if isinstance(x, bool) and name.startswith(FLAGS):
            return Carry(NUMBER_TYPES[bool], True, x)
        return None

    def _give(self, scope: BodyScope) -> tuple[Any, ...]:
        self.items = [scope.symbol(type) for type, _ in self.slices]
        self.item_atoms = [x._atom for x in self.items]
        values: list[Any] = []
        for k, structure in enumerate(self.structures):
            if k in self.growing and not self.variables.values[k]:
                values.append(GrowingList())
                continue
            if not self.is_defined[k]:
                values.append(UNDEFINED)
                continue
            pairs = zip(self.places[k], self.leaves[k], strict=True)
            value = unflatten(structure, [x if p is None else p.start(scope) for p, x in pairs])
            if self.starts_unset and self.variables.names[k].startswith(FLAGS):
                # no ``break``, ``continue``, or ``return`` has run before the start of an iteration.
                # Therefore, the flags are False, and the returned values are undefined
                values.append(UNDEFINED if self.variables.names[k].startswith(HANDED_ON) else False)
                continue
            values.append(GrowingList(value) if k in self.growing else value)
        for tensor, carry in self.changed.values():
            rebind(tensor, carry.start(scope))
        for key, (_, carry) in self.written.items():
            scope.bindings[key] = carry.start(scope)
        return tuple(values)

    def _run(self) -> Any:
        items = [
            make_number(x) if is_number else x
            for x, (_, is_number) in zip(self.items, self.slices, strict=True)
        ]
        return self.run(items)

    def _trace(self) -> bool:
        """Trace the body once, and return whether the carries and their types are final.

        If not, the carries are corrected for the next trace.
        """
        self.body = body = Traced(self.variables, self._give, self._run, self.snapshot, self.copied)
        more = with_assigned(self.variables, [body])
        replaced = replaced_in(self.variables.values, body.identities) - self.growing - self.copied
        if more is not None or replaced:
            self.copied |= replaced
            self._begin(more or self.variables)
            return False
        is_stable = True
        for k, name in enumerate(self.variables.names):
            if not self._settle(k, name):
                is_stable = False
        for key, (tensor, value) in body.changed.items():
            if key not in self.changed:
                before = as_it_is(tensor)
                self.changed[key] = (tensor, Carry(before.type, False, before))
                is_stable = False
            else:
                self._check(self.changed[key][1], value, "a tensor that is assigned to by index")
        for key, (parameter, value) in body.written.items():
            if key not in self.written:
                self.written[key] = (parameter, Carry(parameter.type, False, parameter))
                is_stable = False
            else:
                self._check(self.written[key][1], value, f"Parameter '{parameter.name}'")
        return is_stable

    def _check(self, carry: Carry, value: Tensor, subject: str) -> None:
        carry.after = value
        if value.type is not carry.type:
            self._refuse_change(subject, Mismatch(f"a {carry.type}", f"a {value.type}"))

    def _grows(self, k: int) -> bool:
        """Return whether each ``scan`` iteration appends to the list in variable ``k``."""
        after, before = self.body.values[k], self.variables.values[k]
        if not self.runs_an_iteration or type(before) is not list or after is not self.body.given[k]:
            return False
        return len(self.body.structures[k][-1]) > len(before)

    def _settle(self, k: int, name: str) -> bool:
        after, body = self.body.values[k], self.body
        if k in self.growing:
            if after is not body.given[k]:
                refuse(
                    f"This loop appends to the list {quoted(name)} and also assigns another list to the name",
                    "Use two names.",
                )
            return self._settle_last(k, name)
        if not self.is_defined[k]:
            location = self.variables.place(k)
            if (
                location is not None
                and not isinstance(location, Local)
                and after is not UNDEFINED
                and not self.runs_an_iteration
            ):
                refuse_missing(location, "only in a loop that may run zero iterations")
            # if the body reads the variable before it assigns the variable, the trace fails. The loop is then
            # unrolled, and raises Python's own error
            if after is not UNDEFINED and (self.runs_an_iteration or name.startswith(FLAGS)):
                self.leaves[k] = [blank(x) for x in body.leaves[k]]
                self.structures[k] = body.structures[k]
                self.places[k] = [self._place_of(name, x) for x in self.leaves[k]]
                self.is_defined[k] = True
                return False
            return True
        if after is UNDEFINED and body.given[k] is UNDEFINED:
            for carry in self.places[k]:
                if carry is not None:
                    carry.after = carry.symbol
            return True
        if body.structures[k] != self.structures[k]:
            if self._grows(k):
                self._let_grow(k, name)
                return False
            if after is UNDEFINED:
                refuse(
                    f"The variable '{name}' is deleted in a loop that is compiled as a loop",
                    "Delete the variable after the loop.",
                )
            before = self.variables.values[k]
            refuse(
                f"{quoted(name)} is {outline(before)} before an iteration of this loop and "
                f"{outline(body.final_value(k))} after it. A variable of a compiled loop must keep its "
                "structure",
                "Create a tensor of the final size before the loop and assign its elements, or loop "
                "over a fixed number of items: for i in range(n).",
            )
        return self._settle_leaves(k, name, body.leaves[k])

    def _let_grow(self, k: int, name: str) -> None:
        """Carry only the last item of a list to which each iteration appends.

        It replaces all other carries of the variable that contains the list. The appended items become
        stacked outputs of the ``scan``.

        Args:
            k, name: index and name of the variable.
        """
        self.growing.add(k)
        held = self.variables.values[k]
        self.leaves[k], self.structures[k] = flatten(held[-1]) if held else ([], None)
        self.places[k] = [self._place_of(name, x) for x in self.leaves[k]]

    def _settle_last(self, k: int, name: str) -> bool:
        """Check the carry for the last item of a list to which each iteration appends.

        If the body does not read the last item of the previous iteration, the carry is passed on unchanged.
        """
        growing = self.body.given[k]
        if not growing.is_read:
            for carry in self.places[k]:
                if carry is not None:
                    carry.after = carry.symbol
            return True
        leaves, structure = flatten(growing.items()[-1])
        if structure != self.structures[k]:
            refuse(
                f"The items that this loop appends to the list {quoted(name)} have different structures",
                "Append items of the same structure.",
            )
        return self._settle_leaves(k, f"the last item of {name}", leaves)

    def _settle_leaves(self, k: int, name: str, leaves: Sequence[Any]) -> bool:
        is_stable = True
        for j, x in enumerate(leaves):
            carry = self.places[k][j]
            initial = self.leaves[k][j]
            if carry is not None and carry.is_changed() and (k, j) not in self.objects:
                carry.after = x
                if carry.is_object():
                    self.objects.add((k, j))
                    self.places[k][j] = None
                    is_stable = False
                    continue
            if carry is None:
                if equal(initial, x):
                    continue
                common = joined_type(initial, x)
                if isinstance(common, Mismatch):
                    self._refuse_change(quoted(name), common)
                self.places[k][j] = Carry(*common, initial)
                is_stable = False
                continue
            carry.after = x
            common = joined_type(carry.symbol, x)
            if isinstance(common, Mismatch):
                self._refuse_change(quoted(name), common)
            if common != (carry.type, carry.is_number):
                self.places[k][j] = Carry(*common, initial)
                is_stable = False
        return is_stable

    @staticmethod
    def _refuse_change(what: str, mismatch: Mismatch) -> NoReturn:
        refuse(
            f"{what} is {mismatch.first} before an iteration of this loop and {mismatch.second} after "
            "it. A variable of a compiled loop must keep its type and shape",
            "Give the variable its final type and shape before the loop: ops.zeros(...), x.astype(...).",
        )

    def takes_back(self, iteration: FirstIteration) -> bool:
        """Make the compiled loop include the first iteration (``first_iterations``).

        Returns:
            Whether this succeeded. If so, the initial values of the carries are their values before the first
            iteration.
        """
        if self.changed or self.written or self.growing or self.objects or self.variables.places:
            return False
        builder = self.body.scope.builder
        used = {x for equation in builder.equations for x in equation.inputs}
        used |= {p.after._atom for each in self.places for p in each if p and isinstance(p.after, Tensor)}
        return iteration.take_back(self.places, self.leaves, self.structures, used)

    def parts(self) -> tuple[list[Carry], list[Carry]]:
        """Return two lists: the carries that no iteration changes, and all other carries."""
        every = [p for each in self.places for p in each if p is not None]
        every += [place for _, place in [*self.changed.values(), *self.written.values()]]
        still = [p for p in every if isinstance(p.after, Tensor) and p.after._atom is p.atom]
        return still, [p for p in every if p not in still]

    def appended(self) -> list[Any]:
        """List the tensors and numbers that one iteration appends to lists."""
        leaves = [x for k in sorted(self.growing) for x in self.body.leaves[k]]
        return [x for x in leaves if isinstance(x, Tensor) and not x.is_parameter]

    def _grown(self, k: int, slices: Iterator[Any], length: int) -> list[Any]:
        """After a ``scan``, append the items of all iterations to the list of a variable.

        Args:
            k: index of the variable.
            slices: yields, for each leaf of an item, the tensor that stacks this leaf over all iterations.
            length: the number of iterations.

        Returns:
            The list.
        """
        rows = []
        for x in self.body.leaves[k]:
            if isinstance(x, Tensor) and not x.is_parameter:
                made = apply(unstack, next(slices))
                rows.append(list(map(make_number, made)) if type(x) is Number else made)
            else:
                rows.append([x] * length)
        items = self.variables.values[k]
        for iteration in range(length):
            items.extend(unflatten(self.body.structures[k], [row[iteration] for row in rows]))
        return items

    def finish(
        self,
        moving: Sequence[Carry],
        results: Sequence[Tensor],
        stacks: Sequence[Tensor] = (),
        length: int = 0,
        first: Tensor | None = None,
    ) -> None:
        """Assign the variables, tensors, and Parameters their values after the loop.

        Args:
            moving: the carries that an iteration changes.
            results: the values of ``moving`` after the loop.
            stacks: tensors that stack the items that all iterations have appended to lists.
            length: the number of iterations. Used only with ``stacks``.
            first: Bool tensor that is true if the loop runs a first iteration. ``None`` if it is certain that
                it does.
        """
        slices = iter(stacks)
        last = dict(zip(moving, results, strict=True))

        def value(carry: Carry | None, initial: Any) -> Any:
            if carry is None or (carry not in last and carry.is_object()):
                return initial
            return carry.made(last[carry]) if carry in last else carry.made(carry.first())

        values: list[Any] = []
        joining = Joining()
        for k, name in enumerate(self.variables.names):
            if k in self.growing:
                values.append(self._grown(k, slices, length))
                continue
            if not self.is_defined[k]:
                if self.body.values[k] is not UNDEFINED:
                    held = self.variables.place(k)
                    name = held.name if held is not None else name
                    mutation_policy.dropped(
                        name, "it is assigned only in a loop that may run zero iterations"
                    )
                values.append(UNDEFINED)
                continue
            pairs = zip(self.places[k], self.leaves[k], strict=True)
            made = unflatten(self.structures[k], [value(p, x) for p, x in pairs])
            ways = [identity_of(self.variables.values[k]), self.body.identities[k]]
            values.append(joining.joined(made, ways))
        mutation_policy.own(values)
        self.variables.put(tuple(values))
        joining.check(self.body.refilled)
        for tensor, carry in self.changed.values():
            rebind(tensor, value(carry, None))
        for parameter, carry in self.written.values():
            references.write(parameter, value(carry, None))
        self._note_names(last, first)
        for tensor in self.body.stale:
            aliases.make_stale(tensor)

    def _note_names(self, last: dict[Carry, Tensor], first: Tensor | None) -> None:
        """Record to which tensors each variable may refer after the loop (``aliases``)."""
        for places in self.places:
            for carry in places:
                if (
                    carry is None
                    or carry not in last
                    or carry.is_number
                    or not isinstance(carry.after, Tensor)
                ):
                    continue
                before, after = carry.initial, carry.after
                outside = after._scope is not self.body.scope
                if first is not None and isinstance(before, Tensor):
                    aliases.note(last[carry], before, (first, False))
                condition = (first, True) if first is not None and outside else None
                aliases.note(last[carry], after, condition)
                if carry.is_changed() and isinstance(before, Tensor) and before.type is carry.type:
                    if any(identity(x) == identity(before) for _, x in self.body.scope.captures):
                        aliases.refuse_stale()  # an iteration also reads ``before`` under another name
                    aliases.make_stale(before)


def loop(
    first: Tensor, run: Callable[[], Tensor], variables: State, first_iteration: FirstIteration | None = None
) -> None:
    """Trace a loop's body, emit a ``while``, and assign its results to the variables.

    Args:
        first: scalar Bool tensor that is true if the loop runs a first iteration.
        run: runs one iteration, and returns whether another iteration follows.
        variables: the variables that the loop assigns.
        first_iteration: the state before the first iteration, if the first iteration was traced as ordinary
            code. The compiled loop includes this iteration if possible.
    """
    tracer = _Loop(lambda _: run(), variables, starts_unset=True)
    if first_iteration is not None and tracer.takes_back(first_iteration):
        first = known_truth(True)
    still, moving = tracer.parts()
    body = tracer.body
    same = doubles(tracer.variables.names, tracer.places, moving, body)
    moving = [p for p in moving if p not in same]
    again = body.atom(tracer.body.result, NUMBER_TYPES[bool])
    outputs = [*[body.atom(p.after, p.type) for p in moving], again]
    test = Variable(again.type)
    symbols = [p.atom for p in [*still, *moving]]
    (graph,), captured = assemble([body], [outputs], [[*symbols, test]])
    operands = [*captured, *[p.first() for p in [*still, *moving]]]
    results = looped(graph, len(captured) + len(still), operands, first)
    last = dict(zip(moving, results, strict=True))
    last |= {p: as_it_is(last[other]) for p, other in same.items()}
    tracer.finish(list(last), list(last.values()), first=first)


def scanned(
    length: int,
    stacks: Sequence[tuple[Tensor, bool]],
    run: Callable[[list[Tensor]], None],
    variables: State,
    is_worth: Callable[[Sequence[Equation]], bool],
) -> bool:
    """Trace a loop's body, and emit a ``scan`` if this reduces the graph enough.

    Args:
        length: the number of iterations.
        stacks: pairs of a tensor and a bool. The loop iterates over the first axis of the tensor. The bool is
            true if the slices represent Python numbers.
        run: runs one iteration with one slice of each tensor.
        variables: the variables that the loop assigns.
        is_worth: receives the equations of the body, and returns whether to emit a ``scan``. If it returns
            false, the caller unrolls the loop.

    Returns:
        Whether the ``scan`` was emitted.
    """
    slices = [(t.type.with_shape(t.shape[1:]), is_number) for t, is_number in stacks]
    tracer = _Loop(run, variables, slices, length > 0)
    if not is_worth(tracer.body.scope.builder.equations):
        return False
    still, moving = tracer.parts()
    body = tracer.body
    outputs = [body.atom(p.after, p.type) for p in moving]
    outputs += [body.atom(x, x.type) for x in tracer.appended()]
    symbols = [*[p.atom for p in [*still, *moving]], *tracer.item_atoms]
    graphs, captured = assemble([body], [outputs], [symbols])
    operands = [*captured, *[p.first() for p in [*still, *moving]], *[t for t, _ in stacks]]
    results = apply(
        scan, *operands, body=graphs[0], length=length, consts=len(captured) + len(still),
        carries=len(moving), reverse=False,
    )  # fmt: skip
    tracer.finish(moving, results[: len(moving)], results[len(moving) :], length)
    return True
