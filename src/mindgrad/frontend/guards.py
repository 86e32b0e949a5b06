"""Guards: compare the Python state that a trace has read with the present state.

A compiled function is valid only for the Python state that its trace has read. Each read is recorded as an
*entry* (``guard_reads``). Before each call, :meth:`Dependencies.hold` reads the state of all entries again.
If one value differs, the function is traced again.

The page "Graph mode" documents the rules for users:

    Cells       Guards compare every attribute that the trace read: attributes of the Cell and of its class,
                methods, items of a container of Cells, Parameters, and hooks.
    variables   Guards compare globals, closure variables, defaults, and attributes of objects and of the
                user's modules by identity. If they are not identical, guards compare them as constants
                (:func:`~mindgrad.frontend.signature.same`).
    contents    Guards compare lists, dicts, sets, and other containers of Python by their items, and NumPy
                arrays and tensors of at most 256 KiB by their elements.
    the rest    Larger arrays, the internals of libraries, and files are constants of the compiled function.
                Arrays of at most 16 MiB and functions of libraries are checked again after 1, 2, 4, 8, …
                calls. If one has changed, mindgrad warns.

An entry is a list ``[read, holder, name, value, label, advice]``. ``value`` is the result of ``read(holder,
name, MISSING)`` during the trace. ``label`` and ``advice`` are for messages. Entries with the same function
``read`` form a *pass*: built-in functions read and compare all of them without a Python loop.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from operator import is_
from typing import Any

from mindgrad.core.base.location import FrozenValueWarning, warn_user
from mindgrad.frontend.cell_guards import MISSING
from mindgrad.frontend.changes import Change, Clock, change, clock
from mindgrad.frontend.contents import CHECKSUM, CLASS_NAMES, DICT, NAMES, Kind
from mindgrad.frontend.effect_log import Attribute, Global, Place, Variable, may_assign
from mindgrad.frontend.guard_reads import (
    MAKE_ONCE,
    OF_FUNCTIONS,
    Reads,
    content,
    is_traced_value,
    read_entry,
    stands,
    static,
)
from mindgrad.frontend.signature import alike

__all__ = ["MAKE_ONCE", "MISSING", "Change", "Clock", "Dependencies", "change", "clock"]

#: maximum size in bytes of an array that is compared with its value during compilation, after 1, 2, 4, 8, …
#: calls. If its elements have changed, mindgrad warns
_LOOKED_AT = 1 << 24


class _Pass:
    """Entries with the same function ``read``, compared without a Python loop.

    ``read`` is a built-in function. If an object is not identical to the recorded object, their values are
    compared.
    """

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
        # ``stands`` has stored the present objects in the entries, so that the next comparison by identity
        # succeeds
        self._values = [entry[3] for entry in self._entries]
        return True


class _Inventory:
    """Entries of dicts with string keys, such as the Parameters of a Cell.

    All these dicts are compared together, without a Python loop.
    """

    __slots__ = ("_dicts", "_empty", "_entries", "_keys", "_values")

    def __init__(self, entries: list[list[Any]]) -> None:
        self._entries = entries
        self._empty = [entry[1] for entry in entries if not entry[3]]
        entries = [entry for entry in entries if entry[3]]
        self._dicts = [entry[1] for entry in entries]
        held = [(entry[3], len(entry[3]) // 2) for entry in entries]  # names, followed by their values
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


class _AttributeNames:
    """Entries that contain the names of all attributes of a Cell or class."""

    __slots__ = ("_entries", "_mappings", "_names")

    def __init__(self, entries: list[list[Any]]) -> None:
        self._entries = entries
        self._mappings = [vars(entry[1]) for entry in entries]
        self._names: list[tuple[str, ...]] = []  # empty before the first comparison

    def hold(self) -> bool:
        names = [*map(tuple, self._mappings)]
        if names == self._names:
            return True
        if not all(map(stands, self._entries)):
            return False
        self._names = names
        return True


def _is_inventory(entry: list[Any]) -> bool:
    return entry[0] is DICT and type(entry[1]) is dict and all(type(key) is str for key in entry[1])


class Dependencies(Reads):
    """The guards of one compiled function: the Python state that its trace has read.

    :meth:`hold` compares the recorded state with the present state.
    """

    __slots__ = (
        "_calls", "_cells", "_contents", "_frozen", "_names", "_passes", "_ticks", "_typed",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._ticks = -1
        #: the Parameters of the graph, with their types during the trace
        self._typed: list[tuple[Any, Any]] = []
        # entries that compare attributes and global variables (``_names``), closure variables (``_cells``),
        # and contents, such as list items (``_contents``)
        self._names: list[list[Any]] = []
        self._cells: list[list[Any]] = []
        self._contents: list[list[Any]] = []
        self._passes: list[Any] | None = None
        #: entries of library functions and large arrays. If the value of one has changed, mindgrad warns, but
        #: does not compile again
        self._frozen: list[list[Any]] = []
        self._calls = 0

    def close(self, parameters: list[Any]) -> None:
        """At the end of a trace, select the entries that guards compare.

        Entries of state that the traced function itself has changed are dropped.

        Args:
            parameters: Parameters that the compiled function reads or writes.
        """
        self._typed = [(p, p.type) for p in parameters]
        for key, entry in self._entries.items():
            # the trace itself has changed this state by computing a cached property or assigning a class
            # attribute, so record the new value
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
        """Group the entries by their function ``read``, for a fast comparison.

        Returns:
            For each group, a function that returns whether all its values are unchanged.
        """
        inventory = [entry for entry in self._contents if _is_inventory(entry)]
        attributes = [entry for entry in self._contents if entry[0] in (NAMES, CLASS_NAMES)]
        others = [e for e in self._contents if not (_is_inventory(e) or e[0] in (NAMES, CLASS_NAMES))]
        named: dict[Any, list[list[Any]]] = {getattr: [], dict.get: [], static: [], content: []}
        complete = {id(vars(entry[1])) for entry in attributes if entry[0] is NAMES}
        for entry in [*self._names, *self._bound_cells()]:
            # the comparison of all names also detects a missing attribute
            if entry[3] is not MISSING or entry[0] is not dict.get or id(entry[1]) not in complete:
                named.get(entry[0], others).append(entry)
        passes: list[Any] = [_Inventory(inventory).hold] if inventory else []
        if attributes:
            passes.append(_AttributeNames(attributes).hold)
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
        """Return the entries of closure variables.

        Entries in which :meth:`detached` has replaced the closure cell by an index are omitted.
        """
        return [entry for entry in self._cells if type(entry[1]) is not int]

    def hold(self) -> bool:
        """Return whether all Python state that the trace has read is unchanged."""
        ticks = clock.ticks
        if ticks != self._ticks:
            if not all(p.type is type_ for p, type_ in self._typed):
                return False
            self._ticks = ticks
        try:
            for each in self._passes if self._passes is not None else self._prepared():
                if not each():
                    return False
        except Exception:  # for example, a deleted variable, or a user's ``__getattr__`` that raises an error
            return False
        if self._frozen:
            self._calls += 1
            if not self._calls & (self._calls - 1):
                self._warn_of_constants()
        return True

    def _warn_of_constants(self) -> None:
        """Warn once about each library function or large array that has changed."""
        for entry in self._frozen:
            is_large = entry[0] is CHECKSUM and entry[1].nbytes > _LOOKED_AT  # too slow to compare
            if not is_large and not stands(entry):
                warn_user(
                    f"{entry[4]} has changed since the function was compiled. The compiled function still "
                    f"uses the old value, because it is a constant. {entry[5]}",
                    FrozenValueWarning,
                )
                self._frozen = [each for each in self._frozen if each is not entry]

    def changes(self) -> Iterator[Change]:
        """Describe each difference between the recorded and the present Python state."""
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
        """List attributes and variables whose tensors or floats have new values.

        Types and all other contents of the listed values are unchanged. The next trace can make the tensors
        and floats inputs of the graph. Then new values do not require a new compilation.
        """
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
        """Copy the guards, and replace the traced function's closure cells by indices.

        The copy does not keep the traced function alive. :meth:`attached` adapts the copy to another function
        with the same code, such as a lambda that is created before each call.

        Args:
            cells: closure cells of the traced function.
            walked: ``id`` of the traced function and of the functions inside it. The copy omits the entries
                of their code and defaults, because the lookup of the compiled function compares these.
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
        """Adapt a copy from :meth:`detached` to a function with the same code.

        Args:
            cells: closure cells of this function, which replace the indices.
            functions: this function and the user's functions inside it. Guards compare their code and
                defaults, too.
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
