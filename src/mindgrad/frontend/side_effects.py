"""Compile assignments of attributes and variables to graph inputs and outputs.

For example, a function runs ``self.state = self.state + x`` with a tensor ``self.state``. Then ``self.state``
is an input and an output of the graph, and each run of the compiled function assigns it.

A *location* is an attribute or variable that the function assigns (``effect_log``). Its new value is always
an output. The treatment of its previous value depends on the first read:

    no read before the assignment     The previous value is ignored.
    the function reads a tensor       The tensor is an input.
    the function reads another value  Guards compare the value. If it is a number that changes, the next trace
                                      tries to make it an input.

After a run, numbers that were known during the trace are assigned unchanged. Numbers that the graph computes
are converted to Python numbers.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.scope import GraphScope, as_it_is, lifted
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.frontend.control.texts import refuse_kept
from mindgrad.frontend.control.variables import NUMBER_TYPES, in_place
from mindgrad.frontend.effect_log import UNDEFINED, Attribute, Local, Place, Variable, Watch, watch
from mindgrad.frontend.guards import MISSING, Change, Dependencies, change
from mindgrad.frontend.python import convert
from mindgrad.frontend.signature import same
from mindgrad.frontend.user_functions import is_read_unseen

__all__ = ["Assigned", "Outcome", "assigned_in", "bind", "finish"]

_ADVICE = "Make it a Parameter, or give it its final structure, shape and dtype before the first call."


def _is_value(leaf: Any) -> bool:
    """Return whether ``leaf`` is a tensor with a known value, and not a Parameter."""
    return isinstance(leaf, Tensor) and not leaf.is_parameter and leaf._array is not None


#: types of Python numbers that can be inputs of a graph
_NUMBERS = (int, float)


class _Input:
    """An attribute or variable whose tensors and numbers are inputs of the graph.

    Args:
        location: the attribute or variable.
        numbers: the types of numbers that become inputs. Numbers of other types are constants.
    """

    __slots__ = ("kinds", "leaves", "numbers", "place", "structure")

    def __init__(self, location: Place, numbers: tuple[type, ...]) -> None:
        self.place = location
        self.numbers = numbers
        self.leaves, self.structure = flatten(location.value())
        #: for each leaf of the value: ``(type of the input, whether the leaf is a number)``, or ``None`` if
        #: the leaf is a constant
        self.kinds = [self._kind(x) for x in self.leaves]
        # replace tensors by tensors of the same type that store no data. Otherwise, this object would keep
        # arrays, such as a large batch of samples, in memory
        self.leaves = [_blank(x) if _is_value(x) else x for x in self.leaves]

    def _kind(self, leaf: Any) -> tuple[TensorType, bool] | None:
        if _is_value(leaf):
            return leaf.type, False
        if type(leaf) in self.numbers and (type(leaf) is float or -(2**63) <= leaf < 2**63):
            return NUMBER_TYPES[type(leaf)], True
        return None

    def symbols(self, scope: GraphScope) -> Any:
        """Return the value of the location, with a symbol in place of each input leaf."""
        values = []
        for kind, leaf in zip(self.kinds, self.leaves, strict=True):
            symbol: Any = leaf if kind is None else scope.symbol(kind[0])
            values.append(make_number(symbol) if kind is not None and kind[1] else symbol)
        return unflatten(self.structure, values)

    def tensors(self) -> list[Tensor] | None:
        """Return the present tensors and numbers for the inputs of the graph.

        The result is ``None`` if a constant or a type has changed, because the graph is then not valid.
        """
        leaves, structure = flatten(self.place.value())
        if structure != self.structure:
            return None
        values = []
        for kind, then, now in zip(self.kinds, self.leaves, leaves, strict=True):
            if kind is None:
                if not same(then, now):
                    return None
            elif self._kind(now) != kind:
                return None
            else:
                values.append(Tensor(np.asarray(now, kind[0].dtype.numpy)) if kind[1] else now)
        return values

    def change(self) -> Change:
        """Describe how the value has changed since the trace, for messages."""
        then, now = unflatten(self.structure, self.leaves), self.place.value()
        then, now = (MISSING if x is UNDEFINED else x for x in (then, now))
        return change(self.place.label, then, now, _ADVICE)


def _blank(x: Tensor) -> Tensor:
    return make_tensor(np.broadcast_to(np.zeros((), x.dtype.numpy), x.shape), x.type)


class Outcome:
    """The attributes and variables that a compiled function assigns or has as inputs.

    Attributes:
        leaves: leaves of all values to assign, including traced tensors.
        missing: attributes and variables with tensors that should have been inputs. If there are any, the
            function is traced again.
        numbers: pairs of a location and a number, for each attribute or variable that the function assigns
            after it has read a number from it. Guards compare the number.
    """

    __slots__ = ("_inputs", "_stores", "leaves", "missing", "numbers")

    def __init__(self, inputs: list[_Input], stores: list[tuple[Place, Any, int]], leaves: list[Any]) -> None:
        self._inputs = inputs
        self._stores = stores
        self.leaves = leaves
        self.missing: dict[Any, Place] = {}
        self.numbers: list[tuple[Place, Any]] = []

    def __bool__(self) -> bool:
        return bool(self._inputs or self._stores)

    def holds(self) -> bool:
        """Return whether the present values of all inputs have the types in the graph."""
        return all(each.tensors() is not None for each in self._inputs)

    def inputs(self) -> list[Tensor]:
        """Return the graph inputs that come from attributes and variables."""
        return [tensor for each in self._inputs for tensor in each.tensors() or ()]

    def changes(self) -> Iterator[Change]:
        """Describe each input whose type or structure has changed, for messages.

        Variables of functions that no longer exist are omitted.
        """
        for each in self._inputs:
            if type(each.place.holder) is not int and each.tensors() is None:
                yield each.change()

    def counted(self) -> list[Place]:
        """List attributes and variables whose numbers should be inputs of the next trace.

        The numbers are inputs already, or have changed since the trace.
        """
        changed = [p for p, n in self.numbers if type(p.value()) is type(n) and not same(n, p.value())]
        return [each.place for each in self._inputs if each.numbers == _NUMBERS] + changed

    def taken(self) -> list[Place]:
        """List the attributes and variables whose tensors and floats are graph inputs."""
        return [each.place for each in self._inputs if each.numbers != _NUMBERS]

    def free(self) -> set[int]:
        """Return ``id`` of each closure cell whose tensors or floats are graph inputs."""
        return {id(place.holder) for place in self.taken() if isinstance(place, Variable)}

    def store(self, leaves: Sequence[Any]) -> None:
        """Assign the attributes and variables after a run of the compiled function.

        Args:
            leaves: the values that this run computed for :attr:`leaves`.
        """
        start = 0
        for location, structure, count in self._stores:
            values = [_fresh(x) for x in leaves[start : start + count]]
            start += count
            location.store(unflatten(structure, values))

    def moved(self, cell_of: Callable[[Any], Any]) -> Outcome:
        """Return a copy of this outcome for another function with the same code.

        Args:
            cell_of: maps each closure cell in this outcome, or the index that replaces it, to a closure cell
                of the other function.
        """

        def other(location: Place) -> Place:
            if type(location) is not Variable:
                return location
            return Variable(cell_of(location.holder), location.name, location.label)

        inputs = []
        for input_ in self._inputs:
            duplicate = object.__new__(_Input)
            duplicate.place, duplicate.structure, duplicate.leaves = (
                other(input_.place),
                input_.structure,
                input_.leaves,
            )
            duplicate.kinds, duplicate.numbers = input_.kinds, input_.numbers
            inputs.append(duplicate)
        return Outcome(inputs, [(other(p), s, n) for p, s, n in self._stores], [])


def _fresh(constant: Any) -> Any:
    """Copy a set or NumPy array to be assigned, because the user may change it."""
    return constant.copy() if isinstance(constant, (set, np.ndarray)) else constant


# -- while tracing -------------------------------------------------------------------------------


def bind(watch: Watch, scope: GraphScope, places: Sequence[Place], numbers: Sequence[Place]) -> list[_Input]:
    """Replace the values of attributes and variables by symbols for graph inputs.

    Args:
        watch: effect log of the trace, which restores the values at its end.
        scope: scope of the trace.
        places: attributes and variables whose tensors and floats become inputs.
        numbers: attributes and variables whose tensors, floats, and ints become inputs.
    """
    inputs = [_Input(place, (float,)) for place in places]
    inputs += [_Input(place, _NUMBERS) for place in numbers]
    for input_ in inputs:
        symbols = input_.symbols(scope)
        watch.bound.note(input_.place)
        input_.place.put(symbols)
    return inputs


def finish(watch: Watch, scope: GraphScope, inputs: list[_Input], noted: Dependencies) -> Outcome:
    """Collect the attributes and variables that a trace assigned, and update guards.

    Guards compare an assigned attribute or variable only if the function reads it before the assignment and
    its value is not an input. Otherwise, the previous value cannot affect the graph.
    """
    outcome = Outcome(inputs, [], [])
    level = watch.levels[0]
    written: dict[Any, Any] = {}
    for key, (location, before, surely) in level.items():
        value = location.value()
        if (not surely and value is before) or isinstance(location, Local):
            continue
        written[key] = before
        leaves, structure = flatten(value)
        leaves = [_result(location, x, scope) for x in leaves]
        outcome._stores.append((location, structure, len(leaves)))
        outcome.leaves += leaves
        is_attribute, kind = isinstance(location, Attribute), cast(Any, type(location.holder))
        if is_attribute and key not in watch.reads and is_read_unseen(kind):
            watch.reads[key] = (location, before)
        if not is_attribute:
            watch.reads.setdefault(key, (location, before))
    for key, (location, value) in watch.reads.items():
        if key not in watch.bound:
            if key in written and any(map(_is_value, flatten(value)[0])):
                outcome.missing[key] = location
            if key in written and type(value) in _NUMBERS:
                outcome.numbers.append((location, value))
    for key, (location, before, _) in [*level.items(), *watch.bound.items()]:
        if key in written or key in watch.bound:
            noted.assigned(location, before, key in watch.reads and key not in watch.bound)
    return outcome


def _result(location: Place, leaf: Any, scope: GraphScope) -> Any:
    """Check a leaf that the function assigns, and return the graph output for it."""
    refuse_kept(leaf, location.label)
    if isinstance(leaf, Tensor) and leaf.is_parameter:
        return leaf
    if isinstance(leaf, Tensor) and leaf._array is None:
        value = lifted(leaf)
        if value._scope is not scope:
            refuse(
                f"{location.label} is assigned a tensor of a 'bprop' or of another compiled function. "
                "Such a tensor does not exist outside that function",
                "Return the tensor, or assign it in 'construct'.",
            )
        return as_it_is(value) if type(value) is not Number else make_number(value)
    if isinstance(leaf, types.FunctionType) and convert.is_made_inside(leaf):
        refuse(
            f"{location.label} is assigned a function that the compiled function defines. Such a function "
            "does not exist outside the compiled function",
            "Define the function outside the compiled function, or return the value that it computes.",
        )
    return leaf


class Assigned:
    """An attribute or variable whose value contains tensors of an ended recording."""

    __slots__ = ("_place", "_structure", "leaves")

    def __init__(self, location: Place) -> None:
        self._place = location
        self.leaves, self._structure = flatten(location.value())

    def store(self, leaves: Sequence[Any]) -> None:
        """Replace the leaves in the present value of the attribute or variable."""
        value = self._place.value()
        self._place.put(in_place(value, unflatten(self._structure, leaves)))


def assigned_in(scope: Any) -> list[Assigned]:
    """Find the attributes and variables that contain tensors of ``scope``.

    The recording of ``scope`` has ended, so the caller must replace these tensors.
    """
    log = watch()
    levels = () if log is None else (log.bound, *log.levels)
    every = [Assigned(place) for place in {k: e[0] for level in levels for k, e in level.items()}.values()]
    return [each for each in every if any(isinstance(x, Tensor) and x._scope is scope for x in each.leaves)]
