"""Compose public docstrings: shared sections, defaults, and "See Also".

A line of a docstring can be a *reference* to shared text:

- ``{as amax}`` inserts the sections of the function, class, or string ``amax`` in the same module.
- ``{Raises as softmax}`` inserts one section of ``softmax``.
- ``{errors of one x}`` inserts one of the ``BLOCKS``, in this example for the argument ``x``.

If the docstring itself has a section or an entry, it takes precedence over the shared section or entry.
Arguments are listed in the order of the signature. In text from another function, each name of a parameter of
that function is replaced by the name of this function's parameter at the same position, unless both
signatures contain the name.

Entries of arguments have the form ``name (type): text``. The composition adds ``optional`` after the type and
the default after the text, unless the text already states the default. It also adds a section "See Also" with
the related names (``_base/related_names.py``).
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from mindgrad._base.later import Later
from mindgrad._base.related_names import home_of, references, related

__all__ = [
    "BLOCKS", "Described", "SharedSections", "argument_line", "defaults_of", "divided", "document",
    "document_all", "entries_of", "renamed", "with_sections",
]  # fmt: skip

T = TypeVar("T")

_HEADERS = ("Args", "Inputs", "Outputs", "Returns", "Attributes", "Raises")
_LAST = "See Also"
_SHAPE = "Returns:\n    Tensor of the same shape as ``{0}``.\n\n"
_PAIR = "Returns:\n    Tensor with the broadcast shape and the promoted dtype of the operands.\n\n"
_ONE = "Raises:\n    TypeError: If ``{0}`` is neither a tensor nor a number."
_REAL = "Raises:\n    TypeError: If ``{0}`` is complex, or neither a tensor nor a number."
_TWO = (
    "Raises:\n    TypeError: If an operand is neither a tensor nor a number{more}.\n"
    "    ValueError: If the shapes of the operands do not broadcast."
)

#: maps the name of each docstring block to its text. A reference such as ``{errors of one x}`` inserts the
#: block ``errors of one``, in which {0} is replaced by the argument name x
BLOCKS = {
    "errors of one": _ONE,
    "errors of a real one": _REAL,
    "errors of two": _TWO.replace("{more}", ""),
    "errors of real two": _TWO.replace("{more}", ", or is complex"),
    "one": _SHAPE + _ONE,
    "a real one": _SHAPE + _REAL,
    "two": _PAIR + _TWO.replace("{more}", ""),
    "real two": _PAIR + _TWO.replace("{more}", ", or is complex"),
    "errors of a reduction of": (
        "Raises:\n"
        "    TypeError: If ``keep_dims`` is not a bool, ``axis`` is not an int, or ``{0}`` is neither a "
        "tensor nor a number.\n"
        "    ValueError: If ``axis`` is out of range or repeats an axis."
    ),
    "errors of square matrices": (
        "Raises:\n"
        "    TypeError: If ``{0}`` is not a tensor, or is float16 or bfloat16.\n"
        "    ValueError: If the matrices in ``{0}`` are not square."
    ),
    "errors of arguments": (
        "Raises:\n    TypeError: If an argument has the wrong type.\n"
        "    ValueError: If the shapes of the tensors do not match."
    ),
    "errors of scattering": (
        "Raises:\n"
        "    TypeError: If ``indices`` is not an integer tensor, or ``updates`` has another dtype than the "
        "tensor to update.\n"
        "    ValueError: If the shape of ``updates`` does not match ``indices`` and the tensor to update.\n"
        "    IndexError: If the value of an index is known and out of range."
    ),
    "errors of a loss": (
        "Raises:\n"
        "    TypeError: If an operand is complex, or neither a tensor nor a number.\n"
        "    ValueError: If the shapes of the tensors do not match, or ``reduction`` is not a supported name."
    ),
}


class SharedSections:
    """A decorator that completes the docstrings of classes and functions.

    Args:
        text: docstring sections that are added to every decorated object.

    >>> from mindgrad._base.shared_docs import SharedSections
    >>> described = SharedSections('''
    ...     Args:
    ...         x (Tensor): any tensor.
    ...
    ...     Returns:
    ...         A Tensor.
    ... ''')
    >>> @described
    ... def scaled(x, factor=2):
    ...     '''Multiply a tensor by a factor.
    ...
    ...     Args:
    ...         factor (int): the factor.
    ...
    ...     {errors of one factor}
    ...     '''
    >>> print(scaled.__doc__.replace("    ", "  "))
    Multiply a tensor by a factor.
    <BLANKLINE>
      Args:
        x (Tensor): any tensor.
        factor (int, optional): the factor. Default: ``2``.
    <BLANKLINE>
      Returns:
        A Tensor.
    <BLANKLINE>
      Raises:
        TypeError: If ``factor`` is neither a tensor nor a number.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text

    def __call__(self, item: T) -> T:
        text = item.__doc__
        if text is None:  # ``python -OO`` removes all docstrings
            return item
        if isinstance(item, type):
            item.__doc__ = Later(_of_class, self.text, text, item)  # type: ignore[assignment]
        else:
            document(item, shared=self.text)
        return item


#: decorator for functions and classes of a module whose docstrings have no common sections
with_sections = SharedSections()


def document(function: Any, names: Iterable[str] = (), *, shared: str = "") -> None:
    """Complete the docstring of a function with default values and shared sections.

    Args:
        function: a function with a docstring.
        names: dotted paths of the operator's other public names, which are added to "See Also".
        shared: docstring sections to insert. Sections that the docstring already has are not inserted.
    """
    text = function.__doc__
    if shared or "\n    {" in text:
        text = _composed(shared, text, function)
        text = text.replace("\n", "\n    ").replace("\n    \n", "\n\n")
    if "Args:\n" in text:
        text = _with_defaults(text, defaults_of(function))
    if "    See Also:\n" not in text:
        see_also = references([*names, *related(home_of(function))], "\n        ")
        if see_also:
            text = f"{text.rstrip()}\n\n    See Also:\n        {see_also}"
    function.__doc__ = text


def document_all(namespace: Mapping[str, Any], *counterparts: str) -> None:
    """Add the shared sections and "See Also" to the docstrings of a public module.

    The docstrings of all functions and classes that the module exports are completed.

    Args:
        namespace: ``globals()`` of the module, which must contain ``__all__``. Objects that the module
            imports are not changed.
        counterparts: dotted names of other public modules. In "See Also", each object links to the objects of
            the same name in these modules.
    """
    for name in namespace["__all__"]:
        item = namespace.get(name)
        is_class = isinstance(item, type)
        if not (is_class or inspect.isfunction(item)) or item.__module__ != namespace["__name__"]:
            continue
        text = vars(item).get("__doc__") if is_class else item.__doc__
        if isinstance(text, str):  # a ``Later`` object is a docstring that is already completed
            names = [f"{module}.{name}" for module in counterparts if name in vars(sys.modules[module])]
            if is_class:
                item.__doc__ = Later(_of_class, "", text, item, names)
            else:
                document(item, names)


def _of_class(shared: str, text: str, item: type, names: Iterable[str] = ()) -> str:
    """Return the docstring of a class, completed with the sections in ``shared``."""
    doc = _composed(shared, text, item)
    parameters = _constructor(item).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    doc = _with_defaults(doc, defaults)
    has_own = "\nSee Also:\n" in doc
    see_also = "" if has_own else references([*names, *related(home_of(item))], "\n    ")
    return f"{doc}\n\nSee Also:\n    {see_also}" if see_also else doc


# --- arguments and their defaults --------------------------------------------------------------------


class Described(NamedTuple):
    """One entry of a docstring section: argument names, type (may be ""), and text."""

    names: list[str]
    type: str
    text: str


#: regular expression for an argument with a type in a docstring. Its groups are the indentation, the argument
#: names, the type, and the description of one or more lines
_TYPED = re.compile(r"^( +)(\**\w+(?:, \**\w+)*) \((.*?)\):(.*(?:\n\1 +\S.*)*)", re.M)
_ENTRY = re.compile(r"([^:(]+?)(?: \((.*?)\))?:(.*)", re.S)
_HEAD = re.compile(r"(?<=^ {4})\w+(?:, \w+)*(?=:| \()", re.M)  # the argument names at the start of an entry
_ADDED = re.compile(r"\s+Default: ``[^`]*``\.$")
_WIDTH = 110


def defaults_of(function: Any) -> dict[str, Any]:
    """Return a dict that maps parameter names of a function to their default values."""
    if "__signature__" in vars(function):
        parameters = inspect.signature(function).parameters.values()
        return {each.name: each.default for each in parameters if each.default is not each.empty}
    function = inspect.unwrap(function)
    code, values = function.__code__, function.__defaults__ or ()
    last = code.co_argcount
    return dict(zip(code.co_varnames[last - len(values) : last], values, strict=True)) | (
        function.__kwdefaults__ or {}
    )


def _with_defaults(text: str, defaults: Mapping[str, Any]) -> str:
    """Add "optional" and the default to each argument in a docstring."""
    start = text.find("Args:\n")
    if start < 0 or not defaults:
        return text
    end = text.find("\n\n", start)
    end = len(text) if end < 0 else end
    section = text[start:end]
    if not any(name in section for name in defaults):
        return text

    def completed(entry: re.Match[str]) -> str:
        indentation, names, kind, words = entry.groups()
        if ", " not in names:
            return (
                argument_line(names, kind, words, defaults[names], indentation)
                if names in defaults
                else entry[0]
            )
        alike: dict[str, list[str]] = {}  # maps each default value to the arguments with this default
        for name in names.split(", "):
            alike.setdefault(repr(defaults[name]) if name in defaults else "", []).append(name)
        return "\n".join(
            argument_line(", ".join(group), kind, words, defaults[group[0]], indentation)
            if shown
            else f"{indentation}{', '.join(group)} ({kind}):{words}"
            for shown, group in alike.items()
        )

    return text[:start] + _TYPED.sub(completed, section) + text[end:]


def argument_line(names: str, kind: str, text: str, default: Any, indentation: str = "    ") -> str:
    """Format the entry of an argument, and add its default unless the text has one.

    >>> from mindgrad._base.shared_docs import argument_line
    >>> print(argument_line("axis", "int", " the axis.", 0))
        axis (int, optional): the axis. Default: ``0``.
    """
    if getattr(default, "is_missing", False):
        return f"{indentation}{names} ({kind}):{text}"
    if not kind.endswith("optional"):
        kind += ", optional"
    shown = "" if "default" in text.lower() else _shown(default)
    line = f"{indentation}{names} ({kind}):{text.rstrip()}"
    if not shown:
        return line
    line += "" if line.endswith((".", ":")) else "."
    last = len(line) - line.rfind("\n") - 1
    gap = " " if last + len(shown) + 14 <= _WIDTH else f"\n{indentation}    "
    return f"{line}{gap}Default: ``{shown}``."


def _shown(value: Any) -> str:
    """Format a default value as source code, or return "" if it has no short form."""
    if isinstance(value, str):
        return f'"{value}"'
    if value is None or isinstance(value, (bool, int, float, complex, tuple, list)):
        return repr(value)
    return str(getattr(value, "__name__", "")) or (
        str(value).lower() if type(value).__name__ == "DType" else ""
    )


# --- sections ----------------------------------------------------------------------------------------


def divided(doc: str) -> tuple[list[str], dict[str, str], list[str]]:
    """Split a docstring into its sections.

    Returns:
        The paragraphs before the sections, the sections by header, and the paragraphs after the sections.
    """
    return _divided(_dedented(doc))[:3]


def _composed(shared: str, own: str, item: Any) -> str:
    """Insert shared sections into a docstring.

    Args:
        shared: docstring sections to insert. Sections that the docstring already has are not inserted.
        own: docstring, which may contain references to shared text.
        item: function or class with this docstring.
    """
    before, sections, after, named = _divided(_dedented(own))
    sources = [_source(reference, item) for reference in named]
    if shared:
        sources.append(_divided(_dedented(shared))[1])
    for source in sources:
        described = source.pop("Args", "")
        if described:
            sections["Args"] = _arguments(described, sections.get("Args", ""), _parameters(item))
        source.pop(_LAST, None)
        sections = source | sections
    ordered = [f"{header}:\n{sections[header]}" for header in _HEADERS if sections.get(header)]
    last = [f"{_LAST}:\n{sections[_LAST]}"] if _LAST in sections else []
    return "\n\n".join([*before, *ordered, *after, *last])


def _dedented(text: str) -> str:
    """Remove the common indentation of a docstring."""
    after = text[text.find("\n") + 1 :].lstrip("\n")
    indentation = " " * (len(after) - len(after.lstrip(" ")))
    return text.replace(f"\n{indentation}", "\n").strip()


def _divided(text: str) -> tuple[list[str], dict[str, str], list[str], list[str]]:
    """Split a docstring into its sections.

    Returns:
        The paragraphs before the sections, the sections by header, the paragraphs after the sections, and the
        references to shared sections.
    """
    before: list[str] = []
    sections: dict[str, str] = {}
    after: list[str] = []
    references: list[str] = []
    for paragraph in text.split("\n\n"):
        header, _, section = paragraph.partition(":\n")
        if header in _HEADERS or header == _LAST:
            sections[header] = section.rstrip()
        elif paragraph[:1] == "{" and paragraph[-1] == "}":
            references.append(paragraph[1:-1])
        else:
            is_first = not (sections or after or references or paragraph.startswith(">>>"))
            (before if is_first else after).append(paragraph)
    return before, sections, after, references


def _source(reference: str, item: Any) -> dict[str, str]:
    """Return the shared sections that a ``reference`` in a docstring inserts."""
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
    """Rename the parameters ``parameters`` in sections to the parameters of ``item``.

    Parameters correspond by position. A name that both functions have is not replaced.
    """
    own = _parameters(item)
    for old, new in zip(parameters, own, strict=False):
        if new not in parameters and old not in own:
            for header, text in sections.items():
                sections[header] = renamed(text, {old: new})
    return sections


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Rename parameters in paragraphs or sections, both in entries and in text.

    ``names`` maps old names to new names.
    """
    if not names:
        return text
    text = _HEAD.sub(lambda head: ", ".join(names.get(name, name) for name in head[0].split(", ")), text)
    quoted = {f"``{old}``": f"``{new}``" for old, new in names.items()}
    return re.sub(r"``\w+``", lambda name: quoted.get(name[0], name[0]), text)


def _parameters(item: Any) -> list[str]:
    """Return the parameter names of a function, or of the constructor of a class."""
    if isinstance(item, type):
        return list(_constructor(item).parameters)
    code = inspect.unwrap(item).__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + _variadic(code.co_flags)])


def _constructor(item: type) -> inspect.Signature:
    """Return the signature of the constructor, which a base class may define."""
    return inspect.signature(vars(item).get("__init__", item))


def _variadic(flags: int) -> int:
    return bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)


def _arguments(shared: str, own: str, parameters: list[str]) -> str:
    """Merge two sections of arguments in the order of ``parameters``.

    Entries of ``own`` take precedence over entries of ``shared``.
    """
    order = {name: position for position, name in enumerate(parameters)}
    entries = entries_of(own)
    described = {name.lstrip("*") for entry in entries for name in entry.names}
    for entry in entries_of(shared):
        missing = [name for name in entry.names if name.lstrip("*") in order.keys() - described]
        if missing:
            entries.append(entry._replace(names=missing))
    entries.sort(key=lambda entry: order.get(entry.names[0].lstrip("*"), len(order)))
    return "\n".join(
        f"    {', '.join(names)}{f' ({kind})' if kind else ''}:{text}" for names, kind, text in entries
    )


def entries_of(section: str) -> list[Described]:
    r"""Parse the entries of a section, without the defaults that the composition added.

    >>> from mindgrad._base.shared_docs import entries_of
    >>> entries_of("    x, y (Tensor): two points.\n    axis (int, optional): the axis. Default: ``0``.")[1]
    Described(names=['axis'], type='int', text=' the axis.')
    """
    parsed = [_ENTRY.match(entry.strip()) for entry in re.split(r"\n(?=    \S)", section) if entry.strip()]
    return [
        Described(entry[1].split(", "), (entry[2] or "").removesuffix(", optional"), _ADDED.sub("", entry[3]))
        for entry in parsed
        if entry
    ]
