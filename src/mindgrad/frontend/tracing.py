"""Bodies of branches and loops: traced in scopes of their own, joined, and made one equation.

The state of a body is what the program can see of it afterwards: the variables that it assigns, elements
that it assigns to tensors from outside (``x[0] = 1``), and Parameters that it writes. A branch is traced
for each of its sides, and the two states are joined leaf by leaf. A loop's body is traced with its state as
symbols, again and again until the state has the same types after a trip as before: a Python number that a
trip changes becomes a value of the running program (:class:`mindgrad.core.tensor.Number`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad._base.refusal import refuse
from mindgrad._base.tree import flatten, unflatten
from mindgrad.control.cond import cond
from mindgrad.control.scan import scan
from mindgrad.control.while_ import while_
from mindgrad.core.build import building
from mindgrad.core.dtype import bool_, promote_scalar
from mindgrad.core.graph import Graph, Variable, live_equations
from mindgrad.core.scope import BodyScope, apply, as_it_is, identity, lifted, opened, rebind
from mindgrad.core.tensor import Number, Tensor, make_number
from mindgrad.core.types import TensorType, tensor_type
from mindgrad.frontend import state
from mindgrad.primitives.structural import convert

__all__ = ["FLAGS", "UNDEFINED", "State", "branch", "is_symbolic", "loop", "scanned"]


class _Undefined:
    """What a variable holds that is not bound."""

    def __repr__(self) -> str:
        return "<not defined>"


UNDEFINED = _Undefined()

#: how the variables begin that the rewriting makes for jumps; what they hold is used only where set
FLAGS = ("broke__", "continued__", "returned__", "result__")

_NUMBERS = (bool, int, float, complex)


def is_symbolic(x: Any) -> bool:
    """Whether ``x`` is a tensor whose value is not known while compiling."""
    if not isinstance(x, Tensor):
        return False
    return (state.read(x) if x.is_parameter else x)._array is None


# -- the state of a body -------------------------------------------------------------------------


class State:
    """The variables of a construct: how to get and put them, and their names.

    Attributes:
        values: what the variables held when the construct began.
        kept: for each the leaf objects and structure.
    """

    __slots__ = ("get", "leaves", "names", "put", "structures", "values")

    def __init__(self, get: Callable[[], tuple], put: Callable[[tuple], None], names: Sequence[str]) -> None:
        self.get, self.put, self.names = get, put, names
        self.values = get()
        self.leaves, self.structures = _flattened(self.values)

    def restore(self) -> None:
        """Let the variables hold what they held when the construct began."""
        self.put(self.values)

    def rebuilt(self, leaves: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """Values with other leaves: containers are new ones."""
        return tuple(
            [
                unflatten(structure, each)
                for structure, each in zip(self.structures, leaves, strict=True)
            ]
        )


def _flattened(values: Sequence[Any]) -> tuple[list[list[Any]], list[Any]]:
    pairs = [flatten(value) for value in values]
    return [leaves for leaves, _ in pairs], [structure for _, structure in pairs]


def _containers(value: Any, found: dict[int, Any]) -> dict[int, Any]:
    if isinstance(value, (list, tuple, set)):
        found[id(value)] = value
        for each in value:
            _containers(each, found)
    elif isinstance(value, dict):
        found[id(value)] = value
        for each in value.values():
            _containers(each, found)
    return found


class _Traced:
    """A body that was traced: its scope, and its state at its end."""

    __slots__ = ("changed", "given", "leaves", "result", "scope", "structures", "values", "written")

    def __init__(
        self,
        variables: State,
        give: Callable[[BodyScope], tuple[Any, ...]],
        run: Callable[[], Any],
        open_body: Callable[[dict[int, Any]], Any],
    ) -> None:
        self.scope = scope = BodyScope()
        try:
            with opened(scope):
                self.given = give(scope)
                owned: dict[int, Any] = {}
                _containers(self.given, owned)
                variables.put(self.given)
                with open_body(owned):
                    self.result = run()
                self.values = variables.get()
                found, self.structures = _flattened(self.values)
                self.leaves = [[_settled(x) for x in each] for each in found]
                self.written = {
                    key: (parameter, scope.bindings[key]) for key, parameter in scope.written.items()
                }
                self.changed = {
                    key: (tensor, as_it_is(lifted(tensor))) for key, (tensor, _) in scope.changed.items()
                }
        finally:
            scope.undo()
            variables.restore()

    def atom(self, value: Any, type: TensorType) -> Any:
        """The atom of a tensor or number as a value of ``type``."""
        builder = self.scope.builder
        if isinstance(value, Tensor):
            atom = self.scope.atom(state.read(value) if value.is_parameter else value)
        else:
            atom = builder.constant(np.asarray(value, type.dtype.numpy), type)
        if atom.type.dtype is not type.dtype:
            with building(builder):
                atom = convert(atom, dtype=type.dtype)
        return atom


def _settled(x: Any) -> Any:
    return x if not isinstance(x, Tensor) or x.is_parameter else _same(x)


def _same(tensor: Tensor) -> Tensor:
    """The tensor object itself; one whose recording has ended is seen from where we are."""
    return tensor if lifted(tensor) is tensor else as_it_is(lifted(tensor))


def _assemble(
    bodies: Sequence[_Traced], outputs: Sequence[Sequence[Any]], firsts: Sequence[Sequence[Variable]]
) -> tuple[list[Graph], list[Tensor]]:
    """Graphs of bodies with the same inputs: those of ``firsts``, behind what either captured.

    Returns:
        The graphs, with inputs ``(*captured, *firsts)``, and the captured tensors.
    """
    tensors: dict[Any, Tensor] = {}
    inside: list[dict[Any, Variable]] = []
    for body in bodies:
        found = {}
        for variable, tensor in body.scope.captures:
            seen = lifted(state.read(tensor) if tensor.is_parameter else tensor)
            key = identity(seen)
            tensors.setdefault(key, seen)
            found[key] = variable
        inside.append(found)
    graphs = []
    for body, found, results, first in zip(bodies, inside, outputs, firsts, strict=True):
        inputs = [found[key] if key in found else Variable(t.type) for key, t in tensors.items()]
        builder = body.scope.builder
        builder.restore_order()
        graphs.append(Graph([*inputs, *first], live_equations(builder.equations, results), results))
    return graphs, list(tensors.values())


# -- joining -------------------------------------------------------------------------------------

_KIND_TYPES = {
    bool: tensor_type("bool", ()),
    int: tensor_type("int64", ()),
    float: tensor_type("float64", ()),
    complex: tensor_type("complex128", ()),
}


def _kind(x: Any) -> type | None:
    """Of a number, known or not, its kind; of anything else ``None``."""
    if type(x) is Number:
        return type(x.sample())
    if isinstance(x, np.generic):
        x = x.item()
    return type(x) if type(x) in _NUMBERS else next((k for k in _NUMBERS if isinstance(x, k)), None)


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, Tensor) or isinstance(b, Tensor) or type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a.hex() == b.hex()
    try:
        return bool(a == b)
    except Exception:  # whatever its own comparison raises: it does not say that they are equal
        return False


class _Mismatch(Exception):
    """Two values that one variable cannot hold; the text says how they differ."""


def _joined_type(a: Any, b: Any) -> tuple[TensorType, bool]:
    """The type that holds ``a`` or ``b``, and whether it is that of a number.

    Raises:
        _Mismatch: there is none.
    """
    kinds = _kind(a), _kind(b)
    if kinds[0] is not None and kinds[1] is not None:
        return _KIND_TYPES[max(kinds, key=_NUMBERS.index)], True  # type: ignore[arg-type]
    for tensor, number, kind in ((a, b, kinds[1]), (b, a, kinds[0])):
        if kind is not None and isinstance(tensor, Tensor):
            sample = number.sample() if type(number) is Number else number
            if promote_scalar(tensor.dtype, sample) is not tensor.dtype:
                raise _Mismatch(f"a tensor of type {tensor.dtype}, and a Python {kind.__name__}")
            if tensor.shape:
                raise _Mismatch(f"a tensor of shape {tensor.shape}, and the Python number {_said(number)}")
            return tensor.type, False
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.type is b.type:
            return a.type, False
        if a.dtype is not b.dtype:
            raise _Mismatch(f"a tensor of type {a.dtype}, and one of type {b.dtype}")
        raise _Mismatch(f"a tensor of shape {a.shape}, and one of shape {b.shape}")
    raise _Mismatch(f"{_said(a)}, and {_said(b)}")


def _said(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"a tensor of type {x.dtype} and shape {x.shape}"
    text = repr(x)
    return f"{text if len(text) < 40 else text[:37] + '…'} ({type(x).__name__})"


_JOIN = (
    "Give the variable one type and shape on both ways: ops.zeros_like(x) for a tensor that is not "
    "there, x.astype(...) for another type."
)


# -- branches ------------------------------------------------------------------------------------


def branch(
    predicate: Tensor,
    sides: Sequence[Callable[[], Any]],
    variables: State,
    open_body: Callable[[dict[int, Any]], Any],
    dropped: Callable[[str, str], None],
) -> None:
    """Trace both sides, emit a ``cond``, and bind the variables to what it gives.

    Args:
        predicate: a Bool tensor of no axes.
        sides: what runs where it holds, and where it does not.
        variables: the variables that the sides assign.
        open_body: a context in which a body is traced, given the containers that it may change.
        dropped: is told the name of a variable that is not defined any more, and why.
    """
    bodies = [
        _Traced(variables, lambda _: variables.rebuilt(variables.leaves), side, open_body) for side in sides
    ]
    a, b = bodies
    wanted: list[tuple[Any, Any, TensorType]] = []
    finals: list[Callable[[Sequence[Tensor]], Any]] = []
    for k, name in enumerate(variables.names):
        finals.append(_joined_variable(variables, k, name, a, b, wanted, dropped))
    places = []
    for key in {**a.changed, **b.changed}:
        tensor = (a.changed.get(key) or b.changed[key])[0]
        values = [body.changed[key][1] if key in body.changed else as_it_is(tensor) for body in bodies]
        places.append((tensor, len(wanted)))
        wanted.append((*values, tensor.type))
    writes = []
    for key in {**a.written, **b.written}:
        parameter = (a.written.get(key) or b.written[key])[0]
        values = [body.written[key][1] if key in body.written else state.read(parameter) for body in bodies]
        writes.append((parameter, len(wanted)))
        wanted.append((*values, values[0].type))
    outputs = [[body.atom(each[k], each[2]) for each in wanted] for k, body in enumerate(bodies)]
    graphs, captured = _assemble(bodies, outputs, [[], []])
    found: Sequence[Tensor] = ()
    if wanted or any(graph.has_effect for graph in graphs):
        found = apply(cond, predicate, *captured, true=graphs[0], false=graphs[1])
    variables.put(tuple([final(found) for final in finals]))
    for tensor, k in places:
        rebind(tensor, found[k])
    for parameter, k in writes:
        state.write(parameter, found[k])


def _joined_variable(
    variables: State, k: int, name: str, a: _Traced, b: _Traced, wanted: list, dropped: Callable[[str, str], None]
) -> Callable[[Sequence[Tensor]], Any]:
    """Add to ``wanted`` what of a variable the ``cond`` must give; how to make its value from that."""
    x, y = a.values[k], b.values[k]
    if x is UNDEFINED or y is UNDEFINED:
        if x is y or not name.startswith(FLAGS):
            if x is not y:
                dropped(name, "it is assigned on one side of this 'if' only, whose test is a tensor")
            return lambda found: UNDEFINED
        side, other = (b, a) if x is UNDEFINED else (a, b)
        leaves, structure = side.leaves[k], side.structures[k]
        blank = [_blank(each) for each in leaves]
        pairs = list(zip(*((blank, leaves) if other is a else (leaves, blank)), strict=True))
    else:
        if a.structures[k] != b.structures[k]:
            refuse(
                f"the two ways of this 'if', whose test is a tensor, leave '{name}' with different "
                f"structures: {_shape_of(x)}, and {_shape_of(y)}.",
                "Let both give the same containers with the same number of items.",
            )
        structure = a.structures[k]
        pairs = list(zip(a.leaves[k], b.leaves[k], strict=True))
    makers: list[Callable[[Sequence[Tensor]], Any]] = []
    for one, two in pairs:
        if _equal(one, two):
            makers.append(lambda found, one=one: one)
            continue
        try:
            type, is_number = _joined_type(one, two)
        except _Mismatch as mismatch:
            what = "the value returned" if name.startswith("result__") else f"'{name}'"
            refuse(f"the two ways of this 'if', whose test is a tensor, cannot be joined: {what} is {mismatch}.", _JOIN)
        place = len(wanted)
        wanted.append((one, two, type))
        makers.append(_taken(place, is_number))
    same_object = x is a.given[k] and y is b.given[k]
    before = variables.values[k] if same_object else None

    def final(found: Sequence[Tensor]) -> Any:
        return _in_place(before, unflatten(structure, [make(found) for make in makers]))

    return final


def _taken(place: int, is_number: bool) -> Callable[[Sequence[Tensor]], Any]:
    return lambda found: make_number(found[place]) if is_number else found[place]


def _in_place(before: Any, value: Any) -> Any:
    """``value``, put into the list or dict that the variable holds, which others may hold too."""
    if isinstance(before, list):
        before[:] = value
        return before
    if isinstance(before, dict):
        before.clear()
        before.update(value)
        return before
    return value


def _blank(x: Any) -> Any:
    if isinstance(x, Tensor):
        made = Tensor(np.zeros((), x.dtype.numpy))
        return make_number(made) if type(x) is Number else _zeros(x.type)
    return x


def _zeros(type: TensorType) -> Tensor:
    return Tensor(np.zeros(type.shape, type.dtype.numpy))


def _shape_of(value: Any) -> str:
    if isinstance(value, (list, tuple, dict)):
        return f"a {value.__class__.__name__} of {len(value)} items"
    return _said(value)


# -- loops ---------------------------------------------------------------------------------------


class _Place:
    """One tensor of a loop's carry.

    Attributes:
        type: its type.
        is_number: whether it is a number of the running program.
        initial: its value before the loop, a tensor or number.
        symbol, atom: its tensor at the start of the body, and the variable that this stands for.
        after: its value after a trip.
    """

    __slots__ = ("after", "atom", "initial", "is_number", "symbol", "type")

    def __init__(self, type: TensorType, is_number: bool, initial: Any) -> None:
        self.type, self.is_number, self.initial = type, is_number, initial
        self.symbol: Any = None
        self.atom: Any = None
        self.after: Any = None

    def start(self, scope: BodyScope) -> Tensor:
        """The tensor that stands for it in the body."""
        made = scope.symbol(self.type)
        self.atom = made._atom
        self.symbol = make_number(made) if self.is_number else made
        return self.symbol

    def first(self) -> Tensor:
        """Its value before the loop as a tensor of its type."""
        found = self.initial
        if not isinstance(found, Tensor):
            return Tensor(np.asarray(found, self.type.dtype.numpy))
        found = lifted(state.read(found) if found.is_parameter else found)
        if found.dtype is not self.type.dtype:
            found = apply(convert, as_it_is(found), dtype=self.type.dtype)
        return found

    def made(self, tensor: Tensor) -> Tensor:
        """``tensor`` as what it is: a number or a tensor."""
        return make_number(tensor) if self.is_number else tensor


class _Loop:
    """A loop's body, traced until its state has the same types after a trip as before."""

    def __init__(
        self,
        run: Callable[[list[Tensor]], Any],
        variables: State,
        open_body: Callable[[dict[int, Any]], Any],
        dropped: Callable[[str, str], None],
        slices: Sequence[tuple[TensorType, bool]] = (),
        makes_a_trip: bool = False,
    ) -> None:
        self.makes_a_trip = makes_a_trip
        self.run, self.variables, self.open_body, self.dropped = run, variables, open_body, dropped
        self.slices = slices
        self.leaves = [list(each) for each in variables.leaves]
        self.structures = list(variables.structures)
        self.is_defined = [value is not UNDEFINED for value in variables.values]
        self.places: list[list[_Place | None]] = [
            [self._place_of(name, x) for x in each]
            for name, each in zip(variables.names, self.leaves, strict=True)
        ]
        self.changed: dict[int, tuple[Tensor, _Place]] = {}
        self.written: dict[int, tuple[Any, _Place]] = {}
        while not self._trace():
            pass

    @staticmethod
    def _place_of(name: str, x: Any) -> _Place | None:
        if isinstance(x, Tensor):
            return None if x.is_parameter else _Place(x.type, type(x) is Number, x)
        if isinstance(x, bool) and name.startswith(FLAGS):
            return _Place(_KIND_TYPES[bool], True, x)
        return None

    def _give(self, scope: BodyScope) -> tuple[Any, ...]:
        self.items = [scope.symbol(type) for type, _ in self.slices]
        values = []
        for k, structure in enumerate(self.structures):
            if not self.is_defined[k]:
                values.append(UNDEFINED)
                continue
            pairs = zip(self.places[k], self.leaves[k], strict=True)
            values.append(unflatten(structure, [x if p is None else p.start(scope) for p, x in pairs]))
        for tensor, place in self.changed.values():
            rebind(tensor, place.start(scope))
        for key, (_, place) in self.written.items():
            scope.bindings[key] = place.start(scope)
        return tuple(values)

    def _run(self) -> Any:
        items = [
            make_number(x) if is_number else x for x, (_, is_number) in zip(self.items, self.slices, strict=True)
        ]
        return self.run(items)

    def _trace(self) -> bool:
        """Trace the body once; whether the state has kept its types."""
        self.body = body = _Traced(self.variables, self._give, self._run, self.open_body)
        is_stable = True
        for k, name in enumerate(self.variables.names):
            if not self._settle(k, name):
                is_stable = False
        for key, (tensor, value) in body.changed.items():
            if key not in self.changed:
                before = as_it_is(tensor)
                self.changed[key] = (tensor, _Place(before.type, False, before))
                is_stable = False
            else:
                self._check(self.changed[key][1], value, "a tensor that is assigned to by index")
        for key, (parameter, value) in body.written.items():
            if key not in self.written:
                self.written[key] = (parameter, _Place(parameter.type, False, parameter))
                is_stable = False
            else:
                self._check(self.written[key][1], value, f"Parameter '{parameter.name}'")
        return is_stable

    def _check(self, place: _Place, value: Tensor, what: str) -> None:
        place.after = value
        if value.type is not place.type:
            self._refuse_change(what, _Mismatch(f"{place.type}, and {value.type} after a trip"))

    def _settle(self, k: int, name: str) -> bool:
        after, body = self.body.values[k], self.body
        if not self.is_defined[k]:
            # a program that reads it before a trip has assigned it stops with Python's own error unrolled
            if after is not UNDEFINED and (self.makes_a_trip or name.startswith(FLAGS)):
                self.leaves[k] = [_blank(x) for x in body.leaves[k]]
                self.structures[k] = body.structures[k]
                self.places[k] = [self._place_of(name, x) for x in self.leaves[k]]
                self.is_defined[k] = True
                return False
            return True
        if body.structures[k] != self.structures[k]:
            if after is UNDEFINED:
                refuse(
                    f"the variable '{name}' is deleted in a loop that is compiled as one.",
                    "Delete it after the loop.",
                )
            before = self.variables.values[k]
            refuse(
                f"'{name}' changes its structure in a loop that is compiled as one: it is {_shape_of(before)} "
                f"before a trip, and {_shape_of(after)} after it.",
                "Make a tensor of the final size before the loop and assign its elements, or loop over a "
                "known number of items: for i in range(n).",
            )
        is_stable = True
        for j, x in enumerate(body.leaves[k]):
            place = self.places[k][j]
            initial = self.leaves[k][j]
            if place is None:
                if _equal(initial, x):
                    continue
                try:
                    self.places[k][j] = _Place(*_joined_type(initial, x), initial)
                except _Mismatch as mismatch:
                    self._refuse_change(f"'{name}'", mismatch)
                is_stable = False
                continue
            place.after = x
            try:
                joined = _joined_type(place.symbol, x)
            except _Mismatch as mismatch:
                self._refuse_change(f"'{name}'", mismatch)
            if joined != (place.type, place.is_number):
                self.places[k][j] = _Place(*joined, initial)
                is_stable = False
        return is_stable

    @staticmethod
    def _refuse_change(what: str, mismatch: _Mismatch) -> None:
        refuse(
            f"{what} changes its type in a loop that is compiled as one: it is {mismatch}.",
            "Give it its final type and shape before the loop: ops.zeros(...), x.astype(...).",
        )

    def parts(self) -> tuple[list[_Place], list[_Place]]:
        """The places that no trip changes, and the others."""
        every = [p for each in self.places for p in each if p is not None]
        every += [place for _, place in [*self.changed.values(), *self.written.values()]]
        still = [p for p in every if isinstance(p.after, Tensor) and p.after._atom is p.atom]
        return still, [p for p in every if p not in still]

    def finish(self, moving: Sequence[_Place], found: Sequence[Tensor]) -> None:
        """Bind variables, tensors and Parameters to their values after the loop."""
        last = dict(zip(moving, found, strict=True))

        def value(place: _Place | None, initial: Any) -> Any:
            if place is None:
                return initial
            return place.made(last[place]) if place in last else place.made(place.first())

        values = []
        for k, name in enumerate(self.variables.names):
            if not self.is_defined[k]:
                if self.body.values[k] is not UNDEFINED:
                    self.dropped(name, "it is assigned only in a loop that may make no trip")
                values.append(UNDEFINED)
                continue
            pairs = zip(self.places[k], self.leaves[k], strict=True)
            made = unflatten(self.structures[k], [value(p, x) for p, x in pairs])
            same_object = self.body.values[k] is self.body.given[k]
            values.append(_in_place(self.variables.values[k] if same_object else None, made))
        self.variables.put(tuple(values))
        for tensor, place in self.changed.values():
            rebind(tensor, value(place, None))
        for parameter, place in self.written.values():
            state.write(parameter, value(place, None))


def loop(
    first: Tensor,
    run: Callable[[], Tensor],
    variables: State,
    open_body: Callable[[dict[int, Any]], Any],
    dropped: Callable[[str, str], None],
) -> None:
    """Trace a loop's body, emit a ``while``, and bind the variables to what it gives.

    Args:
        first: whether a first trip is made, a Bool tensor of no axes.
        run: makes a trip, and gives whether another one follows.
        variables, open_body, dropped: as for :func:`branch`.
    """
    made = _Loop(lambda _: run(), variables, open_body, dropped)
    still, moving = made.parts()
    body = made.body
    again = body.atom(made.body.result, _KIND_TYPES[bool])
    outputs = [*[body.atom(p.after, p.type) for p in moving], again]
    test = Variable(again.type)
    symbols = [p.atom for p in [*still, *moving]]
    graphs, captured = _assemble([body], [outputs], [[*symbols, test]])
    inputs = [Variable(v.type) for v in graphs[0].inputs]
    condition = Graph(inputs, (), inputs[-1:])
    operands = [*captured, *[p.first() for p in [*still, *moving]], first]
    consts = len(captured) + len(still)
    found = apply(while_, *operands, condition=condition, body=graphs[0], consts=consts)
    made.finish(moving, found[:-1])


def scanned(
    length: int,
    stacks: Sequence[tuple[Tensor, bool]],
    run: Callable[[list[Tensor]], None],
    variables: State,
    open_body: Callable[[dict[int, Any]], Any],
    dropped: Callable[[str, str], None],
    is_worth: Callable[[int], bool],
) -> bool:
    """Trace a loop's body, and emit a ``scan`` if ``is_worth`` says so of its number of equations.

    Args:
        length: the number of trips.
        stacks: what each trip takes a slice of along the first axis, and whether that is a number.
        run: makes a trip with these slices.
        variables, open_body, dropped: as for :func:`branch`.

    Returns:
        Whether it was emitted.
    """
    slices = [(t.type.with_shape(t.shape[1:]), is_number) for t, is_number in stacks]
    made = _Loop(run, variables, open_body, dropped, slices, length > 0)
    if not is_worth(len(made.body.scope.builder.equations)):
        return False
    still, moving = made.parts()
    body = made.body
    outputs = [body.atom(p.after, p.type) for p in moving]
    symbols = [*[p.atom for p in [*still, *moving]], *[x._atom for x in made.items]]
    graphs, captured = _assemble([body], [outputs], [symbols])
    operands = [*captured, *[p.first() for p in [*still, *moving]], *[t for t, _ in stacks]]
    found = apply(
        scan, *operands, body=graphs[0], length=length, consts=len(captured) + len(still),
        carries=len(moving), reverse=False,
    )  # fmt: skip
    made.finish(moving, found)
    return True
