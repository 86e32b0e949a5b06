"""Flat vectors for weights of any structure.

    vector(weights) = (w₁.ravel(), w₂.ravel(), …)        tree(vector(weights)) = weights

Weights are either Parameters, which the function reads, or a tree of Tensors, which is the first argument of
the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from mindgrad.core.base.tree import differences, flatten, paths, unflatten
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.trace import references

__all__ = ["WeightSpace", "flat_arrays"]


class WeightSpace:
    """The vector space of the weights.

    Args:
        owner: name of the public function, for error messages.
        weights: a Parameter or Tensor, or a container of Parameters or of Tensors, such as the result of
            ``net.trainable_params()`` or a dict.

    Attributes:
        are_parameters: whether the weights are Parameters.
        leaves: the weights, in the order of the vector.
        shapes: their shapes.
        size: the number of elements of all weights.
        dtype: the NumPy dtype of vectors: float64 if a weight is float64, else float32.
        key: a cache key that identifies the weights.

    Raises:
        TypeError: If a weight is not a Parameter or Tensor of a real floating dtype, if Parameters and
            Tensors are mixed, or if there are no weights.
        ValueError: If a Parameter is listed twice.
    """

    #: two spaces are equal if these attributes are equal
    compared_by = ("owner", "key")

    def __init__(self, owner: str, weights: Any) -> None:
        self.owner = owner
        leaves, self.structure = flatten(weights)
        if not leaves:
            raise TypeError(f"For '{owner}', 'weights' contains no Parameters or Tensors.")
        kinds = {bool(getattr(x, "is_parameter", False)) for x in leaves}
        for k, x in enumerate(leaves):
            if not isinstance(x, Tensor):
                raise TypeError(
                    f"For '{owner}', 'weights' must contain Parameters or Tensors, but leaf {k} is of type "
                    f"{type(x).__name__}."
                )
            if x.dtype.kind != "float":
                raise TypeError(
                    f"For '{owner}', weights must be real floating-point numbers, but leaf {k} has dtype "
                    f"{x.dtype}."
                )
        if len(kinds) > 1:
            raise TypeError(
                f"For '{owner}', 'weights' must contain either Parameters or Tensors, but contains both."
            )
        if len({id(x) for x in leaves}) != len(leaves):
            raise ValueError(f"For '{owner}', 'weights' contains a Parameter or Tensor twice. List it once.")
        self.are_parameters = kinds.pop()
        self.leaves: list[Tensor] = leaves
        self.shapes = [tuple(x.shape) for x in leaves]
        self.sizes = [prod(shape) for shape in self.shapes]
        self.size = sum(self.sizes)
        self.dtype = np.result_type(np.float32, *[x.dtype.numpy for x in leaves if not x.dtype.is_half])
        types = tuple([x.type for x in leaves])
        self.key = (types, self.structure, tuple([id(x) for x in leaves]) if self.are_parameters else None)

    def vector(self, tree: Any, name: str = "v") -> np.ndarray:
        """Return a tree with the structure of the weights as a flat NumPy vector.

        At the top level, a list and a tuple are equal, because gradients by a list of Parameters are a tuple.

        Raises:
            TypeError: If the structure of ``tree`` differs from the structure of the weights.
            ValueError: If a shape differs.
        """
        leaves, structure = flatten(tree)
        if structure != self.structure and type(tree) in (list, tuple):
            leaves, structure = flatten(list(tree) if isinstance(tree, tuple) else tuple(tree))
        if structure != self.structure:
            raise TypeError(
                f"For '{self.owner}', '{name}' must have the structure of the weights; "
                f"{differences(flatten(tree)[1], self.structure).strip()}."
            )
        for k, (x, shape) in enumerate(zip(leaves, self.shapes, strict=True)):
            if np.shape(x) != shape:
                raise ValueError(
                    f"For '{self.owner}', leaf {k} of '{name}' must have shape {shape}, but has shape "
                    f"{np.shape(x)}."
                )
        return np.concatenate([_array(x).ravel() for x in leaves]).astype(self.dtype, copy=False)

    def tree(self, vector: np.ndarray) -> Any:
        """Return a flat vector as Tensors in the structure of the weights."""
        parts = np.split(np.asarray(vector), np.cumsum(self.sizes)[:-1])
        leaves = [
            make_tensor(part.reshape(shape).astype(x.dtype.numpy))
            for part, shape, x in zip(parts, self.shapes, self.leaves, strict=True)
        ]
        return unflatten(self.structure, leaves)

    def name(self, index: int) -> str:
        """Return the name of a weight, such as ``weights['w']``, for messages."""
        if self.are_parameters:
            parameter: Any = self.leaves[index]
            return f"the Parameter '{parameter.name}'"
        return paths(self.structure, "weights")[index] if isinstance(self.structure, tuple) else "'weights'"

    def current(self) -> np.ndarray:
        """Return the present values of the weights as a flat vector."""
        return np.concatenate([_array(x).ravel() for x in self.leaves]).astype(self.dtype, copy=False)

    def split(self, vector: Tensor) -> list[Tensor]:
        """Return the part of a flat Tensor that belongs to each weight.

        Inside a compiled function, this becomes part of its program.
        """
        parts = []
        start = 0
        for size, shape, x in zip(self.sizes, self.shapes, self.leaves, strict=True):
            parts.append(vector[start : start + size].reshape(shape).astype(x.dtype))
            start += size
        return parts

    def assign(self, vector: np.ndarray) -> None:
        """Store a flat vector in the Parameters."""
        parts = np.split(np.asarray(vector), np.cumsum(self.sizes)[:-1])
        for x, part, shape in zip(self.leaves, parts, self.shapes, strict=True):
            references.write(x, make_tensor(part.reshape(shape).astype(x.dtype.numpy)))


def _array(x: Any) -> np.ndarray:
    return x.asnumpy() if isinstance(x, Tensor) else np.asarray(x)


def flat_arrays(tensors: Sequence[Tensor]) -> np.ndarray:
    """Return the elements of ``tensors`` as one NumPy vector."""
    return np.concatenate([x.asnumpy().ravel() for x in tensors])
