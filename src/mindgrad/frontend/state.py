"""Parameters inside traced programs: what is read becomes an input, what is written an output.

A Parameter stands for its stored value outside every scope. Inside, the innermost scope that bound
or wrote it says what it stands for now; the outermost compiled scope makes it an input.
"""

from __future__ import annotations

import weakref
from typing import Any

from mindgrad.core.scope import GraphScope, innermost, open_scopes
from mindgrad.core.tensor import Tensor

__all__ = ["compilation", "depends_on", "is_compiling", "read", "write"]


def read(parameter: Tensor) -> Tensor:
    """The tensor that ``parameter`` stands for at this point of the program (others: themselves)."""
    if not parameter.is_parameter:
        return parameter
    scopes = open_scopes()
    if not scopes:
        return parameter
    key = id(parameter)
    for scope in reversed(scopes):
        bound = scope.bindings.get(key)
        if bound is not None:
            return bound
    root = scopes[0]
    if isinstance(root, GraphScope):
        symbol = root.symbol(parameter.type)
        root.bindings[key] = symbol
        root.parameters.append(parameter)
        return symbol
    return parameter


def write(parameter: Any, value: Tensor) -> None:
    """Let ``parameter`` be ``value`` from here on.

    Outside every scope the stored value changes now; inside, when the outermost scope ends.
    """
    scope = innermost()
    if scope is None:
        parameter.store(value)
        return
    scope.bindings[id(parameter)] = value
    scope.written[id(parameter)] = parameter


def depends_on(owner: Any) -> None:
    """Note that the program being compiled depends on Python attributes of ``owner``.

    ``owner.version`` counts the changes of its attributes; a compiled program is used again only
    while it stands still.
    """
    scopes = open_scopes()
    if scopes and isinstance(scopes[0], GraphScope):
        scopes[0].dependencies[id(owner)] = (owner, owner.version)


def compilation() -> weakref.ref[GraphScope] | None:
    """The program being compiled on this thread, ``None`` if there is none."""
    for scope in open_scopes():
        if isinstance(scope, GraphScope):
            return weakref.ref(scope)
    return None


def is_compiling() -> bool:
    """Whether a program is being compiled on this thread."""
    return isinstance(innermost(), GraphScope)
