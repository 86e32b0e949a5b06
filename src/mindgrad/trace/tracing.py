"""Trace a call on symbols, and collect its graph, guards, and side effects."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.tree import flatten, unflatten
from mindgrad.ir.build import building
from mindgrad.ir.constant_arguments import is_constant
from mindgrad.ir.graph import Graph
from mindgrad.ir.mutable import MutableFloat, MutableInt, MutableScalar
from mindgrad.ir.scope import GraphScope, opened
from mindgrad.ir.tensor import Number, Tensor, make_number
from mindgrad.ir.types import tensor_type
from mindgrad.trace import mutation_policy, outside_effects, state, user_calls
from mindgrad.trace.cell_guards import reads_noted
from mindgrad.trace.control.texts import refuse_kept
from mindgrad.trace.effect_log import Attribute, Place, watched
from mindgrad.trace.guards import Dependencies
from mindgrad.trace.reach import objects_in_reach
from mindgrad.trace.side_effects import bind, finish
from mindgrad.trace.tensor_hooks import inherit_hooks

__all__ = ["DATA", "NUMBER", "TENSOR", "Trace", "kind_held", "kind_of", "trace_of"]

#: types of numbers created by ``mutable``: they are inputs, so guards do not compare their values
DATA = {
    MutableFloat: tensor_type("float64", ()),
    MutableScalar: tensor_type("float64", ()),
    MutableInt: tensor_type("int64", ()),
}

#: kinds of leaves of a result: a tensor, or a Python number computed by the graph
TENSOR, NUMBER = object(), object()


class Trace:
    """The trace of a function with symbols for tensors and selected Python state.

    Args:
        function: the function.
        leaves: leaves of its arguments.
        structure: tree structure of ``(args, kwargs)``.
        tensor_places: locations of Python state whose tensors are inputs.
        numbers: locations of Python state whose numbers are inputs.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        leaves: list[Any],
        structure: Any,
        tensor_places: Sequence[Place] = (),
        numbers: Sequence[Place] = (),
    ) -> None:
        scope: Any = GraphScope()
        scope.dependencies = self.dependencies = Dependencies()
        scope.has_scalars = any(type(leaf) is MutableScalar for leaf in leaves)
        effects = outside_effects.refused(self.dependencies, scope, function, leaves)
        with effects, opened(scope), reads_noted(self.dependencies.read_of_cell), watched() as watch:
            symbols = [_symbol(scope, leaf) for leaf in leaves]
            inputs = bind(watch, scope, tensor_places, numbers)
            args, kwargs = unflatten(structure, symbols)
            for callee in (function, *[x for x in leaves if callable(x)]):
                self.dependencies.function(callee)
            results, self.structure = flatten(user_calls.run(function, *args, **kwargs))
            for leaf in results:
                refuse_kept(leaf, "A result")
            self.results = [state.read(x) if isinstance(x, Tensor) else x for x in results]
            self.parameters: list[Any] = scope.parameters
            # Parameters that are also read come first, in the order of reading: JAX stores the first result
            # of a type in the first donated buffer of that type
            order = {id(p): index for index, p in enumerate(self.parameters)}
            written = scope.written
            self.written = [written[k] for k in sorted(written, key=lambda k: order.get(k, len(order)))]
            tensors = [scope.bindings[id(p)] for p in self.written]
            tensors += [x for x in self.results if isinstance(x, Tensor)]
            self.outcome = finish(watch, scope, inputs, self.dependencies)
            tensors += [x for x in self.outcome.leaves if type(kind_held(x)) is not tuple]
            with building(scope.builder):
                self.graph: Graph = scope.builder.close([scope.atom(t) for t in tensors])


def _symbol(scope: GraphScope, leaf: Any) -> Any:
    """Return the symbol of an argument, or the argument itself if it is not an input."""
    if isinstance(leaf, Tensor):  # a Parameter stays itself: reads and assignments of it are traced
        if leaf.is_parameter or is_constant(leaf):
            return leaf
        return inherit_hooks(scope.symbol(leaf.type), leaf)
    return make_number(scope.symbol(DATA[type(leaf)])) if type(leaf) in DATA else leaf


def kind_of(result: Any) -> Any:
    """Return the kind of a leaf of the result: tensor, number, or constant."""
    if isinstance(result, Number):
        return NUMBER
    return TENSOR if isinstance(result, Tensor) else (result,)


def kind_held(leaf: Any) -> Any:
    """Return the kind of a leaf of assigned state; a known tensor is a constant."""
    is_known = isinstance(leaf, Tensor) and (leaf.is_parameter or leaf._array is not None)
    return (leaf,) if is_known else kind_of(leaf)


def _traced(
    function: Callable[..., Any],
    leaves: list[Any],
    structure: Any,
    numbers: Sequence[Place],
    tensors: Sequence[Place],
) -> Trace:
    """Trace a function with selected Python state as inputs, if that is possible.

    If the function needs their values while tracing, they are constants.
    """
    if numbers or tensors:
        try:
            return _completed(function, leaves, structure, numbers, tensors)
        except Exception:
            pass  # a value decides a shape or a key: compile one function for each value
        traced = _completed(function, leaves, structure, (), ())
        traced.outcome.numbers.clear()
        return traced
    return _completed(function, leaves, structure, (), ())


def _completed(
    function: Callable[..., Any],
    leaves: list[Any],
    structure: Any,
    numbers: Sequence[Place],
    tensors: Sequence[Place],
) -> Trace:
    places: dict[Any, Place] = {each.key: each for each in tensors}
    while True:
        traced = Trace(function, leaves, structure, list(places.values()), numbers)
        missing = traced.outcome.missing
        if missing:  # objects that unconverted code created during the trace are new in each trace
            reached = {id(x) for x, _ in objects_in_reach([(x, "") for x in (function, *leaves)])}
            missing = {k: p for k, p in missing.items() if _is_there_before(p, reached)}
        if not missing:
            return traced
        places.update(missing)


def _is_there_before(location: Place, reached: set[int]) -> bool:
    """Return whether the holder of a location existed before the trace."""
    holder = location.holder
    is_lasting = not isinstance(location, Attribute) or isinstance(holder, (type, types.ModuleType))
    return is_lasting or id(holder) in reached


def trace_of(
    function: Callable[..., Any],
    leaves: list[Any],
    structure: Any,
    numbers: Sequence[Place] = (),
    tensors: Sequence[Place] = (),
) -> Trace:
    """Trace a call of ``function`` completely.

    If its recursion does not end, the function is traced again with tail calls as loops.

    Args:
        function: the function.
        leaves, structure: its arguments.
        numbers: locations whose numbers are inputs if possible.
        tensors: locations whose tensors and floats are inputs if possible.
    """
    try:
        return _traced(function, leaves, structure, numbers, tensors)
    except RecursionError:
        pass
    with mutation_policy.with_tail_calls_as_loops():
        return _traced(function, leaves, structure, numbers, tensors)
