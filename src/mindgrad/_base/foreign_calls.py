"""Notes on Python's errors for wrong arguments of mindgrad's functions.

Python refuses an unknown keyword or a missing argument before the called function starts. If
``_base/foreign_names.py`` contains mindgrad's name of this argument, :func:`note_arguments` adds this name to
the error.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import re
from types import ModuleType
from typing import Any

from mindgrad._base.foreign_names import KEYWORDS, accepted_names, keyword_hint
from mindgrad.core.base._cpython import variables_of
from mindgrad.core.base.location import PACKAGE
from mindgrad.core.base.refusal import before_trimming

__all__ = ["note_arguments"]

#: maps the name of a function to the call that an error suggests if arguments are missing
_CALLS = {
    "normal": "ops.randn(2, 3), or ops.normal(shape, mean, stddev)",
    "uniform": "ops.rand(2, 3) for numbers between 0 and 1, or ops.uniform(shape, minval, maxval)",
}
#: Python's message for missing arguments
_MISSING = re.compile(r"(\w+)\(\) missing \d+ required positional arguments?: .*")
#: Python's message for an unexpected keyword, which since Python 3.13 may end with a suggestion
_UNEXPECTED = re.compile(
    r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'(?:\. Did you mean '\w+'\?)?"
)


def note_arguments(error: BaseException, *, at_top: bool = False) -> None:
    """Add a replacement to Python's error for a wrong or missing argument.

    Args:
        error: the error.
        at_top: whether the error has not passed a function of mindgrad. Then the error is changed only if the
            called function can be found and belongs to mindgrad.
    """
    if not isinstance(error, TypeError):
        return
    keyword, missing = _UNEXPECTED.fullmatch(str(error)), _MISSING.fullmatch(str(error))
    match = keyword or missing
    if match is None:
        return
    function = _refusing(error)
    is_own = getattr(function, "__qualname__", None) == match[1] and _is_own(function)
    if missing is not None:
        if not is_own or missing[1] not in _CALLS:
            return
        note = f"  In mindgrad: {_CALLS[missing[1]]}."
    elif is_own:
        accepted = accepted_names(function)
        if accepted is None:  # the error comes from a function that it calls, and has its note already
            return
        names = [name for name in accepted if name != "self"]
        hint = keyword_hint(match[2], names).lstrip(".; ")
        note = f"  {hint[:1].upper()}{hint[1:]}{'' if hint.endswith('.') else '.'}"
    elif function is None and match[2] in KEYWORDS and not at_top:
        here = " or ".join(map(repr, " ".join(KEYWORDS[match[2]]).split()))
        note = f"  In mindgrad the argument {match[2]!r} is called {here}."
    else:
        return
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _is_own(function: Any) -> bool:
    """Check whether ``function`` belongs to this package."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(PACKAGE)


def _refusing(error: BaseException) -> Any:
    """Find the function whose call raised ``error``, by parsing the line of the call.

    Returns:
        The function, or ``None`` if the source is not available or the line is not a plain call.
    """
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None:
        return None
    frame = entry.tb_frame
    places = itertools.islice(frame.f_code.co_positions(), entry.tb_lasti // 2, None)
    first, last, start, end = next(places, (None,) * 4)
    if first is None or last is None or start is None or end is None:
        return None
    lines = [line.encode() for line in linecache.getlines(frame.f_code.co_filename, frame.f_globals)]
    lines = lines[first - 1 : last - 1] + [line[:end] for line in lines[last - 1 : last]]
    try:
        call = ast.parse((b"".join(lines)[start:]).decode(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return (
        _value(call.func, {**frame.f_globals, **variables_of(frame)}) if isinstance(call, ast.Call) else None
    )


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """Look up the value of a name or attribute, without running properties."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    owner = _value(node.value, names)
    if isinstance(owner, ModuleType):
        return getattr(owner, node.attr, None)
    return inspect.getattr_static(owner, node.attr, None)


before_trimming(note_arguments)
