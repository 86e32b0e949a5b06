"""The registry of public names holds the forms of every function, each declared once, beside the function.

A form is a line of text: the name under which programs find the function and, where its arguments differ
from the function's, what it takes::

    "Erfc"                                                 the class, ``ops.Erfc()(x)``
    "ReduceMean(keep_dims=False)(x, axis=())"   a class: its attributes, then its inputs
    "GeLU()(x)(approximate='tanh')"                        further arguments have fixed values
    "Tensor.erfc"                                          a method
    "ops"                                                  a function of a module that ``ops`` does not import
    "mint.amax(input, dim=None, keepdim=False)"            a function of ``mint`` with names of its own
    "numpy.mean(a: floating, axis=None)"                   a function of ``mindgrad.numpy``

A surface (the classes, Tensor, ``mint``, ``mint.nn.functional``, ``numpy``) makes its names from these forms
when it is loaded, and at once from forms that come later. ``ops.forms`` reads the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from mindgrad._base.related_names import related
from mindgrad._base.shared_docs import document

__all__ = ["CLASSES", "Form", "names_of", "public", "surface", "surface_forms"]

#: the path of the class forms
CLASSES = "ops.operations"

_F = TypeVar("_F", bound=Callable[..., Any])


class Form(NamedTuple):
    """A public name: its path, the name, the text of its arguments ("": the function's own), the function.

    ``example`` is one of its own, ``expression => shown``, where the function's says something else.
    """

    path: str
    name: str
    arguments: str
    function: Callable[..., Any]
    example: str = ""


#: functions and their lines, in the order of their modules; a path reads them when it is asked for
_DECLARED: list[tuple[Callable[..., Any], tuple[str, ...]]] = []
_LINES: dict[Callable[..., Any], tuple[str, ...]] = {}
_FORMS: dict[str, dict[str, Form]] = {}
_READ: dict[str, int] = {}  # how many of those declared a path has read
_SURFACES: dict[str, Callable[[list[Form]], None]] = {}


def public(*forms: str) -> Callable[[_F], _F]:
    """A decorator that declares the forms of a function and gives the function itself.

    Without forms the function is one of ``ops`` alone. Its docstring is completed
    (``_base/shared_docs.py``).

    Args:
        forms: lines as above. A line without arguments can hold several names, divided by spaces; a path
            alone ("Tensor", "mint") is that of the function's own name.

    Raises:
        ValueError: a line names nothing, or a name is declared already, in another way.

    >>> from mindgrad import ops
    >>> from mindgrad.ops.registry import surface_forms
    >>> surface_forms("Tensor")["mean"].arguments
    '(axis=None, keepdims=False)'
    """

    def declared(function: _F) -> _F:
        if forms:
            _LINES[function] = _LINES.get(function, ()) + forms
        if function.__doc__:
            names = names_of(function)
            if len(names) == 1 and names[0].startswith("mindgrad.Tensor."):  # perhaps a method alone
                names = related(names[0]) or names
            document(function, names)
        if forms:
            _DECLARED.append((function, forms))
            for path in _SURFACES:
                _install_further(path)
        return function

    return declared


def _install_further(path: str) -> None:
    """Install what was declared for a surface since it was loaded, which is nothing if that is wrong."""
    before = len(_FORMS[path])
    try:
        names = surface_forms(path)
    except ValueError:
        _DECLARED.pop()
        raise
    if len(names) > before:
        _SURFACES[path](list(names.values())[before:])


_ALONE = frozenset({"Tensor", "mint", "numpy", "ops", "mint.nn.functional", "mint.linalg"})


#: the public modules by the owners of names in forms; other owners repeat names of these
_OWNERS = {
    "": "mindgrad.ops",
    "Tensor": "mindgrad.Tensor",
    "mint": "mindgrad.mint",
    "numpy": "mindgrad.numpy",
    "mint.nn.functional": "mindgrad.mint.nn.functional",
    "mint.linalg": "mindgrad.mint.linalg",
}


def names_of(function: Callable[..., Any]) -> list[str]:
    """The paths of the public names of a function besides its own in ``ops``, one for each module.

    >>> from mindgrad import ops
    >>> from mindgrad.ops.registry import names_of
    >>> names_of(ops.mean)[:2]
    ['mindgrad.ops.ReduceMean', 'mindgrad.Tensor.mean']
    """
    paths: dict[str, str] = {}
    for line in _LINES.get(function, ()):
        for words in line.partition("(")[0].partition(" >>> ")[0].split():
            owner, _, name = (words, "", function.__name__) if words in _ALONE else words.rpartition(".")
            if owner in _OWNERS and owner not in paths and name[0] != "_":
                paths[owner] = f"{_OWNERS[owner]}.{name}"
    return list(paths.values())


def _forms(line: str, function: Callable[..., Any], path: str) -> Iterator[Form]:
    """The forms of a line that belong to ``path``."""
    text, _, example = line.partition(" >>> ")
    start = text.find("(")
    head, arguments = (text, "") if start < 0 else (text[:start], text[start:])
    if not head:
        raise ValueError(f"The form '{line}' of '{function.__name__}' names nothing.")
    for words in head.split():
        owner, _, name = (words, "", function.__name__) if words in _ALONE else words.rpartition(".")
        if (owner or CLASSES) == path:
            yield Form(path, name, arguments, function, example)


def surface(path: str, install: Callable[[list[Form]], None]) -> None:
    """Install the forms of a path: those that are declared by now, and each that is declared later."""
    install(list(surface_forms(path).values()))
    _SURFACES[path] = install


def surface_forms(path: str) -> dict[str, Form]:
    """The declared forms of a path, by name.

    Raises:
        ValueError: a line names nothing, or a name is declared twice.
    """
    names = _FORMS.setdefault(path, {})
    for function, lines in _DECLARED[_READ.get(path, 0) :]:
        for line in lines:
            if path not in line and path != CLASSES:
                continue
            for form in _forms(line, function, path):
                if names.setdefault(form.name, form) is not form and names[form.name] != form:
                    raise ValueError(f"The public name '{path}.{form.name}' is declared twice.")
    _READ[path] = len(_DECLARED)
    return names
