"""Absent classes can be imported and derived from, and refuse to be called.

Many programs import a name of MindSpore's machinery and use it on one device or in one branch only. Such a
program runs here; where it makes an object of the class, the error says what is missing and what to do
instead.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["absent"]


def absent(module: str, name: str, reason: str, instead: str) -> type[Any]:
    """A class that raises ``NotImplementedError`` wherever it, or a class derived from it, is called.

    Args:
        module: the module that defines it.
        name: its name.
        reason: what it does in MindSpore and why not here, as a predicate without a full stop.
        instead: what to do instead, a sentence.

    Returns:
        The class; its attribute ``absence`` is ``reason``.

    >>> from mindgrad._base.absent import absent
    >>> Kernel = absent("mindgrad.ops", "Kernel", "runs on Ascend only", "Use a Cell.")
    >>> Kernel(1)
    Traceback (most recent call last):
        ...
    NotImplementedError: 'Kernel' runs on Ascend only, which mindgrad does not support. Use a Cell.
    """
    text = f"'{name}' {reason}, which mindgrad does not support. {instead}"

    def refuse(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(text)

    doc = (
        "Placeholder for a class that mindgrad does not support.\n\n"
        f"    In MindSpore it {reason}. {instead}\n\n"
        "    Raises:\n        NotImplementedError: If it is called."
    )
    members = {"__new__": refuse, "__module__": module, "__qualname__": name, "__doc__": doc}
    return type(name, (), {**members, "absence": reason})
