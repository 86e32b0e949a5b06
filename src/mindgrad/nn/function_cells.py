"""Cells that apply one function of ``ops``, without Parameters.

Each call of :func:`function_cell` creates one class. The constructor of the class accepts the arguments of
the function that are not tensors, checks them, and stores them as attributes. The docstring of the class is
composed from the docstring of the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindgrad._base.later import Later
from mindgrad.nn.cell import Cell
from mindgrad.ops.form_docs import FunctionDoc, path_of
from mindgrad.ops.operations.base import Attribute, attribute_lines, signature
from mindgrad.ops.operations.named_inputs import input_names, optional_inputs

__all__ = ["FunctionCell", "cells_of", "function_cell", "function_cells"]

_REQUIRED = inspect.Parameter.empty


class FunctionCell(Cell):
    """A Cell that applies one function, with some arguments fixed in the constructor."""

    attributes: dict[str, Attribute] = {}
    _function: Callable[..., Any]
    _keywords: dict[str, str] | None = {}
    _inputs: tuple[str, ...] = ()
    _counts = (1, 1)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        name = type(self).__name__
        try:
            bound = inspect.signature(type(self)).bind(*args, **kwargs)
        except TypeError as error:
            known = ", ".join(self.attributes) or "none"
            raise TypeError(f"For '{name}', {error}; its arguments are: {known}.") from None
        for key, attribute in self.attributes.items():
            if key not in bound.arguments:
                setattr(self, key, attribute.default)
                continue
            value = bound.arguments[key]
            try:
                setattr(self, key, attribute.check(value))
            except TypeError:
                raise TypeError(
                    f"For '{name}', the '{key}' must be {attribute.words}, but got {value!r} of type "
                    f"{type(value).__name__}."
                ) from None

    def construct(self, *inputs: Any, **named: Any) -> Any:
        """Apply the function."""
        function = type(self)._function
        if named:
            inputs += self._in_order(len(inputs), named)
        least, most = self._counts
        if not least <= len(inputs) <= most:
            raise TypeError(
                f"For '{type(self).__name__}', the inputs must be {', '.join(self._inputs)}, but got "
                f"{len(inputs)} inputs."
            )
        if self._keywords is None:
            return function(self, *inputs)
        fixed = {keyword: getattr(self, key) for key, keyword in self._keywords.items()}
        return function(*inputs, **fixed)

    def _in_order(self, count: int, named: dict[str, Any]) -> tuple[Any, ...]:
        """Sort the inputs passed by name after ``count`` inputs passed by position."""
        names = self._inputs[count : count + len(named)]
        if set(names) != set(named):
            raise TypeError(
                f"For '{type(self).__name__}', the inputs are {', '.join(self._inputs)}, but got {count} by "
                f"position and {', '.join(named)} by name."
            )
        return tuple(named[name] for name in names)


def function_cell(
    module: str,
    name: str,
    function: Callable[..., Any],
    *,
    attributes: dict[str, Attribute] | None = None,
    keywords: dict[str, str] | None = None,
    run: Callable[..., Any] | None = None,
    base: type[FunctionCell] = FunctionCell,
    meaning: str = "",
    inputs: str = "",
    texts: dict[str, str] | None = None,
    example: str,
    prints: str,
) -> Any:
    """Create the class of Cells that apply ``function``.

    Args:
        module: module in which the class is defined.
        name: name of the class.
        function: function that computes the result and documents the class.
        attributes: arguments of the constructor by name, in order.
        keywords: parameter names of ``function`` for attributes that have another name.
        run: ``run(cell, *inputs)`` to call instead of ``function(*inputs, attribute=...)``.
        base: base class.
        meaning: summary of the class; by default the summary of ``function``.
        inputs: names of the inputs; by default the positional parameters of ``function``.
        texts: descriptions of inputs, attributes, and sections such as ``"Returns"`` that differ from the
            descriptions of ``function``.
        example: expression that uses the class.
        prints: printed result of ``example``.
    """
    declared = attributes or {}
    fixed = {(keywords or {}).get(key, key) for key in declared}
    names = inputs.split() or [name for name in input_names(function, 0) if name not in fixed]
    least, most = _counts(function, fixed) if run is None else _counts(run, {"self"})
    body: dict[str, Any] = {
        "attributes": declared,
        "_function": staticmethod(function if run is None else run),
        "_keywords": None if run is not None else {key: (keywords or {}).get(key, key) for key in declared},
        "_inputs": tuple(names),
        "_counts": (least, min(most, len(names))),
        "__module__": module,
        "__qualname__": name,
        "__doc__": Later(
            _documentation,
            function,
            names,
            declared,
            keywords or {},
            meaning,
            texts or {},
            example,
            prints,
            f"mindgrad.nn.{name}",
        ),
        "__signature__": Later(signature, declared),
    }
    return type(name, (base,), body)


def cells_of(module: str, **defaults: Any) -> Callable[..., Any]:
    """Bind the module and defaults of :func:`function_cell` for the Cells of a module.

    Args:
        module: module in which the classes are defined.
        **defaults: default arguments of ``function_cell`` for these Cells.

    Returns:
        A function ``cell(name, function, example, prints, **more)``, where ``more`` has other arguments of
        ``function_cell``, and attributes.
    """

    def cell(name: str, function: Callable[..., Any], example: str, prints: str, **more: Any) -> Any:
        others = ("run", "keywords", "meaning", "inputs", "texts", "base")
        options = defaults | {key: more.pop(key) for key in others if key in more}
        return function_cell(
            module, name, function, attributes=more, example=example, prints=prints, **options
        )

    return cell


def function_cells(namespace: dict[str, Any]) -> list[str]:
    """Return the names of public Cells that :func:`function_cell` created."""
    return sorted(
        name
        for name, value in namespace.items()
        if isinstance(value, type)
        and issubclass(value, FunctionCell)
        and value.__module__ == namespace["__name__"]
        and not name.startswith("_")
    )


def _counts(function: Any, fixed: set[str]) -> tuple[int, int]:
    """Return the minimum and maximum number of inputs, without arguments in ``fixed``."""
    optional = optional_inputs(function)
    free = [name for name in input_names(function, 0) if name not in fixed]
    return len([name for name in free if name not in optional]), len(free)


def _documentation(
    function: Callable[..., Any],
    inputs: list[str],
    attributes: dict[str, Attribute],
    keywords: dict[str, str],
    meaning: str,
    texts: dict[str, str],
    example: str,
    prints: str,
    path: str,
) -> str:
    names = dict.fromkeys(inputs, "") | dict.fromkeys(attributes, "")
    fixed = {keywords.get(key, key) for key in attributes}
    operands = [name for name in input_names(function, 0) if name not in fixed]
    others = {  # an input of the Cell may be named differently from the operand at its position
        name: operand
        for name, operand in zip(inputs, operands, strict=False)
        if name not in operands and operand not in inputs
    }
    doc = FunctionDoc.of(function, {key: keywords.get(key, key) for key in names} | others)
    sections = {header: text for header, text in texts.items() if header in doc.sections}
    types = {name: doc.arguments.get(name, ("", ""))[0] for name in texts if name not in sections}
    arguments = {name: (kind, f" {texts[name]}") for name, kind in types.items()}
    doc = doc._replace(sections=doc.sections | sections, arguments=doc.arguments | arguments)
    lines = [meaning or doc.summary]
    is_public = hasattr(function, "__name__") and not function.__name__.startswith("_")
    if is_public:
        lines += ["", f"Cell of :func:`{path_of(function)}`."]
    if attributes:
        lines += ["", "Args:", *attribute_lines(doc, attributes)]
    optional = optional_inputs(function) if is_public else {}
    lines += ["", "Inputs:"]
    lines += [doc.described(each, optional.get(each, _REQUIRED)) for each in inputs]
    if "Returns" in doc.sections:
        lines += ["", "Returns:", doc.sections["Returns"]]
    lines += [
        "",
        "Raises:",
        "    TypeError: If an argument does not have its type, or the number of inputs is wrong.",
    ]
    lines += [doc.sections["Raises"]] if doc.sections.get("Raises") else []
    needed = ", ".join(
        word for word in ("Tensor", "nn", "ops") if f"{word}." in example or f"{word}(" in example
    )
    lines += ["", f">>> from mindgrad import {needed}", f">>> print({example})", *prints.split("\n")]
    lines += ["", doc.see_also(path)] if is_public else []
    return "\n".join(lines).rstrip()
