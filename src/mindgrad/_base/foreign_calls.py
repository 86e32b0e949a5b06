"""Notes on Python's errors for wrong arguments of mindgrad's functions.

If a call has an unknown keyword or lacks an argument, Python raises an error before the called function
starts. If ``_base/foreign_names.py`` contains mindgrad's name of the argument, :func:`note_arguments` adds
this name to the error.
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

#: maps a function name to an example call, which the error shows if arguments are missing
_CALLS = {
    "normal": "ops.randn(2, 3), or ops.normal(shape, mean, stddev)",
    "uniform": "ops.rand(2, 3) for numbers between 0 and 1, or ops.uniform(shape, minval, maxval)",
}
#: pattern of Python's message for missing arguments
_MISSING = re.compile(r"(\w+)\(\) missing \d+ required positional arguments?: .*")
#: pattern of Python's message for an unexpected keyword. Since Python 3.13, the message may end with a
#: suggestion
_UNEXPECTED = re.compile(
    r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'(?:\. Did you mean '\w+'\?)?"
)


def note_arguments(error: BaseException, *, at_top: bool = False) -> None:
    """Add advice to the error that Python raises for a wrong or missing argument.

    Args:
        error: the error.
        at_top: whether the error has not passed through a function of mindgrad. In this case, the error is
            changed only if the called function can be found and belongs to mindgrad.
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
        if accepted is None:  # the error comes from an inner call, which has added a note
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
    """Return whether mindgrad defines ``function``."""
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
    """Evaluate a name or attribute expression without running properties.

    ``names`` maps variables to their values.
    """
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    owner = _value(node.value, names)
    if isinstance(owner, ModuleType):
        return getattr(owner, node.attr, None)
    return inspect.getattr_static(owner, node.attr, None)


before_trimming(note_arguments)
