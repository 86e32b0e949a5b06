"""Nested Python structures as a list of leaves and a description, and back.

Tuples (named ones included), lists and dicts are structure; everything else is a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["flatten", "map_leaves", "unflatten"]

_LEAF = object()


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of ``tree`` in order, and the structure that :func:`unflatten` needs.

    >>> from mindgrad._base.tree import flatten, unflatten
    >>> leaves, structure = flatten((1, {"a": 2, "b": [3]}))
    >>> leaves
    [1, 2, 3]
    >>> unflatten(structure, [10, 20, 30])
    (10, {'a': 20, 'b': [30]})
    """
    leaves: list[Any] = []
    return leaves, _describe(tree, leaves)


def _describe(tree: Any, leaves: list[Any]) -> Any:
    if isinstance(tree, (tuple, list)):
        return (type(tree), tuple([_describe(each, leaves) for each in tree]))
    if isinstance(tree, dict):
        return (type(tree), tuple(tree), tuple([_describe(each, leaves) for each in tree.values()]))
    leaves.append(tree)
    return _LEAF


def unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    """The tree of ``structure`` with ``leaves`` in it."""
    return _rebuild(structure, iter(leaves))


def _rebuild(structure: Any, leaves: Iterator[Any]) -> Any:
    if structure is _LEAF:
        return next(leaves)
    kind = structure[0]
    items = [_rebuild(each, leaves) for each in structure[-1]]
    if len(structure) == 3:
        return kind(zip(structure[1], items, strict=True))
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """``tree`` with ``function`` applied to every leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])
