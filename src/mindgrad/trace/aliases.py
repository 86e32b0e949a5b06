"""Alias analysis tracks which variables hold the same tensor object after a branch on a tensor.

    if c: y = z          y is z           ⇔  c
    else: y = w          y is w           ⇔  not c
    y[0] = 1             z = select(c, y, z);  w = select(c, w, y)

After a branch ``y`` is an object of its own, so what is assigned to elements of one name is carried over to
the others, each under the condition that it is the same object. Where that is not known any more (the
condition belonged to a body that has ended), the other name is *stale*: using it is refused.
"""

from __future__ import annotations

import threading
from typing import Any, NoReturn

from mindgrad._base.refusal import refuse
from mindgrad.ir import scope as scopes
from mindgrad.ir.scope import BodyScope, apply, as_it_is, innermost, outermost_program
from mindgrad.ir.tensor import Tensor, make_number
from mindgrad.rows.arithmetic import select
from mindgrad.rows.logic import logical_and, logical_not, logical_or
from mindgrad.rows.structural import broadcast_in_dim

__all__ = [
    "forget", "has_names", "is_same", "is_stale", "make_stale", "note", "note_given", "rebind",
    "refuse_stale",
]  # fmt: skip

#: whether two names are one object, as a Bool tensor and the value of it that says so; ``None``: not known
Condition = tuple[Tensor, bool] | None
_MOST_PATHS = 1000


class _Local(threading.local):
    def __init__(self) -> None:
        #: of a tensor, by ``id``: itself, and the others with the conditions
        self.names: dict[int, tuple[Tensor, list[tuple[Tensor, Condition]]]] = {}
        #: the tensors that stand for variables in the bodies of loops
        self.given: dict[int, Tensor] = {}


_local = _Local()


def forget() -> None:
    """Forget all of a program."""
    _local.names.clear()
    _local.given.clear()


def note(first: Tensor, second: Tensor, condition: Condition) -> None:
    """Note that two tensors of one type are the same object where ``condition`` says so."""
    if first is second or first.type is not second.type:
        return
    for a, b in ((first, second), (second, first)):
        _local.names.setdefault(id(a), (a, []))[1].append((b, condition))


def has_names(tensor: Tensor) -> bool:
    """Whether a tensor may be the same object as another."""
    return id(tensor) in _local.names


def is_stale(tensor: Tensor) -> bool:
    """Whether using a tensor is refused."""
    return type(tensor._scope) is _Stale


def _is_ended(tensor: Tensor) -> bool:
    scope = tensor._scope
    return scope is not None and not scope.level


def _sameness(tensor: Tensor) -> dict[int, tuple[Tensor, Tensor | None]]:
    """The tensors that may be the object ``tensor``, with the conditions; ``None`` where one is not known."""
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
    """Let ``tensor``, and all names that are the same object, stand for ``value`` from here on."""
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
    """``a is b``: known, or a number of the program."""
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
    """Note that a tensor stands for a variable at the beginning of a trip, whatever object that holds."""
    _local.given[id(tensor)] = tensor


def _are_unknown(a: Tensor, b: Tensor) -> bool:
    """Whether ``a`` may be the object ``b`` that was there before the trip."""
    if id(a) not in _local.given or a.type is not b.type:
        return False
    return id(b) in _local.given or b._scope is not a._scope


def _refuse_is() -> NoReturn:
    refuse(
        "'is' compares two tensors, and a loop or a nested branch decides whether they are the same "
        "object. The answer is not known at compile time",
        "Store a number that says which tensor it is, and compare the number.",
    )


# -- stale names ---------------------------------------------------------------------------------


class _Stale:
    """In place of a tensor's scope: whatever is done with the tensor asks for its level."""

    #: no value of a recording: a variable may hold the tensor as long as nothing is done with it
    lifts = False

    @property
    def level(self) -> int:
        refuse_stale()


def refuse_stale() -> NoReturn:
    """Refuse that a stale name is used."""
    refuse(
        "This tensor may be the same object as another tensor whose elements were assigned since. A "
        "loop or a nested branch decides whether it is, so its elements are not known at compile time",
        "Copy the tensor before assigning elements, y = z.copy(), so that the names refer to different "
        "tensors.",
    )


def make_stale(tensor: Tensor) -> None:
    """Let every use of ``tensor`` be refused from here on; in a body, until that ends."""
    if is_stale(tensor):
        return
    scope, program = innermost(), outermost_program()
    if isinstance(scope, BodyScope) and tensor._scope is not scope:
        scope.changed.setdefault(id(tensor), (tensor, as_it_is(tensor)))
    elif program is not None and not tensor.is_traced:
        program.restored.setdefault(id(tensor), (tensor, as_it_is(tensor), None))
    tensor._scope = _Stale()
