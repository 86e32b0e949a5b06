"""Traced replacements of Python's built-in functions and attribute access.

The runtime (``runtime.call``) looks up each function that rewritten code calls. Most built-in functions run
unchanged. Some of them need the value of a tensor, or change state that existed before the trace. For these,
:func:`replacement` returns a function that can be traced, or that raises ``CompileError``.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mindgrad.core.base._cpython import variables_of
from mindgrad.core.base.location import caller_frame
from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.scope import apply, as_it_is
from mindgrad.core.ir.tensor import Number, Tensor, make_number
from mindgrad.core.primitives.logic import logical_and, logical_or
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import convert, reshape, stop_gradient
from mindgrad.core.trace import references
from mindgrad.frontend import aliases, effect_log, mutation_policy, owned_objects, state
from mindgrad.frontend.control import snapshots
from mindgrad.frontend.control.choices import choice, functions_in
from mindgrad.frontend.control.predicates import plain_truth, predicate
from mindgrad.frontend.control.printing import printed
from mindgrad.frontend.control.texts import UnknownText, with_marks
from mindgrad.frontend.control.variables import is_symbolic
from mindgrad.frontend.effect_log import UNDEFINED, Attribute, name_of, note_read
from mindgrad.frontend.unconverted_calls import constructor_for

__all__ = [
    "TensorRange", "attribute", "chosen", "delete_attribute", "range_of", "replacement", "set_attribute"
]  # fmt: skip


class TensorRange:
    """A ``range`` in which at least one bound is a tensor."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, *bounds: Any) -> None:
        for bound in bounds:
            if isinstance(bound, Tensor) and (bound.dtype.kind not in ("int", "uint") or bound.size != 1):
                refuse(
                    f"range() got a tensor of type {bound.type} as a bound. A bound must be one integer",
                    "Convert it: n.astype(ms.int32).",
                )
        numbers = [_number(bound) for bound in bounds]
        self.start, self.step = 0, 1
        if len(numbers) == 1:
            (self.stop,) = numbers
        else:
            self.start, self.stop, *rest = numbers
            self.step = rest[0] if rest else 1
        if isinstance(self.step, int) and self.step == 0:
            raise ValueError("range() arg 3 must not be zero")

    def contains(self, index: Any) -> Any:
        """Return whether the range contains ``index``, as a bool or a symbolic number.

        The caller must pass the start of the range plus a nonnegative multiple of the step. Therefore, only
        the stop is compared.
        """
        if isinstance(self.step, int):
            return index < self.stop if self.step > 0 else index > self.stop
        conditions = (self.step > 0, index < self.stop, self.step < 0, index > self.stop)
        is_up, before, is_down, behind = map(predicate, conditions)
        up = apply(logical_and, is_up, before)
        return apply(logical_or, up, apply(logical_and, is_down, behind))

    def __reversed__(self) -> TensorRange:
        if not isinstance(self.step, int):
            refuse(
                "The step of a reversed range is a tensor, whose value is not known at compile time",
                "Pass the step as a Python int.",
            )
        step = self.step
        iterations = (self.stop - self.start + step - (1 if step > 0 else -1)) // step
        return TensorRange(self.start + (iterations - 1) * step, self.start - step, -step)

    def __iter__(self) -> Any:
        refuse(
            "A range whose bound is a tensor is converted to a list. Its length is not known at compile time",
            "Loop over it with 'for', or use a fixed bound and a mask: ops.arange(n) < bound.",
        )


def _number(bound: Any) -> Any:
    """Convert the bound of a range to an int, or to a traced number if it is unknown."""
    if not isinstance(bound, Tensor):
        return bound
    tensor = references.read(bound) if bound.is_parameter else bound
    if tensor._array is not None:
        return int(tensor)
    tensor = as_it_is(tensor)
    if tensor.shape:
        tensor = apply(reshape, tensor, shape=())
    return make_number(apply(convert, tensor, dtype=Tensor(0).dtype))


def chosen(items: Any, key: Tensor, runtime: Any) -> Any:
    """Return ``items[key]`` for a list or tuple ``items`` and a tensor ``key``.

    The items must be functions, or must all have the same type. An out-of-range index selects the first or
    last item, because a compiled function cannot raise an error.
    """
    functions = functions_in(items)
    if functions:
        return choice(functions, key, runtime)
    if not isinstance(items, (list, tuple)) or not items:
        refuse(
            f"A tensor is used as the key of a {type(items).__name__}. Keys must be known at compile time",
            "Index a tensor, or a list of tensors of the same shape and dtype: ops.stack([...])[i].",
        )
    pairs = [flatten(item) for item in items]
    leaves, structure = pairs[0]
    alike = all(
        kind == structure and all(_alike(a, b) for a, b in zip(alternatives, leaves, strict=True))
        for alternatives, kind in pairs
    )
    if not alike:
        refuse(
            "A tensor indexes a list whose items differ in type, so the type of the result is unknown",
            "Use items of the same shape and dtype, or write if/elif on the index.",
        )
    picked = [_picked([alternatives[k] for alternatives, _ in pairs], key) for k in range(len(leaves))]
    for k, joined in enumerate(picked):
        for alternatives, _ in pairs:
            if (
                isinstance(joined, Tensor)
                and isinstance(alternatives[k], Tensor)
                and not alternatives[k].is_parameter
            ):
                aliases.note(joined, alternatives[k], None)
    return unflatten(structure, picked)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.type is b.type
    number = (int, float, Number)
    return (isinstance(a, number) and isinstance(b, number)) or a is b


def _picked(items: list[Any], key: Tensor) -> Any:
    if all(item is items[0] for item in items):
        return items[0]
    if all(isinstance(item, (int, float)) for item in items):
        made = Tensor(np.asarray(items))
        return make_number(made[key])  # type: ignore[index]
    rows = [apply(reshape, references.read(item), shape=(1, *item.shape)) for item in items]
    return apply(concatenate, *rows, axis=0)[key]


# -- attributes ----------------------------------------------------------------------------------


def _property(kind: type, name: str) -> Any:
    """Return the property ``name`` of a class, or ``None`` if there is none.

    Properties that a mindgrad class defines are ignored, except ``functools.cached_property``.
    """
    descriptor = getattr(kind, name, None)
    if isinstance(descriptor, functools.cached_property):
        return descriptor
    return (
        descriptor
        if isinstance(descriptor, property) and not kind.__module__.startswith("mindgrad.")
        else None
    )


def _inherited(owner: Any, name: str) -> Any:
    """Return the attribute ``name`` that ``super()`` finds; run no property."""
    order = type(owner.__self__).__mro__ if not isinstance(owner.__self__, type) else owner.__self__.__mro__
    behind = order[order.index(owner.__thisclass__) + 1 :]
    return next((each.__dict__[name] for each in behind if name in each.__dict__), None)


def attribute(owner: Any, name: str, runtime: Any) -> Any:
    """Read ``owner.name``, and record that the compiled function depends on its value.

    Getters of the user's properties are converted and traced.
    """
    kind = type(owner)
    if kind is Tensor:
        return getattr(owner, name)
    if kind is super:
        descriptor = _inherited(owner, name)
        if isinstance(descriptor, property) and descriptor.fget is not None:
            return runtime.call(descriptor.fget)(owner.__self__)
    descriptor = _property(kind, name)
    record = state.noted()
    if descriptor is not None and record is not None:
        record.method(owner, name)
    if isinstance(descriptor, functools.cached_property):
        if name not in vars(owner):
            note_read(Attribute(owner, name), own=True)
            computed = runtime.call(descriptor.func)(owner)
            if any(map(is_symbolic, flatten(computed)[0])) or not hasattr(owner, "__dict__"):
                set_attribute(owner, name, computed, runtime)
            else:  # a value without traced tensors remains valid after the trace, so it may be stored
                owner.__dict__[name] = computed
            if record is not None and hasattr(kind, "parameters_and_names"):
                record.read_of_cell(owner, name)  # guards compare whether the object stores a value
    elif descriptor is not None and descriptor.fget is not None:
        return runtime.call(descriptor.fget)(owner)
    return state.read_attribute(owner, name)


def set_attribute(owner: Any, name: str, value: Any, runtime: Any) -> None:
    """Assign ``owner.name = value``.

    The assignment takes effect immediately. If ``owner`` existed before the trace, each run of the compiled
    function repeats the assignment.
    """
    found = _property(type(owner), name)
    if isinstance(found, property) and found.fset is not None:
        runtime.call(found.fset)(owner, value)
        return
    held = getattr(owner, "__dict__", {}).get(name)
    is_cell = hasattr(owner, "parameters_and_names")
    is_write = is_cell and isinstance(held, Tensor) and held.is_parameter and isinstance(value, Tensor)
    if is_write or owned_objects.is_own(owner) or _is_frozen(owner) or _is_of_call(owner):
        setattr(owner, name, value)
    else:
        mutation_policy.assign_attribute(owner, name, value)


def delete_attribute(owner: Any, name: str, runtime: Any) -> None:
    """Delete ``owner.name``.

    The deletion takes effect immediately. If ``owner`` existed before the trace, each run of the compiled
    function repeats the deletion.
    """
    found = _property(type(owner), name)
    if isinstance(found, property) and found.fdel is not None:
        runtime.call(found.fdel)(owner)
    elif owned_objects.is_own(owner) or not hasattr(owner, name):
        delattr(owner, name)
    else:
        mutation_policy.assign_attribute(owner, name, UNDEFINED)


def _is_of_call(owner: Any) -> bool:
    """Return whether the object ``owner`` exists only during one call.

    An example is the context object of a custom derivative. Code may change such an object, except in a
    branch or loop. Therefore, the result is false in a branch or loop.
    """
    return getattr(type(owner), "lives_for_one_call", False) and not owned_objects.is_in_body()


def _is_frozen(owner: Any) -> bool:
    """Return whether ``owner`` is a frozen dataclass, whose ``__setattr__`` raises."""
    return getattr(getattr(type(owner), "__dataclass_params__", None), "frozen", False)


# -- functions -----------------------------------------------------------------------------------


def _unread(name: str) -> Callable[..., Any]:
    kind = {"int": int, "float": float, "bool": bool, "complex": complex}[name]

    def read(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is Number and name in ("int", "float"):
            number = args[0]
            if number.dtype.kind == name:
                return number
            value = as_it_is(number)
            if name == "int" and number.dtype.is_float:
                value = apply(stop_gradient, value)  # int() is a step function with derivative 0
            return make_number(apply(convert, value, dtype=Tensor(kind()).dtype))
        if args and isinstance(args[0], UnknownText):
            args[0].refuse()
        if args and is_symbolic(args[0]):
            if name == "bool":
                return RUNTIME_OF[0].not_(RUNTIME_OF[0].not_(args[0]))
            refuse(
                f"{name}() reads the value of a tensor, which is not known at compile time",
                f"Use the tensor itself, or convert its elements: x.astype(ms.{name}32)."
                if name != "complex"
                else "Use the tensor itself: ops.complex(x, y).",
            )
        return kind(*args, **kwargs)

    return read


#: contains the ``Runtime`` object. The module ``runtime`` appends it, because importing ``runtime`` would be
#: a circular import
RUNTIME_OF: list[Any] = []


def range_of(*bounds: Any) -> Any:
    """Evaluate ``range(*bounds)``, as a :class:`TensorRange` if a bound is a tensor."""
    return TensorRange(*bounds) if any(map(is_symbolic, bounds)) else range(*bounds)


def _extreme(kind: Callable[..., Any], precedes: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def extreme(*args: Any, **kwargs: Any) -> Any:
        items = list(args[0]) if len(args) == 1 and _is_iterable(args[0]) else list(args)
        if not any(map(is_symbolic, items)):
            key = kwargs.get("key")
            if key is not None:
                kwargs["key"] = RUNTIME_OF[0].call(key)
            return kind(items, **kwargs) if len(args) == 1 else kind(*args, **kwargs)
        if kwargs:
            refuse(
                f"'{kind.__name__}' of tensors does not support {', '.join(kwargs)} in a compiled function",
                "Use ops.argmin or ops.argmax, or a loop with 'if'.",
            )
        best = items[0]
        for item in items[1:]:
            best = RUNTIME_OF[0].if_expression(
                precedes(item, best), lambda item=item: item, lambda best=best: best
            )
        return best

    return extreme


def _is_iterable(x: Any) -> bool:
    return isinstance(x, Iterable) and not (isinstance(x, Tensor) and not x.shape)


def _decided(is_any: bool, items: Any) -> Any:
    """Evaluate ``any(items)`` if ``is_any`` is true, and ``all(items)`` otherwise."""
    runtime, listed, before = RUNTIME_OF[0], [], None
    for item in items:
        if before is not None and (changed := effect_log.changed_since(before)) is not None:
            refuse(
                f"'{'any' if is_any else 'all'}' stops at an item that depends on a tensor, and computing "
                f"the next item assigns {changed}. At compile time, it is not known whether this happens",
                "Write a loop: for item in items: … break.",
            )
        value = plain_truth(item)
        listed.append(value)
        if isinstance(value, Tensor):
            before = effect_log.current_values() if iter(items) is items else None
        elif bool(value) is is_any:
            break
    parts = [lambda value=value: value for value in listed]
    return runtime.not_(runtime.not_(runtime.or_(False, *parts) if is_any else runtime.and_(True, *parts)))


def _any(items: Any) -> Any:
    return _decided(True, items)


def _all(items: Any) -> Any:
    return _decided(False, items)


def _sorted(items: Any, **kwargs: Any) -> Any:
    listed = list(items)
    if any(map(is_symbolic, listed)):
        refuse(
            "'sorted' is called with tensors. Their order depends on values unknown at compile time",
            "Stack the tensors and call ops.sort.",
        )
    if kwargs.get("key") is not None:
        kwargs["key"] = RUNTIME_OF[0].call(kwargs["key"])
    return owned_objects.made(sorted(listed, **kwargs))


def _map(function: Any, *items: Any) -> Any:
    return map(RUNTIME_OF[0].call(function), *items)


def _filter(function: Any, items: Any) -> Any:
    keep = bool if function is None else RUNTIME_OF[0].call(function)

    def known(item: Any) -> Any:
        verdict = keep(item)
        if is_symbolic(verdict):
            refuse(
                "The condition of 'filter' is a tensor, so the number of items that it keeps is not "
                "known at compile time",
                "Mask the items instead: ops.where(condition, x, 0).",
            )
        return verdict

    return filter(known, items)


def _next(iterator: Any, *default: Any) -> Any:
    snapshots.refuse_advance(iterator)
    return next(iterator, *default)


def _reduce(function: Any, *rest: Any) -> Any:
    return functools.reduce(RUNTIME_OF[0].call(function), *rest)


def _type(x: Any, *rest: Any, **kwargs: Any) -> Any:
    return constructor_for(type)(x, *rest, **kwargs) if rest else type(x.sample() if type(x) is Number else x)


def _of_identity(function: Callable[[Any], int]) -> Callable[[Any], int]:
    def number(x: Any) -> int:
        if type(x) is Number or (isinstance(x, Tensor) and aliases.has_names(x)):
            refuse(
                f"'{function.__name__}' is called on an object that depends on a tensor. The identity "
                "of the object is not known at compile time",
                "Compare values, or compare tensors with 'is'.",
            )
        return function(x)

    return number


def _made(kind: type) -> Callable[..., Any]:
    return lambda *args, **kwargs: owned_objects.made(kind(*args, **kwargs))


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    if default and not state.has_attribute(owner, name):
        return default[0]
    return RUNTIME_OF[0].attribute(owner, name)


def _vars(*owner: Any) -> Any:
    return RUNTIME_OF[0].attribute(owner[0], "__dict__") if owner else variables_of(caller_frame())


def _by_object(function: Any) -> Callable[..., None]:
    """Wrap ``object.__setattr__`` or ``object.__delattr__``, given as ``function``.

    The wrapper raises ``CompileError`` if the object existed before the trace.
    """

    def change(owner: Any, name: str, *value: Any) -> None:
        if not owned_objects.is_of_program(owner):
            what = f"The attribute '{name}' of {name_of(owner)}"
            mutation_policy.refuse_change(f"{what} is changed by {function.__qualname__}")
        function(owner, name, *value)

    return change


def _setattr(owner: Any, name: str, value: Any) -> None:
    RUNTIME_OF[0].set_attribute(owner, name, value)


_TEXTS = {each: with_marks(each) for each in (str, repr, format, ascii)}
_REPLACED: dict[Any, Callable[..., Any]] = {
    range: range_of, print: printed, int: _unread("int"), float: _unread("float"), bool: _unread("bool"),
    complex: _unread("complex"), min: _extreme(min, operator.lt), max: _extreme(max, operator.gt),
    any: _any, all: _all, next: _next, sorted: _sorted, map: _map, filter: _filter, functools.reduce: _reduce,
    isinstance: lambda x, kinds: isinstance(x.sample() if type(x) is Number else x, kinds), type: _type,
    id: _of_identity(id), hash: _of_identity(hash),
    **{f: _by_object(f) for c in (object, type) for f in (c.__setattr__, c.__delattr__)},
    **_TEXTS, list: _made(list), dict: _made(dict), set: _made(set), getattr: _getattr, setattr: _setattr,
    hasattr: state.has_attribute, vars: _vars,
}  # fmt: skip


_METHOD = type("".join)


def replacement(function: Any) -> Any:
    """Return the traced replacement of a built-in function.

    The result is ``None`` if the function runs unchanged.
    """
    try:
        replaced = _REPLACED.get(function)
    except TypeError:  # the function is not hashable
        return None
    if (
        replaced is None
        and type(function) is _METHOD
        and isinstance(getattr(function, "__self__", None), str)
    ):
        return with_marks(function)
    return replaced
