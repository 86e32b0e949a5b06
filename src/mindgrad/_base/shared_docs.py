"""Shared documentation: sections that many docstrings have in common are written once."""

from __future__ import annotations

import inspect
import re
from typing import Any, TypeVar

__all__ = ["SharedSections"]

T = TypeVar("T")

_HEADERS = ("Args", "Inputs", "Outputs", "Returns", "Attributes", "Raises")


class SharedSections:
    """A decorator that completes the docstrings of classes and functions.

    A docstring describes what is its own. It gets the shared description of each argument that it leaves out,
    in the order of the signature, and each of the other shared sections that it does not have.

    Args:
        text: sections as they stand in a docstring: ``Args``, ``Inputs``, ``Outputs``, ``Returns``,
            ``Attributes`` and ``Raises``.

    >>> from mindgrad._base.shared_docs import SharedSections
    >>> described = SharedSections('''
    ...     Args:
    ...         x: a Tensor.
    ...
    ...     Returns:
    ...         A Tensor.
    ... ''')
    >>> @described
    ... def scaled(x, factor):
    ...     '''x times a factor.
    ...
    ...     Args:
    ...         factor: a number.
    ...     '''
    >>> print(scaled.__doc__)
    x times a factor.
    <BLANKLINE>
    Args:
        x: a Tensor.
        factor: a number.
    <BLANKLINE>
    Returns:
        A Tensor.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, item: T) -> T:
        text = item.__doc__
        if text is not None:  # without -OO
            is_class = isinstance(item, type)
            item.__doc__ = _Later(self.text, text) if is_class else _completed(self.text, text, item)  # type: ignore[assignment]
        return item


class _Later:
    """The docstring of a class, completed when it is read: an import does not wait for it."""

    def __init__(self, shared: str, own: str) -> None:
        self.shared, self.own = shared, own

    def __get__(self, instance: Any, owner: type) -> str:
        return _completed(self.shared, self.own, owner)


def _completed(shared: str, own: str, item: Any) -> str:
    """The docstring ``own`` of ``item`` with the sections of ``shared`` that it lacks."""
    shared_sections = _divided(shared)[1]
    before, sections, after = _divided(own)
    for header, section in shared_sections.items():
        if header != "Args":
            sections.setdefault(header, section)
    arguments = _arguments(shared_sections.get("Args", ""), sections.get("Args", ""), item)
    if arguments:
        sections["Args"] = arguments
    ordered = [f"{header}:\n{sections[header]}" for header in _HEADERS if header in sections]
    return "\n\n".join([*before, *ordered, *after])


def _divided(text: str) -> tuple[list[str], dict[str, str], list[str]]:
    """The paragraphs of a docstring before its sections, the sections by header, and what follows them."""
    before: list[str] = []
    sections: dict[str, str] = {}
    after: list[str] = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        header, _, section = paragraph.partition(":\n")
        if header in _HEADERS:
            sections[header] = section
        else:
            (after if sections or after or paragraph.startswith(">>>") else before).append(paragraph)
    return before, sections, after


def _arguments(shared: str, own: str, item: Any) -> str:
    """The section of the arguments of ``item``, in the order of its signature."""
    order = {name: position for position, name in enumerate(inspect.signature(item).parameters)}
    entries = _entries(own)
    described = {name.lstrip("*") for names, _ in entries for name in names}
    for names, text in _entries(shared):
        missing = [name for name in names if name in order and name not in described]
        if missing:
            entries.append((missing, text))
    entries.sort(key=lambda entry: order.get(entry[0][0].lstrip("*"), len(order)))
    return "\n".join(f"    {', '.join(names)}:{text}" for names, text in entries)


def _entries(section: str) -> list[tuple[list[str], str]]:
    """The names of the arguments that each entry of a section describes, and its text."""
    entries = re.split(r"\n(?=    \S)", section)
    pairs = [entry.strip().partition(":")[::2] for entry in entries if entry.strip()]
    return [(names.split(", "), text) for names, text in pairs]
