"""Function factories make public functions from rows: a name, the row, its meaning and an example.

The documentation of such a function is written from its entry and from what its row says it takes,
so that it cannot disagree with the code.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mindgrad.ir.dtype import DType, bool_, complex64, float32, int32
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import tensor_type
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
    """The value of an argument that is not given."""

    is_missing = True

    def __repr__(self) -> str:
        return "nothing"


NOT_GIVEN: Any = _NotGiven()


def also_named(**names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator with which arguments can be given by second names: ``also_named(input="x")``.

    For functions that are not called for every operator of a program: it costs 0.1 µs a call.
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
    """The value of an argument with two names, which is given by its ``second`` name."""
    if value is not NOT_GIVEN:
        raise TypeError(f"For '{operator}', one argument is given twice, as '{name}' and as '{second}'.")
    return other


def operator_name(name: str) -> str:
    """The name of the operator in errors.

    >>> from mindgrad.ops.define import operator_name
    >>> operator_name("floor_div"), operator_name("log1p")
    ('FloorDiv', 'Log1p')
    """
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def unary_function(
    module: str,
    name: str,
    row: Primitive,
    meaning: str,
    example: str,
    prints: str,
    *forms: str,
    float_only: bool = False,
    integers_stay: bool = False,
    **parameters: Any,
) -> Callable[[Any], Tensor]:
    """A function of one tensor that applies ``row`` to each element.

    Args:
        module: the module in which the function is defined.
        name: its name.
        row: the row that it applies.
        meaning: what it computes, with formula and derivative, as sentences.
        example: its argument in the example; a number is shown to four places, because the last
            digits differ between machines.
        prints: what the example prints.
        forms: its public names, as :func:`mindgrad.ops.registry.public` takes them.
        float_only: integers and truth values become Float32 first.
        integers_stay: integers and truth values are the result already (``floor``).
        parameters: those of the row.
    """
    operator = operator_name(name)

    def whole(input: Any = NOT_GIVEN, *, x: Any = NOT_GIVEN) -> Tensor:
        tensor = operand(input if x is NOT_GIVEN else the_one(operator, "input", input, "x", x), operator)
        return unary(row, operator, tensor) if tensor.dtype.is_inexact else tensor

    def function(input: Any = NOT_GIVEN, *, x: Any = NOT_GIVEN) -> Tensor:
        if x is not NOT_GIVEN:
            input = the_one(operator, "input", input, "x", x)
        return unary(row, operator, input, float_only, **parameters)

    accepted = _taken(row, 1, float_only, **parameters)
    if integers_stay:
        accepted += "; integers and Booleans are returned unchanged"
    return _named(
        whole if integers_stay else function,
        module,
        name,
        forms,
        f"""{meaning}

    Args:
        input (Tensor or number): the values x, of any shape; also accepted as the keyword ``x``.
            Supported are {accepted}.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: If ``input`` is neither a tensor nor a number, or has another dtype.

    >>> from mindgrad import Tensor, ops
    >>> {_shown(name, example)}
    {_indented(prints)}
    """,
    )


def binary_function(
    module: str,
    name: str,
    row: Primitive,
    meaning: str,
    example: str,
    prints: str,
    *forms: str,
    float_only: bool = False,
    check: Callable[[str, Any, Any], None] | None = None,
) -> Callable[[Any, Any], Tensor]:
    """A function of two tensors that applies ``row`` to each pair; arguments as for one tensor.

    ``check(operator, input, other)`` raises for operands that the row takes and the function does not.
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
        return binary(row, operator, input, other, float_only)

    truth = row.kind == "pointwise constant" and _result(row, 2) is bool_
    return _named(
        function,
        module,
        name,
        forms,
        f"""{meaning}

    Args:
        input, other (Tensor or number): the operands x and y, whose shapes broadcast; also
            accepted as the keywords ``x`` and ``y``. Supported are {_taken(row, 2, float_only)}.

    Returns:
        {"Boolean tensor of the broadcast shape" if truth else _PROMOTED}.

    Raises:
        TypeError: If an operand is neither a tensor nor a number, or has another dtype.
        ValueError: If the shapes do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> {_shown(name, example)}
    {_indented(prints)}
    """,
    )


_PROMOTED = "Tensor of the broadcast shape and of the promoted dtype"


def _result(row: Primitive, operands: int, among: Any = _KINDS, **parameters: Any) -> DType | None:
    """The element type of the row's result for the last of ``among`` that it takes."""
    for _, dtype in reversed(among):
        try:
            return row.type_rule(*[tensor_type(dtype, ())] * operands, **parameters).dtype
        except TypeError:
            continue
    return None


def _taken(row: Primitive, operands: int, float_only: bool, **parameters: Any) -> str:
    """The accepted dtypes, in words."""
    words = [kind[0] for kind in _KINDS if _result(row, operands, [kind], **parameters) is not None]
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
#: what functions of one tensor and of two take; that x and y are names for it too is said in words
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
