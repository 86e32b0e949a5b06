"""Guards record the Python state that a trace read besides its arguments, and check it at the next call.

The rule, which the page "Graph mode" states for users:

    Cells       every attribute that the trace read, in whatever way it changes: of the Cell, of its class, a
                method, an item of a container of Cells, a Parameter, a hook
    variables   globals, closure variables, defaults and attributes of objects and of the user's modules:
                compared by identity, then as constants are (:func:`~mindgrad.trace.signature.same`)
    contents    lists, dicts, sets and other containers of Python by their items; NumPy arrays and tensors of
                at most 256 KiB by their elements
    the rest    is a constant of the program: larger arrays, the insides of libraries, files. Arrays of at
                most 16 MiB and functions of libraries are looked at again after 1, 2, 4, 8, … calls: if one
                has changed, a warning says so

Every read is one entry ``[read, holder, name, value, label, advice]``: ``read(holder, name, MISSING)`` is the
question, ``value`` the answer that the trace got. Before each call of a compiled program all questions are
asked again. Questions of one kind are one pass that runs no Python code.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from operator import is_
from typing import Any

from mindgrad._base.location import FrozenValueWarning, warn_user
from mindgrad.trace.cell_guards import MISSING
from mindgrad.trace.changes import Change, Clock, change, clock
from mindgrad.trace.contents import CHECKSUM, DICT, Kind
from mindgrad.trace.effect_log import Attribute, Global, Place, Variable, may_assign
from mindgrad.trace.guard_reads import (
    MAKE_ONCE,
    OF_FUNCTIONS,
    Reads,
    content,
    is_traced_value,
    read_entry,
    stands,
    static,
)
from mindgrad.trace.signature import alike

__all__ = ["MAKE_ONCE", "MISSING", "Change", "Clock", "Dependencies", "change", "clock"]

#: bytes of an array up to which its elements are looked at again though they are a constant of the program
_LOOKED_AT = 1 << 24


class _Pass:
    """Entries that read names by one built-in function, in one pass."""

    __slots__ = ("_entries", "_holders", "_names", "_read", "_values")

    def __init__(
        self, entries: list[list[Any]], read: Callable[..., Any], holders: list[Any], names: list[str]
    ) -> None:
        self._entries, self._read, self._holders, self._names = entries, read, holders, names
        self._values = [entry[3] for entry in entries]

    def hold(self) -> bool:
        now = map(self._read, self._holders, self._names, repeat(MISSING))
        if all(map(is_, now, self._values)):
            return True
        if not all(map(stands, self._entries)):
            return False
        self._values = [entry[3] for entry in self._entries]  # the next question is quick again
        return True


class _Inventory:
    """Dictionaries with names as keys, such as the Parameters of a Cell."""

    __slots__ = ("_dicts", "_empty", "_entries", "_keys", "_values")

    def __init__(self, entries: list[list[Any]]) -> None:
        self._entries = entries
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
        return all(map(stands, self._entries))


def _is_inventory(entry: list[Any]) -> bool:
    return entry[0] is DICT and type(entry[1]) is dict and all(type(key) is str for key in entry[1])


class Dependencies(Reads):
    """The reads of a trace; :meth:`close` ends it, :meth:`hold` asks whether they still stand."""

    __slots__ = (
        "_calls", "_cells", "_contents", "_frozen", "_names", "_passes", "_ticks", "_typed",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._ticks = -1
        #: (the Parameter, its type)
        self._typed: list[tuple[Any, Any]] = []
        # the entries of closure cells, of contents and of names
        self._names: list[list[Any]] = []
        self._cells: list[list[Any]] = []
        self._contents: list[list[Any]] = []
        self._passes: list[Any] | None = None
        #: entries of constants of the program, and the number of calls
        self._frozen: list[list[Any]] = []
        self._calls = 0

    def close(self, parameters: list[Any]) -> None:
        """End the trace; ``parameters`` are those that the program reads or writes.

        Changes that the traced function has made itself are left out.
        """
        self._typed = [(p, p.type) for p in parameters]
        for key, entry in self._entries.items():
            # the trace has filled a cached property, or an attribute of a class
            if key[0] == "own" or (key[0] == "class" and entry[3] is None):
                entry[3] = read_entry(entry[0], entry[1], entry[2])
        entries = [e for e in self._entries.values() if e and not is_traced_value(e[3])]
        self._frozen = list(self._constants.values())
        for entry in entries:
            if entry[0] is CHECKSUM:
                self._frozen.append(entry)
            elif stands(entry):
                kept = self._cells if entry[0] is content else self._names
                (self._contents if type(entry[0]) is Kind else kept).append(entry)
        self._entries, self._met, self._named, self._constants, self.roots = {}, {}, {}, {}, []

    def _prepared(self) -> list[Any]:
        """The questions of all entries, one function for each way of reading."""
        inventory = [entry for entry in self._contents if _is_inventory(entry)]
        others = [entry for entry in self._contents if not _is_inventory(entry)]
        named: dict[Any, list[list[Any]]] = {getattr: [], dict.get: [], static: [], content: []}
        for entry in [*self._names, *self._bound_cells()]:
            named.get(entry[0], others).append(entry)
        passes: list[Any] = [_Inventory(inventory).hold] if inventory else []
        for read, entries in named.items():
            holders, names = [entry[1] for entry in entries], [entry[2] for entry in entries]
            if read is static:
                read, holders = types.MappingProxyType.get, [*map(vars, holders)]
            elif read is content:
                read, names = getattr, ["cell_contents"] * len(names)
            if entries:
                passes.append(_Pass(entries, read, holders, names).hold)
        if others:
            passes.append(lambda: all(map(stands, others)))
        self._passes = passes
        return passes

    def _bound_cells(self) -> list[list[Any]]:
        """The entries of closure cells; a detached program has none."""
        return [entry for entry in self._cells if type(entry[1]) is not int]

    def hold(self) -> bool:
        """Whether everything still is as it was."""
        ticks = clock.ticks
        if ticks != self._ticks:
            if not all(p.type is type_ for p, type_ in self._typed):
                return False
            self._ticks = ticks
        try:
            for each in self._passes if self._passes is not None else self._prepared():
                if not each():
                    return False
        except Exception:  # a variable that was deleted; a user's ``__getattr__`` that raises
            return False
        if self._frozen:
            self._calls += 1
            if not self._calls & (self._calls - 1):
                self._warn_of_constants()
        return True

    def _warn_of_constants(self) -> None:
        """Warn of constants that are not as they were, once each."""
        for entry in self._frozen:
            is_large = entry[0] is CHECKSUM and entry[1].nbytes > _LOOKED_AT  # longer than a few milliseconds
            if not is_large and not stands(entry):
                warn_user(
                    f"{entry[4]} has changed since the function was compiled. The compiled function still "
                    f"uses the old value, because it is a constant. {entry[5]}",
                    FrozenValueWarning,
                )
                self._frozen = [each for each in self._frozen if each is not entry]

    def changes(self) -> Iterator[Change]:
        """The changes, in words."""
        for parameter, type_ in self._typed:
            if parameter.type is not type_:
                text = f"Parameter '{parameter.name}' changed from {type_} to {parameter.type}"
                advice = "Give the Parameter its final shape and dtype before the first call."
                yield Change(f"Parameter '{parameter.name}'", text, advice)
        for entry in [*self._names, *self._bound_cells(), *self._contents]:
            if not stands(entry):
                read, holder, name, value, label, advice = entry
                if name in OF_FUNCTIONS:
                    yield Change(label, f"{label} was redefined", advice)
                elif type(read) is Kind:
                    yield Change(label, f"the contents of {label} changed", advice)
                else:
                    yield change(label, value, read_entry(read, holder, name), advice)

    def shifting(self) -> list[Place]:
        """The places whose tensors and floats differ from those that were read in value, not in type."""
        locations: list[Place] = []
        cells = {id(vars(cell)): cell for cell in self.owners()}
        for read, holder, name, before, label, _ in self._names:
            if read in (getattr, dict.get) and alike(before, read_entry(read, holder, name)):
                cell = cells.get(id(holder), holder)
                if read is dict.get and cell is holder:
                    locations.append(Global(holder, name, label))
                elif may_assign(cell, name):
                    locations.append(Attribute(cell, name))
        for read, cell, name, before, label, _ in self._bound_cells():
            if alike(before, read_entry(read, cell, name)):
                locations.append(Variable(cell, name, label))
        return locations

    def detached(self, cells: list[Any], walked: set[int]) -> Dependencies:
        """A copy for any function that matches the traced one.

        Args:
            cells: the closure cells of the traced function.
            walked: the functions in it, by ``id``: of one that matches they are the same.
        """
        places = {id(cell): index for index, cell in enumerate(cells)}
        dependencies = self._copy()
        dependencies._names = [
            e for e in dependencies._names if e[2] not in OF_FUNCTIONS or id(e[1]) not in walked
        ]
        for entry in dependencies._cells:
            index = places.get(id(entry[1]))
            if index is not None:
                entry[1], entry[3] = index, None
        return dependencies

    def attached(self, cells: list[Any], functions: Sequence[Any]) -> Dependencies:
        """The dependencies of a program of a function with these closure cells.

        ``functions``: the user's functions in it.
        """
        dependencies = self._copy()
        for entry in dependencies._cells:
            if type(entry[1]) is int:
                entry[1] = cells[entry[1]]
                entry[3] = read_entry(*entry[:3])
        own = Dependencies()
        for function in functions:
            own._of_function(function)
        dependencies._names += [e for e in own._entries.values() if e[2] in OF_FUNCTIONS]
        return dependencies

    def _copy(self) -> Dependencies:
        duplicate = Dependencies()
        duplicate._owners = self._owners
        duplicate._typed = self._typed
        duplicate._frozen = self._frozen
        duplicate._names = [list(entry) for entry in self._names]
        duplicate._contents = [list(entry) for entry in self._contents]
        duplicate._cells = [list(entry) for entry in self._cells]
        return duplicate
