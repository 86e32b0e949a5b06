"""Kernels as source text: the kernel of a primitive and its dependencies.

    f  ⟼  text,   exec(text); f'(x) = f(x)

The *kernel* of a primitive is the function that computes it: a function of mindgrad, NumPy, or SciPy, or a
closure over such functions. This module copies the definition of a kernel from its file, so that an emitted
program does not need mindgrad. The free variables of the kernel become constants of the emitted module. The
functions that the kernel calls are defined before it. Each file is parsed only once.

**Limits.** If the kernel or a function that it calls is decorated, ``TypeError`` is raised, unless the
decorator is a cache.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.primitive import Primitive

__all__ = ["Definitions"]

_PACKAGE = __name__.partition(".")[0]
#: conventional short names of modules
_SHORT = {"numpy": "np", "jax.numpy": "jnp"}
#: suffix of the names of functions that ``np.frompyfunc`` has created
_VECTORIZED = " (vectorized)"
#: function names that do not describe the kernel. The name of the operator replaces them
_UNNAMED = ("<lambda>", "run", "kernel", "numpy", "xla", "_numpy", "_xla", "call")
#: types whose ``repr`` is valid Python source
_LITERALS = (bool, int, float, complex, str, bytes, type(None))


class Definitions:
    """The definitions and imports of a module that is being written.

    Attributes:
        imports: import statements, as the keys of a dict, which are unique and ordered.
        texts: maps each defined name to its source text. A definition follows the definitions that it uses.
    """

    def __init__(self, reserved: set[str]) -> None:
        self.imports: dict[str, None] = {}
        self.texts: dict[str, str] = {}
        self._reserved = reserved
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []

    def share(self, names: set[str]) -> None:
        """Share the set ``names`` of reserved names with another object.

        Names that are already reserved are added to ``names``.
        """
        names |= self._reserved
        self._reserved = names

    def fresh(self, name: str) -> str:
        """Reserve a new name and return it: ``name``, with a number if it is in use."""
        candidate, number = name, 2
        while candidate in self._reserved or hasattr(builtins, candidate):
            candidate, number = f"{name}_{number}", number + 1
        self._reserved.add(candidate)
        return candidate

    def value(self, value: Any, name: str) -> str:
        """Return source text that evaluates to ``value``, a static parameter of a kernel.

        If a definition is needed, ``name`` is its suggested name.
        """
        return self._expression(value, name)

    def function(self, kernel: Callable[..., Any], name: str) -> str:
        """Return source text that evaluates to the function ``kernel``.

        If mindgrad defines ``kernel``, its definition in the emitted module gets the name ``name``, if this
        name is free.
        """
        if isinstance(kernel, types.FunctionType) and _public_owner(kernel) is None:
            return self._defined(kernel, name, is_named=True)
        return self._expression(kernel, name)

    def add(self, name: str, text: str) -> str:
        """Define ``name`` by ``text``, unless it is already defined. Return ``name``."""
        if name not in self.texts:
            self._reserved.add(name)
            self.texts[name] = text
        return name

    # -- objects --------------------------------------------------------------------------------

    def _expression(self, value: Any, name: str) -> str:
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, _LITERALS):
            return _literal(value)
        if isinstance(value, tuple):
            items = [self._expression(item, name) for item in value]
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if isinstance(value, list | set | frozenset | dict):
            return self._container(value, name)
        if isinstance(value, DType):
            return self._constant(
                value, name, f"SimpleNamespace(numpy=np.dtype({str(value.numpy)!r}), kind={value.kind!r})"
            )
        if isinstance(value, np.dtype):
            return f"np.dtype({value.name!r})"
        if isinstance(value, np.ndarray | np.generic):
            return self._constant(value, name, f"np.array({value.tolist()!r}, {str(value.dtype)!r})")
        if isinstance(value, functools.partial):
            return self._partial(value, name)
        if isinstance(value, type) and value.__module__.partition(".")[0] == _PACKAGE:
            return self._class(value)
        if isinstance(value, type) and value.__module__ in ("numpy", "builtins"):
            return value.__name__ if value.__module__ == "builtins" else f"np.{value.__name__}"
        method_of = getattr(value, "__self__", None)
        if isinstance(method_of, np.ufunc):
            return f"np.{method_of.__name__}.{value.__name__}"
        if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "builtins":
            return value.__name__
        owner = _public_owner(value)
        if owner is not None:
            return f"{self._module(owner)}.{value.__name__}"
        wrapped = getattr(value, "__wrapped__", None)
        if not isinstance(value, types.FunctionType) and wrapped is not None:
            value = wrapped
        if isinstance(value, types.FunctionType):
            return self._defined(value, name)
        raise TypeError(f"{value!r} of a kernel cannot be written as source.")

    def _container(self, value: Any, name: str) -> str:
        if isinstance(value, dict):
            items = [f"{_literal(k)}: {self._expression(v, name)}" for k, v in value.items()]
            return self._constant(value, name, f"{{{', '.join(items)}}}")
        items = [self._expression(item, name) for item in value]
        return self._constant(value, name, f"{type(value).__name__}([{', '.join(items)}])")

    def _constant(self, value: Any, name: str, text: str) -> str:
        if "SimpleNamespace(" in text:
            self.imports["from types import SimpleNamespace"] = None
        own_name = self._names.get(id(value))
        if own_name is None:
            own_name = self._named(value, name)
            self.texts[own_name] = f"{own_name} = {text}"
        return own_name

    def _named(self, value: Any, name: str) -> str:
        own_name = self._names[id(value)] = self.fresh(name)
        self._alive.append(value)
        return own_name

    def _module(self, module: types.ModuleType) -> str:
        full = module.__name__
        if full.partition(".")[0] == _PACKAGE:
            raise TypeError(f"the module {full} in a kernel cannot be written as source.")
        short = _SHORT.get(full, full)
        self.imports[f"import {full} as {short}" if short != full else f"import {full}"] = None
        self._reserved.add(short.partition(".")[0])
        return short

    def _partial(self, value: functools.partial, name: str) -> str:
        own_name = self._names.get(id(value))
        if own_name is None:
            inner = self._expression(value.func, name)
            arguments = [self._expression(x, name) for x in value.args]
            arguments += [f"{k}={self._expression(x, k)}" for k, x in value.keywords.items()]
            self.imports["from functools import partial"] = None
            own_name = self._named(value, name)
            self.texts[own_name] = f"{own_name} = partial({', '.join([inner, *arguments])})"
        return own_name

    # -- functions and classes of this package ----------------------------------------------------

    def _defined(self, function: types.FunctionType, name: str, is_named: bool = False) -> str:
        own_name = self._names.get(id(function))
        if own_name is not None:
            return own_name
        own = function.__name__
        own_name = self._named(function, name if is_named or own in _UNNAMED else own)
        code, cells = function.__code__, function.__closure__ or ()

        def read(variable: str) -> tuple[Any, str]:
            if variable in code.co_freevars:
                value = cells[code.co_freevars.index(variable)].cell_contents
                return value, f"{own_name}_{variable}"
            return function.__globals__[variable], variable

        node = _Substitution(self, read).of(_definition(function))
        body: Any = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
        definition = ast.FunctionDef(own_name, node.args, body, [], None, None)
        # ``texts`` already contains the functions that this definition calls, so the emitted module defines
        # them first
        self.texts[own_name] = ast.unparse(ast.fix_missing_locations(definition))
        return own_name

    def _class(self, value: type) -> str:
        own_name = self._names.get(id(value))
        if own_name is None:
            own_name = self._named(value, value.__name__)
            names = vars(sys.modules[value.__module__])
            tree = ast.parse(inspect.getsource(value))
            node: Any = _Substitution(self, lambda variable: (names[variable], variable)).of(tree.body[0])
            node.name = own_name
            self.texts[own_name] = ast.unparse(ast.fix_missing_locations(node))
        return own_name

    def global_value(self, value: Any, name: str, read: Callable[[str], Any]) -> str:
        """Return source text for ``value``, which a kernel reads as the global ``name``.

        ``read`` returns the value and the new name of another global variable of the kernel.
        """
        if isinstance(value, np.ufunc) and value.__name__.endswith(_VECTORIZED):
            inner = value.__name__.removesuffix(_VECTORIZED)
            function = self._expression(read(inner)[0], inner)
            return self._constant(value, name, f"np.frompyfunc({function}, {value.nin}, {value.nout})")
        return self._expression(value, name)


class _Substitution(ast.NodeTransformer):
    """Replaces global and free variables of a function by names of the new module.

    Annotations and docstrings are removed.

    Args:
        definitions: the new module.
        read: maps the name of a variable to the pair (its value, a name for the new module). It raises
            ``KeyError`` for a builtin.
    """

    def __init__(self, definitions: Definitions, read: Callable[[str], tuple[Any, str]]) -> None:
        self.definitions = definitions
        self.read = read
        self.local: set[str] = set()
        self.replaced: dict[str, str] = {}
        self.renamed: dict[str, str] = {}

    def of(self, node: Any) -> Any:
        """Replace the variables in the syntax tree ``node`` by names of the new module."""
        self.local = set(_assigned(node))
        roots = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.FunctionDef | ast.ClassDef):
                decorators = [x for x in inner.decorator_list if not _is_cache(x)]
                inner.decorator_list = []
                if decorators:
                    raise TypeError(f"the decorated '{inner.name}' in a kernel cannot be written as source.")
                _without_annotations(inner)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id not in self.local | self.replaced.keys():
                try:
                    value, name = self.read(inner.id)
                except KeyError:
                    continue
                if not isinstance(value, Primitive):
                    text = self.definitions.global_value(value, name, self.read)
                    self.replaced[inner.id] = text
                    roots.add(text.partition(".")[0])
        arguments = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
        if roots & arguments:
            raise TypeError(f"the argument {min(roots & arguments)!r} hides a name of the new module.")
        self.renamed = {name: f"{name}_" for name in roots & self.local}
        return self.visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace ``p.numpy``, where p is a primitive, by source text of p's NumPy kernel."""
        if isinstance(node.value, ast.Name) and node.value.id not in self.local | self.replaced.keys():
            try:
                row = self.read(node.value.id)[0]
            except KeyError:
                return node
            if isinstance(row, Primitive) and node.attr == "numpy":
                return _parsed(self.definitions.function(row.numpy, row.name))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace a variable by its name in the new module."""
        if node.id in self.replaced:
            return _parsed(self.replaced[node.id])
        return ast.Name(self.renamed.get(node.id, node.id), node.ctx)


def _without_annotations(node: Any) -> None:
    if len(node.body) > 1 and ast.get_docstring(node) is not None:
        del node.body[0]
    if isinstance(node, ast.FunctionDef):
        node.returns = None
        arguments = node.args
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ):
            if argument is not None:
                argument.annotation = None
    for holder in ast.walk(node):
        if isinstance(holder, ast.AnnAssign):
            # a field of a NamedTuple requires an annotation, but the new module may not define a name in it
            holder.annotation = ast.Name("object", ast.Load())
        for field in ("body", "orelse"):
            statements = getattr(holder, field, None)
            if isinstance(statements, list):
                setattr(
                    holder,
                    field,
                    [
                        ast.copy_location(ast.Assign([x.target], x.value), x)
                        if isinstance(x, ast.AnnAssign) and x.value is not None
                        else x
                        for x in statements
                    ],
                )


def _is_cache(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).partition("(")[0] in ("lru_cache", "cache", "functools.cache")


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _assigned(node: ast.AST) -> Iterator[str]:
    """Yield the names that a function and its inner functions bind."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            yield inner.arg
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.FunctionDef) and inner is not node:
            yield inner.name


def _literal(value: Any) -> str:
    if isinstance(value, float) and value != value:
        return "np.nan"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _public_owner(value: Any) -> types.ModuleType | None:
    """Find the public module outside mindgrad that exports a function or class.

    The result is ``None`` if there is no such module.
    """
    if isinstance(value, np.ufunc) or type(value).__name__ == "_ArrayFunctionDispatcher":
        return sys.modules["numpy"] if getattr(np, value.__name__, None) is value else _searched(value)
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] in (_PACKAGE, "builtins"):
        return None
    return _searched(value)


def _searched(value: Any) -> types.ModuleType | None:
    name = getattr(value, "__name__", "")
    path = getattr(value, "__module__", None) or "numpy"
    candidates = [path.rsplit(".", count)[0] for count in range(path.count("."), -1, -1)]
    for candidate in (*candidates, "numpy.linalg", "scipy.special", "scipy.linalg"):
        module = sys.modules.get(candidate)
        is_public = not any(part.startswith("_") for part in candidate.split("."))
        if module is not None and is_public and getattr(module, name, None) is value:
            return module
    return None


@functools.cache
def _functions_of(file: str) -> tuple[Any, ...]:
    with open(file, encoding="utf-8") as text:
        tree = ast.parse(text.read())
    return tuple([x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef | ast.Lambda)])


def _definition(function: types.FunctionType) -> Any:
    """Return a copy of the syntax tree that defines ``function``, from its file.

    Raises:
        TypeError: If there is no unique definition.
    """
    code = function.__code__
    file = inspect.getsourcefile(code) or ""
    name = code.co_name
    candidates = [
        node
        for node in _functions_of(file)
        if min([node.lineno, *[x.lineno for x in getattr(node, "decorator_list", ())]]) == code.co_firstlineno
        and (isinstance(node, ast.Lambda) if name == "<lambda>" else getattr(node, "name", None) == name)
        and [x.arg for x in (*node.args.posonlyargs, *node.args.args)]
        == list(code.co_varnames[: code.co_argcount])
    ]
    if len(candidates) > 1:
        columns = [
            (line, column)
            for line, _, column, _ in code.co_positions()
            if line is not None and column is not None and column > 0
        ]
        candidates = [node for node in candidates if _spans(node, columns)]
    if len(candidates) != 1:
        raise TypeError(f"the definition of the kernel {function.__qualname__} is not found in {file}.")
    text = ast.unparse(candidates[0])
    return _parsed(text) if isinstance(candidates[0], ast.Lambda) else ast.parse(text).body[0]


def _spans(node: Any, positions: list[tuple[int, int]]) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return bool(positions) and all(start <= position <= end for position in positions)
