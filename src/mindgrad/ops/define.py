"""Public functions made from rows: name, row, meaning and example in one entry, the rest follows.

The documentation of such a function is written from its entry and from what its row says it takes,
so that it cannot disagree with the code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.dtype import DType, bool_, complex64, float32, int32
from mindgrad.core.primitive import Primitive
from mindgrad.core.tensor import Tensor
from mindgrad.core.types import tensor_type
from mindgrad.ops.operands import binary, operand, unary

__all__ = ["binary_function", "operator_name", "unary_function"]

_KINDS: tuple[tuple[str, DType], ...] = (
    ("truth values", bool_),
    ("integers", int32),
    ("floating-point numbers", float32),
    ("complex numbers", complex64),
)


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
    what: str,
    example: str,
    prints: str,
    *,
    float_only: bool = False,
    integers_stay: bool = False,
) -> Callable[[Any], Tensor]:
    """A function of one tensor that applies ``row`` to each element.

    Args:
        module: the module in which the function is defined.
        name: its name.
        row: the row that it applies.
        what: what it computes, with formula and derivative, as sentences.
        example: its argument in the example; a number is shown to four places, because the last
            digits differ between machines.
        prints: what the example prints.
        float_only: integers and truth values become Float32 first.
        integers_stay: integers and truth values are the result already (``floor``).
    """
    operator = operator_name(name)

    def whole(x: Any) -> Tensor:
        tensor = operand(x, operator)
        return unary(row, operator, tensor) if tensor.dtype.is_inexact else tensor

    def function(x: Any) -> Tensor:
        return unary(row, operator, x, float_only)

    taken = _taken(row, 1, float_only)
    if integers_stay:
        taken += "; integers and truth values are returned as they are"
    return _named(
        whole if integers_stay else function,
        module,
        name,
        f"""{what}

    Args:
        x: a tensor of any shape, or a number: {taken}.

    Returns:
        Tensor of the shape of ``x``.

    Raises:
        TypeError: ``x`` is neither a tensor nor a number, or of another element type.

    >>> from mindgrad import Tensor, ops
    >>> {_shown(name, example)}
    {_indented(prints)}
    """,
    )


def binary_function(
    module: str,
    name: str,
    row: Primitive,
    what: str,
    example: str,
    prints: str,
    *,
    float_only: bool = False,
) -> Callable[[Any, Any], Tensor]:
    """A function of two tensors that applies ``row`` to each pair; arguments as for one tensor."""
    operator = operator_name(name)

    def function(x: Any, y: Any) -> Tensor:
        return binary(row, operator, x, y, float_only)

    truth = row.kind == "pointwise constant" and _result(row, 2) is bool_
    return _named(
        function,
        module,
        name,
        f"""{what}

    Args:
        x, y: tensors or numbers whose shapes broadcast: {_taken(row, 2, float_only)}.

    Returns:
        Tensor of the broadcast shape and of {"Bool" if truth else "the promoted element type"}.

    Raises:
        TypeError: an operand is neither a tensor nor a number, or of another element type.
        ValueError: the shapes do not broadcast.

    >>> from mindgrad import Tensor, ops
    >>> {_shown(name, example)}
    {_indented(prints)}
    """,
    )


def _result(row: Primitive, operands: int, among: Any = _KINDS) -> DType | None:
    """The element type of the row's result for the last of ``among`` that it takes."""
    for _, dtype in reversed(among):
        try:
            return row.type_rule(*[tensor_type(dtype, ())] * operands).dtype
        except TypeError:
            continue
    return None


def _taken(row: Primitive, operands: int, float_only: bool) -> str:
    """Which elements the function takes, in words."""
    words = [each[0] for each in _KINDS if _result(row, operands, [each]) is not None]
    if float_only:
        words = [word for word in words if word not in ("truth values", "integers")]
        words.insert(0, "integers and truth values (taken as Float32)")
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _named(function: Callable[..., Any], module: str, name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = doc
    return function


def _shown(name: str, example: str) -> str:
    if "Tensor" in example:
        return f"print(ops.{name}({example}))"
    given = ", ".join(f"Tensor({number})" for number in example.split(", "))
    return f'print(f"{{ops.{name}({given}):.4f}}")'


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
