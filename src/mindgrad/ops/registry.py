"""Registry of public names: names and signatures of each public function.

A function declares its names with the decorator :func:`public`, one *form* per name. A form is a line of
text: the public name and, if its arguments differ from the function's, its arguments::

    "Erfc"                                                 the class, ``ops.Erfc()(x)``
    "ReduceMean(keep_dims=False)(x, axis=())"              a class: its attributes, then its inputs
    "GeLU()(x)(approximate='tanh')"                        a class; further arguments have fixed values
    "Tensor.erfc"                                          a method
    "ops"                                                  a function of a module that ``ops`` does not import
    "mint.amax(input, dim=None, keepdim=False)"            a function of ``mint`` with other argument names
    "numpy.mean(a: floating, axis=None)"                   a function of ``mindgrad.numpy``

A surface (the operator classes, Tensor, ``mint``, ``mint.nn.functional``, ``numpy``) creates its names from
the forms when it is loaded. A form that is declared later is added immediately. ``ops.forms`` parses the
arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from mindgrad._base.related_names import related
from mindgrad._base.shared_docs import document

__all__ = ["CLASSES", "Form", "names_of", "public", "surface", "surface_forms"]

#: value of ``Form.path`` for operator classes
CLASSES = "ops.operations"

_F = TypeVar("_F", bound=Callable[..., Any])


class Form(NamedTuple):
    """A public name of a function.

    Attributes:
        path: module or class of the name, such as ``"mint"``.
        name: the name.
        arguments: text of the arguments; empty if the function's own arguments are used.
        function: the function.
        example: ``expression => shown`` for the documentation; empty to use the function's own example.
    """

    path: str
    name: str
    arguments: str
    function: Callable[..., Any]
    example: str = ""


#: each function and the texts of its forms, in the order of declaration
_DECLARED: list[tuple[Callable[..., Any], tuple[str, ...]]] = []
_LINES: dict[Callable[..., Any], tuple[str, ...]] = {}
_FORMS: dict[str, dict[str, Form]] = {}
# path -> number of entries of ``_DECLARED`` that are already installed at this path
_READ: dict[str, int] = {}
_SURFACES: dict[str, Callable[[list[Form]], None]] = {}


def public(*forms: str) -> Callable[[_F], _F]:
    """Decorator that declares the public forms of a function.

    Without forms, the function is only available in ``ops``. The decorator also completes the docstring
    (see ``_base/shared_docs.py``).

    Args:
        forms: lines as described in the module docstring. A line without arguments can hold several names,
            separated by spaces. A path alone ("Tensor", "mint") means the function's own name at this path.

    Raises:
        ValueError: If a line has no name, or a name is declared twice.

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
            # the function is public only as a method of Tensor
            if len(names) == 1 and names[0].startswith("mindgrad.Tensor."):
                names = related(names[0]) or names
            document(function, names)
        if forms:
            _DECLARED.append((function, forms))
            for path in _SURFACES:
                _install_further(path)
        return function

    return declared


def _install_further(path: str) -> None:
    """Add new forms to the surface ``path``. Undo the declaration of a wrong form."""
    before = len(_FORMS[path])
    try:
        names = surface_forms(path)
    except ValueError:
        _DECLARED.pop()
        raise
    if len(names) > before:
        _SURFACES[path](list(names.values())[before:])


_ALONE = frozenset({"Tensor", "mint", "numpy", "ops", "mint.nn.functional", "mint.linalg"})


#: ``Form.path`` -> module that documents the names with this path. Other modules only export the names
_OWNERS = {
    "": "mindgrad.ops",
    "Tensor": "mindgrad.Tensor",
    "mint": "mindgrad.mint",
    "numpy": "mindgrad.numpy",
    "mint.nn.functional": "mindgrad.mint.nn.functional",
    "mint.linalg": "mindgrad.mint.linalg",
}


def names_of(function: Callable[..., Any]) -> list[str]:
    """Return the paths of a function's other public names, one for each module.

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
    """Return the forms in a line that belong to ``path``."""
    text, _, example = line.partition(" >>> ")
    start = text.find("(")
    head, arguments = (text, "") if start < 0 else (text[:start], text[start:])
    if not head:
        raise ValueError(f"The form '{line}' of '{function.__name__}' has no name.")
    for words in head.split():
        owner, _, name = (words, "", function.__name__) if words in _ALONE else words.rpartition(".")
        if (owner or CLASSES) == path:
            yield Form(path, name, arguments, function, example)


def surface(path: str, install: Callable[[list[Form]], None]) -> None:
    """Install the forms of a path now, and later forms when they are declared."""
    install(list(surface_forms(path).values()))
    _SURFACES[path] = install


def surface_forms(path: str) -> dict[str, Form]:
    """Return the declared forms of a path, by name.

    Raises:
        ValueError: If a line has no name, or a name is declared twice.
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
