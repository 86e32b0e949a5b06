"""Expressions of emitted programs: text with its precedence, and what broadcasting still has to do to it."""

from __future__ import annotations

from dataclasses import dataclass

from mindgrad.ir.types import TensorType

__all__ = [
    "ADD", "AND", "ATOM", "COMPARE", "MULTIPLY", "OR", "POWER", "SHIFT", "UNARY", "XOR", "Expression", "call",
    "infix", "parenthesised", "prefix",
]  # fmt: skip

#: how tightly Python's operators bind
COMPARE, OR, XOR, AND, SHIFT, ADD, MULTIPLY, UNARY, POWER, ATOM = range(10)


@dataclass(frozen=True)
class Expression:
    """A value as source text.

    Attributes:
        text: the text.
        type: the type of the value.
        precedence: how tightly its outermost operator binds.
        is_literal: whether it is a Python number, which takes its element type from the other operand.
        is_spread: whether broadcasting with another operand gives it its shape.
        is_name: whether it is a variable.
    """

    text: str
    type: TensorType
    precedence: int = ATOM
    is_literal: bool = False
    is_spread: bool = False
    is_name: bool = False


def parenthesised(x: Expression, precedence: int) -> str:
    """The text of ``x`` as an operand of what binds with ``precedence``."""
    return x.text if x.precedence >= precedence else f"({x.text})"


def infix(sign: str, precedence: int, a: Expression, b: Expression) -> tuple[str, int]:
    """``a sign b``, text and precedence."""
    if precedence == POWER:
        return f"{parenthesised(a, ATOM)}{sign}{parenthesised(b, UNARY)}", POWER
    above = precedence + 1
    left = parenthesised(a, above if precedence == COMPARE else precedence)
    return f"{left} {sign} {parenthesised(b, above)}", precedence


def prefix(sign: str, x: Expression) -> tuple[str, int]:
    """``sign x``, text and precedence."""
    return f"{sign}{parenthesised(x, UNARY)}", UNARY


def call(function: str, *arguments: str) -> tuple[str, int]:
    """``function(arguments)``, text and precedence."""
    return f"{function}({', '.join(arguments)})", ATOM
