"""Check the names of keyword arguments, and suggest similar names in the error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mindgrad.core.base.nearest import nearest

__all__ = ["check_keywords", "explain_with"]


def _listed(name: str, names: Sequence[str]) -> str:
    return nearest(name, names) or f"; there are {', '.join(names)}"


_hint: Callable[[str, Sequence[str]], str] = _listed


def explain_with(hint: Callable[[str, Sequence[str]], str]) -> None:
    """Set the function that suggests a replacement for an unknown keyword argument.

    It receives the name of the argument and the names of the parameters, and returns the end of the error
    message.
    """
    global _hint
    _hint = hint


def check_keywords(owner: str, keywords: Iterable[str], accepted: Iterable[str]) -> None:
    """Raise ``TypeError`` if a keyword argument is not a parameter.

    Args:
        owner: name of the function, for the message.
        keywords: names of the keyword arguments of a call.
        accepted: names of the parameters.

    Raises:
        TypeError: If a keyword argument is not a parameter.
    """
    names = [name for name in accepted if name != "self"]
    for name in keywords:
        if name not in names:
            hint = _hint(name, names)
            end = "" if hint.endswith(".") else "."
            raise TypeError(f"{owner}() got an unexpected keyword argument {name!r}{hint}{end}")
