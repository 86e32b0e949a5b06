"""Compiled functions: one XLA program per signature of the arguments.

A signature is the structure of the arguments, the types of their tensors and the values of their
Python constants. The program is traced once, with tensors as inputs; Parameters that it reads become
further inputs, those that it writes outputs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad._base.tree import flatten, unflatten
from mindgrad.backend.xla import compile_graph, to_device
from mindgrad.core.build import building
from mindgrad.core.graph import Graph
from mindgrad.core.scope import LEFT_BEHIND, GraphScope, as_it_is, open_scopes, opened
from mindgrad.core.tensor import Tensor, make_tensor
from mindgrad.frontend import state

__all__ = ["Compiled", "trace"]


#: programs kept per signature, for different states of the Cells that they were traced with
_KEPT = 8


class _Program:
    """One compiled program with what is needed to call it."""

    __slots__ = (
        "dependencies", "graph", "leaves", "parameter_types", "parameters", "run", "structure", "written",
    )  # fmt: skip

    def __init__(self, function: Callable[..., Any], leaves: list[Any], structure: Any) -> None:
        scope = GraphScope()
        with opened(scope):
            symbols = [scope.symbol(x.type) if isinstance(x, Tensor) else x for x in leaves]
            args, kwargs = unflatten(structure, symbols)
            results, self.structure = flatten(function(*args, **kwargs))
            results = [state.read(x) if isinstance(x, Tensor) else x for x in results]
            self.written = list(scope.written.values())
            tensors = [x for x in results if isinstance(x, Tensor)]
            tensors += [scope.bindings[id(p)] for p in self.written]
            with building(scope.builder):
                self.graph = scope.builder.close([scope.atom(t) for t in tensors])
        self.leaves = [None if isinstance(x, Tensor) else (x,) for x in results]
        self.parameters = scope.parameters
        self.dependencies = list(scope.dependencies.values())
        self.parameter_types = [p.type for p in self.parameters]
        self.run = compile_graph(self.graph)

    def is_current(self) -> bool:
        """Whether the attributes and Parameters that the program was traced with are as they were."""
        for owner, version in self.dependencies:
            if owner.version != version:
                return False
        for parameter, type in zip(self.parameters, self.parameter_types, strict=True):
            if parameter.type is not type:
                return False
        return True

    def call(self, tensors: list[Tensor]) -> Any:
        # a tensor stays on the device once a program has used it, so that the next call moves nothing
        arrays = []
        for tensor in tensors:
            array = tensor._array
            if isinstance(array, (np.ndarray, np.generic)):
                array = tensor._array = to_device(tensor.numpy())
            elif array is None:
                raise RuntimeError(LEFT_BEHIND)
            arrays.append(array)
        for parameter in self.parameters:
            array = parameter._array
            if isinstance(array, (np.ndarray, np.generic)):
                array = parameter._array = to_device(array)
            arrays.append(array)
        found = self.run(arrays)
        leaves = self.leaves
        if len(leaves) == 1 == len(found) and leaves[0] is None:
            return unflatten(self.structure, [make_tensor(found[0])])
        produced = iter(found)
        result = unflatten(
            self.structure,
            [make_tensor(next(produced)) if leaf is None else leaf[0] for leaf in leaves],
        )
        for parameter, array in zip(self.written, produced, strict=True):
            parameter.store(make_tensor(array))
        return result


class Compiled:
    """Calls ``function`` as a compiled program, or as it is inside one and under a derivative."""

    __slots__ = ("_lock", "_programs", "function")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._programs: dict[Any, list[_Program]] = {}
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if open_scopes():
            # as when it is called from outside: what it assigns to elements of arguments stays inside
            args = tuple([as_it_is(x) if type(x) is Tensor else x for x in args])
            return self.function(*args, **kwargs)
        # plain tensors, the usual case, need no walk through structures
        key: Any = tuple([x.type if type(x) is Tensor else None for x in args])
        if kwargs or None in key:
            leaves, structure = flatten((args, kwargs))
            key = (structure, tuple([_signature(x) for x in leaves]))
            tensors = [x for x in leaves if isinstance(x, Tensor)]
        else:
            tensors = list(args)
        program = self._find(key)
        if program is None:
            with self._lock:
                program = self._find(key)
                if program is None:
                    leaves, structure = flatten((args, kwargs))
                    program = _Program(self.function, leaves, structure)
                    # several: a net that is switched between training and evaluation has two
                    self._programs[key] = [program, *self._programs.get(key, [])[: _KEPT - 1]]
        return program.call(tensors)

    def _find(self, key: Any) -> _Program | None:
        for program in self._programs.get(key, ()):
            if program.is_current():
                return program
        return None


def _signature(leaf: Any) -> Any:
    """What of an argument selects the program: a tensor's type, a constant's value."""
    if isinstance(leaf, Tensor):
        return leaf.type
    if isinstance(leaf, np.ndarray):
        raise TypeError(
            "For a compiled function, the input can not be numpy.ndarray; make it a Tensor: Tensor(array)."
        )
    if isinstance(leaf, float):
        return leaf.hex()  # tells 0.0 from −0.0, and a NaN from no NaN
    if isinstance(leaf, (complex, np.inexact)):
        return (type(leaf), repr(leaf))  # so does this
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(
            f"a compiled function was called with an argument of type {type(leaf).__name__}; use "
            f"tensors, numbers, strings, None, and tuples, lists or dicts of them."
        ) from None
    return (type(leaf), leaf)


def trace(function: Callable[..., Any], *args: Any) -> Graph:
    """The graph of ``function`` at the types of ``args``, before any simplification by XLA.

    >>> import mindgrad as ms
    >>> from mindgrad.functional.compiled import trace
    >>> len(trace(lambda x: x * x + 1.0, ms.Tensor([1.0, 2.0])))
    2
    """
    leaves, structure = flatten(args)
    scope = GraphScope()
    with opened(scope):
        symbols = [scope.symbol(x.type) if isinstance(x, Tensor) else x for x in leaves]
        results, _ = flatten(function(*unflatten(structure, symbols)))
        tensors: Sequence[Tensor] = [state.read(x) for x in results if isinstance(x, Tensor)]
        return scope.builder.close([scope.atom(t) for t in tensors])
