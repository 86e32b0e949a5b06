"""Memoize recursive functions during a trace, so that equal calls are traced once.

Calls are memoized only in *plain recursions*: functions that call themselves and have no side effects
(``python.plain_recursion``). An example is the determinant by minors: ``minor(a, 1, (0, 1, 3))`` and
``minor(a, 1, (1, 2, 3))`` both call ``minor(a, 2, (1, 3))``. For an n × n matrix, the recursion makes about
n! calls, but only 2ⁿ of them differ.

Two calls are equal if their arguments are the same tensor objects, or equal numbers, strings, and tuples of
these. Calls with other types of arguments are always traced. Results are stored until the outermost call of
the recursion returns, and are shared only inside one graph, branch, or loop body. A result is not shared if
it is mutable or is one of the arguments. Each call returns a new tensor object, so that code can assign its
elements.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from mindgrad.core.ir.scope import as_it_is, innermost
from mindgrad.core.ir.tensor import Number, Tensor
from mindgrad.frontend.python.plain_recursion import READERS

__all__ = ["shared"]

_PLAIN = (int, float, bool, str, type(None))
_NAMELESS = object()


class _Local(threading.local):
    def __init__(self) -> None:
        #: maps each recursive function that is being traced to a dict of its calls. The dict maps the key of
        #: a call to ``(result, objects)``. The key contains the ``id`` of ``objects``, which must therefore
        #: stay alive
        self.results: dict[FunctionType, dict[Any, tuple[Any, Any]]] = {}


_local = _Local()


def shared(function: FunctionType, converted: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a recursive function so that equal calls return the same result.

    Args:
        function: the user's function.
        converted: the converted form of ``function``, which the wrapper calls.
    """
    if not _reads_values(function):
        return converted

    def run(*args: Any, **kwargs: Any) -> Any:
        results = _local.results.get(function)
        if results is None:
            _local.results[function] = {}
            try:
                return converted(*args, **kwargs)
            finally:
                del _local.results[function]
        parts = _key((*args, *[part for pair in sorted(kwargs.items()) for part in pair]))
        if parts is None:
            return converted(*args, **kwargs)
        scope = innermost()
        key = (id(scope), len(args), parts)
        if key in results:
            return _own(results[key][0])
        result = converted(*args, **kwargs)
        if _may_be_shared(result, [*args, *kwargs.values()]):
            results[key] = result, (scope, args, kwargs)
        return result

    return run


def _may_be_shared(result: Any, arguments: list[Any]) -> bool:
    if type(result) is tuple:
        return all(_may_be_shared(part, arguments) for part in result)
    return type(result) in (Tensor, Number, *_PLAIN) and all(
        result is not each for each in arguments if isinstance(each, Tensor)
    )


def _own(result: Any) -> Any:
    if type(result) is tuple:
        return tuple([_own(part) for part in result])
    return as_it_is(result) if type(result) is Tensor else result


def _reads_values(function: FunctionType) -> bool:
    """Return whether ``function`` reads no variables except itself and constants.

    Built-in functions count as constants.
    """
    code, names = function.__code__, dict(function.__globals__)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            return False
    for name in (*code.co_names, *code.co_freevars):
        value = names.get(name, _NAMELESS)
        if name == code.co_name:
            if value is not function:
                return False
        elif name in READERS:
            if value is not _NAMELESS and value is not getattr(builtins, name):
                return False
        elif isinstance(value, Tensor) or (value is not _NAMELESS and _key((value,)) is None):
            return False  # a name that is not in ``names`` is the name of an attribute
    return True


def _key(values: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return a key for the arguments of a call.

    The result is ``None`` if an argument is neither a tensor nor a simple immutable value.
    """
    parts: list[Any] = []
    for value in values:
        if isinstance(value, Tensor):
            parts.append(id(value))
        elif type(value) is float:
            parts.append(value.hex())
        elif type(value) in _PLAIN:
            parts.append((type(value), value))
        elif type(value) is tuple:
            inner = _key(value)
            if inner is None:
                return None
            parts.append((tuple, inner))
        else:
            return None
    return tuple(parts)
