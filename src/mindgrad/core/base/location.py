"""Source locations: the line of the user's code for errors and warnings.

An operator is *attributed* to a line: messages about the operator show this line. By default, it is the
innermost line outside mindgrad on the call stack.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import currentframe
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

__all__ = [
    "NO_LINE", "Attributed", "FrozenValueWarning", "Line", "Located", "ZeroGradientWarning", "caller_frame",
    "located_source", "user_frame", "user_location", "warn_at", "warn_user",
]  # fmt: skip

#: folder of mindgrad. Symbolic links are not resolved, because file names of code objects contain the
#: unresolved path
PACKAGE = os.path.join(os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")), "")
#: files of mindgrad that run the user's script. Their frames are not skipped as frames of mindgrad
LAUNCHERS = (PACKAGE + "cli.py", PACKAGE + "__main__.py")


def is_own_file(name: str) -> bool:
    """Check whether ``name`` is a file of mindgrad that does not run user scripts."""
    return name.startswith(PACKAGE) and name not in LAUNCHERS


def user_frame() -> Any:
    """Return the innermost frame outside mindgrad, or else the outermost frame."""
    frame: Any = currentframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


def caller_frame() -> Any:
    """Return the frame of the function that calls the caller of this function."""
    frame: Any = currentframe()
    return frame.f_back.f_back


class Line(tuple):
    """A source line ``(file, line)``, with the module to which an operator belongs.

    Attributes:
        cell: str, the path of the module whose code contains the line, or ``""``.
        layer: str, the path of the innermost module that is running, which code on the line may have called.
        is_pullback: bool, whether the line is in a derivative rule that the user has written.
    """

    cell: str = ""
    layer: str = ""
    is_pullback: bool = False


#: location of an operator whose source line is unknown
NO_LINE = ("", 0)


def user_location() -> tuple[str, int]:
    """Return the file and line to which the current operator is attributed.

    This is the line of the innermost :class:`Located`. Without one, it is the line of :func:`user_frame`.
    """
    source = _thread.source
    if source is not None and source[0] is not None:
        return source[0]
    frame = user_frame()
    if _thread.attribute is not None:
        return _thread.attribute(frame)
    return (frame.f_code.co_filename, frame.f_lineno)


class FrozenValueWarning(UserWarning):
    """A value was computed once, during compilation, and not in each call.

    Examples are random numbers of NumPy, the time, and lines of a log.

    >>> import random, warnings
    >>> import mindgrad as ms
    >>> numbers = random.Random(0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     y = ms.jit(lambda x: x * numbers.random())(ms.Tensor([1.0]))
    >>> [each.category.__name__ for each in caught]
    ['FrozenValueWarning']

    See Also:
        :func:`mindgrad.jit`, :class:`mindgrad.CompileError`, :func:`mindgrad.ops.rand`
    """


class ZeroGradientWarning(UserWarning):
    """A gradient is zero because of a comparison, rounding, index, or random draw.

    The result of such an operation is piecewise constant, so its derivative is 0 wherever it exists. This
    holds even if an expected value or an integral of the result depends smoothly on the input. The warning
    is issued once per line, when a derivative is built in which every path from a differentiated input to the
    output passes through such an operation.

    If the zero is intended, write ``ops.stop_gradient(x)`` for the operand of the operation. To silence all
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
    #: 1-tuple with the source line of the innermost ``Located`` block. ``None`` outside such blocks:
    #: operators then get the innermost line of the user's code
    source: tuple[Any] | None = None
    #: function that returns the source line of a frame. ``None``: use the file and line number of the frame
    attribute: Callable[[Any], tuple[str, int]] | None = None


_thread = _Thread()


class Located:
    """Context manager that attributes operators in its block to the line ``source``.

    For example, ``source`` is the line of an earlier call, or of the operator whose derivative is computed.
    ``None`` means an unknown line. Only operators of the current thread are affected.

    >>> from mindgrad.core.base.location import Located, user_location
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
    """Context manager in which a function determines the source line of operators.

    ``attribute(frame)`` returns ``(file, line)`` or a :class:`Line`. Only the current thread is affected.
    """

    __slots__ = ("_attribute", "_before")

    def __init__(self, attribute: Callable) -> None:
        self._attribute = attribute

    def __enter__(self) -> None:
        self._before, _thread.attribute = _thread.attribute, self._attribute

    def __exit__(self, *_: object) -> None:
        _thread.attribute = self._before


@contextmanager
def pullback_lines() -> Iterator[None]:
    """Mark the source lines of operators in this context as part of a derivative rule.

    The user has written the derivative rule. :class:`Line` stores the mark as ``is_pullback``.
    """
    attribute = _thread.attribute

    def of_pullback(frame: FrameType) -> Line:
        source = attribute(frame) if attribute else (frame.f_code.co_filename, frame.f_lineno)
        line = Line(source)
        line.cell, line.layer = getattr(source, "cell", ""), getattr(source, "layer", "")
        line.is_pullback = True
        return line

    with Attributed(of_pullback):
        yield


def located_source() -> tuple[Any] | None:
    """Return ``(source,)`` of the innermost :class:`Located`, or ``None`` without one."""
    return _thread.source


class _Repeated(str):
    """A message that is equal to every other message with the same ``topic``.

    Python's warning filters therefore show only the first message of a topic, even if the texts differ.
    """

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
    """Issue a warning at the user's line.

    Python's default filter shows it once per line.

    Args:
        message: the message.
        category: class of the warning.
        topic: messages of the same topic count as one message, even if their text differs.
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


#: maps a file to the warnings that :func:`warn_at` has already shown for it
_registries: dict[str, dict[Any, Any]] = {}


def warn_at(source: tuple | None, message: str, category: type[UserWarning]) -> None:
    """Issue a warning at ``source``, or at the user's line if ``source`` is unknown."""
    if not source or not source[0]:
        warn_user(message, category)
        return
    file, line = source[:2]
    warnings.warn_explicit(message, category, file, line, registry=_registries.setdefault(file, {}))


# users import these classes from ``mindgrad``, so show this name as their module
FrozenValueWarning.__module__ = ZeroGradientWarning.__module__ = __name__.partition(".")[0]
