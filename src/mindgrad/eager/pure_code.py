"""Purity of a function's source: a walk through its syntax tree looks up every name in its live objects.

The walk judges the statements; the analysis (``purity``) judges the objects that the names refer to.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from mindgrad.eager.pure_names import COMPUTING, CONTAINERS, MUTATING, PLAIN, READING, of_tensors
from mindgrad.ir.tensor import Tensor
from mindgrad.trace.guards import global_names
from mindgrad.trace.python.source import NoSource, find_source
from mindgrad.trace.reach import is_cell

__all__ = ["COMPUTED", "Body", "Impure"]


class Analysis(Protocol):
    """The judge of the objects that a function uses."""

    attributes: set[str]
    mutation: str

    def admit(self, value: Any, name: str, is_named: bool = True) -> None:
        """Check an object that is used under ``name``."""

    def admit_elements(self, container: Any, name: str) -> None:
        """Check the elements of a container that is only read."""

    def of_cell(self, cell: Any, name: str) -> Any:
        """The attribute of a Cell, read without running code of the user's."""


#: a value that the code computes itself
COMPUTED = object()

_trees: weakref.WeakKeyDictionary[types.CodeType, ast.FunctionDef] = weakref.WeakKeyDictionary()


class Impure(Exception):
    """The code is not known to be pure; the message is the reason."""


class Body:
    """The walk through the text of one function of the user's, with the object that it is bound to."""

    def __init__(self, analysis: Analysis, function: types.FunctionType, owner: Any) -> None:
        self.analysis = analysis
        code = function.__code__
        self._tree = _tree_of(function)
        self._globals = function.__globals__
        self._global_names = frozenset(global_names(code))
        free = code.co_freevars
        self._free = dict(zip(free, function.__closure__ or (), strict=True))
        self._assigned = {
            node.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        self._bound = self._assigned | {
            node.arg for node in ast.walk(self._tree) if isinstance(node, ast.arg)
        }
        #: the first argument, if it stands for an object throughout
        self._self = ""
        if owner is not COMPUTED and code.co_argcount and code.co_varnames[0] not in self._assigned:
            self._self = code.co_varnames[0]
        self._owner = owner

    def walk(self) -> None:
        """Check every statement.

        Raises:
            Impure: the function is not known to be pure.
        """
        for name in self._assigned & self._free.keys():
            raise Impure(f"it assigns '{name}', a variable of the function around it")
        self._check_all(self._tree.args.defaults + [x for x in self._tree.args.kw_defaults if x])
        self._check_all(self._tree.body)

    def _check_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self._check(node)

    def _check(self, node: ast.AST) -> None:
        if isinstance(node, ast.Raise):  # which ends the compilation, if it is reached
            return
        if isinstance(node, ast.Assert):
            self._check(node.test)
            return
        if not isinstance(node, COMPUTING):
            raise Impure(f"it has a '{type(node).__name__.lower()}' at line {getattr(node, 'lineno', '?')}")
        if isinstance(node, (ast.Name, ast.Attribute)):
            self.analysis.admit(self._value(node), _label(node))
            return
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            raise Impure(f"it assigns to an element at line {node.lineno}")
        if isinstance(node, ast.AugAssign):
            self.analysis.mutation = self.analysis.mutation or "+="
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            raise Impure(f"it decorates a function at line {node.lineno}")
        read = self._read_by(node)
        for child in _children(node):
            if child in read:
                self._check_reading(child)
            else:
                self._check(child)

    def _read_by(self, node: ast.AST) -> list[ast.expr]:
        """The parts of a node of which only the elements are used."""
        if isinstance(node, ast.Subscript):
            return [node.value]
        if isinstance(node, (ast.For, ast.comprehension)):
            return [node.iter]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READING:
            return node.args if self._variable(node.func) is getattr(builtins, node.func.id) else []
        return []

    def _check_reading(self, node: ast.AST) -> None:
        if not isinstance(node, (ast.Name, ast.Attribute)):
            self._check(node)
            return
        value, name = self._value(node), _label(node)
        if type(value) in CONTAINERS:
            self.analysis.admit_elements(value, name)
        else:
            self.analysis.admit(value, name)

    def _value(self, node: ast.expr) -> Any:
        """The object that a name or a chain of attributes refers to."""
        if isinstance(node, ast.Name):
            return self._variable(node)
        if not isinstance(node, ast.Attribute):
            self._check(node)
            return COMPUTED
        if not isinstance(node.ctx, ast.Load):
            raise Impure(f"it assigns '.{node.attr}' at line {node.lineno}")
        return self._attribute(self._value(node.value), _label(node.value), node.attr)

    def _variable(self, node: ast.Name) -> Any:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            return COMPUTED
        if name in self._free:
            try:
                return self._free[name].cell_contents
            except ValueError:
                raise Impure(f"'{name}' has no value yet") from None
        if name in self._global_names:
            missing = object()
            value = self._globals.get(name, getattr(builtins, name, missing))
            if value is missing:
                raise Impure(f"'{name}' has no value yet")
            if name in self._bound:  # both, in functions in one another
                self.analysis.admit(value, name)
                return COMPUTED
            return value
        return self._owner if name == self._self else COMPUTED

    def _attribute(self, owner: Any, label: str, name: str) -> Any:
        analysis = self.analysis
        if isinstance(owner, types.ModuleType):
            value = getattr(owner, name, COMPUTED)
            if value is COMPUTED:
                raise Impure(f"{owner.__name__} has no '{name}'")
            return value
        if is_cell(owner.__class__):
            analysis.admit(owner, label)
            return analysis.of_cell(owner, name)
        if isinstance(owner, type) and owner is not type:
            if not is_cell(owner):
                analysis.admit(owner, label)
            member = inspect.getattr_static(owner, name, None)
            if isinstance(member, (*PLAIN, types.FunctionType)):
                return member
            raise Impure(f"it uses '{owner.__name__}.{name}'")
        if owner is not COMPUTED:
            analysis.admit(owner, label)
            if not isinstance(owner, (*PLAIN, *CONTAINERS, tuple, Tensor, np.ndarray)):
                raise Impure(f"it uses '.{name}' of an object of {type(owner).__name__}")
        if name.startswith("__"):
            raise Impure(f"it uses '.{name}'")
        if name in MUTATING and not of_tensors(name):
            analysis.mutation = f".{name}"
        analysis.attributes.add(name)
        return COMPUTED


def _label(node: ast.AST) -> str:
    """A name for the object that an expression refers to."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else "it"


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are run, without annotations."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_comment", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _tree_of(function: types.FunctionType) -> ast.FunctionDef:
    code = function.__code__
    if inspect.CO_GENERATOR & code.co_flags or inspect.CO_COROUTINE & code.co_flags:
        raise Impure("it is a generator")
    tree = _trees.get(code)
    if tree is None:
        try:
            tree = _trees[code] = find_source(function).node
        except NoSource as error:
            raise Impure(str(error)) from None
    return tree
