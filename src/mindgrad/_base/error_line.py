"""One-line descriptions of errors, which one process sends to another."""

from __future__ import annotations

__all__ = ["error_line", "shortened"]


def error_line(error: BaseException) -> str:
    """Describe an error and its cause in one line.

    >>> error_line(ValueError("no such batch. Take another one"))
    'ValueError: no such batch. Take another one'
    """
    text = shortened(next(iter(str(error).strip().splitlines()), ""))
    line = f"{type(error).__name__}{': ' if text else ''}{text}"
    cause = error.__cause__
    return line if cause is None or cause is error else f"{line.rstrip('.')} (from {error_line(cause)})"


def shortened(text: str, length: int = 300) -> str:
    """Shorten a string to its first sentences, or to the beginning of the first one.

    >>> shortened("One. Two. Three.", 10), shortened("One, two, three.", 10)
    ('One. Two.', 'One, two…')
    """
    if len(text) <= length:
        return text
    end = text.rfind(". ", 0, length) + 1
    beginning = text[:length]
    return text[:end] if end else f"{(beginning.rpartition(' ')[0] or beginning).rstrip(' ,;:')}…"
