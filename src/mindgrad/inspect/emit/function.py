"""Emission of a traced function as a Python module.

The input is the trace of a function: its graph, its Parameters, and the structure of its result. The output
is the source text of a module, which contains definitions and one function with the same arguments.
Parameters and large constants become keyword arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.base.tree import paths
from mindgrad.core.ir.graph import Graph
from mindgrad.inspect.emit.expression import Expression
from mindgrad.inspect.emit.names import Names, identifier
from mindgrad.inspect.emit.program import Writer

__all__ = ["Module", "Signature", "argument_paths", "emitted", "head_of", "structured"]


class Signature(NamedTuple):
    """The signature of an emitted function.

    Attributes:
        name: name of the function.
        arguments: path of each graph input that comes from an argument, for example ``x`` or
            ``batch['a'][0]``.
        parameters: name of each graph input that is a Parameter.
        results: suggested name of each graph output that belongs to the result.
        structure: converts the texts of the tensors in the result to the text of the complete result, such as
            ``{'loss': v1}``.
        written: name of each Parameter whose new value is a graph output. These outputs come first.
        file: file of the user's function. Comments cite lines of this file without its name.
        summary: first line of the docstring of the module.
    """

    name: str
    arguments: Sequence[str]
    parameters: Sequence[str]
    results: Sequence[str | None]
    structure: Callable[[Sequence[str]], str]
    written: Sequence[str]
    file: str | None
    summary: str


class Module(NamedTuple):
    """An emitted module.

    Attributes:
        text: source text.
        parameters: maps the keyword argument for each Parameter to the index of the Parameter.
        constants: maps the keyword argument for each large constant to the value of the constant.
    """

    text: str
    parameters: dict[str, int]
    constants: dict[str, np.ndarray]


def emitted(graph: Graph, signature: Signature, target: Any) -> Module:
    """Return the emitted module of a graph.

    Args:
        graph: the graph. Its inputs are arguments, followed by Parameters. Its outputs are new values of
            Parameters, followed by results.
        signature: names of the function and of its values.
        target: rules of the library that the module uses, such as ``NumpyTarget``.
    """
    names = Names({target.module, "np", "jax", "print", "base64", *target.reserved})
    target.prepare(graph)
    target.definitions.share(names.used)
    heads = list(dict.fromkeys(map(head_of, signature.arguments)))
    names.used.update(heads)
    writer = Writer(target, names, signature.file)
    inputs: list[Expression] = []
    count = len(signature.arguments)
    for path, variable in zip(signature.arguments, graph.inputs[:count], strict=True):
        name = path
        if path not in heads:
            name = names.fresh(path)
            writer.line(f"{name} = {path}")
        inputs.append(Expression(name, variable.type, is_name=True))
    keywords = {names.fresh(name): k for k, name in enumerate(signature.parameters)}
    for name, variable in zip(keywords, graph.inputs[count:], strict=True):
        inputs.append(Expression(name, variable.type, is_name=True))
    suggested = [*[f"new_{identifier(name)}" for name in signature.written], *signature.results]
    outputs = [writer.whole(x) for x in writer.run(graph, inputs, suggested)]
    _returned(writer, signature, [x.text for x in outputs])
    text = _text(writer, signature, graph, heads, list(keywords))
    return Module(text, keywords, target.inputs)


def _returned(writer: Writer, signature: Signature, outputs: list[str]) -> None:
    result = signature.structure(outputs[len(signature.written) :])
    if signature.written:
        pairs = [f"{name!r}: {text}" for name, text in zip(signature.written, outputs, strict=False)]
        result = f"{result}, {{{', '.join(pairs)}}}"
    writer.line(f"return {result}")


def _text(writer: Writer, signature: Signature, graph: Graph, heads: list[str], keywords: list[str]) -> str:
    target = writer.target
    constants = list(target.inputs)
    named = [*keywords, *constants]
    arguments = ", ".join([*heads, *(["*", *named] if named else [])])
    if len(arguments) > 80:
        arguments = "\n    " + ",\n    ".join([*heads, *(["*", *named] if named else [])]) + ",\n"
    lines = [f'"""{signature.summary}"""', "", *target.header.split("\n")]
    others = [line for line in target.definitions.imports if line not in target.header.split("\n")]
    lines[2:2] = sorted(others)
    for text in target.definitions.texts.values():
        lines += ["", *([""] if text.startswith(("def ", "class ")) else []), text]
    lines += ["", ""]
    if target.decorator is not None:
        lines.append(target.decorator)
    lines.append(f"def {signature.name}({arguments}):")
    types = [(path, v.type) for path, v in zip(signature.arguments, graph.inputs, strict=False)]
    own = graph.inputs[len(signature.arguments) :]
    types += [(name, v.type) for name, v in zip(keywords, own, strict=True)]
    shown = ", ".join(f"{path}: {type_}" for path, type_ in types)
    if shown:
        wrapped = _wrapped(shown)
        lines += [f'    """{wrapped[0]}', *[f"    {line}" for line in wrapped[1:]]]
        lines[-1] += '"""'
    return "\n".join([*lines, *writer.lines]) + "\n"


def _wrapped(text: str, columns: int = 100) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= columns:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def structured(structure: Any, leaf: Any, texts: Sequence[str]) -> str:
    """Return source text of nested tuples, lists, and dicts with the leaves ``texts``.

    Args:
        structure: a tree structure of ``base.tree``.
        leaf: the object that represents a leaf in ``structure``.
        texts: source texts of the leaves.
    """
    remaining = iter(texts)

    def write(node: Any) -> str:
        if node is leaf:
            return next(remaining)
        kind, items = node[0], [write(child) for child in node[-1]]
        if issubclass(kind, list):
            return f"[{', '.join(items)}]"
        if issubclass(kind, tuple):
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        names = node[1][len(node[1]) - len(items) :]
        return f"{{{', '.join(f'{name!r}: {item}' for name, item in zip(names, items, strict=True))}}}"

    return write(structure)


def head_of(path: str) -> str:
    """Return the name at the start of a path: ``batch`` for ``batch['a'][0]``."""
    return path.partition("[")[0].partition(".")[0]


def argument_paths(structure: Any, names: Sequence[str]) -> list[str]:
    """Return the path of each leaf of ``(args, kwargs)``, such as ``batch['a'][0]``.

    ``structure`` is the tree structure of ``(args, kwargs)``. ``names`` are the names of the positional
    arguments.
    """
    named = []
    for path in paths(structure):
        is_keyword, rest = path.startswith("[1]"), path[3:]
        head, _, tail = rest[1:].partition("]")
        if is_keyword:
            name = identifier(head.strip("'\""))
        else:
            position = int(head)
            name = (
                identifier(names[position]) if position < len(names) and names[position] else f"x{position}"
            )
        named.append(name + tail)
    return named
