"""Expressions of emitted programs: source text, precedence, implicit broadcasts."""

from __future__ import annotations

from dataclasses import dataclass

from mindgrad.core.ir.types import TensorType

__all__ = [
    "ADD", "AND", "ATOM", "COMPARE", "MULTIPLY", "OR", "POWER", "SHIFT", "UNARY", "XOR", "Expression", "call",
    "infix", "parenthesized", "prefix",
]  # fmt: skip

#: precedences of Python's operators, from lowest to highest
COMPARE, OR, XOR, AND, SHIFT, ADD, MULTIPLY, UNARY, POWER, ATOM = range(10)


@dataclass(frozen=True)
class Expression:
    """A value as source text.

    Attributes:
        text: the source text.
        type: the type of the value.
        precedence: the precedence of the outermost operator of the text.
        is_literal: whether the text is a Python scalar. In an operation with an array, NumPy converts the
            scalar to the element type of the array.
        is_spread: whether the text evaluates to an array with a smaller shape than ``type``. In an operation
            with an array of the full shape, NumPy broadcasts it to the full shape.
        is_name: whether the text is the name of a variable.
    """

    text: str
    type: TensorType
    precedence: int = ATOM
    is_literal: bool = False
    is_spread: bool = False
    is_name: bool = False


def parenthesized(x: Expression, precedence: int) -> str:
    """Return source text of ``x`` as an operand of an operator with ``precedence``.

    Parentheses are added only if the precedence requires them.
    """
    return x.text if x.precedence >= precedence else f"({x.text})"


def infix(sign: str, precedence: int, a: Expression, b: Expression) -> tuple[str, int]:
    """Return the source text of ``a sign b``, and its precedence."""
    if precedence == POWER:
        return f"{parenthesized(a, ATOM)}{sign}{parenthesized(b, UNARY)}", POWER
    above = precedence + 1
    left = parenthesized(a, above if precedence == COMPARE else precedence)
    return f"{left} {sign} {parenthesized(b, above)}", precedence


def prefix(sign: str, x: Expression) -> tuple[str, int]:
    """Return the source text of ``sign x``, and its precedence."""
    return f"{sign}{parenthesized(x, UNARY)}", UNARY


def call(function: str, *arguments: str) -> tuple[str, int]:
    """Return the source text of ``function(arguments)``, and its precedence."""
    return f"{function}({', '.join(arguments)})", ATOM
