"""Convert functions to a form with rewritten control flow, which can be traced.

:func:`convert` returns a *converted* function, which runs instead of the original in a trace. It has
rewritten code (``rewrite``), and the variables, defaults, and names of the original. Each code object is
rewritten only once. The new code has the file, lines, and columns of the original, and generated inner
functions have the name of the user's function. Therefore, tracebacks show the user's source.

Python functions are converted, also if they are methods, ``functools.partial`` objects, or the ``__call__``
of an object. Other callables are called unchanged (:func:`reason_unconverted`): built-in functions, classes,
and functions of mindgrad, of the standard library, and of numeric libraries without tensors. Generator
functions, async functions, and functions whose source is unavailable are not converted, either.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import re
import threading
import types
import weakref
from typing import Any

from mindgrad.core.base._cpython import assigned_names, renamed
from mindgrad.core.base.location import PACKAGE
from mindgrad.core.base.refusal import HELPER
from mindgrad.frontend import effect_log
from mindgrad.frontend.python.ast_helpers import PART, RUNTIME
from mindgrad.frontend.python.plain_recursion import is_plain_recursion
from mindgrad.frontend.python.rewrite import rewrite_function
from mindgrad.frontend.python.source import NoSource, compile_function, find_source, without_text
from mindgrad.frontend.python.unsupported import check, is_generator_function, refuse_depth, refuse_generator
from mindgrad.frontend.user_functions import NUMERIC, in_package

__all__ = [
    "NUMERIC", "calls_itself_plainly", "convert", "convertible", "is_made_inside", "is_unconverted",
    "reason_unconverted", "reason_without_source", "refuse_unconvertible",
]  # fmt: skip

_HELPERS = re.compile(r"(then|orelse|test|body|get|put|set|locals)__\w*")
_SITE = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
#: folder that contains Python's standard library
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")


class _Code:
    """A code object with its rewritten code, or the reason why it is not rewritten.

    Attributes:
        original: the code object.
        rewritten: the rewritten code, or ``None``.
        reason: why the code is not rewritten.
        cells: for each free variable of the rewritten code, its index among the free variables of the
            original. The index −1 represents the runtime.
    """

    __slots__ = ("assigned", "cells", "is_inner", "is_plain_recursion", "original", "reason", "rewritten")

    def __init__(self, original: Any, rewritten: types.CodeType | None, reason: str) -> None:
        self.original = original
        self.rewritten = rewritten
        self.reason = reason
        #: whether the code belongs to an inner function that was rewritten as part of the enclosing function
        self.is_inner = False
        #: whether the function calls itself and has no side effects (``plain_recursion``)
        self.is_plain_recursion = False
        self.cells: list[int] = []
        #: names that the function or one of its inner functions assigns: variables of enclosing functions,
        #: and globals
        self.assigned: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())


#: maps the ``id`` of a code object to its entry. The key is not the code object itself, because code objects
#: from two files may be equal
_codes: dict[int, _Code] = {}
#: code objects of methods, generators, and classes inside rewritten code, which were not rewritten
_inside: dict[int, weakref.ref[types.CodeType]] = {}
_lock = threading.RLock()


def _remember(code: types.CodeType, rewritten: types.CodeType | None, reason: str = "") -> _Code:
    key = id(code)
    entry = _Code(None, rewritten, reason)
    if rewritten is not None:
        entry.cells = [
            -1 if each == RUNTIME else code.co_freevars.index(each) for each in rewritten.co_freevars
        ]
        stored = assigned_names(code)
        entry.assigned = (stored[0] & {*code.co_freevars}, stored[1])
    _codes[key] = entry
    forget = functools.partial(_codes.pop, key)
    entry.original = weakref.ref(code, lambda reference: forget(None))
    return entry


def convert(function: Any, runtime: Any) -> Any:
    """Return the converted form of ``function``, which a trace calls instead of it.

    Callables that are not converted, such as library functions, are returned unchanged.

    Args:
        function: any callable.
        runtime: the ``Runtime`` that the converted function calls.

    Raises:
        CompileError: If the function contains syntax that cannot be compiled.
    """
    kind = type(function)
    if kind is types.FunctionType:
        return _converted(function, runtime)
    if kind is types.MethodType:
        inner = convert(function.__func__, runtime)
        return function if inner is function.__func__ else types.MethodType(inner, function.__self__)
    if kind is types.BuiltinFunctionType or isinstance(function, type):
        return function
    if kind is functools.partial:
        inner = convert(function.func, runtime)
        return (
            function
            if inner is function.func
            else functools.partial(inner, *function.args, **function.keywords)
        )
    if kind is staticmethod:
        return convert(function.__func__, runtime)
    called = _call_of(kind)
    if type(called) is types.FunctionType:
        inner = _converted(called, runtime)
        return function if inner is called else types.MethodType(inner, function)
    return function


def convertible(function: Any) -> bool:
    """Return whether :func:`convert` converts ``function`` instead of returning it."""
    return convert(function, None) is not function


def reason_unconverted(function: Any) -> str:
    """Return why ``function`` is not converted, or ``""`` if it is converted."""
    inner = _function_of(function)
    if inner is None:
        return "it is not written in Python"
    entry = _codes.get(id(inner.__code__)) or _rewrite(inner)
    return entry.reason


def calls_itself_plainly(function: Any) -> bool:
    """Return whether ``function`` is a plain recursion (``plain_recursion``).

    A plain recursion calls itself and has no side effects.
    """
    entry = _codes.get(id(function.__code__)) if type(function) is types.FunctionType else None
    return entry is not None and entry.is_plain_recursion


def is_without_source(function: Any) -> bool:
    """Return whether a user's function is unconverted because its source is missing."""
    inner = _function_of(function)
    entry = None if inner is None else _codes.get(id(inner.__code__))
    return inner is not None and entry is not None and entry.rewritten is None and not _reason(inner)


def is_unconverted(function: types.FunctionType) -> bool:
    """Return whether a user's function runs unconverted.

    The result is true for generator functions, and for functions without source.
    """
    if not is_generator_function(function.__code__):
        return is_without_source(function)
    module = str(function.__globals__.get("__name__", "")).partition(".")[0]
    return not (in_package(function) or module in NUMERIC or _is_standard(function.__code__.co_filename))


def reason_without_source(frame: types.FrameType) -> str:
    """Return why the source of the function of ``frame`` is unavailable.

    The result is ``""`` if the source is available, or is not needed because the function is not converted.
    """
    code = frame.f_code
    entry = _codes.get(id(code))
    if entry is not None:
        return entry.reason if entry.reason.startswith("its source") else ""
    if linecache.getlines(code.co_filename, frame.f_globals):
        return ""
    return without_text(code)


def is_made_inside(function: types.FunctionType) -> bool:
    """Return whether ``function`` is an inner function of a converted function."""
    entry = _codes.get(id(function.__code__))
    return entry is not None and entry.rewritten is None and entry.is_inner


def refuse_unconvertible(function: Any) -> None:
    """Raise ``CompileError`` if ``function`` is a generator or async function.

    Call this function only for the outermost compiled function, because that function may call generator
    functions.
    """
    inner = _function_of(function)
    if inner is not None and is_generator_function(inner.__code__):
        refuse_generator(inner)


def _function_of(function: Any) -> types.FunctionType | None:
    while not isinstance(function, types.FunctionType):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, (types.MethodType, staticmethod)):
            function = function.__func__
        else:
            called = None if isinstance(function, type) else _call_of(type(function))
            if not isinstance(called, types.FunctionType):
                return None
            function = called
    return function


def _call_of(kind: type) -> Any:
    """Return the attribute ``__call__`` of a class, or ``None`` if there is none."""
    for each in kind.__mro__:
        if "__call__" in each.__dict__:
            return each.__dict__["__call__"]
    return None


def _converted(function: types.FunctionType, runtime: Any) -> types.FunctionType:
    code = function.__code__
    entry = _codes.get(id(code))
    if entry is None:
        entry = _rewrite(function)
    rewritten = entry.rewritten
    if rewritten is None and not entry.is_inner:
        return function
    cells, own = function.__closure__, types.CellType(runtime)
    kind = effect_log.Local if entry.is_inner or id(code) in _inside else effect_log.Variable
    for variable in entry.assigned[0]:
        label = f"the variable '{variable}' that {function.__qualname__} assigns"
        cell = cells[code.co_freevars.index(variable)]  # type: ignore[index]
        effect_log.note_assignable(kind(cell, variable, label))
    if rewritten is None:
        return function
    for variable in entry.assigned[1]:
        label = f"the global variable '{variable}'"
        effect_log.note_assignable(effect_log.Global(function.__globals__, variable, label))
    closure = tuple([own if index < 0 else cells[index] for index in entry.cells])  # type: ignore[index]
    converted = types.FunctionType(
        rewritten, function.__globals__, function.__name__, function.__defaults__, closure
    )
    converted.__kwdefaults__ = function.__kwdefaults__
    converted.__qualname__ = function.__qualname__
    converted.__doc__ = function.__doc__
    converted.__module__ = function.__module__
    if function.__annotations__:
        converted.__annotations__ = function.__annotations__
    if function.__dict__:
        converted.__dict__.update(function.__dict__)
    return converted


def _rewrite(function: types.FunctionType) -> _Code:
    code = function.__code__
    with _lock:
        entry = _codes.get(id(code))
        if entry is not None:
            return entry
        reason = _reason(function)
        if reason:
            return _remember(code, None, reason)
        try:
            compiled = _compiled(function)
        except NoSource as error:
            return _remember(code, None, str(error))
        entry = _remember(code, _named(compiled, code.co_name, code.co_qualname))
        # only a function that reads its own name can be recursive, so the slower check is skipped for all
        # other functions
        if code.co_name in code.co_names:
            entry.is_plain_recursion = is_plain_recursion(find_source(function).node)
        return entry


def _compiled(function: types.FunctionType) -> types.CodeType:
    """Rewrite and compile ``function``.

    If this exceeds the recursion limit, repeat it in a new thread, whose stack is empty.
    """
    outcome: list[Any] = []

    def attempt() -> None:
        try:
            outcome.append(_compiled_here(function))
        except BaseException as error:
            outcome.append(error)

    attempt()
    if isinstance(outcome[0], RecursionError):
        fresh = threading.Thread(target=attempt)
        fresh.start()
        fresh.join()
    if isinstance(outcome[-1], RecursionError):
        refuse_depth(function)
    if isinstance(outcome[-1], BaseException):
        raise outcome[-1]
    return outcome[-1]


def _compiled_here(function: types.FunctionType) -> types.CodeType:
    source = find_source(function)
    check(source.node, function.__code__.co_name, source.file)
    node = rewrite_function(source.node, source.owner)
    return compile_function(node, source.owner, function.__code__, source.file)


def _reason(function: types.FunctionType) -> str:
    """Return why ``function`` is not converted, or ``""``.

    This function does not check whether the source is available.
    """
    code = function.__code__
    file = code.co_filename
    if is_generator_function(code):
        return "it is a generator or async function"
    if file.startswith(PACKAGE):
        return "it belongs to mindgrad"
    module = str(function.__globals__.get("__name__", "")).partition(".")[0]
    if module in NUMERIC:
        return f"it belongs to {module}"
    if file.startswith("<frozen ") or _is_standard(file) or _is_standard(os.path.realpath(file)):
        return "it belongs to Python's standard library"
    return ""


def _is_standard(file: str) -> bool:
    return file.startswith(_STANDARD) and not any(each in file for each in _SITE)


def _named(code: types.CodeType, name: str, qualified: str, converted: bool = True) -> types.CodeType:
    """Set the names of ``code``, and of all code objects in it, to the user's names.

    A generated inner function gets the name of the user's function that contains it. The user's inner
    functions are recorded as already rewritten, so that :func:`convert` returns them unchanged.

    Args:
        code: compiled code of a rewritten function.
        name, qualified: name and qualified name of the user's function.
        converted: whether ``code`` has been rewritten. It is ``False`` for generators, classes, and the
            functions inside them.
    """
    is_class = not code.co_flags & inspect.CO_NEWLOCALS
    around = qualified.removesuffix(HELPER)
    constants: list[Any] = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if converted and _is_helper(constant):
                constant = _named(constant, name, around + HELPER)
            else:
                inner = constant.co_name
                if constant.co_qualname != inner:  # Python adds no prefix to a ``global`` name
                    inner = f"{around}.{inner}" if is_class else f"{around}.<locals>.{inner}"
                generates = is_generator_function(constant) and constant.co_name != "<genexpr>"
                is_rewritten = converted and not generates and bool(constant.co_flags & inspect.CO_NEWLOCALS)
                constant = _named(constant, constant.co_name, inner, is_rewritten)
                if is_rewritten:
                    entry = _remember(constant, None)
                    entry.is_inner = True
                    entry.assigned = (assigned_names(constant)[0] & {*constant.co_freevars}, frozenset())
                else:
                    forget = functools.partial(_forget_inside, id(constant))
                    _inside[id(constant)] = weakref.ref(constant, forget)
        elif is_class and constant == code.co_qualname:
            constant = qualified  # Python assigns this constant to `__qualname__` of the class
        constants.append(constant)
    return renamed(code, name, qualified, tuple(constants))


def _forget_inside(key: int, _: Any) -> None:
    _inside.pop(key, None)


def _is_helper(code: types.CodeType) -> bool:
    if code.co_name == "<lambda>":
        return code.co_varnames[:1] == (PART,)
    return _HELPERS.fullmatch(code.co_name) is not None
