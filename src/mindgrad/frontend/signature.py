"""What selects a compiled program: the arguments of a call.

    signature(call) = structure of the arguments, type of every tensor, value of every constant

Two constants select one program if nothing that Python computes from them can differ: they have one
type and one value, the sign of a zero and the kind of a number included. Two functions do if they
have one code and what their closures, defaults and attributes hold is pairwise the same: a lambda that
is made anew at every call selects the program of the first.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindgrad._base.location import PACKAGE
from mindgrad.core.dtype import DType
from mindgrad.core.tensor import Tensor

__all__ = ["FunctionKey", "functions_in", "in_package", "leaf_signature", "same", "shown"]

#: NumPy arrays and tensors of at most this many bytes are compared by value, larger ones by identity
COMPARED_BYTES = 1 << 16

_BY_EQUALITY = frozenset([bool, int, str, bytes, range, DType, type(None), type(Ellipsis)])
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


class FunctionKey:
    """A function as part of a signature: equal to the keys of functions that are the :func:`same`."""

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function

    def __hash__(self) -> int:
        return hash(getattr(_plain_function(self.function), "__code__", None))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionKey) and same(self.function, other.function)

    def __repr__(self) -> str:
        return shown(self.function)


def _plain_function(function: Any) -> Any:
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        else:
            return function


def leaf_signature(leaf: Any) -> Any:
    """What of an argument selects the program: a tensor's type, a constant's value.

    Raises:
        TypeError: the argument is a NumPy array, or nothing that can be compared (a set, a bytearray).
    """
    if isinstance(leaf, Tensor):
        return leaf.type
    if isinstance(leaf, np.ndarray):
        raise TypeError(
            "For a compiled function, the input can not be numpy.ndarray; make it a Tensor: Tensor(array)."
        )
    if isinstance(leaf, float):
        return (type(leaf), float.hex(leaf))  # tells 0.0 from −0.0, and a NaN from no NaN
    if isinstance(leaf, (complex, np.inexact)):
        return (type(leaf), repr(leaf))  # so does this
    if isinstance(leaf, _FUNCTIONS):
        return FunctionKey(leaf)
    if isinstance(leaf, slice):
        return (slice, *map(leaf_signature, (leaf.start, leaf.stop, leaf.step)))
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(
            f"a compiled function was called with an argument of type {type(leaf).__name__}; use "
            f"tensors, numbers, strings, None, and tuples, lists, dicts or dataclasses of them."
        ) from None
    return (type(leaf), leaf)


def same(a: Any, b: Any, cells: dict[int, Any] | None = None) -> bool:
    """Whether a program that was traced with ``a`` would be the same with ``b``.

    Args:
        a: a value that a program was traced with: a constant, function, tensor, ….
        b: another one.
        cells: gets, for every closure cell of functions in ``a`` by ``id``, that in ``b``.
    """
    return a is b or _same(a, b, {} if cells is None else cells, set())


def _same(a: Any, b: Any, cells: dict[int, Any], met: set[tuple[int, int]]) -> bool:
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind in _BY_EQUALITY:
        return a == b
    if isinstance(a, float):
        return float.hex(a) == float.hex(b)
    if isinstance(a, (complex, np.generic)):
        return repr(a) == repr(b) and (not isinstance(a, np.generic) or a.dtype == b.dtype)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_same(x, y, cells, met) for x, y in zip(a, b, strict=True))
    if kind is slice:
        return _same((a.start, a.stop, a.step), (b.start, b.stop, b.step), cells, met)
    if kind is np.ndarray or kind is Tensor:
        return _equal_arrays(a, b)
    if isinstance(a, _FUNCTIONS) or hasattr(kind, "compared_by"):
        if (id(a), id(b)) in met:
            return True
        met.add((id(a), id(b)))
        return _same_functions(a, b, cells, met)
    return False


def _equal_arrays(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        if a.is_traced or b.is_traced or a.type is not b.type or a._array is None or b._array is None:
            return False
        if a._array is b._array:
            return True
    elif a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.nbytes > COMPARED_BYTES or (isinstance(a, np.ndarray) and a.dtype.hasobject):
        return False
    if isinstance(a, Tensor):
        a, b = a.numpy(), b.numpy()
    return a.tobytes() == b.tobytes()


def _same_functions(a: Any, b: Any, cells: dict[int, Any], met: set[tuple[int, int]]) -> bool:
    if isinstance(a, types.MethodType):
        return a.__self__ is b.__self__ and _same(a.__func__, b.__func__, cells, met)
    if isinstance(a, functools.partial):
        return (
            _same(a.func, b.func, cells, met)
            and _same(a.args, b.args, cells, met)
            and _same_dicts(a.keywords, b.keywords, cells, met)
        )
    if not isinstance(a, types.FunctionType):
        return all(_same(getattr(a, n), getattr(b, n), cells, met) for n in type(a).compared_by)
    code = a.__code__
    if code is not b.__code__ and (code.co_filename != b.__code__.co_filename or code != b.__code__):
        return False
    if a.__globals__ is not b.__globals__ or not _same(a.__defaults__, b.__defaults__, cells, met):
        return False
    if not _same_dicts(a.__kwdefaults__ or {}, b.__kwdefaults__ or {}, cells, met):
        return False
    if not _same_dicts(_attributes(a), _attributes(b), cells, met):
        return False
    if code.co_freevars:
        own = _caches_of(code) if in_package(a) else ()
        for name, one, other in zip(code.co_freevars, a.__closure__ or (), b.__closure__ or (), strict=True):
            cells[id(one)] = other
            if name in own or one is other:
                continue
            if not _same(_content(one), _content(other), cells, met):
                return False
    return True


def _same_dicts(a: dict[str, Any], b: dict[str, Any], cells: dict[int, Any], met: Any) -> bool:
    return a.keys() == b.keys() and all(_same(value, b[name], cells, met) for name, value in a.items())


def _attributes(function: Any) -> dict[str, Any]:
    # names with a leading underscore are notes that decorators and this package keep on functions
    return {name: value for name, value in function.__dict__.items() if name[:1] != "_"}


_EMPTY = object()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


@functools.lru_cache(maxsize=4096)
def _caches_of(code: types.CodeType) -> frozenset[str]:
    """The closure variables that a function assigns itself: in this package, what it remembers."""
    return frozenset(
        step.argval
        for step in dis.get_instructions(code)
        if step.opname == "STORE_DEREF" and step.argval in code.co_freevars
    )


def in_package(function: Any) -> bool:
    """Whether ``function`` is a function of this package."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(PACKAGE)


def functions_in(function: Any) -> Iterator[Any]:
    """The user's functions (and Cells, and other callables) behind ``function`` of this package.

    They are found in closures; a function of the user's is found as itself.
    """
    waiting, met = [function], set()
    while waiting:
        each = waiting.pop(0)
        if id(each) in met:
            continue
        met.add(id(each))
        if isinstance(each, functools.partial):
            waiting.append(each.func)
        elif isinstance(each, types.MethodType):
            if in_package(each.__func__):
                yield each.__self__
            else:
                yield each
        elif hasattr(type(each), "compared_by"):
            waiting.extend(getattr(each, name) for name in type(each).compared_by)
        elif isinstance(each, types.FunctionType) and in_package(each):
            waiting.extend(_content(cell) for cell in each.__closure__ or ())
        elif isinstance(each, types.FunctionType) or (callable(each) and hasattr(each, "construct")):
            yield each


def shown(value: Any) -> str:
    """A constant, function or object in a few words, for messages."""
    if isinstance(value, Tensor):
        return f"a Tensor {value.type}"
    if isinstance(value, FunctionKey):
        value = value.function
    if isinstance(value, _FUNCTIONS):
        plain = _plain_function(value)
        return f"the function {getattr(plain, '__qualname__', plain)}"
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if isinstance(value, (list, dict, set)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, tuple, np.generic, DType)):
        text = repr(value)
        return text if len(text) <= 40 else text[:37] + "..."
    return f"an object of type {type(value).__name__}"
