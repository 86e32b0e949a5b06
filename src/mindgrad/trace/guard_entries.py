"""Entries of guards: one read of Python state each, with the value that the trace got.

    [read, holder, name, value, label, advice]      read(holder, name, MISSING) is the question

A closed set of guards asks all entries of one kind in one pass that runs no Python code.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from operator import attrgetter, is_
from typing import Any

from mindgrad.trace.cell_guards import MISSING, UNREAD
from mindgrad.trace.signature import same
from mindgrad.trace.state_equality import (
    CONTAINERS,
    array_of_tensor,
    attributes,
    checksum,
    elements_of_array,
    items,
    keyword_defaults,
    same_elements,
    same_items,
    static,
)

__all__ = [
    "CHANGING", "CONTENTS", "attribute_names", "attributes_of", "is_inventory", "is_large", "items_of",
    "kind_of", "passes", "read_entry", "stands",
]  # fmt: skip


#: bytes of an array up to which its elements are looked at again though they are a constant of the program
_LOOKED_AT = 1 << 24


def stands(entry: list[Any]) -> bool:
    """The slow question, for a value that is not the very same object."""
    read, holder, name, value, _, _ = entry
    now = read_entry(read, holder, name)
    if now is value:
        return True
    if read is items or read is attributes or read is keyword_defaults:
        return same_items(now, value)
    if read is elements_of_array or read is checksum or read is attribute_names:
        return now == value
    if read is array_of_tensor:
        if not same_elements(holder, value):
            return False
    elif not same(value, now) or isinstance(value, CONTAINERS):
        return False
    entry[3] = now  # the next question is quick again
    return True


class Pass:
    """Entries of one kind of read, which are asked in one pass."""

    __slots__ = ("_ask", "_values", "entries")

    def __init__(
        self, entries: list[list[Any]], ask: Callable[[list[list[Any]]], Callable[[], Iterator]]
    ) -> None:
        self.entries = entries
        self._ask = ask(entries)
        self._values = [entry[3] for entry in entries]

    def hold(self) -> bool:
        if all(map(is_, self._ask(), self._values)):
            return True
        if not all(map(stands, self.entries)):
            return False
        self._values = [entry[3] for entry in self.entries]  # the next question is quick again
        return True


def _reader(read: Callable[..., Any]) -> Callable[[list[list[Any]]], Callable[[], Iterator]]:
    """Asks ``read(holder, name, MISSING)`` of every entry."""

    def prepared(entries: list[list[Any]]) -> Callable[[], Iterator]:
        holders, names = [_holder(entry) for entry in entries], [entry[2] for entry in entries]
        return lambda: map(read, holders, names, repeat(MISSING))

    return prepared


def _kinds(entries: list[list[Any]]) -> Callable[[], Iterator]:
    holders = [entry[1] for entry in entries]
    return lambda: map(type, holders)


def kind_of(holder: Any, _: str, __: Any) -> Any:
    return type(holder)


def attributes_of(holder: Any, _: str, __: Any) -> Any:
    return vars(holder)


def _namespaces(entries: list[list[Any]]) -> Callable[[], Iterator]:
    holders = [entry[1] for entry in entries]
    return lambda: map(vars, holders)


def _holder(entry: list[Any]) -> Any:
    return vars(entry[1]) if entry[0] is static else entry[1]


def _of_cells(entries: list[list[Any]]) -> Callable[[], Iterator]:
    cells = [entry[1] for entry in entries]
    content = attrgetter("cell_contents")
    return lambda: map(content, cells)


class Inventory:
    """Dictionaries with names as keys: those of Cells that hold their Parameters, Cells and hooks."""

    __slots__ = ("_dicts", "_empty", "_keys", "_values", "entries")

    def __init__(self, entries: list[list[Any]]) -> None:
        self.entries = entries
        self._empty = [entry[1] for entry in entries if not entry[3]]
        entries = [entry for entry in entries if entry[3]]
        self._dicts = [entry[1] for entry in entries]
        held = [(entry[3], len(entry[3]) // 2) for entry in entries]  # names, then values
        self._keys = [each[:count] for each, count in held]
        self._values = [value for each, count in held for value in each[count:]]

    def hold(self) -> bool:
        if any(self._empty):
            return False
        if [*map(tuple, self._dicts)] == self._keys and all(
            map(is_, chain.from_iterable(map(dict.values, self._dicts)), self._values)
        ):
            return True
        return all(map(stands, self.entries))


class _Slow:
    """Entries that are asked one by one."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[list[Any]]) -> None:
        self.entries = entries

    def hold(self) -> bool:
        return all(map(stands, self.entries))


def passes(
    names: list[list[Any]], cells: list[list[Any]], inventory: list[list[Any]], contents: list[list[Any]]
) -> list[Any]:
    """The entries in passes, each of one kind of read."""
    by_read: dict[Any, list[list[Any]]] = {
        getattr: [],
        dict.get: [],
        static: [],
        kind_of: [],
        attributes_of: [],
    }
    others = list(contents)
    for entry in names:
        by_read.get(entry[0], others).append(entry)
    every_pass: list[Any] = [
        Pass(by_read[getattr], _reader(getattr)),
        Pass(by_read[dict.get], _reader(dict.get)),
        Pass(by_read[static], _reader(types.MappingProxyType.get)),
        Pass(by_read[kind_of], _kinds),
        Pass(by_read[attributes_of], _namespaces),
        Pass([e for e in cells if type(e[1]) is not int], _of_cells),
        Inventory(inventory),
        _Slow(others),
    ]
    return [one for one in every_pass if one.entries]


def items_of(container: Any) -> Any:
    return items(container, "", None)


def attribute_names(cell: Any, _: str, __: Any) -> Any:
    return {*vars(cell)} - UNREAD


#: reads of the contents of an object, which is the holder itself
CONTENTS = (
    items,
    elements_of_array,
    checksum,
    array_of_tensor,
    attributes,
    attribute_names,
    keyword_defaults,
)


#: … and of those that may be changed by functions that are not converted
CHANGING = (items, elements_of_array, checksum, getattr, dict.get)


def is_inventory(entry: list[Any]) -> bool:
    return entry[0] is items and type(entry[1]) is dict and all(type(key) is str for key in entry[1])


def is_large(entry: list[Any]) -> bool:
    """Whether to look at a constant again takes longer than a few milliseconds."""
    return entry[0] is checksum and entry[1].nbytes > _LOOKED_AT


def read_entry(read: Callable[..., Any] | None, holder: Any, name: str) -> Any:
    if read is not None:
        return read(holder, name, MISSING)
    try:
        return holder.cell_contents
    except ValueError:
        return MISSING
