"""Display of errors in commands.

An error in the script is shown with a traceback that ends at the line of the script. Any other error is shown
as one line.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from mindgrad.core.base.refusal import keeps_own_frames, trim

__all__ = ["shown_errors"]

#: errors that count as mistakes of the user. All other errors count as bugs of mindgrad
_EXPECTED = (TypeError, ValueError, NotImplementedError, OSError)


@contextmanager
def shown_errors(command: str) -> Iterator[None]:
    """Show the errors of a block without mindgrad's internal frames, and exit.

    Args:
        command (str): name of the command, for the error message.

    Raises:
        SystemExit: If the block raised an error. The status is 1 if the traceback contains a line of the
            script, and 2 otherwise.
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
    """List the files in a traceback, including the file of a syntax error."""
    quoted = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename is not None:
        quoted.append(error.filename)
    return quoted


def _text(error: Exception) -> str:
    return "".join(traceback.format_exception_only(error)).rstrip()
