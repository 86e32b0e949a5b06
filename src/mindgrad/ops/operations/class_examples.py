"""Rewrite examples of functions, ``ops.softmax(x, 0)``, as ``ops.Softmax(0)(x)``."""

from __future__ import annotations

import ast
import inspect

from mindgrad.ops.forms import Reading
from mindgrad.ops.registry import CLASSES, Form

__all__ = ["class_example"]


def class_path(form: Form) -> str:
    """Return the path of the class of a form in an example, such as ``ops.Softmax``."""
    return f"{'ops' if form.path == CLASSES else form.path}.{form.name}"


class _Rewriter(ast.NodeTransformer):
    """Replace calls of a function, ``f(x, axis)``, with its class: ``F(axis)(x)``."""

    def __init__(self, form: Form, reading: Reading, parameters: dict[str, str]) -> None:
        self.form, self.fixed = form, [each.name for each in reading.attributes]
        code = inspect.unwrap(form.function).__code__
        self.positional = list(code.co_varnames[: code.co_argcount])
        self.arguments = {parameter: name for name, parameter in parameters.items()}
        for parameter, value in reading.values.items():
            self.arguments[parameter] = value.removeprefix("self.")

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) != f"ops.{self.form.function.__name__}":
            return node
        values = dict(zip(self.positional, node.args, strict=False))
        values |= {each.arg: each.value for each in node.keywords if each.arg is not None}
        named = {self.arguments.get(parameter, parameter): value for parameter, value in values.items()}
        held = [ast.keyword(name, named.pop(name)) for name in self.fixed if name in named]
        operator = ast.Call(ast.parse(class_path(self.form), mode="eval").body, [], held)
        return ast.Call(operator, list(named.values()), [])


def class_example(example: str, form: Form, reading: Reading, parameters: dict[str, str]) -> str:
    """Replace the calls in a function's example with calls of the class of ``form``.

    Args:
        example: lines of a doctest.
        form: form of the class.
        reading: the parsed form.
        parameters: the function's parameters by the names of attributes and inputs.
    """
    rewriter = _Rewriter(form, reading, parameters)
    lines = []
    for line in example.split("\n"):
        if line.startswith(">>> ") and f"ops.{form.function.__name__}(" in line:
            line = ">>> " + ast.unparse(rewriter.visit(ast.parse(line[4:])))
        lines.append(line)
    return "\n".join(lines)
