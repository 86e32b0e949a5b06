"""Errors for names that a module does not define."""

from collections.abc import Sequence
from inspect import currentframe
from typing import Any, NoReturn

from mindgrad.core.base._cpython import is_import
from mindgrad.core.base.nearest import nearest

__all__ = ["missing_name"]


def missing_name(module: str, names: Sequence[str], name: str, depth: int = 1) -> NoReturn:
    """Raise the error for a name that a module does not define, with similar names.

    Python discards the message of an ``AttributeError`` in the statement ``from module import name``, which
    therefore raises ``ImportError``. ``depth`` counts the frames up to the program that reads the name.
    """
    frame: Any = currentframe()
    for _ in range(depth):
        frame = frame.f_back
    hint = nearest(name, names)
    if is_import(frame):
        raise ImportError(f"cannot import name {name!r} from {module!r}{hint}", name=module)
    raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}", name=name)
