"""Forms: declarations of public names of a function with other arguments.

For the function ``amax(input, axis=None, keepdims=False)``, the form ``(input, dim=None, keepdim=False)``
results in::

    def amax(input, dim=None, keepdim=False):
        return _of_amax(input, dim, keepdim)

All forms of a module are compiled together. An argument of a form is passed to the parameter of the same
name, or to a synonym (``dim`` to ``axis``). If no name matches, a required argument is passed to the first
free parameter. An optional argument, or an attribute of a class, must match, or the form assigns it
explicitly in additional brackets: ``(diagonal=k)``.

- ``a: floating`` converts an argument first.
- ``stable: unused`` accepts an argument that is not passed on.
- ``inplace: placing`` accepts a Boolean; if it is true, the result is also stored in the first argument.
- ``-> indices(_)`` converts the result.
- ``(...)`` means all remaining parameters as required arguments.
"""

from __future__ import annotations

import inspect
import linecache
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mindgrad._base.shared_docs import defaults_of
from mindgrad.core.base.location import PACKAGE
from mindgrad.ops.form_docs import FunctionDoc
from mindgrad.ops.registry import Form, surface

__all__ = [
    "Argument", "Reading", "defined_in", "definition", "described_by", "expose", "functions_of", "ignored_of",
    "own_example", "parameters_of", "read",
]  # fmt: skip

#: groups of argument names with the same meaning
_SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(names.split())
    for names in (
        "axis dim",
        "keepdim keep_dims keepdims",
        "correction ddof unbiased",
        "eps epsilon",
        "other y x2 mat2",
        "indices index",
        "shape size dims",
    )
)


class Argument(NamedTuple):
    """An argument of a form; ``conversion`` and ``default`` are source code, or empty."""

    name: str
    conversion: str = ""
    default: str = ""
    by_keyword: bool = False
    is_used: bool = True


class Reading(NamedTuple):
    """A parsed form: class attributes, arguments, assigned parameters, and result."""

    attributes: list[Argument]
    arguments: list[Argument]
    values: dict[str, str]
    result: str

    @property
    def passed(self) -> list[Argument]:
        """The attributes and arguments that are passed on by their names."""
        words = _words(" ".join([*self.values.values(), self.result])) if self.values or self.result else ()
        return [
            each for each in (*self.attributes, *self.arguments) if each.is_used and each.name not in words
        ]


def read(text: str, function: Callable[..., Any], is_class: bool = False) -> Reading:
    """Parse the form ``text`` of a function.

    >>> from mindgrad import ops
    >>> from mindgrad.ops.forms import read
    >>> reading = read("(axis: integers)(...)(dims=self.axis)", ops.flip, is_class=True)
    >>> [argument.name for argument in reading.arguments], reading.values
    (['input'], {'dims': 'self.axis'})
    """
    text, _, result = text.partition("->")
    groups = [group.strip() for group in _groups(text)]
    attributes = arguments_of(groups.pop(0)) if is_class else []
    arguments = arguments_of(groups.pop(0)) if groups else []
    values = {value.name: value.default for value in arguments_of(groups[0])} if groups else {}
    if arguments == [Argument("...")]:
        own = [name for name in _own_parameters(function) if name not in values]
        named = {_parameter(attribute.name, own, set()) for attribute in attributes}
        arguments = [Argument(name) for name in own if name not in named]
    return Reading(attributes, arguments, values, result.strip())


def _words(text: str) -> list[str]:
    return "".join([sign if sign.isalnum() or sign == "_" else " " for sign in text]).split()


def _groups(text: str) -> list[str]:
    """Return the strings inside the outermost brackets."""
    groups, depth, start = [], 0, 0
    for position, sign in enumerate(text):
        if sign == "(":
            depth += 1
            if depth == 1:
                start = position + 1
        elif sign == ")":
            depth -= 1
            if not depth:
                groups.append(text[start:position])
    return groups


def arguments_of(text: str) -> list[Argument]:
    """Parse the arguments between two brackets."""
    arguments, by_keyword = [], False
    for part in _parts(text):
        if part == "*":
            by_keyword = True
            continue
        head, _, default = part.partition("=")
        name, _, conversion = head.partition(":")
        kind = conversion.strip()
        is_used = not kind.startswith("unused") and kind != "placing"
        kind = kind.removeprefix("unused").strip()
        arguments.append(Argument(name.strip(), kind, default.strip(), by_keyword, is_used))
    return arguments


def _parts(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _own_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    code = inspect.unwrap(function).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _parameter(name: str, own: list[str], named: set[str]) -> str | None:
    """Return the parameter in ``own`` that receives the argument ``name`` by name."""
    if name in own:
        return name
    return next(
        (p for group in _SYNONYMS if name in group for p in own if p in group and p not in named), None
    )


def parameters_of(function: Callable[..., Any], reading: Reading) -> dict[str, str]:
    """Map each attribute and argument to the parameter to which it is passed."""
    code = inspect.unwrap(function).__code__
    own = [name for name in _own_parameters(function) if name not in reading.values]
    passed = reading.passed
    named = {argument.name for argument in passed if argument.name in own}
    parameters: dict[str, str] = {}
    for argument in passed:
        parameter = _parameter(argument.name, own, named)
        if parameter is not None and parameter not in parameters.values():
            parameters[argument.name] = parameter
    positional = code.co_varnames[: code.co_argcount]
    free = [p for p in own if p in positional and p not in parameters.values()]
    inputs = [each for each in reading.arguments if each in passed]
    for argument in (*inputs, *passed):
        if argument.name in parameters:
            continue
        if argument.default or argument in reading.attributes or not free:
            raise ValueError(
                f"A form of '{function.__name__}' has the argument '{argument.name}', but no parameter has "
                f"this name. Name the parameter: (parameter={argument.name}) after the arguments."
            )
        parameters[argument.name] = free.pop(0)
    return parameters


def definition(
    name: str,
    function: Callable[..., Any],
    reading: Reading,
    parameters: dict[str, str] | None = None,
    *,
    is_class: bool = False,
) -> str:
    """Write the source of the function for a form; it calls ``_of_name``."""
    parameters = parameters or parameters_of(function, reading)
    values = dict(reading.values)
    for argument in reading.passed:
        is_attribute = argument in reading.attributes
        values[parameters[argument.name]] = (
            f"self.{argument.name}" if is_attribute else _converted(argument, name)
        )
    code = inspect.unwrap(function).__code__
    listed, is_positional = [], True
    for parameter in _own_parameters(function):
        is_positional &= parameter in values and parameter in code.co_varnames[: code.co_argcount]
        if parameter in values:
            listed.append(values[parameter] if is_positional else f"{parameter}={values[parameter]}")
    header = ["self"] if is_class else []
    for argument in reading.arguments:
        if argument.by_keyword and "*" not in header:
            header.append("*")
        header.append(f"{argument.name}={argument.default}" if argument.default else argument.name)
    call = f"_of_{name}({', '.join(listed)})"
    first = reading.arguments[0].name if reading.arguments else ""
    for argument in reading.arguments:
        if argument.conversion == "placing":
            call = f"placing({argument.name}, '{name}', {first}, lambda {first}: {call})"
    body = re.sub(r"\b_\b", lambda _: call, reading.result) if reading.result else call
    return f"def {name}({', '.join(header)}):\n    return {body}\n"


def _converted(argument: Argument, name: str) -> str:
    """Write the expression of a converted argument: ``floating(a, 'mean')``."""
    if not argument.conversion:
        return argument.name
    conversion, _, further = argument.conversion.partition("(")
    return f"{conversion}({argument.name}, '{name}'{', ' + further[:-1] if further else ''})"


def functions_of(
    forms: Iterable[Form], namespace: dict[str, Any], path: str, *, receiver: str = "", coercion: str = ""
) -> dict[str, Any]:
    """Create the functions of forms, by name.

    Functions with arguments are defined in ``namespace``.

    Args:
        forms: the forms.
        namespace: globals of the module that has the conversions.
        path: name of the module in examples, such as ``"mint"``.
        receiver: first argument of methods, which a form omits.
        coercion: conversion of each first argument without a conversion that is not marked ``plain``.
    """
    functions: dict[str, Any] = {}
    texts: list[str] = []
    defined: list[tuple[Form, Reading, dict[str, str]]] = []
    for form in forms:
        if not form.arguments:
            functions[form.name] = form.function
            continue
        reading = read(form.arguments, form.function)
        arguments = [Argument(receiver)] * bool(receiver) + reading.arguments
        if coercion and arguments and arguments[0].conversion in ("", "plain"):
            arguments[0] = arguments[0]._replace(conversion="" if arguments[0].conversion else coercion)
        reading = reading._replace(arguments=arguments)
        namespace[f"_of_{form.name}"] = form.function
        parameters = parameters_of(form.function, reading)
        texts.append(definition(form.name, form.function, reading, parameters))
        defined.append((form, reading, described_by(parameters, reading)))
    scope = defined_in(namespace, "".join(texts), path)
    for form, reading, parameters in defined:
        function = scope[form.name]
        _describe(function, form, reading, parameters, path)
        functions[form.name] = function
    return functions


def defined_in(namespace: dict[str, Any], text: str, path: str) -> dict[str, Any]:
    """Execute source code that defines functions, with the globals ``namespace``.

    Its file name is in the package. Therefore error messages omit its frames, and tracing does not analyze
    its functions.
    """
    file = os.path.join(PACKAGE, "ops", f"<forms of {path} with {text[4 : text.find('(')]}>")
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec"), namespace, scope)
    return scope


def described_by(parameters: dict[str, str], reading: Reading) -> dict[str, str]:
    """Map arguments to parameters, for the docstring.

    The result includes parameters whose assigned value depends on a single argument.
    """
    parameters = dict(parameters)
    for parameter, value in reading.values.items():
        words = _words(value)
        all_names = [argument.name for argument in (*reading.attributes, *reading.arguments)]
        names = [name for name in all_names if name in words]
        if len(names) == 1:
            parameters.setdefault(names[0], parameter)
    return parameters


def _describe(
    function: Callable[..., Any], form: Form, reading: Reading, parameters: dict[str, str], path: str
) -> None:
    """Set the annotations and the docstring of a function of a form."""
    own = getattr(form.function, "__annotations__", {})
    function.__annotations__ = {
        name: own[parameter] for name, parameter in parameters.items() if parameter in own
    } | ({"return": own["return"]} if "return" in own else {})
    if not form.function.__doc__:  # None under ``python -OO``
        return
    doc = FunctionDoc.of(form.function, parameters)
    defaults = defaults_of(function)
    ignored = ignored_of(reading)
    entries = [
        doc.described(
            argument.name,
            defaults.get(argument.name, inspect.Parameter.empty),
            is_ignored=argument.name in ignored,
        )
        for argument in reading.arguments
        if argument.name != "self"
    ]
    parts = [doc.summary, *doc.notes]
    parts += ["Args:\n" + "\n".join(entries)] if entries else []
    parts += [f"{header}:\n{text}" for header, text in doc.sections.items() if text]
    example = doc.example
    if form.example:
        example = own_example(*form.example.split(" => "))
    elif example:
        example = moved_example(example, form.function.__name__, path, form.name)
        for name, parameter in parameters.items():
            example = example.replace(f"({parameter}=", f"({name}=").replace(f" {parameter}=", f" {name}=")
    parts += [example, doc.see_also(f"mindgrad.{path}.{form.name}")]
    text = "\n\n".join(part for part in parts if part)
    function.__doc__ = text.replace("\n", "\n    ").replace("\n    \n", "\n\n")


def ignored_of(reading: Reading) -> set[str]:
    """Return the names of the arguments that a form accepts without using them."""
    words = _words(" ".join([*reading.values.values(), reading.result]))
    unused = [each for each in (*reading.attributes, *reading.arguments) if not each.is_used]
    return {each.name for each in unused if each.conversion != "placing" and each.name not in words}


def own_example(expression: str, prints: str) -> str:
    """Write the example of a form as a doctest.

    >>> from mindgrad.ops.forms import own_example
    >>> own_example("ops.exp(Tensor(0.0))", "1.0").splitlines()[1:]
    ['>>> print(ops.exp(Tensor(0.0)))', '1.0']
    """
    names = ("Parameter", "Tensor", "mint", "numpy", "ops", "scipy")
    words = _words(expression)
    needed = ", ".join(name for name in names if name in words)
    return f">>> from mindgrad import {needed}\n>>> print({expression})\n{prints}"


def moved_example(example: str, own: str, path: str, name: str) -> str:
    """Convert an example of ``ops.own`` to an example of ``path.name``.

    For a method, the first argument is moved before the dot.

    >>> from mindgrad.ops.forms import moved_example
    >>> moved_example("print(ops.sum(Tensor([1.0]), 0))", "sum", "Tensor", "sum")
    'print(Tensor([1.0]).sum(0))'
    """
    if path != "Tensor":
        example = example.replace(f"ops.{own}(", f"{path}.{name}(")
        module = path.partition(".")[0]
        names = f"{module}, ops" if re.search(r"(?<!mindgrad\.)\bops\.", example) else module
        first, _, lines = example.partition("\n")
        if first.startswith(">>> from mindgrad import ") and first.endswith("ops"):
            return f"{first[:-3]}{names}\n{lines}"
        return example
    head = f"ops.{own}("
    while (start := example.find(head)) >= 0:
        depth, end = 0, start + len(head)
        while depth or example[end] not in ",)":
            depth += (example[end] in "([") - (example[end] in ")]")
            end += 1
        tensor = example[start + len(head) : end]
        others = example[end + 1 :].lstrip(" ") if example[end] == "," else example[end:]
        example = f"{example[:start]}{tensor}.{name}({others}"
    return example


def expose(
    path: str,
    namespace: dict[str, Any],
    conversions: dict[str, Any],
    *,
    coercion: str = "",
    plain: Callable[[Form], Callable[..., Any]] | None = None,
) -> None:
    """Add to a module all functions that are declared for this module, now and later.

    Args:
        path: path of the module.
        namespace: globals of the module.
        conversions: globals of the module that has the conversions.
        coercion: conversion of each first argument without a conversion.
        plain: function of a form without arguments; by default the declared function itself.
    """
    examples = namespace.setdefault("__test__", {})

    def install(forms: list[Form]) -> None:
        functions = functions_of(forms, conversions, path, coercion=coercion)
        for form in forms:
            if plain is not None and not form.arguments:
                functions[form.name] = plain(form)
            if plain is not None or form.arguments:
                functions[form.name].__module__ = namespace["__name__"]
                examples[form.name] = functions[form.name]
        namespace.update(functions)
        namespace["__all__"].extend(functions)

    surface(path, install)
