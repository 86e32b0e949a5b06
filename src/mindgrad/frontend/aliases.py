"""Alias analysis: track variables that may refer to the same tensor object.

    if c: y = z          y is z           ⇔  c
    else: y = w          y is w           ⇔  not c
    y[0] = 1             z = select(c, y, z);  w = select(c, w, y)

In this example, ``c`` is a Bool tensor without a known value. After the branch, ``y`` is a new tensor object
that represents ``z`` or ``w``, its *aliases*. If code assigns elements of ``y``, the trace also assigns them
to ``z`` and ``w``, each under the condition that ``y`` is this object.

The condition is unavailable if it was computed in a loop or nested branch that has ended. Then ``z`` and
``w`` become *stale*: their elements are unknown, and any use of them raises ``CompileError``.
"""

from __future__ import annotations

import threading
from typing import Any, NoReturn

from mindgrad.core.base.refusal import refuse
from mindgrad.core.ir import scope as scopes
from mindgrad.core.ir.scope import BodyScope, apply, as_it_is, innermost, outermost_program
from mindgrad.core.ir.tensor import Tensor, make_number
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.logic import logical_and, logical_not, logical_or
from mindgrad.core.primitives.structural import broadcast_in_dim

__all__ = [
    "forget", "has_names", "is_same", "is_stale", "make_stale", "note", "note_given", "rebind",
    "refuse_stale",
]  # fmt: skip

#: condition under which two tensors are the same object. ``(test, value)`` means that they are the same
#: object exactly if the Bool tensor ``test`` equals the bool ``value``. ``None`` means that the condition is
#: unknown
Condition = tuple[Tensor, bool] | None
#: maximum number of steps in the search for tensors that may be the same object. The number of paths between
#: aliases can grow exponentially
_MOST_PATHS = 1000


class _Local(threading.local):
    def __init__(self) -> None:
        #: maps the ``id`` of a tensor to ``(tensor, aliases)``. ``aliases`` lists pairs of another tensor and
        #: the condition under which both tensors are the same object
        self.names: dict[int, tuple[Tensor, list[tuple[Tensor, Condition]]]] = {}
        #: tensors that represent the values of variables at the start of a loop iteration, by ``id``
        self.given: dict[int, Tensor] = {}


_local = _Local()


def forget() -> None:
    """Discard all records of aliases at the end of a trace."""
    _local.names.clear()
    _local.given.clear()


def note(first: Tensor, second: Tensor, condition: Condition) -> None:
    """Record that two tensors are the same object under ``condition``."""
    if first is second or first.type is not second.type:
        return
    for a, b in ((first, second), (second, first)):
        _local.names.setdefault(id(a), (a, []))[1].append((b, condition))


def has_names(tensor: Tensor) -> bool:
    """Return whether ``tensor`` has aliases, which may be the same object."""
    return id(tensor) in _local.names


def is_stale(tensor: Tensor) -> bool:
    """Return whether ``tensor`` is stale, so that any use of it raises an error."""
    return type(tensor._scope) is _Stale


def _is_ended(tensor: Tensor) -> bool:
    scope = tensor._scope
    return scope is not None and not scope.level


def _sameness(tensor: Tensor) -> dict[int, tuple[Tensor, Tensor | None]]:
    """Find the tensors that may be the same object as ``tensor``.

    Returns:
        A dict that maps the ``id`` of each such tensor to ``(tensor, condition)``. ``condition`` is a Bool
        tensor that is true if they are the same object, or ``None`` if the condition is unknown.
    """
    same: dict[int, tuple[Tensor, Tensor | None]] = {}
    paths: list[tuple[Tensor, Tensor | None, bool, set[int]]] = [(tensor, None, False, {id(tensor)})]
    count = 0
    while paths:
        one, so_far, is_unknown, passed = paths.pop()
        for other, condition in _local.names.get(id(one), (one, ()))[1]:
            count += 1
            if id(other) in passed or count > _MOST_PATHS:
                continue
            unknown = is_unknown or condition is None or _is_ended(condition[0])
            both: Tensor | None = None
            if not unknown:
                both = condition[0] if condition[1] else apply(logical_not, condition[0])  # type: ignore[index]
                both = both if so_far is None else apply(logical_and, so_far, both)
            before = same.get(id(other))
            if before is not None and before[1] is not None and both is not None:
                same[id(other)] = (other, apply(logical_or, before[1], both))
            else:
                same[id(other)] = (other, both)
            paths.append((other, both, unknown, passed | {id(other)}))
    return {key: each for key, each in same.items() if is_stale(each[0]) or not _is_ended(each[0])}


def rebind(tensor: Tensor, value: Tensor) -> None:
    """Assign ``value`` to ``tensor`` and to its aliases.

    An alias under a known condition gets the new value where the condition is true. If it is unknown whether
    some tensor ``t`` is the same object, any later use of ``t`` raises ``CompileError``.
    """
    others = _sameness(tensor) if id(tensor) in _local.names else {}
    scopes.rebind(tensor, value)
    for other, same in others.values():
        if is_stale(other):
            continue
        if same is None:
            make_stale(other)
        else:
            spread = apply(broadcast_in_dim, same, shape=other.shape, dims=())
            scopes.rebind(other, apply(select, spread, as_it_is(value), as_it_is(other)))


def is_same(a: Tensor, b: Tensor) -> Any:
    """Evaluate ``a is b``.

    The result is a bool, or a symbolic number if it depends on the value of a tensor. If it cannot be
    computed, raise ``CompileError``.
    """
    if a is b:
        return True
    if _are_unknown(a, b) or _are_unknown(b, a):
        _refuse_is()
    other = _sameness(a).get(id(b)) if id(a) in _local.names else None
    if other is None:
        return False
    if other[1] is None:
        _refuse_is()
    return make_number(other[1])


def note_given(tensor: Tensor) -> None:
    """Record that ``tensor`` represents a variable at the start of a loop iteration.

    In each iteration, the variable may refer to a different tensor object.
    """
    _local.given[id(tensor)] = tensor


def _are_unknown(a: Tensor, b: Tensor) -> bool:
    """Return whether ``a is b`` is unknown.

    It is unknown if ``a`` represents a variable at the start of a loop iteration, and ``b`` may have existed
    before this iteration.
    """
    if id(a) not in _local.given or a.type is not b.type:
        return False
    return id(b) in _local.given or b._scope is not a._scope


def _refuse_is() -> NoReturn:
    refuse(
        "'is' compares two tensors, and a loop or a nested branch decides whether they are the same "
        "object. The result of 'is' is not known at compile time",
        "Store an integer that identifies the tensor, and compare the integers.",
    )


class _Stale:
    """The scope of stale tensors.

    Each use of a tensor reads the ``level`` of its scope. For a stale tensor, this read raises an error.
    """

    #: whether other scopes can use the values of tensors in this scope: they cannot, because the values are
    #: unknown
    lifts = False

    @property
    def level(self) -> int:
        refuse_stale()


def refuse_stale() -> NoReturn:
    """Raise ``CompileError`` because code uses a tensor whose elements are unknown."""
    refuse(
        "This tensor may be the same object as another tensor whose elements were assigned since. A "
        "loop or a nested branch decides whether they are the same object, so the elements of this "
        "tensor are not known at compile time",
        "Copy the tensor before assigning elements, y = z.copy(), so that the names refer to different "
        "tensors.",
    )


def make_stale(tensor: Tensor) -> None:
    """Mark ``tensor`` as stale, so that any use of it raises ``CompileError``.

    The tensor becomes usable again at the end of the branch, loop body, or function that is being traced.
    """
    if is_stale(tensor):
        return
    scope, program = innermost(), outermost_program()
    if isinstance(scope, BodyScope) and tensor._scope is not scope:
        scope.changed.setdefault(id(tensor), (tensor, as_it_is(tensor)))
    elif program is not None and not tensor.is_traced:
        program.restored.setdefault(id(tensor), (tensor, as_it_is(tensor), None))
    tensor._scope = _Stale()
