"""Preserve the identity of lists and dicts in branches and loops.

    p = [x]; q = p                       ``p`` and ``q`` are one list.
    if c: p[0] = 2 * p[0]; y = q[0]      In the branch, ``q[0]`` is the value that was assigned to ``p[0]``.
    q[0]                                 After the branch, ``q[0]`` has the joined value of ``p[0]``.

A *body* is the code of one branch or of one loop iteration. Its trace changes the lists and dicts themselves
instead of copies, so that ``p`` and ``q`` remain one list. After the trace, :class:`Contents` restores their
items.

After both branches, the values of each variable are joined (:class:`Joining`). If a variable refers to the
same container at the end of both branches, this container receives the joined items. Otherwise, the variable
gets a new container, which represents one of two original containers. ``CompileError`` is then raised if code
changes one of these three containers while another one is still in use (``mutation_policy.may_change``). For
a loop, the value before the loop and the value after an iteration are joined in the same way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence, Set
from typing import Any

from mindgrad.frontend import mutation_policy, state
from mindgrad.frontend.control.variables import GrowingList

__all__ = ["Contents", "Identity", "Joining", "identity_of", "replaced_in"]

#: the lists and dicts inside a value: ``(list or dict, identities of its items)``. For a tuple, the first
#: entry is ``None``. The identity of a value without lists and dicts is ``None``
Identity = tuple[Any, tuple["Identity", ...]] | None


def _base(mapping: dict[Any, Any]) -> type[dict[Any, Any]]:
    """Return ``OrderedDict`` or ``dict``, to call methods that no subclass overrides."""
    return OrderedDict if isinstance(mapping, OrderedDict) else dict


def _items(value: Any) -> list[Any]:
    return list(_base(value).values(value)) if isinstance(value, dict) else list(value)


def identity_of(value: Any) -> Identity:
    """Return the :data:`Identity` of ``value``: its list and dict objects, as a tree."""
    if isinstance(value, (list, dict)) and type(value) is not GrowingList:
        return (value, tuple(map(identity_of, _items(value))))
    if isinstance(value, tuple):
        items = tuple(map(identity_of, value))
        return (None, items) if any(items) else None
    return None


def replaced_in(values: Sequence[Any], identities: Sequence[Identity]) -> set[int]:
    """Find the variables that refer to a different list or dict after an iteration.

    Args:
        values: values of the variables before the iteration.
        identities: results of :func:`identity_of` for the values after the iteration.

    Returns:
        Indices of the variables found.
    """
    pairs = enumerate(zip(values, identities, strict=True))
    return {k for k, (value, after) in pairs if not _are_same(identity_of(value), after)}


def _are_same(a: Identity, b: Identity) -> bool:
    if a is None or b is None:
        return a is b
    return a[0] is b[0] and len(a[1]) == len(b[1]) and all(map(_are_same, a[1], b[1]))


def _put(container: Any, content: Any) -> None:
    """Replace the items of a list or dict by the items of ``content``, in place."""
    if isinstance(container, list):
        list.__setitem__(container, slice(None), list(content))
    else:
        base, held = _base(container), dict(content)
        base.clear(container)
        for key, item in held.items():
            base.__setitem__(container, key, item)


class Contents:
    """Saves and restores the items of lists and dicts that a body may change.

    Args:
        values: values of the variables before the body.
        copied: indices of variables that may refer to a different container in each iteration. The body
            receives copies of their containers.

    Attributes:
        copies_from_outside: copies of containers that existed before the trace. The body must not change the
            copies.
    """

    __slots__ = ("_copied", "_given", "_saved", "copies_from_outside")

    def __init__(self, values: Sequence[Any], copied: Set[int] = frozenset()) -> None:
        self._saved: dict[int, tuple[Any, Any]] = {}
        #: ``(container that the body receives, original container, items at the start of the body)``
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
        """List the lists and dicts that the body receives as originals instead of copies."""
        return [container for container, _ in self._saved.values()]

    def all_given(self, values: Sequence[Any], fresh: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of the variables at the start of the body.

        Args:
            values: values before the body.
            fresh: the same values in new containers, with symbols as leaves. The items of the new containers
                are put into the original containers. A variable in ``copied`` gets the new containers
                instead.
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
        """Put the items of the containers in ``fresh`` into the containers in ``before``.

        Returns:
            ``before``. If one of its containers must not be changed, or differs in type or size, the
            container from ``fresh`` replaces it.
        """
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
        """List the original containers whose items the body changed."""
        return [x for y, x, items in self._given if list(map(id, _items(y))) != list(map(id, items))]

    def restore(self) -> None:
        for container, content in self._saved.values():
            _put(container, content)


def _tuple(like: tuple, items: Sequence[Any]) -> tuple:
    return tuple.__new__(type(like), items)


class Joining:
    """Puts joined values into the list or dict to which a variable refers."""

    __slots__ = ("_placed",)

    def __init__(self) -> None:
        self._placed: set[int] = set()

    def joined(self, value: Any, ways: Sequence[Identity]) -> Any:
        """Return the joined value of a variable, in its original containers if possible.

        Args:
            value: the joined value, in new containers.
            ways: for each branch, the identity (:func:`identity_of`) of the variable's value at the end of
                the branch. If all branches have the same container, it receives the items of ``value``.
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
        """Raise ``CompileError`` if a variable refers to a container with wrong items.

        The items are wrong if a body has changed the container, but :meth:`joined` has not put joined items
        into it.

        Args:
            changed: containers that a body has changed.
        """
        for container in changed:
            if id(container) not in self._placed:
                mutation_policy.refuse_names(container, {id(container)})


def _item(way: Identity, k: int) -> Identity:
    return way[1][k] if way is not None and k < len(way[1]) else None
