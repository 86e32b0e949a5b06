"""Keep the identity of lists and dicts in variables of a branch or loop.

    p = [x]; q = p                       Both variables hold one list.
    if c: p[0] = 2 * p[0]; y = q[0]      In the branch, y is the value that was assigned through p.
    q[0]                                 After the branch, q[0] has the joined value of p[0].

To keep ``p`` and ``q`` the same list, the body works on the containers themselves, and not on copies. Their
items are restored at the end of its trace (:class:`Contents`).

After the branch or loop, the values of each variable are joined (:class:`Joining`). If all branches leave the
same container in a variable, this container receives the joined items. Otherwise, the variable holds a new
container, which represents one of the containers that the branches left. Then changing one of them raises
``CompileError`` if a variable holds another (``mutation_policy.may_change``).

For a loop, the "branches" are the state before the loop and the state after an iteration.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence, Set
from typing import Any

from mindgrad.frontend import mutation_policy, state
from mindgrad.frontend.control.variables import GrowingList

__all__ = ["Contents", "Identity", "Joining", "identity_of", "replaced_in"]

#: the containers in a value: ``(list or dict, identities of its items)``. For a tuple, the first item is
#: ``None``. A value without lists and dicts has the identity ``None``
Identity = tuple[Any, tuple["Identity", ...]] | None


def _base(mapping: dict[Any, Any]) -> type[dict[Any, Any]]:
    """Return the class whose methods change a dict and the order of its keys."""
    return OrderedDict if isinstance(mapping, OrderedDict) else dict


def _items(value: Any) -> list[Any]:
    return list(_base(value).values(value)) if isinstance(value, dict) else list(value)


def identity_of(value: Any) -> Identity:
    """Return the identities of the containers in ``value``."""
    if isinstance(value, (list, dict)) and type(value) is not GrowingList:
        return (value, tuple(map(identity_of, _items(value))))
    if isinstance(value, tuple):
        items = tuple(map(identity_of, value))
        return (None, items) if any(items) else None
    return None


def replaced_in(values: Sequence[Any], identities: Sequence[Identity]) -> set[int]:
    """Find the indices of variables that end with another container.

    Args:
        values: values of the variables before a body.
        identities: identities of the values after it.
    """
    pairs = enumerate(zip(values, identities, strict=True))
    return {k for k, (value, after) in pairs if not _are_same(identity_of(value), after)}


def _are_same(a: Identity, b: Identity) -> bool:
    if a is None or b is None:
        return a is b
    return a[0] is b[0] and len(a[1]) == len(b[1]) and all(map(_are_same, a[1], b[1]))


def _put(container: Any, content: Any) -> None:
    """Replace the items of a list or dict by the items of ``content``."""
    if isinstance(container, list):
        list.__setitem__(container, slice(None), list(content))
    else:
        base, held = _base(container), dict(content)
        base.clear(container)
        for key, item in held.items():
            base.__setitem__(container, key, item)


class Contents:
    """The items of the containers that variables hold at the start of a body.

    Args:
        values: values of the variables.
        copied: indices of variables that may hold another container in each iteration, so that the body works
            on copies.

    Attributes:
        copies_from_outside: copies of containers that the function did not create. No body may change them.
    """

    __slots__ = ("_copied", "_given", "_saved", "copies_from_outside")

    def __init__(self, values: Sequence[Any], copied: Set[int] = frozenset()) -> None:
        self._saved: dict[int, tuple[Any, Any]] = {}
        #: type of a triple: container in the loop body, container that it represents, items at the start of
        #: the body
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
        """Return the containers on which the body works directly."""
        return [container for container, _ in self._saved.values()]

    def all_given(self, values: Sequence[Any], fresh: Sequence[Any]) -> tuple[Any, ...]:
        """Put the items of ``fresh`` into the containers of ``values``, for the body.

        Variables in ``copied`` keep the new containers of ``fresh``.
        """
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
        """Put the items of ``fresh`` into the containers of ``before``, and return these."""
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
        """List the containers whose items the body changed."""
        return [x for y, x, items in self._given if list(map(id, _items(y))) != list(map(id, items))]

    def restore(self) -> None:
        for container, content in self._saved.values():
            _put(container, content)


def _tuple(like: tuple, items: Sequence[Any]) -> tuple:
    return tuple.__new__(type(like), items)


class Joining:
    """Joins the values of a variable into a container that all branches leave in it."""

    __slots__ = ("_placed",)

    def __init__(self) -> None:
        self._placed: set[int] = set()

    def joined(self, value: Any, ways: Sequence[Identity]) -> Any:
        """Put ``value`` into the container that all branches leave in its place, if any.

        Args:
            value: a new value with the joined items.
            ways: the identity of the value that each branch leaves.

        Returns:
            The value, in this container if there is one.
        """
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
        """Check that no other variable holds a container that a body changed and replaced.

        Raises:
            CompileError: If a variable does.
        """
        for container in changed:
            if id(container) not in self._placed:
                mutation_policy.refuse_names(container, {id(container)})


def _item(way: Identity, k: int) -> Identity:
    return way[1][k] if way is not None and k < len(way[1]) else None
