"""Call signatures: cache keys that select the compiled function for a call.

    signature(call) = structure of the arguments, type of every tensor, value of every constant

A *constant* is an argument that is compiled into the graph with its value, such as a string. Two constants
are equal in a signature only if no Python code can distinguish them. For example, ``1``, ``1.0``, and
``True`` differ, and so do ``0.0`` and ``-0.0``.

Two functions are :func:`same` if they have the same code, and if their captured values, defaults, and
attributes are pairwise the same. Therefore, a lambda that is created again before each call requires only one
compilation. A :class:`Snapshot` of a function can be compared with later functions without keeping the first
function alive.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from mindgrad.core.base._cpython import stored_names
from mindgrad.core.ir.array_conversion import is_other_array
from mindgrad.core.ir.constant_arguments import is_constant
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.user_functions import EMPTY, cell_content, in_package

__all__ = [
    "FunctionKey", "Snapshot", "alike", "difference", "leaf_signature", "matched", "same", "shifting",
    "shown", "snapshot", "users_functions",
]  # fmt: skip

#: maximum size in bytes of NumPy arrays and tensors that are compared by value. Larger arrays and tensors are
#: compared by identity
COMPARED_BYTES = 1 << 18

_BY_EQUALITY = frozenset([bool, int, str, bytes, range, DType, type(None), type(Ellipsis)])
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


class FunctionKey:
    """Cache key for a function argument.

    Two keys are equal if their functions have the same code and captured values (:func:`same`).
    """

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function

    def __hash__(self) -> int:
        return hash(getattr(_plain_function(self.function), "__code__", None))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionKey) and same(self.function, other.function)

    def __repr__(self) -> str:
        return shown(self.function)


class ParameterKey:
    """Cache key for a Parameter argument. Two keys are equal for the same Parameter.

    The graph may assign the Parameter, so a different Parameter of the same type requires a different graph.
    """

    __slots__ = ("parameter",)

    def __init__(self, parameter: Any) -> None:
        self.parameter = parameter

    def __hash__(self) -> int:
        return id(self.parameter)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParameterKey) and self.parameter is other.parameter

    def __repr__(self) -> str:
        return f"the Parameter '{self.parameter.name}'"


def _plain_function(function: Any) -> Any:
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        else:
            return function


#: maximum size in bytes of a NumPy array argument that becomes a constant. A larger argument raises
#: ``TypeError``
_LARGEST_ARRAY = 4096


def leaf_signature(leaf: Any) -> Any:
    """Return the cache key for one leaf of the arguments.

    The key contains the type of a tensor, the identity of a Parameter, or the value of a constant.

    Raises:
        TypeError: If the leaf is a large array, an array of Python objects, or not hashable, such as a set.
    """
    if isinstance(leaf, Tensor):
        if is_constant(leaf):
            return (is_constant, leaf.type, leaf.host_array().tobytes())
        return (type(leaf), ParameterKey(leaf)) if leaf.is_parameter else leaf.type
    if isinstance(leaf, np.ndarray):
        if leaf.nbytes > _LARGEST_ARRAY or leaf.dtype.hasobject:
            raise TypeError(
                f"For a compiled function, the input can not be a {type(leaf).__name__} of {leaf.dtype} "
                f"elements and {leaf.nbytes} bytes. It cannot become a tensor, and the function would be "
                "compiled again for each value. Pass an array of numbers: numpy.asarray(array, float)."
            )
        return (np.ndarray, leaf.dtype.str, leaf.shape, leaf.tobytes())
    if isinstance(leaf, (float, np.float32, np.float16)):
        return (type(leaf), float(leaf).hex())  # distinguishes 0.0 from −0.0; all NaNs are equal
    if isinstance(leaf, (complex, np.inexact)):
        return (type(leaf), repr(leaf))  # distinguishes 0.0 from −0.0
    if isinstance(leaf, _FUNCTIONS):
        return FunctionKey(leaf)
    if isinstance(leaf, slice):
        return (slice, *map(leaf_signature, (leaf.start, leaf.stop, leaf.step)))
    try:
        hash(leaf)
    except TypeError:
        instead = "Tensor(x) to convert it, tensors" if is_other_array(leaf) else "tensors"
        raise TypeError(
            f"a compiled function was called with an argument of type {type(leaf).__name__}; use {instead}, "
            f"numbers, strings, None, and tuples, lists, dicts or dataclasses of them."
        ) from None
    return (type(leaf), leaf)


def same(a: Any, b: Any) -> bool:
    """Return whether constants or functions ``a`` and ``b`` result in the same graph."""
    return a is b or _same(a, b, set(), None)


class Snapshot:
    """A copy of everything that determines the behavior of a function.

    :func:`matched` compares it with a later function. Tuples and other compound values also have snapshots.

    Attributes:
        kind: type of the function or value.
        head: values that are compared by ``==``, such as the code.
        labels: for each of the ``parts``, its description for messages.
        parts: values that are compared by :func:`same`, such as defaults and captured values. Functions and
            tuples among them are replaced by their snapshots.
        first: index of the function's first closure cell in the list of cells that :func:`snapshot` returns.
    """

    __slots__ = ("first", "head", "kind", "labels", "parts")

    def __init__(self, kind: type, head: Any, labels: list[str], first: int) -> None:
        self.kind = kind
        self.head = head
        self.labels = labels
        self.first = first
        self.parts: list[Any] = []


class _OfType:
    """A wildcard in a snapshot, which matches any tensor of one type, or any float."""

    __slots__ = ("type",)

    def __init__(self, type: Any) -> None:
        self.type = type


def snapshot(function: Any, free: Collection[int] = ()) -> tuple[Any, list[Any], set[int]]:
    """Take a snapshot of ``function``.

    Args:
        function: the function.
        free: ``id`` of closure cells whose tensors and floats are inputs of the graph. Another function
            matches the snapshot even if these tensors and floats have other values.

    Returns:
        The snapshot, the closure cells in it, and the ``id`` of each function in it.
    """
    cells: list[Any] = []
    met: dict[int, Any] = {}
    return _taken(function, cells, met, free), cells, set(met)


def _taken(value: Any, cells: list[Any], met: dict[int, Any], free: Collection[int]) -> Any:
    if id(value) in met:
        return met[id(value)]
    description = _parts(value)
    if description is None:
        return value
    head, labels, parts, own = description
    snapshot = met[id(value)] = Snapshot(type(value), head, labels, len(cells))
    cells.extend(own)
    snapshot.parts = [_taken(each, cells, met, free) for each in parts]
    for place, _, cell in _places(value, parts):
        if id(cell) in free:
            snapshot.parts[place] = _freed(snapshot.parts[place])
    return snapshot


def _freed(snapshot: Any) -> Any:
    """Replace the tensors and floats in a snapshot by wildcards of their types."""
    if type(snapshot) in (Tensor, float):
        return _OfType(_type(snapshot))
    if type(snapshot) is Snapshot and snapshot.kind is tuple:
        snapshot.parts = [_freed(each) for each in snapshot.parts]
    return snapshot


def _type(value: Any) -> Any:
    """Return the type of a tensor or float, or ``None`` for other values."""
    if type(value) is Tensor:
        return None if value.is_traced else value.type
    return float if type(value) is float else None


def _places(value: Any, parts: list[Any]) -> Iterator[tuple[int, str, Any]]:
    """Yield the index in ``parts``, the name, and the cell of each closure variable.

    Args:
        value: a function. For other values, nothing is yielded.
        parts: the parts that :func:`_parts` returns. The last parts are the contents of the closure cells.
    """
    cells = getattr(value, "__closure__", None)
    if isinstance(value, types.FunctionType) and cells and not in_package(value):
        yield from zip(
            range(len(parts) - len(cells), len(parts)), value.__code__.co_freevars, cells, strict=True
        )


def shifting(snapshot: Any, function: Any) -> list[tuple[str, str, Any]]:
    """Find closure variables whose tensors or floats changed only in value.

    The types of the tensors are unchanged. The caller can make these tensors and floats inputs of the next
    compilation.

    Returns:
        A list of ``(name, label, cell)``, with one entry for each such variable of ``function`` or of a
        function inside it.
    """
    cells, waiting, met = [], [(snapshot, function)], set()
    for old, new in waiting:
        parts = _parts(new)
        if type(old) is not Snapshot or id(new) in met or parts is None or len(old.parts) != len(parts[2]):
            continue
        met.add(id(new))
        waiting.extend(zip(old.parts, parts[2], strict=True))
        for place, name, cell in _places(new, parts[2]):
            if alike(old.parts[place], parts[2][place]):
                cells.append((name, old.labels[place], cell))
    return cells


def alike(before: Any, now: Any) -> bool:
    """Return whether two values differ only in the values of tensors and floats.

    For example, ``(1.0, "a")`` and ``(2.0, "a")`` are alike. Tensors must have equal types. Equal values are
    not alike.

    Args:
        before: a tensor, float, or tuple, or the snapshot of a tuple.
        now: the value to compare.
    """
    differs = False
    waiting = [(before, now)]
    for old, new in waiting:
        if type(old) in (Tensor, float, _OfType):
            kind = old.type if type(old) is _OfType else _type(old)
            if kind is None or _type(new) is not kind:
                return False
            differs = differs or type(old) is _OfType or not same(old, new)
        elif type(new) is tuple and (type(old) is tuple or (type(old) is Snapshot and old.kind is tuple)):
            parts = old.parts if isinstance(old, Snapshot) else old
            if len(parts) != len(new):
                return False
            waiting.extend(zip(parts, new, strict=True))
        elif not _same(old, new, set(), None):
            return False
    return differs


def matched(snapshot: Any, function: Any) -> list[Any] | None:
    """Compare ``function`` with a snapshot.

    Returns:
        The closure cells of ``function``, in the order of the cells that :func:`snapshot` returned; ``None``
        if ``function`` differs from the snapshot.
    """
    cells: dict[int, Any] = {}
    if not _same(snapshot, function, set(), cells):
        return None
    return [cells.get(place) for place in range(max(cells, default=-1) + 1)]


def users_functions(function: Any) -> list[types.FunctionType]:
    """List ``function`` and the functions inside it, except functions of mindgrad."""
    waiting, met, functions = [function], set(), []
    for part in waiting:
        if id(part) in met:
            continue
        met.add(id(part))
        if isinstance(part, types.FunctionType) and not in_package(part):
            functions.append(part)
        waiting.extend((_parts(part) or ((), (), ()))[2])
    return functions


def _same(a: Any, b: Any, met: set[tuple[int, int]], cells: dict[int, Any] | None) -> bool:
    """Implement :func:`same` for a value ``b`` and a value or snapshot ``a``.

    Args:
        a: a value or snapshot.
        b: a value.
        met: pairs of ``id`` that are being compared, so that the comparison of recursive closures ends.
        cells: maps the index of each closure cell in the snapshot to a closure cell in ``b``; filled by this
            function. If two variables in the snapshot share a cell, the variables in ``b`` must share one,
            too.
    """
    if a is b:
        return True
    if type(a) is _OfType:
        return _type(b) is a.type
    was_taken = type(a) is Snapshot
    kind: Any = a.kind if was_taken else type(a)
    if kind is not type(b):
        return False
    if not was_taken:
        if kind in _BY_EQUALITY:
            return a == b
        if isinstance(a, float):
            return float.hex(a) == float.hex(b)
        if isinstance(a, (complex, np.generic)):
            return repr(a) == repr(b) and (not isinstance(a, np.generic) or a.dtype == b.dtype)
        if kind is np.ndarray or kind is Tensor:
            return _equal_arrays(a, b)
    if (id(a), id(b)) in met:
        return True
    met.add((id(a), id(b)))
    parts_a: Parts | None = (a.head, a.labels, a.parts, ()) if was_taken else _parts(a)
    parts_b = _parts(b)
    if parts_a is None or parts_b is None or parts_a[0] != parts_b[0] or len(parts_a[2]) != len(parts_b[2]):
        return False
    if was_taken and cells is not None:
        for place, cell in enumerate(parts_b[3], a.first):
            if cells.setdefault(place, cell) is not cell:
                return False
    return all(_same(x, y, met, cells) for x, y in zip(parts_a[2], parts_b[2], strict=True))


def difference(snapshot: Any, function: Any) -> tuple[str, Any, Any] | None:
    """Find the first difference between a function and a snapshot, for messages.

    Returns:
        The label of the part that differs, its value in the snapshot, and its present value; ``None`` if
        there is no difference.
    """
    waiting, met = [("", snapshot, function)], set()
    for around, old, new in waiting:
        if (id(old), id(new)) in met:
            continue
        met.add((id(old), id(new)))
        parts = _parts(new)
        if type(old) is not Snapshot or parts is None:
            continue
        if old.head != parts[0] or len(old.parts) != len(parts[2]):
            if around:  # the code differs, so report that the variable refers to another function
                return around, old, new
            continue
        for label, before, now in zip(old.labels, old.parts, parts[2], strict=True):
            if type(before) is Snapshot and type(now) is before.kind:
                waiting.append((label or around, before, now))
            elif (label or around) and not _same(before, now, set(), None):
                return label or around, before, now
    return None


#: ``(head, labels, parts, closure cells)``. ``Snapshot`` documents the first three entries
Parts = tuple[Any, list[str], list[Any], tuple[Any, ...]]


def _parts(value: Any) -> Parts | None:
    """Split a function, tuple, or other compound value into parts for comparison.

    The result is ``None`` if the value has no parts, so that it must be compared as a whole.
    """
    if isinstance(value, types.FunctionType):
        return _parts_of_function(value)
    if isinstance(value, types.MethodType):
        return (None, ["", ""], [value.__func__, value.__self__], ())
    if isinstance(value, functools.partial):
        label = "the arguments of a partial function"
        parts = [value.func, value.args, *value.keywords.values()]
        return (tuple(value.keywords), [label] * len(parts), parts, ())
    kind: Any = type(value)
    if isinstance(value, tuple):
        return (len(value), [""] * len(value), list(value), ())
    if kind is slice:
        return (None, [""] * 3, [value.start, value.stop, value.step], ())
    names: Any = getattr(kind, "compared_by", None)
    if names is None and kind.__module__.startswith("mindgrad.") and not hasattr(kind, "construct"):
        # an instance of a mindgrad class has its attributes as parts. A Cell, a tensor, or a class has no
        # parts
        names = () if isinstance(value, (Tensor, type)) else (*getattr(kind, "__slots__", ()), *_vars(value))
    if not names:
        return None
    held = [getattr(value, name, None) for name in names]
    return (names, [""] * len(names), [tuple(x) if type(x) is list else x for x in held], ())


def _vars(value: Any) -> dict[str, Any]:
    # skip names that begin with an underscore, because decorators and mindgrad store internal data under such
    # names
    return {name: held for name, held in getattr(value, "__dict__", {}).items() if name[:1] != "_"}


def _parts_of_function(function: types.FunctionType) -> Parts:
    code = function.__code__
    name = function.__qualname__
    cells = function.__closure__ or ()
    is_own = in_package(function)
    skipped = stored_names(code) if is_own else ()
    keywords, attributes = function.__kwdefaults__ or {}, _vars(function)
    labels = ["", f"the defaults of {name}"]
    labels += [f"the defaults of {name}"] * len(keywords)
    labels += [f"the attribute '{each}' of {name}" for each in attributes]
    parts = [function.__globals__, function.__defaults__, *keywords.values(), *attributes.values()]
    for variable, cell in zip(code.co_freevars, cells, strict=True):
        if variable not in skipped:
            labels.append("" if is_own else f"the variable '{variable}' that {name} uses")
            parts.append(cell_content(cell))
    return ((code.co_filename, code, tuple(keywords), tuple(attributes)), labels, parts, cells)


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
        a, b = a.host_array(), b.host_array()
    return a.tobytes() == b.tobytes()


def shown(value: Any) -> str:
    """Return a short description of a value, for messages."""
    if isinstance(value, Tensor):
        return f"a Tensor {value.type}"
    if isinstance(value, FunctionKey):
        value = value.function
    if isinstance(value, _OfType):
        return "another float" if value.type is float else f"a Tensor {value.type}"
    if isinstance(value, Snapshot):
        return "another function" if issubclass(value.kind, _FUNCTIONS) else f"another {value.kind.__name__}"
    if value is EMPTY:
        return "nothing"
    if isinstance(value, _FUNCTIONS):
        plain = _plain_function(value)
        code = getattr(plain, "__code__", None)
        line = "" if code is None or in_package(plain) else f" (line {code.co_firstlineno})"
        return f"the function {getattr(plain, '__qualname__', plain)}{line}"
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if isinstance(value, (list, dict, set)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if type(value) is tuple:  # its `repr` would contain memory addresses of objects in it
        text = f"({', '.join(map(shown, value))}{',' * (len(value) == 1)})"
        return text if len(text) <= 80 else text[:77] + "..."
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, tuple, np.generic, DType)):
        text = repr(value)
        return text if len(text) <= 40 else text[:37] + "..."
    return f"an object of type {type(value).__name__}"
