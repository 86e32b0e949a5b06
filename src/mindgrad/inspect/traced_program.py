"""Trace of a function as for compilation, with names from the user's code."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from mindgrad.api.callables import arity, uncompiled
from mindgrad.api.gradient import grad
from mindgrad.core.base.location import Attributed, user_frame
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.constant_arguments import is_constant
from mindgrad.core.ir.mutable import MutableFloat
from mindgrad.core.ir.rewriting import without_rewrites
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.core.trace.numbers import DATA
from mindgrad.frontend.programs.object_cache import memory
from mindgrad.frontend.tracing import NUMBER, TENSOR, kind_of, trace_of
from mindgrad.inspect.emit.function import argument_paths, head_of, structured
from mindgrad.inspect.emit.names import identifier
from mindgrad.nn.cell import Cell
from mindgrad.nn.cell_path import cell_lines

__all__ = ["TracedProgram", "traced_derivative"]


class TracedProgram:
    """The graph of a function for given arguments, as XLA would receive it.

    Args:
        fn (Callable): a function, Cell, gradient function or compiled function.
        args, kwargs: arguments of ``fn``.
        with_floats (bool, optional): whether floats in the arguments are also inputs, unless a branch depends
            on their values. Default: ``False``.

    Attributes:
        graph: the program. Its inputs are arguments, then Parameters. Its outputs are new values of
            Parameters, then results, then values that the function stores in attributes and variables.
        argument_paths: for each input from the arguments, its path, such as ``x`` or ``batch['a'][0]``.
        parameters, written: the Parameters that the function reads, and the Parameters that it assigns.
        result_names: name of each result, or ``None`` for a result without a name.
        order: order of the derivative; 0 if ``fn`` is not a gradient function.
        name: name of the function as an identifier.
        title: name of the differentiated function and its location, for humans.
        file: name of the file that defines the differentiated function.
        arguments: maps names to the arguments that contain inputs, with arrays instead of Tensors.
    """

    def __init__(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], with_floats: bool = False
    ) -> None:
        leaves, structure = flatten((args, kwargs))
        with Attributed(cell_lines(Cell, user_frame())):
            if with_floats:
                self._trace, leaves = _traced(fn, leaves, structure)
            else:
                self._trace = trace_of(fn, leaves, structure)
            self.graph = before_compilation(self._trace.graph)
        where = argument_paths(structure, arity(fn).names)
        self.argument_paths = [path for path, x in zip(where, leaves, strict=True) if _is_input(x)]
        self.parameters: list[Any] = self._trace.parameters
        self.written: list[Any] = self._trace.written
        base, self.order = _differentiated(fn)
        self.name = _own_name(fn).replace("_lambda_", "_function")
        self.title = _title(base, self.order)
        self.file = _file_of(base)
        self.arguments = _arguments(where, leaves, structure)
        self._kinds = [kind_of(x) for x in self._trace.results]
        count = sum(kind in (TENSOR, NUMBER) for kind in self._kinds)
        types = [y.type for y in self.graph.outputs[len(self.written) :][:count]]
        self.result_names = _result_names(base, self.order, types, self.argument_paths, self.parameters)

    def structured(self, texts: Sequence[str]) -> str:
        """Format the result as Python code, with ``texts`` for its tensors and numbers."""
        remaining = iter(texts)
        pairs = zip(self._kinds, self._trace.results, strict=True)
        shown = [next(remaining) if kind in (TENSOR, NUMBER) else repr(x) for kind, x in pairs]
        return structured(self._trace.structure, flatten(None)[1], shown)


def traced_derivative(
    owner: str,
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    order: int,
    rewrites: bool,
    with_floats: bool = False,
) -> TracedProgram:
    """Trace ``fn``, or its derivative with respect to the first argument.

    Args:
        owner (str): name of the public function, for messages.
        fn, args, kwargs, with_floats: arguments of :class:`TracedProgram`.
        order (int): order of the derivative; 0 for ``fn`` itself.
        rewrites (bool): whether to apply the compiler's rewrites.

    Raises:
        ValueError: If ``order`` is not an int, or negative.
    """
    if not isinstance(order, int) or isinstance(order, bool) or order < 0:
        raise ValueError(f"For '{owner}', 'order' should be an int of at least 0, but got {order!r}.")
    for _ in range(order):
        fn = grad(fn)
    with nullcontext() if rewrites else without_rewrites():
        return TracedProgram(fn, args, kwargs, with_floats)


def _arguments(where: Sequence[str], leaves: Sequence[Any], structure: Any) -> dict[str, Any]:
    """Collect the arguments that contain inputs, and convert Tensors to arrays."""
    is_input = [_is_input(x) for x in leaves]
    args, kwargs = unflatten(
        structure, [_array(x) if f else x for x, f in zip(leaves, is_input, strict=True)]
    )
    values = [*args, *kwargs.values()]
    owners = iter(zip(where, is_input, strict=True))
    arguments = {}
    for value in values:
        own = [next(owners) for _ in flatten(value)[0]]
        if any(f for _, f in own):
            arguments[head_of(own[0][0])] = value
    return arguments


def _traced(fn: Callable[..., Any], leaves: list[Any], structure: Any) -> tuple[Any, list[Any]]:
    """Trace ``fn`` with floats as inputs, or as constants if that fails."""
    if any(type(x) is float for x in leaves):
        data = [MutableFloat(x) if type(x) is float else x for x in leaves]
        try:
            return trace_of(fn, data, structure), data
        except Exception:
            pass  # for example, a Python branch on a float cannot be traced
    return trace_of(fn, leaves, structure), leaves


def _is_input(leaf: Any) -> bool:
    if isinstance(leaf, Tensor):
        return not (leaf.is_parameter or is_constant(leaf))
    return type(leaf) in DATA


def _array(leaf: Any) -> Any:
    return leaf.asnumpy() if isinstance(leaf, Tensor) else np.float64(leaf)


# --- names of inputs, results, and files -------------------------------------------------------------


def _differentiated(fn: Any) -> tuple[Any, int]:
    """Return the function that gradient functions differentiate, and their order."""
    order = 0
    while True:
        fn = uncompiled(fn)
        facts = memory(fn, make=False)
        if facts is None or facts.source is None:
            return fn, order
        fn, order = facts.source, order + facts.order


def _own_name(fn: Any) -> str:
    fn = uncompiled(fn)
    name = getattr(fn, "__name__", None) or type(fn).__name__
    return "function" if name == "<lambda>" else identifier(name)


def _result_names(
    base: Any, order: int, types: Sequence[Any], arguments: Sequence[str], parameters: Sequence[Any]
) -> list[str | None]:
    """Name the outputs of a derivative: ``du_dx``, ``d2u_dx2``, ``d_dense_weight``."""
    names: list[str | None] = [None] * len(types)
    if order == 0:
        return names
    count = len(parameters)
    if count and [p.type for p in parameters] == list(types[-count:]):
        names[-count:] = [f"d_{identifier(p.name)}" for p in parameters]
    elif len(types) == 1 and arguments:
        name = _own_name(base).removeprefix("function")
        power = "" if order == 1 else str(order)
        first = f"d{power}{name}" if name or power else ""
        names = [f"{first}_d{identifier(arguments[0])}{power}".lstrip("_")]
    return names


def _file_of(fn: Any) -> str | None:
    target = getattr(fn, "construct", fn)
    code = getattr(inspect.unwrap(target), "__code__", None)
    return None if code is None else code.co_filename


def _title(base: Any, order: int) -> str:
    prefix = (
        "" if order == 0 else "The derivative of " if order == 1 else f"The derivative of order {order} of "
    )
    target = getattr(base, "construct", base)
    code = getattr(inspect.unwrap(target), "__code__", None)
    where = "" if code is None else f" ({os.path.basename(code.co_filename)}, line {code.co_firstlineno})"
    return f"{prefix}{_own_name(base)}{where}"
