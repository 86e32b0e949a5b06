"""Find the source of a function object, and parse it to a syntax tree.

A code object contains the file and line of its function. The complete text of the file is parsed once, so
that lines and columns are exact. ``linecache`` provides the text of files, notebook cells, doctests, and
``python -m mindgrad -c``. This module finds the text of ``python -c``, redirected standard input, and lines
typed at a prompt.

Several functions, such as lambdas, may begin on the same line. All functions that begin on the line of the
code object are compiled, and the one with the same bytecode is used. If several have the same bytecode, their
columns are compared. The comparison of bytecode also detects that a file was edited after the program loaded
it. Without the comparison, mindgrad would compile a different function.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import stat
import sys
import textwrap
import threading
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mindgrad.core.base._cpython import byte_code
from mindgrad.frontend.python.ast_helpers import RUNTIME, at

__all__ = ["NoSource", "Source", "compile_function", "copied", "find_source", "without_text"]

_FUTURE = 0x1FE0000  # bits of ``co_flags`` that represent `from __future__ import …`
#: prefix for the name of the class in which a method is compiled. In private names such as ``_Class__x``,
#: Python ignores leading underscores of the class name, so these names remain correct
_CLASS = "_" * 20
_HISTORY = 2000  # maximum number of lines typed at a prompt that are searched


class NoSource(Exception):
    """Raised if the source of a function is unavailable.

    The message begins with "its source".
    """


class Source(NamedTuple):
    """The definition of a function, its class, and its file.

    Attributes:
        node: a copy of the definition. A lambda is represented by a function that returns its value.
        owner: name of the class that defines the function, for private names and ``super()``, or ``None``.
        file: file name of the source in ``linecache``.
    """

    node: ast.FunctionDef
    owner: str | None
    file: str


class _Definition(NamedTuple):
    node: Any
    owner: str | None


class _File:
    """A parsed source file: its functions and lambdas by name and first line.

    Each entry contains the syntax tree of the function and the name of its class.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.definitions: dict[tuple[str, int], list[_Definition]] = {}
        #: import statements of the module, because Python compiles calls of imported names in a different way
        self.imports: list[ast.stmt] = []
        try:
            with _syntax_trees:
                module = ast.parse("".join(lines))
            self.imports = _imports(module)
            self._collect(module, None)
        except (SyntaxError, ValueError):  # for example, an edited file that is not valid Python now
            self.definitions.clear()

    def _collect(self, node: ast.AST, owner: str | None) -> None:
        waiting = [(node, owner)]
        while waiting:
            node, owner = waiting.pop()
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                first = node
                if isinstance(node, ast.FunctionDef) and node.decorator_list:
                    first = node.decorator_list[0]  # type: ignore[assignment]
                key = (getattr(node, "name", "<lambda>"), first.lineno)
                self.definitions.setdefault(key, []).append(_Definition(node, owner))
            below = node.name if isinstance(node, ast.ClassDef) else owner
            waiting += [(child, below) for child in ast.iter_child_nodes(node)]


def _imports(module: ast.Module) -> list[ast.stmt]:
    """Collect the import statements of a module, except inside functions and classes."""
    imports: list[ast.stmt] = []
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            waiting += ast.iter_child_nodes(node)
    return imports


#: lock for parsing and compiling syntax trees. CPython adds the recursion depths of all threads. It raises
#: SystemError if one thread converts a tree while another thread waits in the middle of a conversion
_syntax_trees = threading.RLock()


def _in_child() -> None:
    """Replace the lock in a forked process, because no thread can release the old one."""
    global _syntax_trees
    _syntax_trees = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

_files: dict[str, _File] = {}
#: maps the text of a statement typed at a prompt to its file name in ``linecache``
_prompted: dict[str, str] = {}


def find_source(function: types.FunctionType) -> Source:
    """Find the definition of ``function``.

    Returns:
        A copy of the definition, which the caller may change.

    Raises:
        NoSource: If the source is unavailable, or ``function`` was not compiled from the source that was
            found.
    """
    code = function.__code__
    definition = None
    for file, lines in _texts(code, function.__globals__):
        parsed = _files.get(file)
        if parsed is None or (parsed.lines is not lines and parsed.lines != lines):
            parsed = _files[file] = _File(lines)
        definition = _match(code, parsed)
        if definition is not None:
            return Source(_as_function(definition.node), definition.owner, file)
    if definition is None and not linecache.getlines(code.co_filename, function.__globals__):
        raise NoSource(without_text(code))
    raise NoSource(f"its source in {code.co_filename} does not match the running program")


def without_text(code: types.CodeType) -> str:
    """Return the reason why the source of ``code`` is missing, for messages."""
    return f"its source cannot be found ({_maker(code)})"


def _maker(code: types.CodeType) -> str:
    if code.co_filename == "<stdin>":
        return "it was read from a pipe"
    if code.co_filename.startswith("<"):
        return "it was created by exec or eval, or by %%time or another magic of IPython"
    return f"the file {code.co_filename} no longer exists"


def _texts(code: types.CodeType, module: dict[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the file names and lines of sources that may define a function.

    The most likely source comes first.

    Args:
        code: the code object of the function.
        module: global variables of the function's module.
    """
    file = code.co_filename
    lines = linecache.getlines(file, module)
    if lines:
        yield file, lines
        linecache.checkcache(file)
        again = linecache.getlines(file, module)
        if again != lines:
            yield file, again
    if file == "<string>" and (text := _given_as_text()) is not None:
        yield _registered("<python -c>", text)
    elif file == "<stdin>" and not hasattr(sys, "ps1"):
        yield from _redirected()
    elif file in ("<stdin>", "<console>"):
        yield from _typed(code)


def _registered(file: str, text: str) -> tuple[str, Sequence[str]]:
    """Add the source ``text`` to ``linecache``, so that tracebacks can show its lines."""
    if file not in linecache.cache:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return file, linecache.getlines(file)


def _given_as_text() -> str | None:
    """Return the program text of ``python -c text``, or ``None``."""
    words = iter(sys.orig_argv[1:])
    for word in words:
        if word in ("-W", "-X", "--check-hash-based-pycs"):
            next(words, None)
        elif not word.startswith("-") or word == "-":
            return None
        elif not word.startswith(("--", "-W", "-X")) and "c" in word:
            text = word.partition("c")[2] or next(words, None)
            return textwrap.dedent(text) if text and sys.version_info >= (3, 14) else text
    return None


def _redirected() -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the source of a program that runs as ``python < file``."""
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            yield _registered("<standard input>", os.pread(0, status.st_size, 0).decode())
    except (OSError, UnicodeDecodeError):
        return


def _typed(code: types.CodeType) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield statements typed at a prompt that may define the function, newest first."""
    readline = sys.modules.get("readline")  # every prompt with a history loads this module
    if readline is None:
        return
    last = readline.get_current_history_length()
    lines = [readline.get_history_item(each) or "" for each in range(max(1, last - _HISTORY), last + 1)]
    key = code.co_name if code.co_name != "<lambda>" else "lambda"
    end = len(lines)
    for start in range(len(lines) - 1, -1, -1):
        if lines[start][:1].isspace():
            continue
        text = _statement(lines[start:end])
        if text is not None and key in text:
            yield _registered(_prompted.setdefault(text, f"<typed {len(_prompted) + 1}>"), text)


def _statement(lines: Sequence[str]) -> str | None:
    """Return the longest prefix of ``lines`` that is one complete statement."""
    statement = None
    for count in range(1, len(lines) + 1):
        text = "\n".join(lines[:count]) + "\n"
        try:
            with _syntax_trees:
                module = ast.parse(text)
            if len(module.body) > 1:
                break
            statement = text
        except (SyntaxError, ValueError):
            # the lines are incomplete, such as a single decorator, or already contain a part of the next
            # statement
            if statement is not None and not lines[count - 1][:1].isspace() and count - 1 > _lines(statement):
                break
    return statement


def _lines(text: str) -> int:
    return text.count("\n") + 1


# -- selection of a definition ---------------------------------------------------------------------


def _match(code: types.CodeType, file: _File) -> _Definition | None:
    """Return the definition in ``file`` from which ``code`` was compiled, or ``None``."""
    alike: list[tuple[_Definition, types.CodeType]] = []
    # compare with and without the imports of the module, because a notebook compiles each statement of a cell
    # separately
    contexts: list[Sequence[ast.stmt]] = [file.imports, ()] if file.imports else [()]
    for definition in file.definitions.get((code.co_name, code.co_firstlineno), ()):
        for imports in contexts:
            try:
                compiled = compile_function(definition.node, definition.owner, code, "<candidate>", imports)
            except (SyntaxError, ValueError):
                continue
            if _same(code, compiled) or _is_instrumented(code, compiled):
                alike.append((definition, compiled))
                break
    if len(alike) > 1:
        positions = list(code.co_positions())
        alike.sort(key=lambda pair: list(pair[1].co_positions()) != positions)
    return alike[0][0] if alike else None


def _same(first: Any, second: Any) -> bool:
    """Return whether two code objects, or two of their constants, are equivalent.

    File names, source positions, and qualified names are ignored.
    """
    if type(first) is not type(second):
        return False
    if isinstance(first, types.CodeType):
        names = ("co_names", "co_varnames", "co_freevars", "co_cellvars")
        return (
            byte_code(first) == byte_code(second)
            and all(getattr(first, name) == getattr(second, name) for name in names)
            and _same(_constants(first), _constants(second))
        )
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return repr(first) == repr(second) if isinstance(first, (float, complex)) else first == second


def _constants(code: types.CodeType) -> tuple[Any, ...]:
    """Return the constants of ``code``, but replace the qualified name of a class.

    The code of a class contains this name as a constant, but :func:`_same` must ignore the name. Therefore,
    the placeholder ``"__qualname__"`` replaces the name.
    """
    if code.co_flags & inspect.CO_NEWLOCALS:
        return code.co_consts
    return tuple("__qualname__" if each == code.co_qualname else each for each in code.co_consts)


def _is_instrumented(code: types.CodeType, plain: types.CodeType) -> bool:
    """Return whether ``code`` is ``plain`` after pytest has rewritten its ``assert``.

    This function compares only the names in both code objects.
    """
    if not any(each.startswith("@py") for each in (*code.co_names, *code.co_varnames)):
        return False
    names = {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
    return names >= {*plain.co_names, *plain.co_varnames, *plain.co_cellvars, *plain.co_freevars} - {
        "AssertionError"
    }


def _as_function(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef:
    """Copy a definition without the parts that Python evaluates outside the function.

    The omitted parts are defaults, annotations, and decorators. A lambda becomes a function.
    """
    if isinstance(node, ast.Lambda):
        whole: Any = ast.FunctionDef("lambda__", node.args, [at(ast.Return(node.body), node.body)], [])
        whole.type_params = []
        return _as_function(at(whole, node))
    function = copied(node)
    function.returns = None
    arguments = function.args
    arguments.defaults = [at(ast.Constant(None), argument) for argument in arguments.defaults]
    arguments.kw_defaults = [
        argument and at(ast.Constant(None), argument) for argument in arguments.kw_defaults
    ]
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    for argument in (arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    # keep the position of the first decorator: Python uses it as the first line of the code object
    function.decorator_list = [at(ast.Constant(None), argument) for argument in function.decorator_list[:1]]
    return function


def copied(node: Any) -> Any:
    """Copy a syntax tree, faster than ``copy.deepcopy``.

    Only fields of the grammar are copied. Tools such as IPython add other attributes to nodes, for example
    ``parent``. With such attributes, the copy would refer to other trees.
    """
    if isinstance(node, list):
        return [copied(each) for each in node]
    if not isinstance(node, ast.AST):
        return node
    kind = type(node)
    parts = (*kind._fields, *kind._attributes)
    if not parts:
        return node
    duplicate = kind.__new__(kind)
    for key in parts:
        value = getattr(node, key, copied)  # the default ``copied`` marks a missing optional field
        if value is not copied:
            setattr(duplicate, key, copied(value) if isinstance(value, (ast.AST, list)) else value)
    return duplicate


def compile_function(
    node: ast.FunctionDef | ast.Lambda,
    owner: str | None,
    original: types.CodeType,
    file: str,
    imports: Sequence[ast.stmt] = (),
) -> types.CodeType:
    """Compile a definition with the free variables and compiler flags of ``original``.

    The new code may have the variable of the runtime (``mg__``) as an additional free variable.

    Args:
        node: the definition.
        owner: name of the class that defines the function, or ``None``.
        original: the original code object of the function.
        file: file name of the source.
        imports: import statements of the module. Without them, the bytecode may differ from the original
            bytecode.
    """
    inner: Any = at(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
    before: list[ast.stmt] = []
    if owner is not None:
        inner = at(ast.ClassDef(_CLASS + owner.lstrip("_"), [], [], [inner], []), node)
        inner.type_params = []
    elif isinstance(node, ast.FunctionDef) and node.name not in original.co_freevars:
        # the function's name must be a global in its code, not a variable of ``around__``
        before = [at(ast.Global([node.name]), node)]
    parameters = [at(ast.arg(item), node) for item in (*original.co_freevars, RUNTIME)]
    arguments = ast.arguments([], parameters, None, [], [], None, [])
    around: Any = ast.FunctionDef("around__", arguments, [*before, inner], [])
    around.type_params = []
    future = [item for item in imports if isinstance(item, ast.ImportFrom) and item.module == "__future__"]
    others = [item for item in imports if item not in future]
    module = ast.Module([*others, at(around, node)], [])
    flags = original.co_flags & _FUTURE
    with _syntax_trees:
        code = compile(module, file, "exec", flags=flags, dont_inherit=True)
    name = getattr(node, "name", "<lambda>")
    for expected in ("around__", *([_CLASS + owner.lstrip("_")] if owner is not None else []), name):
        code = next(
            item for item in code.co_consts if isinstance(item, types.CodeType) and item.co_name == expected
        )
    return code
