"""Strings that contain the value of a tensor that is not known during the trace.

If traced code converts a tensor without a known value to a string, the string contains a *mark* in place of
the value: a short text that identifies the tensor (``ir.tensor``). ``print`` replaces the mark by the value
when the compiled function runs. Operations that would read the mark, such as ``len`` or a comparison, raise
``CompileError``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from mindgrad.core.base.refusal import refuse, refuse_selections
from mindgrad.core.ir.tensor import MARK, marked

__all__ = ["UnknownText", "marked_text", "refuse_kept", "with_marks"]


class UnknownText(str):
    """A string with *marks* in place of tensor values that are not known yet."""

    __slots__ = ()

    def __add__(self, other: str) -> str:
        return marked_text(str.__add__(self, other))

    def __radd__(self, other: str) -> str:
        return marked_text(str.__add__(other, self))

    def __mul__(self, count: Any) -> str:
        return marked_text(str.__mul__(self, count))

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> str:
        return marked_text(str.__mod__(self, values))

    def __rmod__(self, text: str) -> str:
        return marked_text(str.__mod__(text, (self,)))

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        refuse(
            "A string that contains the value of a tensor is compared or read. The value is not known "
            "at compile time",
            "Compare the number or tensor itself, k == 2, or use 'if' on it. The string can be printed.",
        )


#: methods of ``str`` that work on strings with marks, because they preserve the marks or do not read the
#: contents
_FREE = frozenset([
    "__new__", "__add__", "__mul__", "__rmul__", "__mod__", "__rmod__", "__str__", "__format__", "__repr__",
    "__getattribute__", "__doc__", "__sizeof__", "join", "format", "format_map", "maketrans",
    "__getnewargs__",
])  # fmt: skip
for _name in vars(str):
    if _name not in _FREE and _name not in vars(UnknownText):
        setattr(UnknownText, _name, UnknownText.refuse)
for _name in ("__eq__", "__hash__", "__len__", "__contains__", "__iter__", "__getitem__", "__ne__"):
    setattr(UnknownText, _name, UnknownText.refuse)


def marked_text(text: Any) -> Any:
    """Convert a string to :class:`UnknownText` if it contains a mark of a tensor."""
    return UnknownText(text) if type(text) is str and "<being compiled: " in text else text


def with_marks(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``function`` to return strings with marks as :class:`UnknownText`."""

    @functools.wraps(function)
    def made(*args: Any, **kwargs: Any) -> Any:
        return marked_text(function(*args, **kwargs))

    return made


def refuse_kept(leaf: Any, subject: str) -> None:
    """Raise ``CompileError`` if a compiled function cannot return or store ``leaf``.

    Examples are a string that contains the unknown value of a tensor, and a selection ``x[mask]`` by an
    unknown mask.

    Args:
        leaf: the value.
        subject: description of the result or attribute, for messages.
    """
    if getattr(type(leaf), "is_selection", False):
        refuse_selections([leaf])
    mark = MARK.search(str(leaf)) if isinstance(leaf, str) else None
    if mark:
        refuse(
            f"{subject} is a string that contains the value of a tensor, which is not known at compile time",
            "Return the tensor, and format it outside the compiled function. To show it from inside, "
            "use print.",
            at=marked(int(mark[1]))[2],
        )
