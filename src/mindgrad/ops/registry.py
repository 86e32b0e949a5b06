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

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from mindgrad.ops.blocks import with_blocks

__all__ = ["CLASSES", "Form", "public", "surface", "surface_forms"]

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


_FORMS: dict[str, dict[str, Form]] = {}
_SURFACES: dict[str, Callable[[list[Form]], None]] = {}


def public(*forms: str) -> Callable[[_F], _F]:
    """A decorator that declares the forms of a function and gives the function itself.

    Without forms the function is one of ``ops`` alone. Its docstring gets its blocks (``ops/blocks.py``).

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
        if "\n    {" in (function.__doc__ or ""):
            function.__doc__ = with_blocks(function)
        for line in forms:
            text, _, example = line.partition(" >>> ")
            start = text.find("(")
            head, arguments = (text, "") if start < 0 else (text[:start], text[start:])
            if not head:
                raise ValueError(f"The form '{line}' of '{function.__name__}' names nothing.")
            for words in head.split():
                _declare(_form(words, arguments, function, example))
        return function

    return declared


_ALONE = frozenset({"Tensor", "mint", "numpy", "ops", "mint.nn.functional", "mint.linalg"})


def _form(words: str, arguments: str, function: Callable[..., Any], example: str) -> Form:
    if words in _ALONE:
        return Form(words, function.__name__, arguments, function, example)
    path, _, name = words.rpartition(".")
    return Form(path or CLASSES, name, arguments, function, example)


def _declare(form: Form) -> None:
    names = _FORMS.setdefault(form.path, {})
    if names.get(form.name, form) != form:
        raise ValueError(f"The public name '{form.path}.{form.name}' is declared twice.")
    names[form.name] = form
    if form.path in _SURFACES:
        _SURFACES[form.path]([form])


def surface(path: str, install: Callable[[list[Form]], None]) -> None:
    """Install the forms of a path: those that are declared by now, and each that is declared later."""
    _SURFACES[path] = install
    install(list(surface_forms(path).values()))


def surface_forms(path: str) -> dict[str, Form]:
    """The declared forms of a path, by name."""
    return _FORMS.get(path, {})
