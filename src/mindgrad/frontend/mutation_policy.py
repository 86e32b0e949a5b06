"""The mutation policy: the objects that a function being compiled may change.

If a traced function appends to a list, the list changes once, during the trace, and not when the compiled
function runs. Such a change is correct if the function itself created the list. It is wrong for a list that
existed before the trace. In the body of a branch or loop on a tensor, it is also wrong for a list that was
created before the body. A wrong change raises ``CompileError``.

Attributes of objects that existed before the trace may be assigned. They become outputs of the compiled
function (``effect_log``, ``side_effects``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from mindgrad.core.base._cpython import variables_of
from mindgrad.core.base.location import PACKAGE, user_frame
from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import flatten, is_record
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend import aliases, effect_log, state
from mindgrad.frontend.control import snapshots
from mindgrad.frontend.control.variables import containers
from mindgrad.frontend.effect_log import UNDEFINED
from mindgrad.frontend.owned_objects import (
    innermost_owned,
    is_in_body,
    is_of_program,
    is_own,
    is_tracing,
    open_body,
)

__all__ = [
    "assign_attribute", "dropped", "may_call", "may_change", "note_uncertain", "own",
    "refuse_change", "refuse_names", "tail_calls_are_loops", "tracing", "why_dropped",
    "with_tail_calls_as_loops",
]  # fmt: skip

_MUTATORS = {
    list: {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"},
    dict: {"update", "pop", "popitem", "clear", "setdefault"},
    set: {"add", "update", "remove", "discard", "pop", "clear"},
}


class _Local(threading.local):
    def __init__(self) -> None:
        #: maps the ``id`` of a container to ``(container, groups)``. Each group is a list of containers that
        #: may be the same object, because a tensor selects the container to which a variable refers
        self.uncertain: dict[int, tuple[Any, list[list[Any]]]] = {}
        #: whether a recursive call at the end of a function is compiled as the next iteration of a loop
        self.tail_calls_are_loops = False
        #: maps (file, function, variable) to ``(line, reason)``, for each variable that a branch or loop has
        #: left without a value
        self.dropped: dict[tuple[str, str, str], tuple[int, str]] = {}


_local = _Local()


@contextmanager
def tracing() -> Iterator[None]:
    """A context for the trace of a complete call; it discards all records at its end."""
    _local.dropped.clear()
    try:
        with open_body({}):
            yield
    finally:
        _local.uncertain.clear()
        aliases.forget()


@contextmanager
def with_tail_calls_as_loops() -> Iterator[None]:
    """A context for traces in which recursive tail calls are compiled as loops."""
    _local.tail_calls_are_loops = True
    try:
        yield
    finally:
        _local.tail_calls_are_loops = False


def tail_calls_are_loops() -> bool:
    """Return whether recursive tail calls are compiled as loops."""
    return _local.tail_calls_are_loops


# -- variables -----------------------------------------------------------------------------------


def dropped(name: str, reason: str) -> None:
    """Record why a branch or loop left the variable ``name`` without a value.

    Error messages show the reason.
    """
    frame = user_frame()
    key = (frame.f_code.co_filename, frame.f_code.co_name, name)
    _local.dropped[key] = (frame.f_lineno, reason)


def why_dropped(code: Any, name: str) -> tuple[int, str] | None:
    """Return the line of a branch or loop that left ``name`` without a value, and why.

    The result is ``None`` if no branch or loop of the function with the code ``code`` has done so.
    """
    return _local.dropped.get((code.co_filename, code.co_name, name))


# -- objects -------------------------------------------------------------------------------------


def own(values: Any) -> None:
    """Record that the traced code created all containers in ``values``."""
    containers(values, innermost_owned())


def assign_attribute(owner: Any, name: str, value: Any) -> None:
    """Assign ``owner.name`` in the trace, and in each run of the compiled function.

    ``UNDEFINED`` deletes the attribute.

    Raises:
        CompileError: If the compiled function cannot assign the attribute.
    """
    location = effect_log.Attribute(owner, name)
    if not location.may_exist():
        location.store(value)  # this raises Python's error for a missing attribute
        return
    if value is location.own() and hasattr(value, "parameters_and_names"):
        return
    kind: Any = type(owner)
    if is_record(kind) and not is_of_program(owner):
        refuse(
            f"The attribute '{name}' of the dataclass {kind.__name__} is assigned. A compiled function "
            "gets copies of dataclasses, so the caller would not see the new value",
            f"Return a new object, dataclasses.replace(…, {name}=…), or use a class that is not a dataclass.",
        )
    if effect_log.watch() is None or not effect_log.may_assign(owner, name):
        how = "deleted" if value is UNDEFINED else "assigned"
        refuse_change(f"The attribute '{name}' of {kind.__name__} is {how}")
    for content in (value, location.own()):
        _check_kept(content, location.label, hasattr(owner, "parameters_and_names"))
    record = state.noted()
    if record is not None and hasattr(owner, "parameters_and_names") and record.was_read(owner, name):
        effect_log.note_read(location)  # unconverted code may have read the attribute
    effect_log.assign(location, value)


def _check_kept(value: Any, label: str, is_of_cell: bool) -> None:
    """Raise ``CompileError`` if a compiled function cannot store ``value``.

    It cannot store an object of a user's class that the trace has created, because later runs do not create
    it.

    Args:
        value: the value to store.
        label: description of the attribute, for messages.
        is_of_cell: whether the attribute belongs to a Cell. If so, ``value`` must not contain a Cell or
            Parameter.
    """
    for leaf in flatten(value)[0]:
        if is_of_cell and (hasattr(leaf, "parameters_and_names") or getattr(leaf, "is_parameter", False)):
            refuse(
                f"{label} is assigned inside a compiled function, and its old or new value is a Cell or "
                "a Parameter",
                "Create Cells and Parameters in '__init__'. To change the value of a Parameter, use "
                "ops.assign.",
            )
        plain = isinstance(leaf, (Tensor, *_MUTATORS, type))
        if not plain and is_of_program(leaf):
            refuse(
                f"{label} is assigned an object of type {type(leaf).__name__} that the compiled function "
                "creates. It would be created once, at compile time, and not when the function runs",
                "Store tensors, numbers, or tuples, lists, and dicts of them, or create the object "
                "before the call.",
            )


def may_change(container: Any, how: str) -> None:
    """Raise ``CompileError`` if traced code must not change ``container``.

    Code in a branch or loop on a tensor may change only containers that this branch or iteration has created.
    Other code may change containers that the traced function has created.

    Args:
        container: the container that is about to be changed.
        how: the operation that changes it, for messages.
    """
    if not is_tracing():
        return
    if id(container) in _local.uncertain:
        _check_uncertain(container)
    if not isinstance(container, (list, dict, set)):
        snapshots.refuse_change(container)
        return
    if is_own(container):
        return
    if is_in_body() or state.is_from_outside(container):
        refuse_change(f"A {type(container).__name__} that was created outside is changed ({how})")


def note_uncertain(objects: list[Any]) -> None:
    """Record that the containers in ``objects`` may be the same object.

    An example is ``y = a if condition else b`` with a tensor ``condition``. The first container in
    ``objects`` represents the container that is selected.
    """
    if len(objects) > 1:
        for container in objects:
            _local.uncertain.setdefault(id(container), (container, []))[1].append(objects)


def _check_uncertain(container: Any) -> None:
    """Raise ``CompileError`` if another variable may refer to ``container``, too."""
    groups = _local.uncertain[id(container)][1]
    refuse_names(container, {id(x) for group in groups for x in group if x is not container})


def refuse_names(container: Any, others: set[int]) -> None:
    """Raise ``CompileError`` if a variable of a running function refers to ``others``.

    In this case, a change of ``container`` might have to change another container, too.

    Args:
        container: the container that is about to be changed.
        others: ``id`` of containers that may be the same object as ``container``.
    """
    frame = user_frame()
    while frame is not None:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            in_use: dict[int, Any] = {}
            for value in variables_of(frame).values():
                containers(value, in_use)
            if not others.isdisjoint(in_use):
                kind = type(container).__name__
                refuse(
                    f"This {kind} may be the same object as another {kind} that is in use, and it is "
                    "changed. A branch or loop on a tensor decides which object the name refers to",
                    f"Change a copy, {kind}(…), so that the names refer to different objects.",
                )
        frame = frame.f_back


def may_call(method: Any) -> bool:
    """Return whether ``method`` is a permitted method of a list, dict, or set.

    Raises:
        CompileError: If the method changes a container that traced code must not change.
    """
    owner = getattr(method, "__self__", None)
    mutators = _MUTATORS.get(type(owner))  # type: ignore[call-overload]
    if mutators is None:
        return False
    if method.__name__ in mutators:
        may_change(owner, f".{method.__name__}()")
    return True


def refuse_change(subject: str) -> NoReturn:
    """Raise ``CompileError`` for a change that would happen only at compile time."""
    where = "in a branch or loop on a tensor" if is_in_body() else "in a compiled function"
    refuse(
        f"{subject} {where}. This would happen once, at compile time, and not when the function runs",
        "Return the new value and store it after the call. Or assign a new object to the variable or "
        "attribute (self.last = [x, y]), or run in PYNATIVE_MODE.",
    )
