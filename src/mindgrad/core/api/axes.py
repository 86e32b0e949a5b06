"""Check ``in_axes`` and ``out_axes`` of ``vmap``, and find the axis of each leaf.

Each of these arguments is one axis for all tensors, or a tuple, list, or dict with an entry for each item of
a container. Entries may be nested like the containers. All errors are ``RuntimeError``, as in MindSpore.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from mindgrad.core.base.tree import attributes_of, is_record
from mindgrad.core.ir.tensor import Tensor

__all__ = ["check_axes", "frozen", "leaf_axes", "mapped", "position", "size_of", "thawed"]


def frozen(axes: object) -> Hashable:
    """Convert lists and dicts in ``axes`` to tuples, so that it can be a cache key."""
    if isinstance(axes, dict):
        return (dict, *[(name, frozen(each)) for name, each in axes.items()])
    if isinstance(axes, (tuple, list)):
        return tuple(map(frozen, axes))
    return axes


def thawed(axes: object) -> Any:
    """Convert the result of :func:`frozen` back to axes, with tuples instead of lists."""
    if not isinstance(axes, tuple):
        return axes
    if axes and axes[0] is dict:
        return {name: thawed(each) for name, each in axes[1:]}
    return tuple(map(thawed, axes))


def check_axes(name: str, axes: object) -> None:
    """Raise ``RuntimeError`` if ``axes`` is empty or has an entry that is not an axis.

    An axis is an int, or ``None`` for a value that all batch elements share.
    """
    if isinstance(axes, (tuple, list, dict)):
        if not axes:
            raise RuntimeError(
                f"For 'vmap', the '{name}' must not be empty: give an axis (or None) for each "
                f"{'argument' if name == 'in_axes' else 'output'}."
            )
        for each in axes.values() if isinstance(axes, dict) else axes:
            check_axes(name, each)
    elif axes is not None and (isinstance(axes, bool) or not isinstance(axes, int)):
        raise RuntimeError(
            f"For 'vmap', the elements of '{name}' must be an int or None, or tuples of them, but got "
            f"{axes!r} of type {type(axes).__name__}."
        )


def mapped(axes: object) -> bool:
    """Return whether ``axes`` contains at least one axis that is not ``None``."""
    if isinstance(axes, (tuple, list, dict)):
        return any(map(mapped, axes.values() if isinstance(axes, dict) else axes))
    return axes is not None


def leaf_axes(name: str, axes: Any, tree: object, path: str) -> list[tuple[str, int | None]]:
    """Return the path and axis of each leaf of ``tree``, in the order of ``flatten``.

    Args:
        name: ``"in_axes"`` or ``"out_axes"``, for error messages.
        axes: one axis, or nested axes.
        tree: the argument or result to which ``axes`` belong.
        path: description of ``tree``, such as ``"argument 0"``, with which the paths begin.

    Raises:
        RuntimeError: If the nesting of ``axes`` does not match ``tree``.
    """
    parts = _parts(tree, path)
    if parts is None:
        if isinstance(axes, (tuple, list)) and len(axes) == 1:
            return leaf_axes(name, axes[0], tree, path)
        if isinstance(axes, (tuple, list, dict)):
            raise RuntimeError(
                f"For 'vmap', the '{name}' of {path} is {axes!r}, but {path} is {_said(tree)}, not a "
                f"container of {len(axes)}. Give one axis."
            )
        return [(path, axes)]
    if isinstance(axes, dict):
        if not isinstance(tree, dict) or set(axes) != set(tree):
            keys = f"a dict with the keys {list(tree)}" if isinstance(tree, dict) else _said(tree)
            raise RuntimeError(
                f"For 'vmap', the '{name}' of {path} has the keys {list(axes)}, but {path} is {keys}."
            )
        below = [axes[key] for key in tree]
    elif isinstance(axes, (tuple, list)):
        if len(axes) != len(parts):
            raise RuntimeError(
                f"For 'vmap', '{name}' must have one entry for each item of a container: {path} is "
                f"{_said(tree)}, but got {len(axes)} axes, {axes!r}."
            )
        below = list(axes)
    else:
        below = [axes] * len(parts)
    return [
        x
        for each, (label, part) in zip(below, parts, strict=True)
        for x in leaf_axes(name, each, part, label)
    ]


def _parts(tree: object, path: str) -> list[tuple[str, Any]] | None:
    """Return pairs (path, item) for the items of a container, or ``None`` for a leaf."""
    if isinstance(tree, dict):
        return [(f"{path}[{key!r}]", child) for key, child in tree.items()]
    if isinstance(tree, (tuple, list)):
        return [(f"{path}[{index}]", child) for index, child in enumerate(tree)]
    kind: type = type(tree)
    if is_record(kind):
        return [(f"{path}.{name}", child) for name, child in attributes_of(tree).items()]
    return None


def _said(tree: object) -> str:
    if isinstance(tree, Tensor):
        return f"a Tensor of shape {tree.shape}"
    if isinstance(tree, (tuple, list, dict)):
        return f"a {type(tree).__name__} of {len(tree)}"
    return f"a {type(tree).__name__}"


def position(name: str, label: str, axis: int, rank: int, shape: object) -> int:
    """Convert ``axis``, which may be negative, to an index from 0 to ``rank`` − 1.

    ``name``, ``label``, and ``shape`` describe the tensor in error messages.

    Raises:
        RuntimeError: If ``axis`` is out of bounds.
    """
    if not -rank <= axis < rank:
        bounds = f"[{-rank}, {rank})" if rank else "empty, because it has no axes"
        raise RuntimeError(
            f"For 'vmap', the axis {axis} in '{name}' is out of bounds for {label} of shape {shape}: the "
            f"range is {bounds}."
            + (f" Use None in '{name}' for an argument that all elements share." if name == "in_axes" else "")
        )
    return axis % rank


def size_of(
    leaves: Sequence[object], axes: Sequence[tuple[str, int | None]], ensemble_size: int | None = None
) -> tuple[int, list[int | None]]:
    """Return the number of batch elements, and the batch axis of each leaf.

    Args:
        leaves: the leaves of the arguments.
        axes: the path and axis of each leaf. The axis of a leaf that all batch elements share is ``None``.
        ensemble_size: number of models, if ``vmap`` maps a list of models. All batch axes must then have this
            size.

    Raises:
        RuntimeError: If an axis is out of bounds or given for a number, batch sizes differ, or no argument
            has a batch axis.
    """
    dimensions: list[int | None] = []
    mapped: list[tuple[str, int, Any]] = []
    for leaf, (label, axis) in zip(leaves, axes, strict=True):
        dimension = None
        if axis is not None and isinstance(leaf, Tensor):
            dimension = position("in_axes", label, axis, len(leaf.shape), leaf.shape)
            mapped.append((label, dimension, leaf.shape))
        elif axis is not None and isinstance(leaf, (bool, int, float, complex)):
            raise RuntimeError(
                f"For 'vmap', {label} is the {type(leaf).__name__} {leaf!r}, which has no axis {axis}: all "
                "elements share it. Pass None for it in 'in_axes', or convert it to a Tensor."
            )
        dimensions.append(dimension)
    if not mapped and ensemble_size is None:
        raise RuntimeError(
            "For 'vmap', nothing is mapped: at least one argument must contain a Tensor whose entry in "
            "'in_axes' is not None."
        )
    sizes = {shape[dimension] for _, dimension, shape in mapped}
    listed = "; ".join(
        f"{label} has {shape[dimension]} along axis {dimension} (shape {shape})"
        for label, dimension, shape in mapped
    )
    if ensemble_size is not None and sizes - {ensemble_size}:
        raise RuntimeError(
            f"For 'vmap', the axis_size of each argument must be the number of models, "
            f"{ensemble_size}, but {listed}. "
            f"Use None in 'in_axes' for an argument that all models share."
        )
    if len(sizes) > 1:
        raise RuntimeError(
            f"For 'vmap', the axis_size of each argument must be the same, but {listed}. Choose other axes "
            f"with 'in_axes', or write None there for an argument without a batch axis."
        )
    return sizes.pop() if ensemble_size is None else ensemble_size, dimensions
