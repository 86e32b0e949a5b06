"""Labels of source lines, functions and files in a figure of ``draw``."""

from __future__ import annotations

import ast
import linecache
import os
from functools import lru_cache
from typing import Any

__all__ = ["OWN", "described", "function_of"]

#: label of operators without a source line, such as operators that the compiler has added
OWN = "no source line"

Source = tuple[str, int]


@lru_cache(maxsize=64)
def _functions(file: str) -> list[tuple[int, int, str]]:
    """List first line, last line and name of each function, inner functions last."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return []
    functions: list[tuple[int, int, str]] = []

    def walk(node: ast.AST, path: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            inner = path
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = (*path, child.name)
                if isinstance(child, ast.FunctionDef):
                    shown = inner[-2:-1] if child.name == "construct" and len(inner) > 1 else inner[-1:]
                    functions.append((child.lineno, child.end_lineno or child.lineno, shown[0]))
            walk(child, inner)

    walk(tree, ())
    return functions


def function_of(source: Source) -> str:
    """Return the name of the function that contains a line.

    For ``construct`` it is the name of the class, and outside functions the name of the file.
    """
    file, line = source
    inside = [name for first, last, name in _functions(file) if first <= line <= last]
    return inside[-1] if inside else os.path.basename(file)


def described(source: Source, folding: str) -> tuple[Any, str, str]:
    """Return the key, label and group of the row that a source line belongs to.

    Args:
        source: file and number of the line.
        folding: unit of a row: ``"line"``, ``"block of lines"``, ``"function"``, or ``"file"``.
    """
    file, line = source
    if not file:
        return None, OWN, ""
    function = function_of(source)
    name = os.path.basename(file)
    if folding in ("line", "block of lines"):
        text = linecache.getline(file, line).strip()
        return source, f"{line}: {text}" if text else f"line {line}", function
    if folding == "function":
        return (file, function), f"{function} ({name})", name
    return file, name, ""
