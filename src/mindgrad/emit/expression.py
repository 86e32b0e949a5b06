"""Expressions of emitted programs: text, precedence, and implicit broadcasts."""

from __future__ import annotations

from dataclasses import dataclass

from mindgrad.ir.types import TensorType

__all__ = [
    "ADD", "AND", "ATOM", "COMPARE", "MULTIPLY", "OR", "POWER", "SHIFT", "UNARY", "XOR", "Expression", "call",
    "infix", "parenthesized", "prefix",
]  # fmt: skip

#: precedence of Python's operators, lowest first
COMPARE, OR, XOR, AND, SHIFT, ADD, MULTIPLY, UNARY, POWER, ATOM = range(10)


@dataclass(frozen=True)
class Expression:
    """A value as source text.

    Attributes:
        text: the source text.
        type: the type of the value.
        precedence: the precedence of the outermost operator of the text.
        is_literal: whether the text is a Python scalar. In an operation, it gets the element type of the
            array operand.
        is_spread: whether the text has a smaller shape than ``type``, to which NumPy broadcasts it in an
            operation with a full array.
        is_name: whether the text is the name of a variable.
    """

    text: str
    type: TensorType
    precedence: int = ATOM
    is_literal: bool = False
    is_spread: bool = False
    is_name: bool = False


def parenthesized(x: Expression, precedence: int) -> str:
    """Write ``x`` as an operand of an operator with ``precedence``.

    Parentheses are added only if they are needed.
    """
    return x.text if x.precedence >= precedence else f"({x.text})"


def infix(sign: str, precedence: int, a: Expression, b: Expression) -> tuple[str, int]:
    """Write ``a sign b``; return text and precedence."""
    if precedence == POWER:
        return f"{parenthesized(a, ATOM)}{sign}{parenthesized(b, UNARY)}", POWER
    above = precedence + 1
    left = parenthesized(a, above if precedence == COMPARE else precedence)
    return f"{left} {sign} {parenthesized(b, above)}", precedence


def prefix(sign: str, x: Expression) -> tuple[str, int]:
    """Write ``sign x``; return text and precedence."""
    return f"{sign}{parenthesized(x, UNARY)}", UNARY


def call(function: str, *arguments: str) -> tuple[str, int]:
    """Write ``function(arguments)``; return text and precedence."""
    return f"{function}({', '.join(arguments)})", ATOM
