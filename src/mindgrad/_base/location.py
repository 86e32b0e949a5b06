"""Source locations name the user's line at which something happens, in errors and warnings."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "NO_LINE", "Attributed", "FrozenValueWarning", "Line", "Located", "ZeroGradientWarning", "explain_depth",
    "located_source", "user_frame", "user_location", "warn_at", "warn_user",
]  # fmt: skip

#: the folder of this package as the files of its code name it, links and all
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
#: what runs a program of the user's
LAUNCHERS = (PACKAGE + "cli.py", PACKAGE + "__main__.py")


def is_own_file(name: str) -> bool:
    """Whether a file is of this package, and runs no program of the user's."""
    return name.startswith(PACKAGE) and name not in LAUNCHERS


def user_frame() -> Any:
    """The innermost frame that is not part of this package (the outermost one if there is none)."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


class Line(tuple):
    """A source ``(file, line)`` that knows whose operator it is.

    Attributes:
        cell: str, the path of the Cell whose ``construct`` the line stands in, empty outside of all.
        layer: str, the path of the innermost Cell at work, which the line may have called.
        is_pullback: bool, whether the line is of a derivative that the user has written.
    """

    cell: str = ""
    layer: str = ""
    is_pullback: bool = False


#: the line of what belongs to none of the program
NO_LINE = ("", 0)


def user_location() -> tuple[str, int]:
    """File and line of :func:`user_frame`, or those that what runs is for (:class:`Located`)."""
    source = _thread.source
    if source is not None and source[0] is not None:
        return source[0]
    frame = user_frame()
    if _thread.attribute is not None:
        return _thread.attribute(frame)
    return (frame.f_code.co_filename, frame.f_lineno)


def explain_depth(error: RecursionError) -> None:
    """Say in ``error`` what ends calls that are nested too deeply, and how to allow them."""
    error.args = (
        f"the calls are nested more deeply than Python's limit of {sys.getrecursionlimit()} frames; each "
        f"Cell takes six. If the recursion ends, raise the limit, sys.setrecursionlimit(...), or call the "
        f"Cells one after another, in a SequentialCell.",
    )


class FrozenValueWarning(UserWarning):
    """A random number or the time is read, or a line is logged, once while a function is compiled."""


class ZeroGradientWarning(UserWarning):
    """A gradient is zero because of a comparison, rounding, index, or random draw.

    The result of such an operation is piecewise constant, so its derivative is 0 wherever it exists. This
    holds even if an expected value or an integral of the result depends smoothly on the input. The warning
    is given once per line, when a derivative is built in which nothing else leads from a differentiated input
    to the output.

    If the zero is meant, write ``ops.stop_gradient(x)`` for the operand of the operation. To silence all
    warnings of this kind, call ``warnings.simplefilter("ignore", mindgrad.ZeroGradientWarning)``.

    >>> import warnings
    >>> import mindgrad as ms
    >>> from mindgrad import Tensor, ops
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     gradient = ms.grad(lambda x: ops.floor(x).sum())(Tensor([1.5]))
    >>> print(gradient, caught[0].category.__name__)
    [0.] ZeroGradientWarning

    See Also:
        :func:`mindgrad.ops.stop_gradient`
    """


class _Thread(threading.local):
    #: the line that what runs is for, in a tuple; ``None`` where that is the innermost of the user's
    source: tuple[Any] | None = None
    #: gives the line of a frame, where not just its file and number are asked for
    attribute: Callable[[Any], tuple[str, int]] | None = None


_thread = _Thread()


class Located:
    """Attribute the operators that this thread applies to the line ``source``.

    It is the line of an earlier call, or of the operator whose derivative is computed. ``None`` is an
    unknown line.

    >>> from mindgrad._base.location import Located, user_location
    >>> with Located(("net.py", 12)):
    ...     user_location()
    ('net.py', 12)
    """

    __slots__ = ("_before", "_source")

    def __init__(self, source: tuple[str, int] | None) -> None:
        self._source = (source,)

    def __enter__(self) -> None:
        self._before, _thread.source = _thread.source, self._source

    def __exit__(self, *_: object) -> None:
        _thread.source = self._before


class Attributed:
    """A region of this thread in which ``attribute`` gives the line of a frame, a :class:`Line` perhaps."""

    __slots__ = ("_attribute", "_before")

    def __init__(self, attribute: Callable[[Any], tuple[str, int]]) -> None:
        self._attribute = attribute

    def __enter__(self) -> None:
        self._before, _thread.attribute = _thread.attribute, self._attribute

    def __exit__(self, *_: object) -> None:
        _thread.attribute = self._before


@contextmanager
def pullback_lines() -> Iterator[None]:
    """A region of this thread whose lines are those of a derivative that the user has written."""
    attribute = _thread.attribute

    def of_pullback(frame: Any) -> Line:
        source = attribute(frame) if attribute else (frame.f_code.co_filename, frame.f_lineno)
        line = Line(source)
        line.cell, line.layer = getattr(source, "cell", ""), getattr(source, "layer", "")
        line.is_pullback = True
        return line

    with Attributed(of_pullback):
        yield


def located_source() -> tuple[Any] | None:
    """The source of the innermost :class:`Located`, in a tuple; ``None`` outside of all."""
    return _thread.source


class _Repeated(str):
    """A message that Python's filters take for the one before of the same ``topic``, whatever its numbers."""

    def __new__(cls, message: str, topic: str) -> _Repeated:
        text = super().__new__(cls, message)
        text.topic = topic
        return text

    topic: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Repeated) and self.topic == other.topic

    def __hash__(self) -> int:
        return hash(self.topic)


def warn_user(message: str, category: type[UserWarning] = UserWarning, topic: str | None = None) -> None:
    """Give a warning at the user's line; Python's default filter shows it once per line.

    With a ``topic`` messages of other texts count as the same one: those with numbers of this call.
    """
    if topic is not None:
        message = _Repeated(message, topic)
    frame = user_frame()
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


#: by file, the warnings that were given at lines of the program (:func:`warn_at`)
_registries: dict[str, dict[Any, Any]] = {}


def warn_at(source: Any, message: str, category: type[UserWarning]) -> None:
    """Give a warning at ``source``, a file and a line; at the line of the caller if it is not known."""
    if not source or not source[0]:
        warn_user(message, category)
        return
    file, line = source[:2]
    warnings.warn_explicit(message, category, file, line, registry=_registries.setdefault(file, {}))


# as users import them
FrozenValueWarning.__module__ = ZeroGradientWarning.__module__ = __name__.partition(".")[0]
