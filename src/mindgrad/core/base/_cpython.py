"""Functions that depend on the interpreter. The rest of mindgrad uses documented Python only.

The tests run these functions on CPython 3.11, 3.12, and 3.13. On another interpreter, each function has a
fallback that does not change results: mindgrad then copies, computes, or compares more than necessary, or
raises an error. The test ``tests/architecture/test_interpreter.py`` forbids such functions in other files.
"""

from __future__ import annotations

import dis
import gc
import signal
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType, GeneratorType
from typing import Any, NamedTuple

from mindgrad.core.base.tables import tabulated

__all__ = [
    "IS_KNOWN", "assigned_names", "byte_code", "defines_classes", "global_names", "handler_of",
    "import_statements", "is_import", "move_to_oldest_generation", "names_read", "reference_count",
    "referents", "renamed", "set_handler", "set_thresholds", "stored_names", "thresholds", "unshared",
    "variables_of",
]  # fmt: skip

_TESTED = ((3, 11), (3, 12), (3, 13))
#: whether the interpreter is a tested version of CPython. Builds without the global interpreter lock are not
#: tested
IS_KNOWN = (
    sys.implementation.name == "cpython"
    and sys.version_info[:2] in _TESTED
    and getattr(sys, "_is_gil_enabled", lambda: True)()
)


# -- references ------------------------------------------------------------------------------------


def _counts(objects: Sequence[object]) -> list[int]:
    return list(map(sys.getrefcount, objects))


#: reference count of an object to which only the caller's list refers
_LISTED = max(_counts([object(), object()])) if IS_KNOWN else 0


def unshared(objects: Sequence[object]) -> list[bool]:
    """Return, for each of ``objects``, whether only the list ``objects`` refers to it.

    The result is based on reference counts. Tested on CPython 3.11 to 3.13. Fallback: ``False`` for each
    object. Arrays are then copied before compiled functions reuse their memory, and all pending values are
    computed.
    """
    if not IS_KNOWN:
        return [False] * len(objects)
    return [count <= _LISTED for count in _counts(objects)]


def reference_count(value: object) -> int | None:
    """Return the number of references to an object.

    Tested on CPython 3.11 to 3.13. Fallback: ``None``, which means unknown.
    """
    return sys.getrefcount(value) if IS_KNOWN else None


def referents(value: object) -> list[Any]:
    """List the objects to which an iterator or a cached function refers.

    The garbage collector lists them for classes of Python's library. Tested on CPython 3.11 to 3.13.
    Fallback: the variables of a generator, and the objects from which ``copy.copy`` would rebuild another
    iterator.

    Raises:
        TypeError: In the fallback, if the value is a cached function, or an iterator that cannot be copied.
    """
    if IS_KNOWN:
        return gc.get_referents(value)
    if isinstance(value, GeneratorType):
        variables = variables_of(value.gi_frame) if value.gi_frame is not None else {}
        return [*variables.values(), value.gi_yieldfrom]
    if hasattr(value, "__wrapped__"):
        raise TypeError(f"a compiled function cannot read the cache of {value!r} on this interpreter")
    return [*value.__reduce__()[1:]]


# -- garbage collection ----------------------------------------------------------------------------


def thresholds() -> tuple[int, int, int]:
    """Return the thresholds of the garbage collector.

    Tested on CPython 3.11 to 3.13. Fallback: zeros.
    """
    return gc.get_threshold() if IS_KNOWN else (0, 0, 0)


def set_thresholds(youngest: int, middle: int, oldest: int) -> None:
    """Set the thresholds of the garbage collector.

    Tested on CPython 3.11 to 3.13. Fallback: nothing happens, so traces of large functions take longer.
    """
    if IS_KNOWN:
        gc.set_threshold(youngest, middle, oldest)


def move_to_oldest_generation() -> None:
    """Move all objects to the oldest generation of the garbage collector.

    Freezing and unfreezing the objects moves them without examining them. If the user has frozen objects or
    turned the collector off, nothing happens. Tested on CPython 3.11 to 3.13. Fallback: nothing happens.
    """
    if IS_KNOWN and gc.isenabled() and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


# -- signals ---------------------------------------------------------------------------------------

# The functions of `signal` convert arguments and results to enumerations, which adds 9 µs per call. The
# module `_signal` has the functions without the conversion. Tested on CPython 3.11 to 3.13. Fallback:
# `signal` itself.
_plain_signal: Any = signal
if IS_KNOWN:
    import _signal as _plain_signal  # type: ignore[import-not-found, no-redef]
handler_of = _plain_signal.getsignal
set_handler = _plain_signal.signal


# -- frames ----------------------------------------------------------------------------------------


def variables_of(frame: FrameType) -> dict[str, Any]:
    """Return the local variables of a running function, as a new dictionary.

    Tested on CPython 3.11 to 3.13. Fallback: none, because every interpreter with frames has them.
    """
    return dict(frame.f_locals)


# -- code ------------------------------------------------------------------------------------------


def byte_code(code: CodeType) -> bytes:
    """Return the instructions of a function, so that two functions can be compared.

    Tested on CPython 3.11 to 3.13. Fallback: none, because the instructions are only compared.
    """
    return code.co_code


def renamed(code: CodeType, name: str, qualified_name: str, constants: tuple[object, ...]) -> CodeType:
    """Return a copy of a code object with other names and constants.

    Tested on CPython 3.11 to 3.13. Fallback: none, because ``CodeType.replace`` is documented.
    """
    return code.replace(co_name=name, co_qualname=qualified_name, co_consts=constants)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and the code objects of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _operands(code: CodeType, *instructions: str) -> list[Any]:
    """List the operands of the named ``instructions``, without inner functions."""
    return [step.argval for step in dis.get_instructions(code) if step.opname in instructions]


def _all_names(code: CodeType) -> dict[str, None]:
    return {name: None for inner in _codes(code) for name in inner.co_names}


_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")


class _Names(NamedTuple):
    """The names in the instructions of a function.

    All fields except ``stored`` include the functions inside this function.
    """

    globals: tuple[str, ...]
    attributes: frozenset[str]
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    defines_classes: bool
    stored: frozenset[str]


def _names_in(code: CodeType) -> _Names:
    """Read the names in a code object, in one pass over its instructions.

    Tested on CPython 3.11 to 3.13. Fallback: the callers do not call this function. The result is tabulated,
    because a trace asks for the same functions several times, and reading them takes up to 6 % of its time.
    """
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    names = {step.argval: None for step in steps if step.opname in _GLOBALS}
    attributes = {step.argval for step in steps if step.opname in _ATTRIBUTES}
    imports = []
    for level, imported, step in zip(steps, steps[1:], steps[2:], strict=False):
        if step.opname == "IMPORT_NAME" and imported.argval:
            imports.append(("." * level.argval + step.argval, imported.argval))
    builds_class = any(step.opname == "LOAD_BUILD_CLASS" for step in steps)
    stored = frozenset(step.argval for step in steps if step.opname == "STORE_DEREF") & {*code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = tabulated(_names_in, constant)
            names |= dict.fromkeys(inner.globals)
            attributes |= inner.attributes
            imports += inner.imports
            builds_class = builds_class or inner.defines_classes
    return _Names(tuple(names), frozenset(attributes), tuple(imports), builds_class, stored)


def global_names(code: CodeType) -> tuple[str, ...]:
    """Return the names of global variables that a function reads.

    Names in inner functions are included. Tested on CPython 3.11 to 3.13. Fallback: all names of globals and
    attributes in the code.
    """
    return tabulated(_names_in, code).globals if IS_KNOWN else tuple(_all_names(code))


def names_read(code: CodeType) -> frozenset[str]:
    """Return the names of global variables and attributes that a function reads.

    Names in inner functions are included. Tested on CPython 3.11 to 3.13. Fallback: all names of globals and
    attributes in the code.
    """
    if not IS_KNOWN:
        return frozenset(_all_names(code))
    names = tabulated(_names_in, code)
    return names.attributes.union(names.globals)


def defines_classes(code: CodeType) -> bool:
    """Return whether a function contains a ``class`` statement.

    Inner functions are included. Tested on CPython 3.11 to 3.13. Fallback: ``True``.
    """
    return not IS_KNOWN or tabulated(_names_in, code).defines_classes


def import_statements(code: CodeType) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return (module, imported names) for each statement ``from module import name``.

    The name of a relative module begins with dots. Tested on CPython 3.11 to 3.13. Fallback: every name in
    the code as a module, with all names in the code as imported names.
    """
    if not IS_KNOWN:
        every = tuple(_all_names(code))
        return tuple((dots + name, every) for name in every for dots in ("", ".", ".."))
    return tabulated(_names_in, code).imports


def is_import(frame: FrameType) -> bool:
    """Check whether ``frame`` is at a name of ``from module import name``.

    Tested on CPython 3.11 to 3.13. Fallback: ``False``; the error then has no suggestion.
    """
    return IS_KNOWN and frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]


def stored_names(code: CodeType) -> frozenset[str]:
    """Return the variables of enclosing functions that a function assigns.

    Assignments in inner functions are not included. Tested on CPython 3.11 to 3.13. Fallback: no names, so
    guards also compare the assigned variables.
    """
    return tabulated(_names_in, code).stored if IS_KNOWN else frozenset()


def assigned_names(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the outer variables and the global variables that a function assigns.

    Outer variables belong to enclosing functions. Deletions count as assignments, and assignments in inner
    functions are included. Tested on CPython 3.11 to 3.13. Fallback: all variables of enclosing functions,
    and all names.
    """
    if not IS_KNOWN:
        return frozenset(code.co_freevars), frozenset(_all_names(code))
    variables = {*_operands(code, "STORE_DEREF", "DELETE_DEREF")} - {*code.co_cellvars}
    names = {*_operands(code, "STORE_GLOBAL", "DELETE_GLOBAL")}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            of_variables, of_names = assigned_names(each)
            variables |= of_variables - {*code.co_cellvars}
            names |= of_names
    return frozenset(variables), frozenset(names)
