"""Factories that create public functions from a name, a primitive, and an example.

A factory writes the docstring of the function from the arguments of the factory, and from the dtypes that the
primitive accepts. The docstring therefore always agrees with the code.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.dtype import DType, bool_, complex64, float32, int32
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.ops.operands import binary, operand, unary
from mindgrad.ops.registry import public

__all__ = ["NOT_GIVEN", "also_named", "binary_function", "operator_name", "the_one", "unary_function"]

_KINDS: tuple[tuple[str, DType], ...] = (
    ("Booleans", bool_),
    ("integers", int32),
    ("floating-point numbers", float32),
    ("complex numbers", complex64),
)


class _NotGiven:
    """Default of an argument for which ``None`` is a valid value."""

    is_missing = True

    def __repr__(self) -> str:
        return "nothing"


NOT_GIVEN: Any = _NotGiven()


def also_named(**names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds names of arguments: ``also_named(input="x")``.

    Do not use it for functions that are called very often, because it makes each call slightly slower.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def renaming(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                kwargs = {names.get(name, name): value for name, value in kwargs.items()}
            return function(*args, **kwargs)

        vars(renaming)["second_names"] = {**vars(renaming).get("second_names", {}), **names}
        return renaming

    return decorated


def the_one(operator: str, name: str, value: Any, second: str, other: Any) -> Any:
    """Return ``other``, the value of an argument passed by its name ``second``.

    Raises:
        TypeError: If the argument is also passed by its name ``name``, with ``value``.
    """
    if value is not NOT_GIVEN:
        raise TypeError(f"For '{operator}', one argument is given twice, as '{name}' and as '{second}'.")
    return other


def operator_name(name: str) -> str:
    """Return the name of an operator for error messages.

    >>> from mindgrad.ops.define import operator_name
    >>> operator_name("floor_div"), operator_name("log1p")
    ('FloorDiv', 'Log1p')
    """
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def unary_function(
    module: str,
    name: str,
    primitive: Primitive,
    meaning: str,
    example: str,
    prints: str,
    *forms: str,
    float_only: bool = False,
    integers_stay: bool = False,
    **parameters: Any,
) -> Callable[[Any], Tensor]:
    """Create a function of one tensor that applies a primitive to each element.

    Args:
        module: module that defines the function.
        name: name of the function.
        primitive: primitive to apply.
        meaning: description of the function, with formula and derivative, as sentences.
        example: argument in the example. The example prints a number with four decimals, because the last
            digits differ between machines.
        prints: output of the example.
        forms: public names, as for :func:`mindgrad.ops.registry.public`.
        float_only: whether to convert integers and Booleans to float32 first.
        integers_stay: whether to return integers and Booleans unchanged, as ``floor`` does.
        parameters: parameters of the primitive.
    """
    operator = operator_name(name)

    def whole(input: Any = NOT_GIVEN, *, x: Any = NOT_GIVEN) -> Tensor:
        tensor = operand(input if x is NOT_GIVEN else the_one(operator, "input", input, "x", x), operator)
        return unary(primitive, operator, tensor) if tensor.dtype.is_inexact else tensor

    def function(input: Any = NOT_GIVEN, *, x: Any = NOT_GIVEN) -> Tensor:
        if x is not NOT_GIVEN:
            input = the_one(operator, "input", input, "x", x)
        return unary(primitive, operator, input, float_only, **parameters)

    accepted = _taken(primitive, 1, float_only, **parameters)
    if integers_stay:
        accepted += "; integers and Booleans are returned unchanged"
    return _named(
        whole if integers_stay else function,
        module,
        name,
        forms,
        f"""{meaning}

    Args:
        input (Tensor or number): x in the formula, a tensor of any shape; also accepted as the keyword ``x``.
            Supported dtypes: {accepted}.

    Returns:
        Tensor of the same shape as ``input``.

    Raises:
        TypeError: If ``input`` is neither a tensor nor a number, or its dtype is not supported.

    >>> from mindgrad import Tensor, ops
    >>> {_shown(name, example)}
    {_indented(prints)}
    """,
    )


def binary_function(
    module: str,
    name: str,
    primitive: Primitive,
    meaning: str,
    example: str,
    prints: str,
    *forms: str,
    float_only: bool = False,
    check: Callable[[str, Any, Any], None] | None = None,
) -> Callable[[Any, Any], Tensor]:
    """Create a function that applies a primitive to each pair of elements.

    The arguments are as for :func:`unary_function`. ``check(operator, input, other)`` raises an error for
    operands that the primitive accepts but the function does not.
    """
    operator = operator_name(name)

    def function(
        input: Any = NOT_GIVEN, other: Any = NOT_GIVEN, *, x: Any = NOT_GIVEN, y: Any = NOT_GIVEN
    ) -> Tensor:
        if x is not NOT_GIVEN:
            input = the_one(operator, "input", input, "x", x)
        if y is not NOT_GIVEN:
            other = the_one(operator, "other", other, "y", y)
        if check is not None:
            check(operator, input, other)
        return binary(primitive, operator, input, other, float_only)

    truth = primitive.kind == "pointwise constant" and _result(primitive, 2) is bool_
    return _named(
        function,
        module,
        name,
        forms,
        f"""{meaning}

    Args:
        input, other (Tensor or number): x and y in the formula, whose shapes broadcast; also
            accepted as the keywords ``x`` and ``y``. Supported dtypes: {_taken(primitive, 2, float_only)}.

    Returns:
        {"Boolean tensor with the broadcast shape of the operands" if truth else _PROMOTED}.

    Raises:
        TypeError: If an operand is neither a tensor nor a number, or its dtype is not supported.
        ValueError: If the shapes of the operands do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> {_shown(name, example)}
    {_indented(prints)}
    """,
    )


_PROMOTED = "Tensor with the broadcast shape and the promoted dtype of the operands"


def _result(primitive: Primitive, operands: int, among: Any = _KINDS, **parameters: Any) -> DType | None:
    """Return the result dtype for the last dtype in ``among`` that is accepted."""
    for _, dtype in reversed(among):
        try:
            return primitive.type_rule(*[tensor_type(dtype, ())] * operands, **parameters).dtype
        except TypeError:
            continue
    return None


def _taken(primitive: Primitive, operands: int, float_only: bool, **parameters: Any) -> str:
    """Describe the accepted dtypes."""
    words = [kind[0] for kind in _KINDS if _result(primitive, operands, [kind], **parameters) is not None]
    if float_only:
        words = [word for word in words if word not in ("Booleans", "integers")]
        words.insert(0, "integers and Booleans (converted to float32)")
    return f"{', '.join(words[:-1])}{',' * (len(words) > 2)} or {words[-1]}" if len(words) > 1 else words[0]


def _named(
    function: Callable[..., Any], module: str, name: str, forms: tuple[str, ...], doc: str
) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = doc
    function.__signature__ = _SIGNATURES[function.__code__.co_argcount]  # type: ignore[attr-defined]
    return public(*forms)(function)


_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD
#: number of operands -> signature. The docstrings mention the alternative names x and y
_SIGNATURES = {
    count: inspect.Signature([inspect.Parameter(name, _KIND) for name in ("input", "other")[:count]])
    for count in (1, 2)
}


def _shown(name: str, example: str) -> str:
    if "Tensor" in example:
        return f"print(ops.{name}({example}))"
    given = ", ".join(f"Tensor({number})" for number in example.split(", "))
    return f'print(f"{{ops.{name}({given}):.4f}}")'


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
