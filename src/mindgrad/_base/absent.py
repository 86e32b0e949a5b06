"""Placeholders for classes of MindSpore that mindgrad does not support.

Many programs import such a class, but use it only on one kind of device or under one condition. These
programs can import the placeholder, and derive classes from it. Creating an instance raises an error that
names a replacement.
"""

from __future__ import annotations

from typing import Any, NoReturn

from mindgrad._base.shared_docs import with_sections

__all__ = ["absent"]


def absent(module: str, name: str, reason: str, instead: str) -> type[Any]:
    """Create a class that raises ``NotImplementedError`` when it is instantiated.

    Classes that are derived from it raise the error, too.

    Args:
        module: name of the module that defines the class.
        name: name of the class.
        reason: the reason why mindgrad does not support the class, such as "runs on Ascend only": the end,
            without a full stop, of a sentence that begins with the name of the class.
        instead: a sentence that names a replacement.

    Returns:
        The class. Its attribute ``absence`` is ``reason``.

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
        "    Args:\n        *args, **kwargs (Any): not used.\n\n"
        "    Raises:\n        NotImplementedError: If it is called.\n\n"
        f"    >>> from {module} import {name}\n"
        f"    >>> {name}()\n"
        "    Traceback (most recent call last):\n"
        "        ...\n"
        f"    NotImplementedError: {text}\n"
        "    "
    )
    members = {"__new__": refuse, "__module__": module, "__qualname__": name, "__doc__": doc}
    return with_sections(type(name, (), {**members, "absence": reason}))
