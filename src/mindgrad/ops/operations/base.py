"""Create operator classes with attributes in the constructor and inputs in calls.

One table entry creates one class: its name, the function that computes it, its attributes with their types,
and an example. Names, order, and defaults of attributes are MindSpore's.
"""

from __future__ import annotations

import inspect
from ast import literal_eval
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from mindgrad._base.later import Later, Once
from mindgrad.core.ir import dtype as dtype_names
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.ops.form_docs import FunctionDoc, path_of
from mindgrad.ops.forms import (
    Argument,
    Reading,
    defined_in,
    definition,
    described_by,
    ignored_of,
    own_example,
    parameters_of,
    read,
)
from mindgrad.ops.operations.class_examples import class_example
from mindgrad.ops.operations.named_inputs import input_names, meant, optional_inputs, with_named
from mindgrad.ops.operations.primitive import Primitive
from mindgrad.ops.registry import Form, surface
from mindgrad.ops.strategies import run_with_strategies

__all__ = [
    "Attribute", "Operation", "anything", "attribute_lines", "boolean", "class_of", "classes", "element_type",
    "expose_classes", "integer", "integers", "number", "operation", "signature", "text",
]  # fmt: skip

_REQUIRED = inspect.Parameter.empty


class Attribute(NamedTuple):
    """Type and default of an attribute.

    Attributes:
        check: function that validates a value and returns the value to store, or raises ``TypeError``.
        words: description of the required type for error messages.
        default: default value of the attribute; ``inspect.Parameter.empty`` if it is required.
    """

    check: Callable[[Any], Any]
    words: str
    default: Any = _REQUIRED


class Operation(Primitive):
    """Operator with fixed attributes; calling it applies it to tensors.

    Programs can read the attributes: ``ops.ReduceSum(True).keep_dims``.

    Args:
        *args, **kwargs (object): attributes of the operator, in MindSpore's order or by name.

    Raises:
        TypeError: If an attribute is missing, unknown, given twice, or has the wrong type.

    >>> from mindgrad import Tensor, ops
    >>> total = ops.ReduceSum(keep_dims=True)
    >>> isinstance(total, ops.Operation), total.keep_dims
    (True, True)
    >>> print(total(Tensor([1.0, 2.0])))
    [3.]
    """

    attributes: dict[str, Attribute] = {}
    _function: Callable[..., Any]
    _uses_attributes = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        names = list(self.attributes)
        if len(args) > len(names):
            raise TypeError(
                f"For '{name}', the class has {len(names)} attributes, but got values for "
                f"{len(args)}. Pass inputs in the call: ops.{name}()(x)."
            )
        values = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in self.attributes:
                raise TypeError(
                    f"For '{name}', there is no attribute '{key}'. The attributes are: "
                    f"{', '.join(names) or 'none'}."
                )
            if key in values:
                raise TypeError(f"For '{name}', the attribute '{key}' is given twice.")
            values[key] = value
        for key, attribute in self.attributes.items():
            value = values.get(key, attribute.default)
            if value is _REQUIRED:
                raise TypeError(f"For '{name}', the attribute '{key}' must be given.")
            if key in values:
                value = self._checked(key, value, attribute)
            setattr(self, key, value)

    def _checked(self, key: str, value: Any, attribute: Attribute) -> Any:
        try:
            return attribute.check(value)
        except TypeError:
            raise TypeError(
                f"For '{type(self).__name__}', the '{key}' must be {attribute.words}, but got {value!r} of "
                f"type {type(value).__name__}."
            ) from None

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        if named:
            function, skip = type(self)._function, int(self._uses_attributes)
            inputs = tuple(with_named(type(self).__name__, function, skip, inputs, named))
        least, most = self._counts
        if not least <= len(inputs) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise TypeError(
                f"For '{type(self).__name__}', the number of inputs must be {wanted}, but got {len(inputs)}."
            )
        function = type(self)._function
        if self.strategies is not None:
            run = partial(function, self) if self._uses_attributes else function
            return run_with_strategies(self, run, inputs)
        return function(self, *inputs) if self._uses_attributes else function(*inputs)

    _counts = (1, 1)

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={getattr(self, key)!r}" for key in self.attributes)
        return f"Prim[{type(self).__name__}]" + (f"<{shown}>" if shown else "")


def operation(
    module: str,
    name: str,
    function: Callable[..., Any],
    *,
    attributes: dict[str, Attribute] | None = None,
    run: Callable[..., Any] | None = None,
    example: str = "",
    prints: str = "",
    meaning: str = "",
) -> type[Operation]:
    """Create the class of an operator.

    Args:
        module: module in which the class is defined.
        name: name of the class.
        function: function of ``mindgrad.ops`` that computes the result and documents the class.
        attributes: attributes by name, in the order of the constructor.
        run: function ``run(operation, *inputs)`` that computes the result if the attributes are needed. By
            default, ``function(*inputs)`` is called.
        example: expression that uses the class; by default the example of the function.
        prints: printed result of ``example``.
        meaning: text ``summary | result`` that documents a class whose meaning differs from ``function``.
    """
    declared = attributes or {}
    used = inspect.unwrap(function) if run is None else run
    body = {
        "attributes": declared,
        "_function": staticmethod(used),
        "_uses_attributes": run is not None,
        "_counts": _counts(used, skip=0 if run is None else 1),
        "__module__": module,
        "__qualname__": name,
        "__doc__": Later(
            _documentation,
            name,
            function,
            used,
            0 if run is None else 1,
            declared,
            example,
            prints,
            meaning=meaning,
        ),
        "__signature__": Later(signature, declared),
    }
    return type(name, (Operation,), body)


def expose_classes(path: str, namespace: dict[str, Any], conversions: dict[str, Any] | None = None) -> None:
    """Add the operator classes that are declared for a path to a module.

    Args:
        path: path of the classes in the registry, such as ``"ops.operations"``.
        namespace: globals of the module.
        conversions: further functions that forms may call, by name.
    """

    def install(forms: list[Form]) -> None:
        home, names = namespace["__name__"], conversions or {}
        namespace.update({form.name: class_of(home, form, names) for form in forms})
        namespace["__all__"].extend(form.name for form in forms)

    surface(path, install)


def class_of(module: str, form: Form, conversions: dict[str, Any]) -> type[Operation]:
    """Create the class of a form.

    If the form has attributes, the function that computes the operator is defined at the first call.
    """
    if not form.arguments:
        example, _, prints = form.example.partition(" => ")
        return operation(module, form.name, form.function, example=example, prints=prints)
    reading = read(form.arguments, form.function, is_class=True)
    attributes = {argument.name: _attribute(argument) for argument in reading.attributes}
    run = lru_cache(maxsize=1)(partial(_defined, form, reading, conversions))
    body = {
        "attributes": attributes,
        "_function": Once(run),
        "_uses_attributes": True,
        "_counts": (sum(not argument.default for argument in reading.arguments), len(reading.arguments)),
        "__module__": module,
        "__qualname__": form.name,
        "__doc__": Later(_documentation_of, form, reading, attributes, run),
        "__signature__": Later(signature, attributes),
    }
    return type(form.name, (Operation,), body)


def _defined(form: Form, reading: Reading, conversions: dict[str, Any]) -> Callable[..., Any]:
    text = definition(form.name, form.function, reading, is_class=True)
    # names that fixed values and conversions in the source text of a form may use
    names = {**vars(dtype_names), **conversions, **inspect.unwrap(form.function).__globals__}
    scope = defined_in({**names, f"_of_{form.name}": form.function}, text, form.path)
    return scope[form.name]  # type: ignore[no-any-return]


def _documentation_of(
    form: Form, reading: Reading, attributes: dict[str, Attribute], run: Callable[[], Any]
) -> str:
    parameters = parameters_of(form.function, reading)
    text = inspect.getdoc(form.function) or ""
    example, _, prints = form.example.partition(" => ")
    shown = "" if example else class_example(text[text.index(">>> ") :], form, reading, parameters)
    shown = shown.partition("\n\nSee Also:")[0]
    return _documentation(
        form.name,
        form.function,
        run(),
        1,
        attributes,
        example,
        prints,
        shown,
        described_by(parameters, reading),
        ignored_of(reading),
    )


def _attribute(argument: Argument) -> Attribute:
    """Return the attribute for an argument of a form, such as ``keep_dims=False``."""
    default: tuple[Any, ...] = (_value(argument.default),) if argument.default else ()
    conversion, _, words = argument.conversion.partition("(")
    if conversion == "anything":
        return anything(literal_eval(words[:-1]), *default)
    return (_ATTRIBUTES[conversion] if conversion else _KINDS[type(default[0])])(*default)


def _value(text: str) -> Any:
    return getattr(dtype_names, text) if text[:1].isalpha() and text not in _PLAIN else literal_eval(text)


_PLAIN = frozenset({"None", "True", "False"})


def signature(attributes: dict[str, Attribute]) -> inspect.Signature:
    """Return the signature of a constructor with these attributes."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(key, kind, default=each.default) for key, each in attributes.items()]
    )


def classes(namespace: dict[str, Any]) -> list[str]:
    """Return the names of the operator classes in a module, for its ``__all__``."""
    return sorted(
        name
        for name, value in namespace.items()
        if isinstance(value, type) and issubclass(value, Operation) and value is not Operation
    )


def _counts(function: Any, skip: int) -> tuple[int, float]:
    """Return the smallest and the largest number of positional inputs."""
    if inspect.unwrap(function).__code__.co_flags & inspect.CO_VARARGS:
        return 0, float("inf")
    most = len(input_names(function, skip))
    return most - len(optional_inputs(function)), most


def _documentation(
    name: str,
    function: Any,
    used: Any,
    skip: int,
    attributes: dict[str, Attribute],
    example: str,
    prints: str,
    shown: str = "",
    parameters: dict[str, str] | None = None,
    ignored: Collection[str] = (),
    meaning: str = "",
) -> str:
    names = input_names(used, skip)
    if parameters is None:
        parameters = _by_name([*attributes, *names], function)
    doc = FunctionDoc.of(function, parameters)
    if meaning:
        summary, _, result = meaning.partition(" | ")
        doc = doc._replace(summary=summary, notes=[], sections={"Returns": f"    {result}"})
    path, how = path_of(function), _CALLS[bool(attributes)]
    is_public = path.count(".") == 2 and not meaning  # the class is a form of a function in ``mindgrad.ops``
    what = f"Class form of :func:`{path}`: {how}." if is_public else f"{how[0].upper()}{how[1:]}."
    lines = [doc.summary, "", what]
    for note in doc.notes:
        lines += ["", note]
    if attributes:
        lines += ["", "Args:", *attribute_lines(doc, attributes, ignored)]
    if names:
        optional = optional_inputs(used)
        lines += ["", "Inputs:"]
        lines += [
            doc.described(each, optional.get(each, _REQUIRED), is_ignored=each in ignored) for each in names
        ]
    for header in ("Returns", "Outputs"):
        if header in doc.sections:
            lines += ["", f"{header}:", doc.sections[header]]
    lines += ["", "Raises:", f"    TypeError: If {_WRONG[bool(attributes)]}."]
    lines += [doc.sections["Raises"]] if doc.sections.get("Raises") else []
    if not shown:
        shown = (
            own_example(example, prints)
            if example
            else doc.example.replace(f"ops.{function.__name__}(", f"ops.{name}()(")
        )
    lines += ["", shown, "", doc.see_also(f"mindgrad.ops.{name}")]
    return "\n".join(lines).rstrip()


_CALLS = {
    True: "construct it with its attributes, then call it with the inputs",
    False: "construct it without arguments, then call it with the inputs",
}
_WRONG = {
    True: "an attribute has the wrong type, or the number of inputs is wrong",
    False: "the number of inputs is wrong",
}


def _by_name(names: Iterable[str], function: Callable[..., Any]) -> dict[str, str]:
    """Map attributes and inputs to parameters of a function, also by former names."""
    code = inspect.unwrap(function).__code__
    free = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    parameters = {name: name for name in names if name in free}
    for name in names:
        parameter = meant(name, [own for own in free if own not in parameters.values()])
        if name not in parameters and parameter is not None:
            parameters[name] = parameter
    return parameters


def attribute_lines(
    doc: FunctionDoc, attributes: dict[str, Attribute], ignored: Collection[str] = ()
) -> list[str]:
    """Return docstring entries for the attributes that ``doc`` describes."""
    return [
        doc.described(key, attribute.default, _TYPES.get(attribute.check, ""), is_ignored=key in ignored)
        for key, attribute in attributes.items()
    ]


# --- types of the attributes that an operator class takes at creation --------------------------------


def boolean(default: Any = _REQUIRED) -> Attribute:
    """Return an attribute that is a bool."""
    return Attribute(_boolean, "a bool", default)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def integer(default: Any = _REQUIRED) -> Attribute:
    """Return an attribute that is an int."""
    return Attribute(_integer, "an int", default)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError
    return int(value)


def integers(default: Any = _REQUIRED) -> Attribute:
    """Return an attribute that is an int, or a tuple or list of ints."""
    return Attribute(_integers, "an int, or a tuple or list of ints", default)


def _integers(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(_integer(each) for each in value)
    return _integer(value)


def number(default: Any = _REQUIRED) -> Attribute:
    """Return an attribute that is a float or int."""
    return Attribute(_number, "a float", default)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError
    return float(value)


def text(default: Any = _REQUIRED) -> Attribute:
    """Return an attribute that is a string."""
    return Attribute(_text, "a string", default)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def element_type(default: Any = _REQUIRED) -> Attribute:
    """Return an attribute whose value is a dtype."""
    return Attribute(as_dtype, "a dtype", default)


def anything(words: str, default: Any = _REQUIRED) -> Attribute:
    """Return an attribute without a check; the function checks its value."""
    return Attribute(lambda value: value, words, default)


_ATTRIBUTES: dict[str, Callable[..., Attribute]] = {
    "boolean": boolean,
    "element_type": element_type,
    "integer": integer,
    "integers": integers,
    "number": number,
    "text": text,
}
#: maps each function that checks an attribute to the type of the attribute in docstrings
_TYPES: dict[Callable[[Any], Any], str] = {
    _boolean: "bool",
    _integer: "int",
    _integers: "int, tuple of int, or list of int",
    _number: "float",
    _text: "str",
    as_dtype: "mindgrad.dtype",
}
#: maps the type of a default value to the function that creates an attribute with this default
_KINDS: dict[type, Callable[..., Attribute]] = {
    bool: boolean, int: integer, float: number, str: text, dtype_names.DType: element_type,
}  # fmt: skip
