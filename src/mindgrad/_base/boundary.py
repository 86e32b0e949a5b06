"""Removal of mindgrad's internal frames from tracebacks.

A traceback that a user sees contains only the lines of the user's program
(:func:`mindgrad.core.base.refusal.without_own_frames`). To remove the other frames, some code has to run when
an error leaves the outermost function of mindgrad. A decorator of every public function would slow down every
call, and a ``try`` statement in every public function could be forgotten.

Therefore this module changes the bytecode of the public functions when they are loaded. It appends an
exception handler of nine instructions to the code, and an entry to the exception table. This is possible in
CPython 3.11 and later. The result is the same as if the compiler had compiled::

    try:
        ...  # the function
    except BaseException:
        leave()
        raise

A call without an error runs the same instructions as before, at the same speed. Names, signatures, identity
and source of the functions do not change. On a Python version with unknown bytecode, or with
``MINDGRAD_TRACEBACK=full``, tracebacks contain all frames.
"""

from __future__ import annotations

import inspect
import opcode
import sys
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mindgrad.core.base.location import LAUNCHERS, PACKAGE
from mindgrad.core.base.refusal import without_own_frames

__all__ = ["before_trimming", "enclose", "enclose_packages", "enclosed", "trim"]

_IS_KNOWN = sys.version_info[:2] in ((3, 11), (3, 12), (3, 13)) and sys.implementation.name == "cpython"
#: flags of generators and coroutines, whose code gets no exception handler: their frames are resumed many
#: times
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_STACK = 8  # largest number of values on the stack in the handler


_explanations: list[Callable[[BaseException], None]] = []


def leave() -> None:
    """Trim the traceback of the current error if it leaves mindgrad.

    The handlers that this module appends call this function. The error leaves mindgrad if no other function
    of mindgrad is on the call stack.
    """
    error = sys.exception()
    frame = sys._getframe(1).f_back
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(PACKAGE) and name not in LAUNCHERS:
            return  # another function of mindgrad is the caller, and may handle the error
        frame = frame.f_back
    if isinstance(error, Exception):
        trim(error)


def trim(error: Exception) -> None:
    """Add notes to an error, and remove mindgrad's frames from its traceback."""
    for explain in _explanations:
        explain(error)
    without_own_frames(error)


def before_trimming(explain: Callable[[BaseException], None]) -> None:
    """Register a function that may add notes to an error that leaves mindgrad.

    When the function runs, the traceback of the error still has all frames.
    """
    _explanations.append(explain)


# -- code ------------------------------------------------------------------------------------------


def _instruction(name: str, argument: int = 0) -> bytes:
    """Encode a bytecode instruction, with zeros for its inline cache."""
    code = opcode.opmap[name]
    caches: Any = opcode._inline_cache_entries  # type: ignore[attr-defined]
    count = caches.get(name, 0) if isinstance(caches, dict) else caches[code]
    parts = [bytes((code, argument & 255))]
    while argument > 255:
        argument >>= 8
        parts.insert(0, bytes((opcode.EXTENDED_ARG, argument & 255)))
    return b"".join(parts) + bytes(2 * count)


@cache
def _handler(constant: int) -> tuple[bytes, int, int]:
    """Encode the handler, which calls :func:`leave` and raises the error again.

    When the handler starts, the stack contains the error and the index of the instruction that raised it.

    Returns:
        The instructions, the end of the call, and the end of the part that raises again. Both ends count code
        units.
    """
    load = [_instruction("PUSH_NULL"), _instruction("LOAD_CONST", constant)]
    if sys.version_info >= (3, 13):
        load.reverse()
    before = [_instruction("PRECALL")] if sys.version_info < (3, 12) else []
    call = [*load, *before, _instruction("CALL"), _instruction("POP_TOP")]
    again = [_instruction("SWAP", 2), _instruction("POP_EXCEPT"), _instruction("RERAISE", 1)]
    first = b"".join([_instruction("PUSH_EXC_INFO"), *call])
    last = b"".join(again)
    # the last instructions handle an error that `leave` itself raises, such as KeyboardInterrupt
    handler = first + last + b"".join([_instruction("COPY", 3), *again[1:]])
    return handler, len(first) // 2, len(first + last) // 2


@cache
def _number(value: int, begins: int = 0) -> bytes:
    """Encode a number of an exception table: six bits per byte, highest first."""
    parts = [value & 63]
    while value := value >> 6:
        parts.insert(0, value & 63 | 64)
    parts[0] |= begins
    return bytes(parts)


def _numbers(table: bytes) -> Iterator[int]:
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            yield value
            value = 0


@cache
def _row(start: int, end: int, target: int, depth: int) -> bytes:
    return _number(start, 128) + _number(end - start) + _number(target) + _number(depth << 1 | 1)


@cache
def _no_location(units: int) -> bytes:
    """Encode the entries of ``co_linetable`` for instructions without a source line.

    One entry describes at most eight code units.
    """
    return bytes(128 | 15 << 3 | min(units - start, 8) - 1 for start in range(0, units, 8))


def enclosed(code: CodeType) -> CodeType:
    """Append a handler to ``code`` that trims the errors leaving it.

    >>> from mindgrad._base.boundary import enclosed
    >>> def half(x):
    ...     return x / 2
    >>> half.__code__ = enclosed(half.__code__)
    >>> half(3), half("3")
    Traceback (most recent call last):
        ...
    TypeError: unsupported operand type(s) for /: 'str' and 'int'
    """
    text = code.co_code
    end = len(text) // 2
    handler, called, raised = _handler(len(code.co_consts))
    table, position = [], 0
    rows = _numbers(code.co_exceptiontable)
    for start, length, target, depth in zip(rows, rows, rows, rows, strict=True):
        if position < start:
            table.append(_row(position, start, end, 0))
        table.append(_number(start, 128) + _number(length) + _number(target) + _number(depth))
        position = start + length
    if position < end:
        table.append(_row(position, end, end, 0))
    table.append(_row(end, end + called, end + raised, 2))
    return code.replace(
        co_code=text + handler,
        co_consts=(*code.co_consts, leave),
        co_exceptiontable=b"".join(table),
        co_linetable=code.co_linetable + _no_location(len(handler) // 2),
        co_stacksize=max(code.co_stacksize, _STACK),
    )


# -- functions -------------------------------------------------------------------------------------


def _is_enclosed(code: CodeType) -> bool:
    return bool(code.co_consts) and code.co_consts[-1] is leave


def _with_inner(code: CodeType) -> CodeType:
    """Append handlers to the functions that are defined inside ``code``."""
    constants = tuple(
        enclosed(_with_inner(x)) if isinstance(x, CodeType) and _is_suited(x) else x for x in code.co_consts
    )
    return code.replace(co_consts=constants) if constants != code.co_consts else code


def _is_suited(code: CodeType) -> bool:
    return not code.co_flags & _SUSPENDED and not (
        code.co_name.startswith("<") and code.co_name != "<lambda>"
    )


class _Boundary:
    """The functions and modules whose code already has handlers."""

    def __init__(self) -> None:
        self.packages: set[str] = set()
        self.classes: set[type] = set()
        #: maps the id of an original code object to its copy with the exception handler. The id is the key,
        #: because `==` would compare all contents of two code objects
        self.codes: dict[int, CodeType] = {}
        #: the original code objects, kept so that their ids stay valid
        self.before: list[CodeType] = []

    def enclose_package(self, module: ModuleType, with_inner: bool) -> None:
        # ``public`` includes names such as `_no_grad`; `vars` loads no modules, in contrast to `getattr`
        public = vars(module).get("__all__", ())
        for name, value in list(vars(module).items()):
            if not name.startswith("_") or with_inner or name in public:
                self.enclose(value, with_inner)

    def enclose(self, value: Any, with_inner: bool = False) -> None:
        """Append handlers to a function, or to the methods of a class and of its bases."""
        if isinstance(value, type):
            for base in value.__mro__:
                if base.__module__.startswith(_NAME) and base not in self.classes:
                    self.classes.add(base)
                    for name, member in list(vars(base).items()):
                        if not name.startswith("_") or name.startswith("__"):
                            self.enclose_member(member, with_inner)
        elif type(value) is FunctionType:
            self.enclose_function(value, with_inner)

    def enclose_member(self, value: Any, with_inner: bool) -> None:
        if type(value) is FunctionType:
            self.enclose_function(value, with_inner)
        elif isinstance(value, property):
            for function in (value.fget, value.fset):
                self.enclose_member(function, with_inner)
        elif isinstance(value, (staticmethod, classmethod)):
            self.enclose_member(value.__func__, with_inner)
        elif isinstance(value, cached_property):
            self.enclose_member(value.func, with_inner)

    def enclose_function(self, function: FunctionType, with_inner: bool) -> None:
        code = function.__code__
        if not code.co_filename.startswith(PACKAGE):
            return
        if "__wrapped__" in function.__dict__:  # the wrapped function may return functions to the user
            self.enclose_member(function.__dict__["__wrapped__"], with_inner)
        if _is_suited(code) and not _is_enclosed(code):
            # all functions that one `def` statement creates share one code object
            if id(code) not in self.codes:
                self.codes[id(code)] = enclosed(_with_inner(code) if with_inner else code)
                self.before.append(code)
            function.__code__ = self.codes[id(code)]


_NAME = __name__.partition(".")[0]
_boundary = _Boundary()


def enclose(value: Any) -> None:
    """Append handlers to a public function, or to the methods of a class."""
    if _IS_KNOWN:
        _boundary.enclose(value)


#: the packages with public functions; the functions of ``_MAKERS`` return further functions that users call
_SURFACE = frozenset((
    "amp", "api", "boost", "common", "communication", "context", "dataset", "device_context", "experimental",
    "hal", "log", "mindrecord", "mint", "nn", "numpy", "ops", "parallel", "profiler", "runtime", "scipy",
    "solvers", "tools", "train", "version",
))  # fmt: skip
_MAKERS = frozenset(("api", "solvers", "tools"))


def enclose_packages() -> None:
    """Append handlers to the public functions of newly loaded modules."""
    if not _IS_KNOWN:
        return
    for name, module in list(sys.modules.items()):
        parts = name.split(".")
        if parts[0] != _NAME or name in _boundary.packages or not isinstance(module, ModuleType):
            continue
        if not getattr(module.__spec__, "_initializing", False):  # its import is finished
            _boundary.packages.add(name)
        package = parts[1] if len(parts) > 1 else ""
        if package in _SURFACE or not package:
            _boundary.enclose_package(module, package in _MAKERS)
