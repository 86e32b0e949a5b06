"""An outdated test calls what NumPy or SciPy removed, a name or an argument: nothing it tests can pass it.

That is read off the error and the frames it was raised through, never off the name of a test: the innermost
frame of the error that is not NumPy's or SciPy's own must be the checkout's, and what is missing theirs.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import pytest

_LIBRARIES = ("numpy", "scipy")
#: Errors that say of a name that NumPy or SciPy lacks it.
_REMOVED = re.compile(
    r"was removed in the NumPy|module '(numpy|scipy)[\w.]*' has no attribute|"
    r"cannot import name '\w+' from '(numpy|scipy)\b|No module named '(numpy|scipy)\."
)
#: Errors of calls that say of an argument that the function lacks it; they do not say whose the function is.
_ARGUMENT = re.compile(r"got an unexpected keyword argument|takes \d+ positional arguments? but")
#: The error of ``float(array)`` with an array of one element, which NumPy refuses since 2.4.
_SCALAR = "only 0-dimensional arrays can be converted to Python scalars"


def is_outdated(error: BaseException, checkout: Path) -> bool:
    """Whether an error of a test says that the test itself is outdated.

    Args:
        error: the error, with its traceback; what pytest made of an error of an import is seen through.
        checkout: the folder of MindSpore's repository.
    """
    if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
        error = error.__cause__
    innermost = _innermost(error.__traceback__)
    if innermost is None or not Path(innermost.tb_frame.f_code.co_filename).is_relative_to(checkout):
        return False
    text, call = str(error), _call(innermost)
    if isinstance(error, TypeError) and call is not None:
        names = {**vars(builtins), **innermost.tb_frame.f_globals, **innermost.tb_frame.f_locals}
        if _ARGUMENT.search(text):
            return _is_of_library(_value(call.func, names))
        if _SCALAR in text:  # of an array of the test's own: what it is made from is the library's
            roots = [names.get(node.id) for node in ast.walk(call) if isinstance(node, ast.Name)]
            return all(root in vars(builtins).values() or _is_of_library(root) for root in roots)
    return isinstance(error, (AttributeError, ImportError)) and bool(_REMOVED.search(text))


def _innermost(traceback: TracebackType | None) -> TracebackType | None:
    """The last frame of a traceback that is not NumPy's, SciPy's or the machinery's of imports."""
    own = tuple(
        folder
        for name in _LIBRARIES
        if (spec := find_spec(name))
        for folder in spec.submodule_search_locations or ()
    )
    last = None
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith((*own, "<frozen importlib")):
            last = traceback
        traceback = traceback.tb_next
    return last


def _call(traceback: TracebackType) -> ast.Call | None:
    """The call that a frame stands at, if it stands at one."""
    code = traceback.tb_frame.f_code
    first, last, start, end = next(islice(code.co_positions(), traceback.tb_lasti // 2, None))
    if first is None or last is None or start is None or end is None:
        return None
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        expression = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except SyntaxError:
        return None
    return expression if isinstance(expression, ast.Call) else None


def _value(expression: ast.expr, names: dict[str, Any]) -> Any:
    """What a name, or an attribute of one, is; ``None`` where it is another expression."""
    if isinstance(expression, ast.Attribute):
        return getattr(_value(expression.value, names), expression.attr, None)
    return names.get(expression.id) if isinstance(expression, ast.Name) else None


def _is_of_library(thing: Any) -> bool:
    module = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
    return str(module).split(".")[0] in _LIBRARIES
