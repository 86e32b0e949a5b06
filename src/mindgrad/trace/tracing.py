"""Trace one call of a function, and collect its graph, guards, and side effects.

Package ``execution`` calls :func:`trace_of`, which runs the function once on symbols instead of
tensors. The result is a :class:`Trace`. It contains the graph of the computation, the guards
(``dependencies``: the Python state that the function read), and the side effects (``outcome``: the Python
state that the function assigned).

A location (class ``Place``) is an attribute or variable. The result of a call is flattened to *leaves*, as in
a pytree of JAX.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from mindgrad._base.refusal import refuse
from mindgrad._base.tree import flatten, unflatten
from mindgrad.core.trace import references
from mindgrad.ir.build import building
from mindgrad.ir.constant_arguments import is_constant
from mindgrad.ir.graph import Graph
from mindgrad.ir.mutable import MutableScalar
from mindgrad.ir.scope import GraphScope, opened
from mindgrad.ir.tensor import Number, Tensor, make_number
from mindgrad.trace import mutation_policy, outside_effects, user_calls
from mindgrad.trace.control.texts import refuse_kept
from mindgrad.trace.effect_log import Attribute, Place, watched
from mindgrad.trace.guards import Dependencies
from mindgrad.trace.numbers import DATA
from mindgrad.trace.reach import objects_in_reach, tensors_in_reach
from mindgrad.trace.side_effects import bind, finish
from mindgrad.trace.tensor_hooks import inherit_hooks

__all__ = ["NUMBER", "TENSOR", "Trace", "kind_held", "kind_of", "trace_of"]

#: kinds of leaves of a result that the graph computes: a tensor, or a Python number
TENSOR, NUMBER = object(), object()
#: types of results that contain no tensors
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.ndarray, np.generic, type)


class Trace:
    """The trace of one call, with symbols for tensors and for selected Python state.

    Args:
        function: the function.
        leaves: leaves of its arguments.
        structure: tree structure of ``(args, kwargs)``.
        tensor_places: locations of Python state. The tensors in them become inputs of the graph.
        numbers: locations of Python state. The numbers in them become inputs of the graph.
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
        with effects, opened(scope), watched() as watch:
            symbols = [_symbol(scope, leaf) for leaf in leaves]
            inputs = bind(watch, scope, tensor_places, numbers)
            args, kwargs = unflatten(structure, symbols)
            for callee in (function, *[x for x in leaves if callable(x)]):
                self.dependencies.function(callee)
            results, self.structure = flatten(user_calls.run(function, *args, **kwargs))
            for leaf in results:
                refuse_kept(leaf, "A result")
            self.results = [references.read(x) if isinstance(x, Tensor) else x for x in results]
            self.parameters: list[Any] = scope.parameters
            # The outputs begin with the Parameters that are also read, in the order of reading. JAX stores
            # the first result of a type in the first donated buffer of that type
            order = {id(p): index for index, p in enumerate(self.parameters)}
            written = scope.written
            self.written = [written[k] for k in sorted(written, key=lambda k: order.get(k, len(order)))]
            tensors = [scope.bindings[id(p)] for p in self.written]
            tensors += [x for x in self.results if isinstance(x, Tensor)]
            self.outcome = finish(watch, scope, inputs, self.dependencies)
            tensors += [x for x in self.outcome.leaves if type(kind_held(x)) is not tuple]
            with building(scope.builder):
                self.graph: Graph = scope.builder.close([scope.atom(t) for t in tensors])
        _refuse_hidden_tensors(results, self.structure, scope)  # after the attributes have their old values


def _refuse_hidden_tensors(results: Sequence[Any], structure: Any, scope: GraphScope) -> None:
    """Check that no result hides a tensor of the trace.

    A tensor in a set, in an attribute of an object, or in a closure would never get a value, because the
    compiled function cannot rebuild such results.

    Args:
        results: leaves of the results.
        structure: tree structure of the results, which contains the keys of dicts.
        scope: scope of the trace.

    Raises:
        CompileError: If there is such a tensor.
    """
    for key in _keys(structure):
        if isinstance(key, Tensor) and key._scope is scope:
            _refuse_result("a tensor as the key of a dict")
    for result in results:
        is_plain = isinstance(result, (Tensor, *_PLAIN))
        if not is_plain and any(each._scope is scope for each in tensors_in_reach(result)):
            _refuse_result(f"a tensor inside an object of type '{type(result).__name__}'")


def _refuse_result(content: str) -> NoReturn:
    refuse(
        f"The result contains {content}. A compiled function cannot return it, because the tensor has no "
        "value at compile time",
        "Return tensors in tuples, lists, values of dicts, or dataclasses.",
    )


def _keys(structure: Any) -> Iterator[Any]:
    """Yield the parts of a tree structure, including the keys of dicts."""
    waiting = [structure]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting.extend(part)
        else:
            yield part


def _symbol(scope: GraphScope, leaf: Any) -> Any:
    """Return a symbol for an argument that is an input, or else the argument itself."""
    if isinstance(leaf, Tensor):  # no symbol for a Parameter, whose reads and assignments are traced
        if leaf.is_parameter or is_constant(leaf):
            return leaf
        return inherit_hooks(scope.symbol(leaf.type), leaf)
    return make_number(scope.symbol(DATA[type(leaf)])) if type(leaf) in DATA else leaf


def kind_of(result: Any) -> Any:
    """Return ``TENSOR``, ``NUMBER``, or a 1-tuple with the leaf if it is a constant."""
    if isinstance(result, Number):
        return NUMBER
    return TENSOR if isinstance(result, Tensor) else (result,)


def kind_held(leaf: Any) -> Any:
    """Return the kind of a leaf of assigned state. A tensor with a known value is a constant."""
    is_known = isinstance(leaf, Tensor) and (leaf.is_parameter or leaf._array is not None)
    return (leaf,) if is_known else kind_of(leaf)


def _traced(
    function: Callable[..., Any],
    leaves: list[Any],
    structure: Any,
    numbers: Sequence[Place],
    tensors: Sequence[Place],
) -> Trace:
    """Trace a function with selected Python state as inputs, or else as constants.

    The state becomes constants if a trace with inputs raises an error. This happens if the function needs a
    value while it is traced, for example as a shape.
    """
    if numbers or tensors:
        try:
            return _completed(function, leaves, structure, numbers, tensors)
        except Exception:
            pass  # for example, a value is a shape or a dict key: each value needs a separate graph
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
    """Trace until every location that the function reads and assigns is an input."""
    places: dict[Any, Place] = {each.key: each for each in tensors}
    while True:
        traced = Trace(function, leaves, structure, list(places.values()), numbers)
        missing = traced.outcome.missing
        if missing:  # exclude objects that unconverted code created, because they are new in each trace
            reached = {id(x) for x, _ in objects_in_reach([(x, "") for x in (function, *leaves)])}
            missing = {k: p for k, p in missing.items() if _is_there_before(p, reached)}
        if not missing:
            return traced
        places.update(missing)


def _is_there_before(location: Place, reached: set[int]) -> bool:
    """Return whether the object that contains a location existed before the trace."""
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
    """Trace a call of ``function``, and return the trace.

    If the value of a tensor decides when a recursion ends, its trace never ends and raises
    ``RecursionError``. The function is then traced again, and each tail call becomes another iteration of a
    loop.

    Args:
        function: the function.
        leaves, structure: leaves and tree structure of ``(args, kwargs)``.
        numbers: locations whose numbers become inputs of the graph, if the trace succeeds with them.
        tensors: locations whose tensors and floats become inputs of the graph, if the trace succeeds with
            them.
    """
    try:
        return _traced(function, leaves, structure, numbers, tensors)
    except RecursionError:
        pass
    with mutation_policy.with_tail_calls_as_loops():
        return _traced(function, leaves, structure, numbers, tensors)
