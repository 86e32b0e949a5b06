"""Errors of a command end at the line of the script that they come from; others are one line of their own."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from mindgrad._base.boundary import trim
from mindgrad._base.refusal import keeps_own_frames

__all__ = ["shown_errors"]

#: errors that say what is wrong with what a command was given
_EXPECTED = (TypeError, ValueError, NotImplementedError, OSError)


@contextmanager
def shown_errors(command: str) -> Iterator[None]:
    """A region whose errors are shown as those of a command line tool: without frames of ours.

    Args:
        command (str): the name of the command.

    Raises:
        SystemExit: If an error was shown. The status is 1 if the script raised it, 2 if it is about what the
            command line says.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception as error:
        if keeps_own_frames():
            raise
        trim(error)
        if any(os.path.isfile(file) for file in _files(error)):
            traceback.print_exception(error)
            raise SystemExit(1) from None
        print(f"mindgrad {command}: {_text(error)}", file=sys.stderr)
        if not isinstance(error, _EXPECTED):
            print("MINDGRAD_TRACEBACK=full shows where: please report it.", file=sys.stderr)
        raise SystemExit(2) from None


def _files(error: BaseException) -> list[str]:
    """The files that a shown traceback quotes, those of a syntax error too."""
    quoted = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename is not None:
        quoted.append(error.filename)
    return quoted


def _text(error: Exception) -> str:
    return "".join(traceback.format_exception_only(error)).rstrip()
