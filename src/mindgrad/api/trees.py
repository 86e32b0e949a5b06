"""Functions of nested containers: ``tree_map``, ``tree_leaves``, ``ravel_pytree``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.core.base.tree import differences, flatten, paths, unflatten
from mindgrad.core.ir.dtype import float32, promote
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.static_slices import slice as part_of
from mindgrad.core.primitives.structural import convert, reshape
from mindgrad.core.trace import references
from mindgrad.frontend import user_calls

__all__ = ["ravel_pytree", "tree_leaves", "tree_map"]


def tree_map(fn: Callable[..., Any], tree: Any, *trees: Any) -> Any:
    """Apply a function to each leaf of a tree, or to matching leaves of trees.

    Args:
        fn (Callable): called as ``fn(leaf, *leaves)`` with the matching leaf of each of ``trees``, in the
            order of the leaves.
        tree (Any): tuples, named tuples, lists, dicts, and dataclasses, nested to any depth. Every other
            object is a leaf, except ``None``, which stays ``None``.
        *trees (Any): trees of the same structure. A list matches a tuple, and the order of dict keys does not
            matter.

    Returns:
        Any: a tree with the structure of ``tree``, with the results of ``fn`` as leaves.

    Raises:
        TypeError: If ``fn`` is not callable.
        ValueError: If a tree in ``trees`` does not have the structure of ``tree``.

    >>> import mindgrad as ms
    >>> weights = {"w": ms.Tensor([1.0, 2.0]), "b": [ms.Tensor(3.0)]}
    >>> gradients = {"b": (ms.Tensor(10.0),), "w": ms.Tensor([10.0, 20.0])}
    >>> stepped = ms.tree_map(lambda w, g: w - 0.1 * g, weights, gradients)
    >>> print(stepped["w"], stepped["b"][0])
    [0. 0.] 2.0

    See Also:
        :func:`mindgrad.tree_leaves`, :func:`mindgrad.ravel_pytree`
    """
    if not callable(fn):
        raise TypeError(f"For 'tree_map', 'fn' must be callable, but got {type(fn).__name__}.")
    leaves, structure = flatten(tree)
    others = [_leaves_like(tree, other, number) for number, other in enumerate(trees, 1)]
    results = [
        None if leaf is None else user_calls.run(fn, leaf, *beside)
        for leaf, *beside in zip(leaves, *others, strict=True)
    ]
    return unflatten(structure, results)


def tree_leaves(tree: Any) -> list[Any]:
    """Return a list of the leaves of a tree, without ``None``.

    Args:
        tree (Any): tree of containers, as for :func:`mindgrad.tree_map`.

    Returns:
        list: the leaves of ``tree``, in the order of its containers.

    >>> import mindgrad as ms
    >>> ms.tree_leaves({"a": 1, "b": (2, [3, None])})
    [1, 2, 3]

    See Also:
        :func:`mindgrad.tree_map`, :func:`mindgrad.ravel_pytree`
    """
    return [leaf for leaf in flatten(tree)[0] if leaf is not None]


def ravel_pytree(tree: Any) -> tuple[Tensor, Callable[[Any], Any]]:
    """Concatenate all leaves of a tree to one vector.

    The result also contains the inverse function. With both, optimizers and solvers that accept vectors work
    on trees of parameters.

    Args:
        tree (Any): tree of Tensors, NumPy arrays, and numbers, as for :func:`mindgrad.tree_map`.

    Returns:
        tuple: ``(vector, unravel)``. ``vector`` is a 1-D Tensor with the dtype to which the dtypes of the
        leaves promote. ``unravel(vector)`` returns a tree of Tensors with the structure of ``tree`` and the
        shapes and dtypes of its leaves. Both are differentiable.

    Raises:
        TypeError: If a leaf of ``tree`` is neither a tensor, a NumPy array, nor a number.
        ValueError: If the argument of ``unravel`` does not have the shape of ``vector``.

    >>> import mindgrad as ms
    >>> vector, unravel = ms.ravel_pytree({"w": ms.Tensor([[1.0, 2.0]]), "b": 3.0})
    >>> print(vector, unravel(2 * vector)["w"])
    [1. 2. 3.] [[2. 4.]]

    See Also:
        :func:`mindgrad.tree_map`, :func:`mindgrad.tree_leaves`
    """
    leaves, structure = flatten(tree)
    tensors: list[Any] = []
    for path, leaf in zip(paths(structure, "tree"), leaves, strict=True):
        if isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic)):
            leaf = Tensor(leaf)
        if leaf is not None and not isinstance(leaf, Tensor):
            raise TypeError(
                f"For 'ravel_pytree', every leaf must be a Tensor, an array, or a number, but {path} is a "
                f"{type(leaf).__name__}."
            )
        tensors.append(None if leaf is None else references.read(leaf))
    types = [None if x is None else x.type for x in tensors]
    present = [x for x in tensors if x is not None]
    dtype = present[0].dtype if present else float32
    for x in present[1:]:
        dtype = promote(dtype, x.dtype)
    parts = [apply(reshape, _as_dtype(x, dtype), shape=(math.prod(x.shape),)) for x in present]
    size = sum(part.shape[0] for part in parts)

    def unravel(vector: Any) -> Any:
        vector = references.read(vector) if isinstance(vector, Tensor) else Tensor(vector)
        if vector.shape != (size,):
            raise ValueError(
                f"For 'unravel' of 'ravel_pytree', the vector must have shape ({size},), but its shape is "
                f"{vector.shape}."
            )
        pieces: list[Any] = []
        start = 0
        for type_ in types:
            if type_ is None:
                pieces.append(None)
                continue
            piece = apply(part_of, vector, start=(start,), limit=(start + type_.size,), strides=(1,))
            pieces.append(_as_dtype(apply(reshape, piece, shape=type_.shape), type_.dtype))
            start += type_.size
        return unflatten(structure, pieces)

    if not parts:
        return Tensor(np.zeros(0, np.float32)), unravel
    return (apply(concatenate, *parts, axis=0) if len(parts) > 1 else parts[0]), unravel


def _as_dtype(x: Tensor, dtype: Any) -> Tensor:
    return x if x.dtype is dtype else apply(convert, x, dtype=dtype)


def _leaves_like(tree: Any, other: Any, number: int) -> list[Any]:
    """Return the leaves of ``other`` in the order of the leaves of ``tree``."""
    arranged = _arranged(tree, other)
    leaves, structure = flatten(arranged)
    expected = flatten(_arranged(tree, tree))[1]
    if structure != expected:
        difference = differences(expected, structure, "tree").replace("changed from", "differs:", 1)
        raise ValueError(
            f"For 'tree_map', tree {number + 1} must have the structure of the first tree: "
            f"{difference.replace(' to ', ' and ', 1)}."
        )
    return leaves


def _arranged(tree: Any, other: Any) -> Any:
    """Return ``other`` with dict keys in the order of ``tree``, and lists as tuples."""
    if isinstance(tree, dict) and isinstance(other, dict) and tree.keys() == other.keys():
        return {key: _arranged(tree[key], other[key]) for key in tree}
    if isinstance(tree, (tuple, list)) and isinstance(other, (tuple, list)) and len(tree) == len(other):
        return tuple(map(_arranged, tree, other))
    return other
