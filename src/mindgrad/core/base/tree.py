"""Pytrees: flatten nested Python containers to a list of leaves, and rebuild them.

Tuples, named tuples, lists, dicts, and dataclasses are containers. Everything else is a leaf, including
``None``. A rebuilt container has the original type: a ``defaultdict`` has the same factory, a dict the same
order of keys, and a dataclass instance the same attributes. Rebuilding a dataclass does not call ``__init__``
or ``__post_init__``, so it works for frozen classes and for fields with ``init=False``.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = [
    "attributes_of", "differences", "flatten", "is_leaf", "is_record", "map_leaves", "paths", "record_of",
    "unflatten",
]  # fmt: skip

_LEAF = object()

#: types whose instances are leaves. ``flatten`` recognizes such an instance immediately
_LEAVES: set[type] = set()
#: maximum number of types in `_LEAVES`
_LEAVES_KNOWN = 256


def flatten(tree: object) -> tuple[list[Any], Any]:
    """Return the leaves of ``tree`` in order, and the structure for :func:`unflatten`.

    >>> from mindgrad.core.base.tree import flatten, unflatten
    >>> leaves, structure = flatten((1, {"a": 2, "b": [3]}))
    >>> leaves
    [1, 2, 3]
    >>> unflatten(structure, [10, 20, 30])
    (10, {'a': 20, 'b': [30]})
    """
    leaves: list[Any] = []
    return leaves, _describe(tree, leaves)


# The structure of a tree is _LEAF, (type, items) for a sequence, or (type, names, items) for a dict or
# dataclass


def _describe(tree: object, leaves: list) -> Any:
    kind: Any = type(tree)
    if kind in _LEAVES:
        leaves.append(tree)
        return _LEAF
    if not isinstance(tree, (tuple, list, dict)):
        if not is_record(kind):
            if len(_LEAVES) < _LEAVES_KNOWN:
                _LEAVES.add(kind)
            leaves.append(tree)
            return _LEAF
        attributes = attributes_of(tree)
        return (kind, tuple(attributes), tuple([_describe(child, leaves) for child in attributes.values()]))
    if isinstance(tree, dict):
        names = (tree.default_factory, *tree) if isinstance(tree, defaultdict) else tuple(tree)
        return (kind, names, tuple([_describe(child, leaves) for child in tree.values()]))
    return (kind, tuple([_describe(child, leaves) for child in tree]))


def is_record(kind: type) -> bool:
    """Check whether ``flatten`` treats instances of ``kind`` as containers.

    This is true for dataclasses. A dataclass with a method ``construct`` is a module, and therefore a leaf.
    """
    return dataclasses.is_dataclass(kind) and not hasattr(kind, "construct")


def attributes_of(record: Any) -> dict[str, Any]:
    """Return the attributes of a dataclass instance: fields first, then the others."""
    names = [field.name for field in dataclasses.fields(record)]
    # a dataclass field with init=False and without a default may be unset
    held = {name: getattr(record, name) for name in names if hasattr(record, name)}
    held.update(getattr(record, "__dict__", {}))
    return held


def is_leaf(structure: object) -> bool:
    """Check whether the structure describes a tree that is a single leaf."""
    return structure is _LEAF


def unflatten(structure: Any, leaves: Sequence[object]) -> Any:
    """Rebuild a tree from its structure and the list of its leaves."""
    return _rebuild(structure, iter(leaves))


def _rebuild(structure: tuple, leaves: Iterator[object]) -> Any:
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
        mapping[name] = item  # do not call kind(pairs), because a Counter would count the pairs
    return mapping


def _sequence(kind: Any, items: list) -> Any:
    """Create a tuple or list of type ``kind`` without calling its constructor.

    The constructor may check the types of the items, and reject the placeholders used during tracing.
    """
    if issubclass(kind, list):
        made = kind.__new__(kind)
        made.extend(items)
        return made
    try:
        return tuple.__new__(kind, items)
    except TypeError:  # a type implemented in C, such as time.struct_time
        return kind(items)


def record_of(kind: type, attributes: dict[str, object]) -> Any:
    """Create an instance of the dataclass ``kind`` without calling its constructor."""
    record: Any = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(record, name, value)  # works for frozen dataclasses, too
    return record


def map_leaves(function: Callable, tree: object) -> Any:
    """Apply ``function`` to every leaf of ``tree``."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def differences(before: tuple, after: tuple, path: str = "") -> str:
    """Describe the first difference between two structures; ``""`` if they are equal.

    >>> from mindgrad.core.base.tree import differences, flatten
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


def _said(structure: tuple) -> str:
    if structure is _LEAF:
        return "a single value"
    return f"a {structure[0].__name__} of {len(structure[-1])}"


def steps(structure: tuple) -> list[str]:
    """Return the access path of each item of a container: ``[0]``, ``['a']``, ``.x``."""
    if len(structure) == 2:
        return [f"[{index}]" for index in range(len(structure[1]))]
    kind, names, items = structure
    if issubclass(kind, dict):
        return [f"[{name!r}]" for name in names[len(names) - len(items) :]]
    return [f".{name}" for name in names]


def paths(structure: tuple, path: str = "") -> list[str]:
    """Return the access paths of all leaves of a structure, in order.

    >>> from mindgrad.core.base.tree import flatten, paths
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
