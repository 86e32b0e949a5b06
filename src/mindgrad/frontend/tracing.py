"""Trace one call of a function, and collect its graph, guards, and side effects.

The package ``frontend.programs`` calls :func:`trace_of`, which runs the function once on *symbols*: tensors
without values, like tracers in JAX. The result is a :class:`Trace` with three parts:

- ``graph``: the graph of the computation.
- ``dependencies``: the Python state that the function read. Guards compare it before each later call.
- ``outcome``: the attributes and variables that the function assigned.

A *location* (class ``Place``) is an attribute or variable. The arguments and the result of a call are
flattened to *leaves*, like a pytree in JAX.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.build import building
from mindgrad.core.ir.constant_arguments import is_constant
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.mutable import MutableScalar
from mindgrad.core.ir.scope import GraphScope, opened
from mindgrad.core.ir.tensor import Number, Tensor, make_number
from mindgrad.core.trace import (
    graph_recording,  # noqa: F401 - derivatives inside a trace need it
    references,
)
from mindgrad.core.trace.numbers import DATA
from mindgrad.frontend import mutation_policy, outside_effects, user_calls
from mindgrad.frontend.control.texts import refuse_kept
from mindgrad.frontend.effect_log import Attribute, Place, watched
from mindgrad.frontend.guards import Dependencies
from mindgrad.frontend.reach import objects_in_reach, tensors_in_reach
from mindgrad.frontend.side_effects import bind, finish
from mindgrad.frontend.tensor_hooks import inherit_hooks

__all__ = ["NUMBER", "TENSOR", "Trace", "kind_held", "kind_of", "trace_of"]

#: markers for leaves of a result that the graph computes: a tensor, or a Python number
TENSOR, NUMBER = object(), object()
#: types of results that cannot contain a tensor in an attribute or item
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.ndarray, np.generic, type)


class Trace:
    """The trace of one call: its graph, guards, and side effects.

    Args:
        function: the function to trace.
        leaves: leaves of its arguments. Tensors among them become inputs of the graph.
        structure: tree structure of ``(args, kwargs)``.
        tensor_places: attributes and variables whose tensors and floats also become inputs of the graph.
        numbers: attributes and variables whose ints and floats also become inputs of the graph.
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
            # Return the new values of Parameters first, in the order in which the Parameters are inputs. JAX
            # stores the first output of each type in the first donated input buffer of this type. With this
            # order, each new value overwrites the old value of the same Parameter
            order = {id(p): index for index, p in enumerate(scope.parameters.values())}
            written = scope.written
            self.written = [written[k] for k in sorted(written, key=lambda k: order.get(k, len(order)))]
            tensors = [scope.bindings[id(p)] for p in self.written]
            tensors += [x for x in self.results if isinstance(x, Tensor)]
            self.outcome = finish(watch, scope, inputs, self.dependencies)
            tensors += [x for x in self.outcome.leaves if type(kind_held(x)) is not tuple]
            with building(scope.builder):
                self.graph: Graph = scope.builder.close([scope.atom(t) for t in tensors])
            self.parameters: list[Any] = list(scope.parameters.values())
        # assigned attributes have their old values again at this point, so the search does not enter the
        # values that the trace assigned
        _refuse_hidden_tensors(results, self.structure, scope)


def _refuse_hidden_tensors(results: Sequence[Any], structure: Any, scope: GraphScope) -> None:
    """Raise ``CompileError`` if a result contains a traced tensor that is not a leaf.

    Examples are a tensor in a set, in a closure, or in an attribute of an object. A compiled function cannot
    rebuild such a result, so the tensor would never get a value.

    Args:
        results: leaves of the results.
        structure: tree structure of the results, including the keys of dicts.
        scope: scope of the trace.
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
    """Yield the entries of a tree structure, which is a nested tuple.

    The entries include the keys of dicts.
    """
    waiting = [structure]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting.extend(part)
        else:
            yield part


def _symbol(scope: GraphScope, leaf: Any) -> Any:
    """Return a symbol for a tensor or ``mutable`` number, or another leaf unchanged."""
    if isinstance(leaf, Tensor):
        # a Parameter becomes an input only when the function reads it (``references.read``)
        if leaf.is_parameter or is_constant(leaf):
            return leaf
        return inherit_hooks(scope.symbol(leaf.type), leaf)
    return make_number(scope.symbol(DATA[type(leaf)])) if type(leaf) in DATA else leaf


def kind_of(result: Any) -> Any:
    """Return ``TENSOR`` or ``NUMBER`` for a traced leaf, ``(leaf,)`` for a constant."""
    if isinstance(result, Number):
        return NUMBER
    return TENSOR if isinstance(result, Tensor) else (result,)


def kind_held(leaf: Any) -> Any:
    """Apply :func:`kind_of` to a leaf of an assigned attribute or variable.

    In contrast to :func:`kind_of`, a Parameter or a tensor with a known value counts as a constant.
    """
    is_known = isinstance(leaf, Tensor) and (leaf.is_parameter or leaf._array is not None)
    return (leaf,) if is_known else kind_of(leaf)


def _traced(
    function: Callable[..., Any],
    leaves: list[Any],
    structure: Any,
    numbers: Sequence[Place],
    tensors: Sequence[Place],
) -> Trace:
    """Trace a call with the values of ``numbers`` and ``tensors`` as graph inputs.

    If this trace raises an error, trace again with these values as constants. For example, the function may
    use a number as a shape, which must be known at compile time.
    """
    if numbers or tensors:
        try:
            return _completed(function, leaves, structure, numbers, tensors)
        except Exception:
            pass  # for example, if a number is used as a shape, each value needs its own graph
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
    """Trace until all tensors that the function reads and then replaces are inputs.

    An example is ``self.state = f(self.state)``. The first trace finds the assignment. In the second trace,
    ``self.state`` is an input.
    """
    places: dict[Any, Place] = {each.key: each for each in tensors}
    while True:
        traced = Trace(function, leaves, structure, list(places.values()), numbers)
        missing = traced.outcome.missing
        if missing:  # exclude objects that unconverted code creates, because they are new in each trace
            reached = {id(x) for x, _ in objects_in_reach([(x, "") for x in (function, *leaves)])}
            missing = {k: p for k, p in missing.items() if _is_there_before(p, reached)}
        if not missing:
            return traced
        places.update(missing)


def _is_there_before(location: Place, reached: set[int]) -> bool:
    """Return whether the holder of an attribute or variable existed before the trace.

    Args:
        location: the attribute or variable.
        reached: ``id`` of all objects that the function and its arguments refer to.
    """
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
    """Trace one call of ``function``.

    A recursion whose end depends on the value of a tensor is endless in a trace, because both branches are
    traced. If the trace raises ``RecursionError``, the function is traced again, and tail calls are compiled
    as loops.

    Args:
        function: the function to trace.
        leaves, structure: leaves and tree structure of ``(args, kwargs)``.
        numbers: attributes and variables whose numbers should be inputs of the graph. If the trace then
            fails, their values become constants.
        tensors: attributes and variables whose tensors and floats should be inputs of the graph. If the trace
            then fails, their values become constants.
    """
    try:
        return _traced(function, leaves, structure, numbers, tensors)
    except RecursionError:
        pass
    with mutation_policy.with_tail_calls_as_loops():
        return _traced(function, leaves, structure, numbers, tensors)
