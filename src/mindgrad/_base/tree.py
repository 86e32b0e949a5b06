"""Pytrees flatten nested Python structures to a list of leaves and a description, and rebuild them.

Tuples (named ones included), lists, dicts and dataclasses are structure; everything else is a leaf,
``None`` too. What is rebuilt has the type of what was taken apart: a list stays a list, a
``defaultdict`` keeps its factory, a dict the order of its keys, and a dataclass every attribute of its
instance; neither ``__init__`` nor ``__post_init__`` runs again, so that frozen classes, defaults and
fields with ``init=False`` come back as they were.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

__all__ = [
    "attributes_of", "differences", "flatten", "is_leaf", "is_record", "map_leaves", "paths", "record_of",
    "unflatten",
]  # fmt: skip

_LEAF = object()

#: types of which all instances are leaves, known from earlier ones: most trees are a single leaf
_LEAVES: set[type] = set()
_LEAVES_KNOWN = 256


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of ``tree`` in order, and the structure that :func:`unflatten` needs.

    >>> from mindgrad._base.tree import flatten, unflatten
    >>> leaves, structure = flatten((1, {"a": 2, "b": [3]}))
    >>> leaves
    [1, 2, 3]
    >>> unflatten(structure, [10, 20, 30])
    (10, {'a': 20, 'b': [30]})
    """
    if type(tree) in _LEAVES:
        return [tree], _LEAF
    leaves: list[Any] = []
    structure = _describe(tree, leaves)
    if structure is _LEAF and len(_LEAVES) < _LEAVES_KNOWN:
        _LEAVES.add(type(tree))
    return leaves, structure


# A structure is _LEAF, (type, items) of a sequence, or (type, names, items) of what has names.


def _describe(tree: Any, leaves: list[Any]) -> Any:
    kind: Any = type(tree)
    if not isinstance(tree, (tuple, list, dict)):
        if not is_record(kind):
            leaves.append(tree)
            return _LEAF
        attributes = attributes_of(tree)
        return (kind, tuple(attributes), tuple([_describe(child, leaves) for child in attributes.values()]))
    if isinstance(tree, dict):
        names = (tree.default_factory, *tree) if isinstance(tree, defaultdict) else tuple(tree)
        return (kind, names, tuple([_describe(child, leaves) for child in tree.values()]))
    return (kind, tuple([_describe(child, leaves) for child in tree]))


@lru_cache(maxsize=1024)
def is_record(kind: type) -> bool:
    """Whether instances of ``kind`` are taken apart by the names of their attributes: dataclasses.

    Not those that are functions of their own, with a ``construct``.
    """
    return dataclasses.is_dataclass(kind) and not hasattr(kind, "construct")


def attributes_of(record: Any) -> dict[str, Any]:
    """The attributes of a dataclass's instance: its fields, then what else was set on it."""
    names = [field.name for field in dataclasses.fields(record)]
    # a field with init=False and no default may never have been set
    held = {name: getattr(record, name) for name in names if hasattr(record, name)}
    held.update(getattr(record, "__dict__", {}))
    return held


def is_leaf(structure: Any) -> bool:
    """Whether the structure is that of a tree that is one leaf."""
    return structure is _LEAF


def unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    """The tree of ``structure`` with ``leaves`` in it."""
    return _rebuild(structure, iter(leaves))


def _rebuild(structure: Any, leaves: Iterator[Any]) -> Any:
    if structure is _LEAF:
        return next(leaves)
    kind = structure[0]
    items = [_rebuild(child, leaves) for child in structure[-1]]
    if kind is tuple:
        return tuple(items)
    if kind is list:
        return items
    if len(structure) == 2:
        return _sequence(kind, items)
    names = structure[1]
    if kind is dict:
        return dict(zip(names, items, strict=True))
    if not issubclass(kind, dict):
        return record_of(kind, dict(zip(names, items, strict=True)))
    mapping = kind(names[0]) if issubclass(kind, defaultdict) else kind.__new__(kind)
    for name, item in zip(names[len(names) - len(items) :], items, strict=True):
        mapping[name] = item  # not kind(pairs): a Counter would count them
    return mapping


def _sequence(kind: Any, items: list[Any]) -> Any:
    """A tuple or list of type ``kind``, without the checks of its constructor where it has some.

    They say what users may put in; a placeholder that stands for such an item while a program is
    traced has another type.
    """
    if issubclass(kind, list):
        made = kind.__new__(kind)
        made.extend(items)
        return made
    try:
        return tuple.__new__(kind, items)
    except TypeError:  # types made in C, as time.struct_time
        return kind(items)


def record_of(kind: type, attributes: dict[str, Any]) -> Any:
    """An instance of the dataclass ``kind`` with these attributes."""
    record: Any = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(record, name, value)  # frozen ones too
    return record


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """``tree`` with ``function`` applied to every leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def differences(before: Any, after: Any, path: str = "") -> str:
    """The first difference of two structures, in words; ``""`` if there is none.

    >>> from mindgrad._base.tree import differences, flatten
    >>> differences(flatten([1, (2, 3)])[1], flatten([1, (2,)])[1], "x")
    'x[1] changed from a tuple of 2 to a tuple of 1'
    """
    if before is _LEAF or after is _LEAF:
        return "" if before is after else f"{path} changed from {_said(before)} to {_said(after)}"
    if before[0] is not after[0] or len(before[-1]) != len(after[-1]):
        return f"{path} changed from {_said(before)} to {_said(after)}"
    if before[1:-1] != after[1:-1]:
        return f"the keys of {path} changed from {list(before[1])} to {list(after[1])}"
    for step, one, other in zip(steps(before), before[-1], after[-1], strict=True):
        found = differences(one, other, path + step)
        if found:
            return found
    return ""


def _said(structure: Any) -> str:
    if structure is _LEAF:
        return "a single value"
    return f"a {structure[0].__name__} of {len(structure[-1])}"


def steps(structure: Any) -> list[str]:
    """The access path of each item of a structure: ``[0]``, ``['a']``, ``.name``."""
    if len(structure) == 2:
        return [f"[{index}]" for index in range(len(structure[1]))]
    kind, names, items = structure
    if issubclass(kind, dict):
        return [f"[{name!r}]" for name in names[len(names) - len(items) :]]
    return [f".{name}" for name in names]


def paths(structure: Any, path: str = "") -> list[str]:
    """The access path of every leaf of a structure, in order.

    >>> from mindgrad._base.tree import flatten, paths
    >>> paths(flatten({"a": [1, 2]})[1], "x")
    ["x['a'][0]", "x['a'][1]"]
    """
    if structure is _LEAF:
        return [path]
    return [
        leaf
        for step, item in zip(steps(structure), structure[-1], strict=True)
        for leaf in paths(item, path + step)
    ]
