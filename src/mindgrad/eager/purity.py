"""Purity analysis decides whether a call of a user's code can be left out where its result is known.

    pure(f)  ⇒  f(x) leaves nothing behind but its result, and reads nothing that guards do not see

The syntax trees of a function and of all that it calls are walked, with every name looked up in live objects:
modules, closures, Cells and their attributes. Computation is allowed. An assignment to anything but a local
variable, a call of an unknown function, a hook, a property, a context manager or an object of a user's class
makes the code impure, so that it runs at every call.

Cost: one walk for a network, before it is compiled. Limit: code that is called impure may well be pure.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mindgrad._base.tree import flatten
from mindgrad.eager.pure_code import COMPUTED, Body, Impure
from mindgrad.eager.pure_names import (
    BUILTINS,
    COMPUTING_PARTS,
    CONTAINERS,
    EFFECT,
    FEW,
    MATHEMATICS,
    NUMPY,
    OF_CELLS,
    OF_CLASSES,
    OF_EVERY_CELL,
    OF_PLAIN,
    PLAIN,
    of_tensors,
)
from mindgrad.ir.tensor import Tensor
from mindgrad.trace.reach import is_cell
from mindgrad.trace.user_functions import in_package

__all__ = ["impurity", "is_watched"]

_PACKAGE = __name__.partition(".")[0]


def impurity(*roots: Any) -> str:
    """The reason why calls of ``roots`` must run their Python each time; empty if nobody can see it run.

    Args:
        roots: functions, Cells, or functions that this package has made from them.

    >>> import mindgrad as ms
    >>> impurity(lambda x: ms.ops.sin(x) * 2)
    ''
    >>> impurity(lambda x: print(x))
    "it calls 'print'"
    """
    analysis = _Analysis()
    try:
        for root in roots:
            analysis.admit(root, "it")
        analysis.complete()
    except Impure as impure:
        return str(impure)
    except RecursionError:
        return "it is nested too deeply to be analysed"
    return ""


def is_watched() -> bool:
    """Whether a debugger or a tracing tool looks at each line that runs in this thread.

    >>> is_watched()
    False
    """
    if sys.gettrace() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID) is not None


class _Analysis:
    """The walk through all code that a call can reach.

    Attributes:
        cells: the Cells that the code uses.
        attributes: the names of attributes that were read of values that the code computes.
        mutation: how a container may be changed in place; empty if it is not.
        container: the name of a container that is not the code's own; empty if it uses none.
    """

    def __init__(self) -> None:
        self.cells: list[Any] = []
        self.attributes: set[str] = set()
        self.mutation = self.container = ""
        self._seen: set[Any] = set()
        self._alive: list[Any] = []  # keeps checked objects alive, so that their ids stay theirs

    def complete(self) -> None:
        """Follow the attributes of computed values into every Cell, and check what is changed in place.

        Raises:
            Impure: the code is not known to be pure.
        """
        followed: set[tuple[str, int]] = set()
        while True:
            open_ = [(n, c) for n in self.attributes for c in self.cells if (n, id(c)) not in followed]
            if not open_:
                break
            for name, cell in open_:
                followed.add((name, id(cell)))
                if name in vars(cell) or hasattr(type(cell), name):
                    self.admit(self.of_cell(cell, name), name)
        for name in self.attributes - OF_PLAIN:
            if not of_tensors(name) and not any(
                name in vars(cell) or hasattr(type(cell), name) for cell in self.cells
            ):
                raise Impure(f"it uses '.{name}' of something that it computes")
        if self.mutation and self.container:
            raise Impure(f"it uses '{self.mutation}', and the container '{self.container}'")

    # -- objects ---------------------------------------------------------------------------------

    def admit(self, value: Any, name: str, is_named: bool = True) -> None:
        """Check an object that the code uses under ``name``.

        Args:
            value: the object.
            name: what to call it.
            is_named: whether code of the user's names it; if not, code of this package does, whose effects
                are those that a compiled program has too.

        Raises:
            Impure: using it may have effects, or be seen.
        """
        if value is COMPUTED or isinstance(value, PLAIN):
            return
        if (id(value), is_named) in self._seen:
            return
        self._seen.add((id(value), is_named))
        self._alive.append(value)
        if isinstance(value, Tensor):
            if not value.is_parameter and value.size > FEW:
                raise Impure(f"it uses the tensor '{name}', which is no argument")
        elif isinstance(value, np.ndarray):
            if value.size > FEW or value.dtype.hasobject:
                raise Impure(f"it uses the array '{name}', which is no argument")
        elif isinstance(value, tuple):
            self._admit_all(value, name)
        elif type(value) in CONTAINERS:
            self.container = name
            self.admit_elements(value, name)
        elif is_cell(value.__class__):
            self._admit_cell(value)
        elif isinstance(value, types.FunctionType):
            self._admit_function(value, name, COMPUTED, is_named)
        elif isinstance(value, types.MethodType):
            self._admit_method(value, name, is_named)
        elif isinstance(value, functools.partial):
            for part in (value.func, *value.args, *value.keywords.values()):
                if is_named or callable(part):
                    self.admit(part, name, is_named)
        elif isinstance(value, type):
            self._admit_class(value, name, is_named)
        elif isinstance(value, (types.BuiltinFunctionType, np.ufunc)) or _is_of_numpy(value):
            self._admit_builtin(value, name)
        elif _is_own(type(value)):
            self._admit_instance(value, name, is_named)
        else:
            raise Impure(f"it uses '{name}', an object of {type(value).__name__}")

    def admit_elements(self, container: Any, name: str) -> None:
        """Check the elements of a container that is only read."""
        self._admit_all(container.values() if type(container) is dict else container, name)

    def _admit_all(self, values: Iterable[Any], name: str) -> None:
        for value in values:
            self.admit(value, name)

    def _admit_cell(self, cell: Any) -> None:
        self.cells.append(cell)
        if cell._hooks:
            raise Impure(f"{type(cell).__name__} has a hook")
        for kind in type(cell).__mro__:
            if _is_own(kind) or kind is object:
                continue
            for name, member in vars(kind).items():
                is_special = name.startswith("__") and name.endswith("__")
                if (is_special and name not in OF_CLASSES) or name == "bprop":
                    raise Impure(f"{kind.__name__} has a '{name}' of its own")
                if not is_special and inspect.isdatadescriptor(member):
                    raise Impure(f"'{name}' of {kind.__name__} is computed when it is read")
        for inner in vars(cell)["_cells"].values():
            self.admit(inner, type(inner).__name__)
        if _is_own(type(cell)):  # its code is this package's, but for what was handed in
            attributes = [value for key, value in vars(cell).items() if key not in OF_EVERY_CELL]
            for value in flatten(attributes)[0]:
                if callable(value) and not _is_own_method(value):
                    self.admit(value, type(cell).__name__, is_named=False)
        else:
            self.admit(self.of_cell(cell, "construct"), "construct")

    def _admit_method(self, method: Any, name: str, is_named: bool) -> None:
        owner, function = method.__self__, method.__func__
        self.admit(owner, name)
        if not isinstance(function, types.FunctionType):
            raise Impure(f"it calls '{name}'")
        if in_package(function):
            if is_named and is_cell(owner.__class__) and function.__name__ not in OF_CELLS:
                raise Impure(f"it calls '{function.__name__}' of a Cell")
            return
        key = (id(function), id(owner))
        if key not in self._seen:
            self._seen.add(key)
            self._admit_function(function, name, owner, is_named)

    def _admit_class(self, kind: type, name: str, is_named: bool) -> None:
        if _is_own(kind) and not is_named:
            return
        is_plain = kind.__module__ == "builtins" and kind.__name__ in BUILTINS
        is_computing = _is_own(kind) and not EFFECT.search(kind.__name__)
        makes_state = hasattr(kind, "construct") or (
            issubclass(kind, Tensor) and kind.__name__.endswith("Parameter")
        )
        if not (is_plain or kind is object or (is_computing and not makes_state)):
            raise Impure(f"it uses the class '{kind.__name__}'")

    def _admit_builtin(self, function: Any, name: str) -> None:
        module = getattr(function, "__module__", None) or ""
        own = getattr(function, "__name__", name)
        if isinstance(function, np.ufunc) or module in MATHEMATICS:
            return
        if module == "builtins" and getattr(builtins, own, None) is function and own in BUILTINS:
            return
        if module.partition(".")[0] == "numpy" and "random" not in module and own in NUMPY:
            return
        raise Impure(f"it calls '{name}'")

    def _admit_instance(self, value: Any, name: str, is_named: bool) -> None:
        """Check an object of this package, which may have been made from functions of the user's."""
        if is_named and EFFECT.search(type(value).__name__):
            raise Impure(f"it uses '{name}', which is a {type(value).__name__}")
        for part in _parts(value):
            if callable(part):
                self.admit(part, name, is_named=False)

    def _admit_function(self, function: types.FunctionType, name: str, owner: Any, is_named: bool) -> None:
        if in_package(function):
            module = function.__module__.partition(".")[2]
            if is_named and (not module.startswith(COMPUTING_PARTS) or EFFECT.search(function.__name__)):
                raise Impure(f"it calls '{function.__name__}'")
            for value in _contents(function):
                if callable(value):
                    self.admit(value, name, is_named=False)
            return
        self._admit_all([*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()], name)
        Body(self, function, owner).walk()

    def of_cell(self, cell: Any, name: str) -> Any:
        """The attribute of a Cell, read without running code of the user's."""
        attributes = vars(cell)
        if name in attributes:
            return attributes[name]
        member = inspect.getattr_static(type(cell), name, COMPUTED)
        if member is COMPUTED:
            raise Impure(f"it uses '.{name}', which {type(cell).__name__} does not have")
        if isinstance(member, types.FunctionType):
            return types.MethodType(member, cell)
        if isinstance(member, staticmethod):
            return member.__func__
        if isinstance(member, property) and member.fget is not None and in_package(member.fget):
            return COMPUTED
        if inspect.isdatadescriptor(member) or isinstance(member, classmethod):
            raise Impure(f"'{name}' of {type(cell).__name__} is computed when it is read")
        return member


def _contents(function: types.FunctionType) -> Iterator[Any]:
    """The contents of the variables that a function closes over."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def _parts(value: Any) -> Iterator[Any]:
    """The attributes of an object of this package, and what the containers among them hold."""
    names = [name for kind in type(value).__mro__ for name in _slots(kind)]
    slots = [getattr(value, name, None) for name in names if name != "__weakref__"]
    yield from flatten([*slots, *getattr(value, "__dict__", {}).values()])[0]


def _is_own(kind: type) -> bool:
    """Whether a class is of this package."""
    return str(kind.__module__).partition(".")[0] == _PACKAGE


def _is_own_method(value: Any) -> bool:
    return isinstance(value, types.MethodType) and in_package(value.__func__)


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_of_numpy(value: Any) -> bool:
    return callable(value) and str(getattr(value, "__module__", "")).partition(".")[0] == "numpy"
