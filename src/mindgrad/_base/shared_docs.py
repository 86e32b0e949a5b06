"""Shared documentation: what several docstrings have in common is written once.

A docstring names what it shares in a line of its own: ``{as amax}`` stands for the sections of another
function or class of its module, or of a text there, ``{Raises as softmax}`` for one of them, and
``{errors of one x}`` for one of the ``BLOCKS``, here about the argument ``x``. It describes what is its own,
and gets each section that it leaves out and, in the order of the signature, each of its arguments. The
parameters of another function are renamed by their positions, unless it has parameters of these names.
"""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any, TypeVar

from mindgrad._base.later import Later

__all__ = ["BLOCKS", "SharedSections", "with_sections"]

T = TypeVar("T")

_HEADERS = ("Args", "Inputs", "Outputs", "Returns", "Attributes", "Raises")
_SHAPE = "Returns:\n    Tensor of the shape of ``{0}``.\n\n"
_PAIR = "Returns:\n    Tensor of the broadcast shape and of the promoted element type.\n\n"
_ONE = "Raises:\n    TypeError: ``{0}`` is neither a tensor nor a number."
_REAL = "Raises:\n    TypeError: ``{0}`` is complex, or neither a tensor nor a number."
_TWO = (
    "Raises:\n    TypeError: an operand is neither a tensor nor a number{more}.\n"
    "    ValueError: the shapes do not broadcast."
)

#: the blocks by name; those with {0} are about an argument, which is named behind
BLOCKS = {
    "errors of one": _ONE,
    "errors of a real one": _REAL,
    "errors of two": _TWO.replace("{more}", ""),
    "errors of real two": _TWO.replace("{more}", ", or complex"),
    "one": _SHAPE + _ONE,
    "a real one": _SHAPE + _REAL,
    "two": _PAIR + _TWO.replace("{more}", ""),
    "real two": _PAIR + _TWO.replace("{more}", ", or complex"),
    "errors of a reduction of": (
        "Raises:\n"
        "    TypeError: ``keep_dims`` is no bool, ``axis`` no int, or ``{0}`` no tensor or number.\n"
        "    ValueError: ``axis`` is out of range or names an axis twice."
    ),
    "errors of square matrices": (
        "Raises:\n"
        "    TypeError: ``{0}`` is no tensor, or has half precision.\n"
        "    ValueError: the matrices are not square."
    ),
    "errors of arguments": (
        "Raises:\n    TypeError: an argument is of another type.\n    ValueError: the shapes do not fit."
    ),
    "errors of scattering": (
        "Raises:\n"
        "    TypeError: the indices are not integers, or the element types differ.\n"
        "    ValueError: the shape of ``updates`` does not fit.\n"
        "    IndexError: a known index is out of range."
    ),
    "errors of a loss": (
        "Raises:\n"
        "    TypeError: an operand is complex, or neither a tensor nor a number.\n"
        "    ValueError: the shapes do not fit, or ``reduction`` is another word."
    ),
}


class SharedSections:
    """A decorator that completes the docstrings of classes and functions.

    Args:
        text: sections, as they stand in a docstring, of all those that it decorates.

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
    ...
    ...     {errors of one factor}
    ...     '''
    >>> print(scaled.__doc__.replace("    ", "  "))
    x times a factor.
    <BLANKLINE>
      Args:
        x: a Tensor.
        factor: a number.
    <BLANKLINE>
      Returns:
        A Tensor.
    <BLANKLINE>
      Raises:
        TypeError: ``factor`` is neither a tensor nor a number.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text

    def __call__(self, item: T) -> T:
        text = item.__doc__
        if text is None:  # with -OO
            return item
        if isinstance(item, type):
            item.__doc__ = Later(_composed, self.text, text, item)  # type: ignore[assignment]
        else:
            item.__doc__ = (
                _composed(self.text, text, item).replace("\n", "\n    ").replace("\n    \n", "\n\n")
            )
        return item


#: the decorator of what names all that it shares
with_sections = SharedSections()


def _composed(shared: str, own: str, item: Any) -> str:
    """The docstring ``own`` of ``item`` with what it lacks of the sections it names, and of ``shared``."""
    before, sections, after, references = _divided(_dedented(own))
    sources = [_source(reference, item) for reference in references]
    if shared:
        sources.append(_divided(_dedented(shared))[1])
    for source in sources:
        described = source.pop("Args", "")
        if described:
            sections["Args"] = _arguments(described, sections.get("Args", ""), _parameters(item))
        sections = source | sections
    ordered = [f"{header}:\n{sections[header]}" for header in _HEADERS if sections.get(header)]
    return "\n\n".join([*before, *ordered, *after])


def _dedented(text: str) -> str:
    """A docstring without the indentation of what follows its first line."""
    after = text[text.find("\n") + 1 :].lstrip("\n")
    indentation = " " * (len(after) - len(after.lstrip(" ")))
    return text.replace(f"\n{indentation}", "\n").strip()


def _divided(text: str) -> tuple[list[str], dict[str, str], list[str], list[str]]:
    """The paragraphs of a docstring before its sections, these by header, what follows, and references."""
    before: list[str] = []
    sections: dict[str, str] = {}
    after: list[str] = []
    references: list[str] = []
    for paragraph in text.split("\n\n"):
        header, _, section = paragraph.partition(":\n")
        if header in _HEADERS:
            sections[header] = section
        elif paragraph[:1] == "{" and paragraph[-1] == "}":
            references.append(paragraph[1:-1])
        else:
            is_first = not (sections or after or references or paragraph.startswith(">>>"))
            (before if is_first else after).append(paragraph)
    return before, sections, after, references


def _source(reference: str, item: Any) -> dict[str, str]:
    """The sections that a reference in the docstring of ``item`` stands for."""
    name, _, last = reference.rpartition(" ")
    if reference in BLOCKS or name in BLOCKS:
        return _divided(BLOCKS[reference] if reference in BLOCKS else BLOCKS[name].format(last))[1]
    source = vars(sys.modules[item.__module__])[last]
    sections = _divided(_dedented(source if isinstance(source, str) else source.__doc__ or ""))[1]
    if name != "as":
        header = name.removesuffix(" as")
        sections = {header: sections[header]}
    return sections if isinstance(source, (str, type)) else _renamed(sections, _parameters(source), item)


def _renamed(sections: dict[str, str], parameters: list[str], item: Any) -> dict[str, str]:
    """Sections about ``parameters`` in the names of those of ``item``, by position where these are others."""
    for old, new in zip(parameters, _parameters(item), strict=False):
        if new not in parameters:
            for header, text in sections.items():
                text = f"\n{text}".replace(f"\n    {old}: ", f"\n    {new}: ")[1:]
                sections[header] = text.replace(f"``{old}``", f"``{new}``")
    return sections


def _parameters(item: Any) -> list[str]:
    """The names of the parameters of a function, or of the constructor of a class."""
    if isinstance(item, type):
        return list(inspect.signature(item).parameters)
    code = inspect.unwrap(item).__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + _variadic(code.co_flags)])


def _variadic(flags: int) -> int:
    return bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)


def _arguments(shared: str, own: str, parameters: list[str]) -> str:
    """The section of the arguments called ``parameters``, in this order."""
    order = {name: position for position, name in enumerate(parameters)}
    entries = _entries(own)
    described = {name.lstrip("*") for names, _ in entries for name in names}
    for names, text in _entries(shared):
        missing = [name for name in names if name.lstrip("*") in order and name.lstrip("*") not in described]
        if missing:
            entries.append((missing, text))
    entries.sort(key=lambda entry: order.get(entry[0][0].lstrip("*"), len(order)))
    return "\n".join(f"    {', '.join(names)}:{text}" for names, text in entries)


def _entries(section: str) -> list[tuple[list[str], str]]:
    """The names of the arguments that each entry of a section describes, and its text."""
    entries = re.split(r"\n(?=    \S)", section)
    pairs = [entry.strip().partition(":")[::2] for entry in entries if entry.strip()]
    return [(names.split(", "), text) for names, text in pairs]
