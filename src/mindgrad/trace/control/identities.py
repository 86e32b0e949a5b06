"""Lists and dicts of variables stay the same objects while a body is traced, and behind the construct.

    p = [x]; q = p                       one list with two names
    if c: p[0] = 2 * p[0]; y = q[0]      y is what was assigned
    q[0]                                 so is this

The body works on the containers themselves, whose items are put back when it has been traced. Behind the
construct a container that every way leaves in its place holds the joined items. Where the ways leave
different ones the variable gets a container of its own, which may or may not be another name of those:
changing one of them is refused as long as variables hold the others (``mutation_policy.may_change``).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence, Set
from typing import Any

from mindgrad.trace import mutation_policy, state
from mindgrad.trace.control.variables import GrowingList

__all__ = ["Contents", "Identity", "Joining", "identity_of", "replaced_in"]

#: of a list or dict the object, of each of these and of a tuple the identities of the items; else ``None``
Identity = tuple[Any, tuple["Identity", ...]] | None


def _base(mapping: dict[Any, Any]) -> type[dict[Any, Any]]:
    """The class whose methods change a dict: an OrderedDict has its order beside the dict that it is."""
    return OrderedDict if isinstance(mapping, OrderedDict) else dict


def _items(value: Any) -> list[Any]:
    return list(_base(value).values(value)) if isinstance(value, dict) else list(value)


def identity_of(value: Any) -> Identity:
    """The containers inside of ``value``."""
    if isinstance(value, (list, dict)) and type(value) is not GrowingList:
        return (value, tuple(map(identity_of, _items(value))))
    if isinstance(value, tuple):
        items = tuple(map(identity_of, value))
        return (None, items) if any(items) else None
    return None


def replaced_in(values: Sequence[Any], identities: Sequence[Identity]) -> set[int]:
    """The numbers of the variables that end with other containers than those of ``values``."""
    pairs = enumerate(zip(values, identities, strict=True))
    return {k for k, (value, after) in pairs if not _are_same(identity_of(value), after)}


def _are_same(a: Identity, b: Identity) -> bool:
    if a is None or b is None:
        return a is b
    return a[0] is b[0] and len(a[1]) == len(b[1]) and all(map(_are_same, a[1], b[1]))


def _put(container: Any, content: Any) -> None:
    """Let a list or dict hold what ``content`` holds."""
    if isinstance(container, list):
        list.__setitem__(container, slice(None), list(content))
    else:
        base, held = _base(container), dict(content)
        base.clear(container)
        for key, item in held.items():
            base.__setitem__(container, key, item)


class Contents:
    """The items of the containers that variables hold when a body begins.

    Args:
        values: of the variables.
        copied: the numbers of the variables that may hold other containers when a trip begins, so that the
            body works on copies.

    Attributes:
        copies_from_outside: what stands for containers that the program has not made: no body may change it.
    """

    __slots__ = ("_copied", "_given", "_saved", "copies_from_outside")

    def __init__(self, values: Sequence[Any], copied: Set[int] = frozenset()) -> None:
        self._saved: dict[int, tuple[Any, Any]] = {}
        #: a container, that for which it stands, and its first items
        self._given: list[tuple[Any, Any, list[Any]]] = []
        self._copied = copied
        self.copies_from_outside: list[Any] = []
        for k, value in enumerate(values):
            if k not in copied:
                self._save(value)

    def _save(self, value: Any) -> None:
        if isinstance(value, (list, dict)) and type(value) is not GrowingList:
            if id(value) in self._saved or state.is_from_outside(value):
                return
            self._saved[id(value)] = (value, dict(value) if isinstance(value, dict) else list(value))
            for item in _items(value):
                self._save(item)
        elif isinstance(value, tuple):
            for item in value:
                self._save(item)

    def containers(self) -> list[Any]:
        """The containers themselves."""
        return [container for container, _ in self._saved.values()]

    def all_given(self, values: Sequence[Any], fresh: Sequence[Any]) -> tuple[Any, ...]:
        """The values of the variables, which hold ``values``, in the body: those of ``fresh``."""
        for k in self._copied:
            self._note_copies(values[k], fresh[k])
        return tuple(
            [
                y if k in self._copied else self.given(x, y)
                for k, (x, y) in enumerate(zip(values, fresh, strict=True))
            ]
        )

    def _note_copies(self, before: Any, copy: Any) -> None:
        if not isinstance(before, (list, dict, tuple)) or type(before) is not type(copy):
            return
        if not isinstance(before, tuple):
            self._given.append((copy, before, _items(copy)))
            self._note_from_outside(before, copy)
        for x, y in zip(_items(before), _items(copy), strict=False):
            self._note_copies(x, y)

    def _note_from_outside(self, before: Any, copy: Any) -> None:
        if isinstance(before, (list, dict)) and state.is_from_outside(before):
            self.copies_from_outside.append(copy)

    def given(self, before: Any, fresh: Any) -> Any:
        """``fresh``, with the containers of ``before``, which hold its items."""
        saved = self._saved.get(id(before))
        is_tuple = isinstance(before, tuple)
        if (saved is None and not is_tuple) or type(before) is not type(fresh):
            self._note_from_outside(before, fresh)
            return fresh
        content = saved[1] if saved is not None else before
        if len(content) != len(fresh):
            return fresh
        if isinstance(before, dict):
            _put(before, {key: self.given(content.get(key), x) for key, x in fresh.items()})
            self._given.append((before, before, _items(before)))
            return before
        items = [self.given(x, y) for x, y in zip(content, fresh, strict=True)]
        if is_tuple:
            return fresh if all(x is y for x, y in zip(items, fresh, strict=True)) else _tuple(fresh, items)
        _put(before, items)
        self._given.append((before, before, items))
        return before

    def changed(self) -> list[Any]:
        """The containers that do not hold any more what they were given."""
        return [x for y, x, items in self._given if list(map(id, _items(y))) != list(map(id, items))]

    def restore(self) -> None:
        """Put the items back."""
        for container, content in self._saved.values():
            _put(container, content)


def _tuple(like: tuple, items: Sequence[Any]) -> tuple:
    return tuple.__new__(type(like), items)


class Joining:
    """The values of variables behind a construct are put into the containers that all ways leave there."""

    __slots__ = ("_placed",)

    def __init__(self) -> None:
        self._placed: set[int] = set()

    def joined(self, value: Any, ways: Sequence[Identity]) -> Any:
        """``value``, a new one, or the container that all of ``ways`` have in its place, with its items."""
        if isinstance(value, (list, dict)):
            items = [self.joined(x, [_item(way, k) for way in ways]) for k, x in enumerate(_items(value))]
            _put(value, dict(zip(value, items, strict=True)) if isinstance(value, dict) else items)
            objects = [way[0] for way in ways if way is not None and way[0] is not None]
            same = len(objects) == len(ways) and all(x is objects[0] for x in objects)
            if same and type(objects[0]) is type(value):
                _put(objects[0], value)
                self._placed.add(id(objects[0]))
                return objects[0]
            mutation_policy.note_uncertain([value, *objects])
            return value
        if isinstance(value, tuple):
            items = [self.joined(x, [_item(way, k) for way in ways]) for k, x in enumerate(value)]
            return value if all(x is y for x, y in zip(items, value, strict=True)) else _tuple(value, items)
        return value

    def check(self, changed: Sequence[Any]) -> None:
        """Refuse that a body changed a container, and put another in its place, if other names hold it."""
        for container in changed:
            if id(container) not in self._placed:
                mutation_policy.refuse_names(container, {id(container)})


def _item(way: Identity, k: int) -> Identity:
    return way[1][k] if way is not None and k < len(way[1]) else None
