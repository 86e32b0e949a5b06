"""Compile errors: where and why a construct cannot be compiled, and a fix.

:func:`refuse` raises the error. Its message has the reason, the line of the user's code with the unsupported
expression underlined, and the fix::

    the value of a tensor is not known while the program is compiled
      File "net.py", line 12, in construct
        if float(x.sum()) > 0:
           ^^^^^^^^^^^^^^
      Instead: compare the tensor itself, `if x.sum() > 0`.

:func:`trim` adds notes to an error, and removes mindgrad's internal frames from its traceback.
"""

from __future__ import annotations

import itertools
import linecache
import os
import re
import sys
import types
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from mindgrad.core.base.location import PACKAGE, user_frame

if TYPE_CHECKING:
    from types import FrameType

__all__ = [
    "HELPER", "CompileError", "SourceLocation", "before_trimming", "hints", "keeps_own_frames",
    "located_text", "location_of", "refuse", "refuse_selections", "trim", "without_own_frames",
]  # fmt: skip

#: suffix of ``co_qualname`` of the helper functions into which ``frontend.python.rewrite`` splits a user's
#: function
HELPER = ".<part>"

#: end of ``co_qualname`` of a comprehension. Up to Python 3.11, a comprehension is a separate function
_COMPREHENSION = re.compile(r"(\.<locals>\.<(list|set|dict)comp>)+$")

#: for a topic of messages, a sentence with further fixes that an upper layer adds, with a space before it
hints: dict[str, str] = defaultdict(str)

_LONGEST = 110  # maximum number of characters of a source line in an error message
_Error = TypeVar("_Error", bound=BaseException)


class CompileError(TypeError, RuntimeError):
    """A function that cannot be compiled.

    The class is both a ``TypeError`` and a ``RuntimeError``, because programs written for MindSpore catch
    either.

    Attributes:
        is_final: whether tracing has changed state that cannot be restored. If so, mindgrad must not run the
            function in another way.

    >>> import mindgrad as ms
    >>> try:
    ...     ms.jit(lambda x: x.item())(ms.Tensor([1.0]))
    ... except ms.CompileError as error:
    ...     print(str(error).partition(":")[0])
    The value of a tensor is read inside a compiled function

    See Also:
        :func:`mindgrad.jit`, :class:`mindgrad.FrozenValueWarning`, :func:`mindgrad.explain`
    """

    is_final = False


class SourceLocation(NamedTuple):
    """A range of source code.

    Lines count from 1. Columns count characters from 0. Unknown values are ``None``.
    """

    file: str
    line: int
    column: int | None = None
    end_column: int | None = None
    function: str = ""
    end_line: int | None = None


def location_of(frame: FrameType) -> SourceLocation:
    """Return the location of the expression that ``frame`` is evaluating."""
    code = frame.f_code
    line, end_line, column, end_column = frame.f_lineno, None, None, None
    if frame.f_lasti >= 0:
        positions = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None), None)
        if positions is not None and positions[0] is not None:
            line, end_line, column, end_column = positions
            text = linecache.getline(code.co_filename, positions[0], frame.f_globals)
            last = text if end_line == line else ""
            column, end_column = _characters(text, column), _characters(last, end_column)
    name = _COMPREHENSION.sub("", code.co_qualname.removesuffix(HELPER)).rpartition("<locals>.")[2]
    return SourceLocation(code.co_filename, line, column, end_column, name, end_line)


def _characters(text: str, column: int | None) -> int | None:
    """Convert a column of a code object, which counts bytes of UTF-8, to characters."""
    if column is None or text.isascii():
        return column
    return len(text.encode()[:column].decode(errors="replace"))


def refuse_selections(values: Iterable[Any]) -> None:
    """Raise an error if a value is a selection ``x[mask]`` with an unknown mask.

    The shape of the selection depends on the mask, so the selection is not a tensor (``ops.selection``).
    """
    for value in values:
        if getattr(type(value), "is_selection", False):
            value.refuse()


def refuse(
    reason: str,
    instead: str = "",
    *,
    frame: FrameType | None = None,
    at: SourceLocation | tuple | None = None,
    is_final: bool = False,
) -> NoReturn:
    """Raise a :class:`CompileError` with a location, a reason, and a fix.

    Args:
        reason: the unsupported construct, and the reason. It consists of sentences, the last one without a
            full stop.
        instead: a sentence that describes the fix; empty if there is no fix.
        frame: frame whose current expression is the location. By default, it is the innermost frame outside
            mindgrad, unless ``at`` is given.
        at: location, ``(file, line, column, end column, function)`` as in :class:`SourceLocation`.
        is_final: see :class:`CompileError`.

    >>> from mindgrad.core.base.refusal import refuse
    >>> refuse("A set cannot be compiled", "Use a tuple.", at=("net.py", 3, None, None, "construct"))
    Traceback (most recent call last):
        ...
    mindgrad.CompileError: A set cannot be compiled
      File "net.py", line 3, in construct
      Instead: Use a tuple.
    """
    if reason.startswith(("the ", "a ", "an ")):  # a label, such as "the attribute 'x'", is in lower case
        reason = reason[0].upper() + reason[1:]
    location = (
        SourceLocation(*at) if at is not None else location_of(frame if frame is not None else user_frame())
    )
    error = CompileError(located_text(reason, instead, location))
    error.is_final = is_final
    raise error from None


def located_text(reason: str, instead: str, location: SourceLocation) -> str:
    """Format an error message: the reason, the source line, and the fix."""
    lines = [
        reason,
        f'  File "{location.file}", line {location.line}'
        + (f", in {location.function}" * bool(location.function)),
    ]
    source = linecache.getline(location.file, location.line).rstrip()
    if source.strip():
        lines += _underlined(source, location)
    if instead:
        first, *others = instead.splitlines()
        lines += [f"  Instead: {first}", *("           " + each for each in others)]
    return "\n".join(lines)


def _underlined(source: str, location: SourceLocation) -> list[str]:
    """Format the source line and, below it, ``^^^^`` at the location."""
    start = len(source) - len(source.lstrip())
    begin = start if location.column is None else max(location.column, start)
    several = location.end_line is not None and location.end_line > location.line
    end = len(source) if several or location.end_column is None else min(location.end_column, len(source))
    if end - start > _LONGEST:  # shorten the line around the reported location
        cut = max(start, begin - _LONGEST // 3)
        head, tail = "..." * (cut > start), "..." * (len(source) > cut + _LONGEST)
        shown = head + source[cut : cut + _LONGEST] + tail
        begin, end = begin - cut + len(head), min(end - cut, _LONGEST) + len(head)
    else:
        shown = source[start:]
        begin, end = begin - start, end - start
    lines = ["    " + shown]
    if location.column is not None and 0 <= begin < end:
        lines.append("    " + " " * _width(shown[:begin]) + "^" * _width(shown[begin:end]))
    return lines


def _width(text: str) -> int:
    """Return the width of a string in columns of a terminal."""
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(unicodedata.combining(each) != 0 for each in text)


# -- tracebacks ------------------------------------------------------------------------------------

_ENGINES = ("jax.", "jaxlib.")
_LIBRARIES = frozenset(("numpy", "scipy", "ml_dtypes", "safetensors"))

_explanations: list[Callable[[BaseException], None]] = []


def before_trimming(explain: Callable[[BaseException], None]) -> None:
    """Register a function that may add notes to an error that leaves mindgrad.

    When the function runs, the traceback of the error still has all frames.
    """
    _explanations.append(explain)


def trim(error: Exception) -> None:
    """Add notes to ``error``, and remove mindgrad's frames from its traceback."""
    for explain in _explanations:
        explain(error)
    without_own_frames(error)


def _is_own(frame: types.FrameType) -> bool:
    """Check whether a frame belongs to mindgrad or JAX."""
    module = frame.f_globals.get("__name__", "") or ""
    return frame.f_code.co_filename.startswith(PACKAGE) or f"{module}.".startswith(_ENGINES)


def _is_library(frame: types.FrameType) -> bool:
    """Check whether a frame belongs to Python's standard library, NumPy, or SciPy."""
    root = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return root in _LIBRARIES or root in sys.stdlib_module_names


def keeps_own_frames() -> bool:
    """Check whether the user has requested tracebacks with all frames."""
    return os.environ.get("MINDGRAD_TRACEBACK") == "full"


def without_own_frames(error: _Error) -> _Error:
    """Remove mindgrad's internal frames from the traceback of an error and its causes.

    If mindgrad ran a part of a user's function as a helper function, the traceback contains the function
    twice. Only the inner line remains. If ``MINDGRAD_TRACEBACK=full`` is set, all frames remain.

    Use a bare ``raise`` after the call. The statement ``raise error`` would add the frame of the caller::

        except Exception as error:
            without_own_frames(error)
            raise
    """
    if keeps_own_frames():
        return error
    waiting: list[BaseException | None] = [error]
    visited: set[int] = set()
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in visited:
            continue
        visited.add(id(current))
        current.__traceback__ = _users(current.__traceback__)
        context = current.__context__
        if context is not None and current.__cause__ is None and _is_internal(context):
            current.__suppress_context__ = True
        waiting += [current.__cause__, context]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions
    return error


def _is_internal(error: BaseException) -> bool:
    """Check whether an error was raised and caught inside mindgrad."""
    entry = error.__traceback__
    while entry is not None and _is_own(entry.tb_frame):
        entry = entry.tb_next
    return entry is None and error.__traceback__ is not None


def _users(first: types.TracebackType | None) -> types.TracebackType | None:
    entries = []
    is_inside = False  # whether the frame belongs to mindgrad, or to a library that mindgrad called
    while first is not None:
        is_inside = _is_own(first.tb_frame) or (is_inside and _is_library(first.tb_frame))
        if not is_inside:
            entries.append(first)
        first = first.tb_next
    trimmed: types.TracebackType | None = None
    for entry, following in zip(reversed(entries), [None, *reversed(entries)], strict=False):
        if following is not None and _is_part_of(following, entry):
            continue
        trimmed = types.TracebackType(trimmed, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return trimmed


def _is_part_of(inner: types.TracebackType, outer: types.TracebackType) -> bool:
    """Check whether ``inner`` runs code generated from the function of ``outer``."""
    code, around = inner.tb_frame.f_code, outer.tb_frame.f_code
    name = code.co_qualname
    return (
        name.endswith(HELPER)
        and code.co_filename == around.co_filename
        and name.removesuffix(HELPER) == around.co_qualname.removesuffix(HELPER)
    )


# users import this class from ``mindgrad``, so show this name as its module
CompileError.__module__ = __name__.partition(".")[0]
