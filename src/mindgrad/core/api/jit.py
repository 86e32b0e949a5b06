"""``jit``: compile a function once for each combination of argument types.

    jit(f)(x) = f(x)

The first call traces the function to a graph and compiles the graph. Later calls with the same cache key
reuse it. The cache key contains the nesting of the arguments, the types of tensors, arrays, and floats, and
the values of all other arguments, which are called *static*. Inside another trace or a derivative, the
operators of the graph are recorded, so ``jit`` can be nested with ``grad`` and ``vmap`` in any order.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Never

import numpy as np

from mindgrad.core.api.arguments import check_call
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.pending import resolved
from mindgrad.core.ir.scope import as_it_is, current_deferral, innermost, lifted, open_scopes
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.trace import frontend, references
from mindgrad.core.trace.closed_program import trace
from mindgrad.core.trace.executor import compiled
from mindgrad.core.trace.numbers import as_python

__all__ = ["jit"]


class _Program(NamedTuple):
    """A traced and compiled function.

    Attributes:
        graph: the graph. Its inputs are the dynamic (not static) arguments and the captured references.
        inputs: for each input of ``graph``, the index of a dynamic argument, or the captured reference.
        leaves: the flattened pair (result, new values of the written references). A tensor in this list is a
            placeholder for the next output of ``graph``.
        structure: the nesting of the pair, to which ``leaves`` are unflattened.
        written: references that the function writes.
        run: the compiled graph, as a function of arrays.
    """

    graph: Graph
    inputs: list[Any]
    leaves: list[Any]
    structure: Any
    written: list[Any]
    run: Callable[[Sequence[Any]], Sequence[Any]]


def jit(
    function: Callable[..., object],
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    **unknown: Never,
) -> Callable[..., Any]:
    """Return a function that computes ``function`` as one compiled graph.

    Tensors, NumPy arrays, floats, and complex numbers in the arguments are inputs of the graph. Ints,
    Booleans, strings, ``None``, and other hashable objects are static: the function is traced again for each
    new value. The function must be pure. Global variables and attributes that it reads are constants of the
    graph, except references: tensors whose stored value may change (``trace.references``).

    Args:
        function: function of containers of tensors and numbers.
        static_argnums: index, or tuple of indices, of the static positional arguments. Default: ``()``.
        static_argnames: name, or tuple of names, of the static keyword arguments. Default: ``()``.

    Returns:
        Callable: function of the same arguments and with the same results.

    Raises:
        ValueError: If a static argument is not a parameter of ``function``.
        TypeError: In a call, if a static argument is not hashable.
        CompileError: In a call, if the function needs the value of a tensor, such as for the condition of
            ``if``.

    >>> from mindgrad.core import jit, numpy as np
    >>> print(jit(lambda x: np.sum(x * x))(np.array([1.0, 2.0])))
    5.0
    """
    check_call(jit, function, unknown)
    positions = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    if not all(isinstance(k, int) for k in positions) or not all(isinstance(n, str) for n in names):
        raise TypeError(
            "For 'jit', static_argnums must be ints, and static_argnames must be strings, but got "
            f"{static_argnums!r} and {static_argnames!r}."
        )
    if positions or names:
        positions, names = _static_parameters(function, positions, names)
    programs: dict[Any, _Program] = {}
    lock = threading.RLock()

    @functools.wraps(function, updated=())
    def call(*args: object, **kwargs: object) -> Any:
        fixed = {k % len(args) for k in positions if -len(args) <= k < len(args)}
        leaves, structure = flatten((args, kwargs))
        static_leaves = _static_leaves(args, kwargs, fixed, names)
        dynamic = [
            None if is_static else _dynamic(x) for x, is_static in zip(leaves, static_leaves, strict=True)
        ]
        key = structure, tuple([_key(x, operands) for x, operands in zip(leaves, dynamic, strict=True)])
        operands = [x for x in dynamic if x is not None]
        with lock:
            try:
                program = programs.get(key)
            except TypeError as error:
                raise TypeError(f"For 'jit', static arguments must be hashable: {error}.") from None
            if program is None:
                program = _traced(function, leaves, structure, dynamic, operands)
                if not any(isinstance(x, Tensor) and x.is_traced for x in program.inputs):
                    programs[key] = program
        return _applied(program, operands)

    return call


def _static_parameters(
    function: Callable[..., object], positions: tuple[int, ...], names: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the indices and names of the static parameters. A call may use either for a parameter."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function of C without a signature
        return positions, names
    kinds = {x.kind.name for x in parameters}
    listed = [x.name for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    known = {x.name for x in parameters}
    missing: list[Any] = [n for n in names if n not in known and "VAR_KEYWORD" not in kinds]
    if "VAR_POSITIONAL" not in kinds:
        missing += [k for k in positions if not -len(listed) <= k < len(listed)]
        positions = tuple([k % max(len(listed), 1) for k in positions])
    if missing:
        raise ValueError(
            f"For 'jit', the static argument {missing[0]!r} is not a parameter of the function, whose "
            f"parameters are {[x.name for x in parameters]}."
        )
    together = {*names, *[n for k, n in enumerate(listed) if k in positions]}
    return (*positions, *[k for k, n in enumerate(listed) if n in together]), tuple(together)


def _static_leaves(
    args: Sequence[object], kwargs: dict[str, object], fixed: set[int], names: Sequence[str]
) -> list[bool]:
    """Return, for each leaf of the arguments, whether it belongs to a static argument.

    ``fixed`` and ``names`` are the indices and the names of the static arguments.
    """
    return [
        is_static
        for tree, is_static in [
            *[(x, k in fixed) for k, x in enumerate(args)],
            *[(x, k in names) for k, x in kwargs.items()],
        ]
        for _ in flatten(tree)[0]
    ]


def _dynamic(leaf: object) -> Tensor | None:
    """Convert an argument leaf to a graph input; return ``None`` if it is static."""
    if isinstance(leaf, Tensor):
        return lifted(references.read(leaf))
    if isinstance(leaf, np.ndarray):
        return Tensor(leaf)
    if isinstance(leaf, (float, complex, np.inexact)):
        kind = np.complex128 if isinstance(leaf, (complex, np.complexfloating)) else np.float64
        return make_number(make_tensor(np.asarray(leaf, kind)))
    return None


def _key(leaf: object, tensor: Tensor | None) -> Any:
    return (type(leaf), leaf) if tensor is None else (tensor.type, type(tensor) is Number)


def _traced(
    function: Callable[..., object],
    leaves: Sequence[object],
    structure: object,
    dynamic: Sequence[Tensor | None],
    operands: Sequence[Tensor],
) -> _Program:
    """Trace ``function`` with symbols, tensors without values, as ``operands``."""
    written: list[Any] = []

    def run(*symbols: Tensor) -> Any:
        following = iter(symbols)
        filled = [
            leaf if x is None else make_number(next(following)) if type(x) is Number else next(following)
            for leaf, x in zip(leaves, dynamic, strict=True)
        ]
        args, kwargs = unflatten(structure, filled)
        result = frontend.active.call(function, *args, **kwargs)
        scope: Any = innermost()
        written.extend(scope.written.values())
        return result, [scope.bindings[id(x)] for x in written]

    program = trace(run, [x.type for x in operands])
    captured = iter(program.graph.inputs[len(operands) :])
    inputs = [*range(len(operands)), *[program.captured[variable] for variable in captured]]
    leaves = [x if type(x) is Number else as_it_is(x) if isinstance(x, Tensor) else x for x in program.leaves]
    run_graph = compiled(program.graph)
    return _Program(program.graph, inputs, leaves, program.structure, written, run_graph)


def _applied(program: _Program, given: Sequence[Tensor]) -> Any:
    """Run ``program``; inside a trace or a derivative, record its operators instead."""
    operands = [given[x] if isinstance(x, int) else lifted(references.read(x)) for x in program.inputs]
    if open_scopes() or current_deferral() is not None:
        outputs = inline_here(program.graph, operands)
    else:
        outputs = [make_tensor(array) for array in program.run([_array(t) for t in operands])]
    following = iter(outputs)
    filled = [
        make_number(next(following)) if type(x) is Number else next(following) if isinstance(x, Tensor) else x
        for x in program.leaves
    ]
    result, values = unflatten(program.structure, filled)
    for reference, value in zip(program.written, values, strict=True):
        references.write(reference, value)
    return as_python(result)


def _array(tensor: Tensor) -> Any:
    """Return the array of ``tensor``, without a copy between host and device."""
    array = resolved(tensor._array)
    return tensor.host_array() if isinstance(array, (np.ndarray, np.generic)) else array
