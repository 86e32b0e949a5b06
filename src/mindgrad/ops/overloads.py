"""Overloads of Tensor's methods: alternative argument names and second signatures.

Different releases of MindSpore name an argument differently (``axis``, later ``dim``), or give a method a
second signature (``x.gather(indices, axis)``, later ``x.gather(dim, index)``). ``SECOND_NAMES`` lists the
alternative names. This module defines the methods with two signatures.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.core.base.location import warn_user
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, indexing, layout, ordering, repeating, scattering
from mindgrad.ops import matrices as square
from mindgrad.ops.define import also_named
from mindgrad.ops.registry import public

__all__ = ["with_second_names"]

#: method -> {alternative argument name: argument name}
SECOND_NAMES: dict[str, dict[str, str]] = {
    "approximate_equal": {"other": "y"},
    "argsort": {"dim": "axis"},
    "chunk": {"dim": "axis"},
    "diagonal": {"dim1": "axis1", "dim2": "axis2"},
    "expand_as": {"x": "other"},
    "float_power": {"other": "exponent"},
    "index_add": {"axis": "dim", "indices": "index", "y": "source"},
    "index_select": {"dim": "axis"},
    "matmul": {"tensor2": "other"},
    "median": {"dim": "axis", "keepdim": "keepdims"},
    "multiply": {"value": "other"},
    "remainder": {"divisor": "other"},
    "repeat_interleave": {"dim": "axis"},
    "scatter": {"dim": "axis"},
    "select": {"dim": "condition", "index": "other", "y": "other"},
    "sort": {"dim": "axis"},
    "split": {"dim": "axis", "split_size": "split_size_or_sections"},
    "where": {"other": "y"},
    **{
        name: {"correction": "ddof", "dim": "axis", "keep_dims": "keepdims", "keepdim": "keepdims"}
        for name in (
            "all",
            "any",
            "argmax",
            "argmax_with_value",
            "argmin",
            "argmin_with_value",
            "mean",
            "prod",
            "std",
            "var",
        )
    },
}

#: method that accepts ints as separate arguments or as one tuple -> keyword names of the tuple
_TUPLES: dict[str, tuple[str, ...]] = {"flip": ("dims",), "tile": ("dims", "reps")}


def with_second_names(methods: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Let ``methods`` accept alternative argument names and tuples by keyword.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 3.0], [4.0, 2.0]])
    >>> print(x.sort(dim=0)[0], x.reshape(shape=(4,)))
    [[1. 2.]
     [4. 3.]] [1. 3. 4. 2.]
    """
    renamed = {
        name: also_named(**names)(methods[name]) for name, names in SECOND_NAMES.items() if name in methods
    }
    tuples = {name: _taking_tuple(methods[name], names) for name, names in _TUPLES.items() if name in methods}
    return {**methods, **renamed, **tuples}


def _taking_tuple(method: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """Let ``method(self, *numbers)`` also accept one tuple by keyword."""

    def taking(self: Tensor, *numbers: Any, **named: Any) -> Any:
        if named:
            ((name, value),) = named.items() if len(named) == 1 else [("", None)]
            if numbers or name not in names:
                raise TypeError(
                    f"{method.__name__}() takes numbers by position, or only the keyword "
                    f"{' or '.join(names)}, but got {', '.join(named)}."
                )
            return method(self, value)
        return method(self, *numbers)

    taking.__name__, taking.__doc__ = method.__name__, method.__doc__
    vars(taking)["__signature__"] = inspect.signature(method)
    return taking


# -- methods that accept two signatures ------------------------------------------------------------


@public("Tensor")
def repeat(self: Tensor, *repeats: Any, axis: int | None = None, **named: Any) -> Tensor:
    """Repeat the whole tensor along each axis, or each element along one axis.

    Since MindSpore 2.6, ``x.repeat(2, 1)`` is ``x.tile((2, 1))``. Older releases call
    :func:`mindgrad.ops.repeat_interleave`, with an axis as the second argument. If tiling is impossible,
    mindgrad repeats elements as the older releases do: with ``axis`` as a keyword, with fewer numbers than
        axes,
    or with an axis that is 0 or negative. If both meanings are possible and differ, it prints a warning.

    Args:
        *repeats (int or tuple of int): number of repetitions along each axis, or of each element along
            ``axis``.
        axis (int or None): axis along which each element is repeated.
        **named (object): the argument ``repeats``, if it is passed by keyword.

    Returns:
        Tensor of the repeated elements.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0]])
    >>> print(x.repeat(1, 2), x.repeat(1, 1, 2), x.repeat(2, axis=1))
    [[1. 2. 1. 2.]] [[[1. 2. 1. 2.]]] [[1. 1. 2. 2.]]
    """
    if axis is not None:
        named["axis"] = axis
    numbers = repeats
    if len(repeats) == 1 and isinstance(repeats[0], (tuple, list)):
        (numbers,) = repeats
    is_tiling = not named and len(numbers) >= max(self.ndim, 1) and all(isinstance(n, int) for n in numbers)
    if len(repeats) == 2 and is_tiling:
        is_tiling = repeats[1] > 0
    if not is_tiling:
        return repeating.repeat_interleave(self, *repeats, **named)
    if numbers is repeats:
        is_ambiguous = numbers[0] != 1 and (
            len(numbers) == 1 or (len(numbers) == 2 and numbers[1] < self.ndim)
        )
    else:
        is_ambiguous = len(numbers) == self.size or (len(numbers) == 1 and numbers[0] != 1)
    if is_ambiguous and self.size > 1:
        shown = ", ".join(map(repr, repeats))
        warn_user(
            f"x.repeat({shown}) of a tensor of shape {self.shape} means x.tile({tuple(numbers)}), as in "
            "MindSpore 2.6 and later. Earlier versions repeated elements, like "
            f"x.repeat_interleave({shown}). To avoid this warning, call the method that you need."
        )
    return repeating.tile(self, tuple(numbers))


@public("Tensor")
def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """Add ``alpha · other`` to the tensor; see :func:`mindgrad.ops.add`.

    Args:
        other (Tensor or number): second operand, which broadcasts with the tensor.
        alpha (int or float): factor of ``other``.

    Returns:
        Tensor with the broadcast shape and the promoted dtype.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).add(Tensor([10.0, 20.0]), alpha=2))
    [21. 42.]
    """
    return arithmetic.add(self, other if alpha == 1 else arithmetic.mul(other, alpha))


@public("Tensor")
def sort(
    self: Tensor, axis: int = -1, descending: bool = False, *, stable: bool = True
) -> tuple[Tensor, Tensor]:
    """Sort along an axis, and return the original indices too.

    See :func:`mindgrad.ops.sort`.

    Args:
        axis (int): axis along which to sort. The keyword ``dim`` is a synonym.
        descending (bool): whether to sort in descending order.
        stable (bool): accepted for compatibility; equal elements always keep their order.

    Returns:
        Two tensors: the sorted elements, and their int32 indices in the original order.

    >>> from mindgrad import Tensor
    >>> print(*Tensor([3.0, 1.0, 2.0]).sort())
    [1. 2. 3.] [1 2 0]
    """
    return ordering.sort(self, axis, descending)


@public("Tensor")
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """Return a diagonal of a matrix, or a matrix with a given diagonal.

    Args:
        diagonal (int): index of the diagonal. 0 is the main diagonal; positive diagonals are above it.

    Returns:
        1-D tensor of the diagonal of a matrix, or a matrix with the elements of a vector on this diagonal.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1, 2]).diag(diagonal=1))
    [[0 1 0]
     [0 0 2]
     [0 0 0]]
    """
    if not diagonal and self.ndim != 2:
        return square.diag(self)
    if self.ndim == 2 and diagonal:
        return square.diagonal(self, diagonal)
    return square.diag_embed(self, diagonal) if diagonal else square.diag(self)


@public("Tensor")
def flatten(self: Tensor, *args: Any, order: str = "C", start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge axes of the tensor into one; see :func:`mindgrad.ops.flatten`.

    Args:
        *args (int or str): the arguments ``start_dim`` and ``end_dim``, or ``order``, passed by position.
        order (str): ``"C"`` for row-major order; ``"F"`` reverses the axes first.
        start_dim (int): first axis to merge.
        end_dim (int): last axis to merge.

    Returns:
        Tensor in which the axes from ``start_dim`` to ``end_dim`` are merged into one.

    >>> from mindgrad import ops
    >>> ops.ones((2, 3, 4)).flatten(1, 2).shape, ops.ones((2, 3, 4)).flatten("F").shape
    ((2, 12), (24,))
    """
    if args and isinstance(args[0], str):
        order, *args = args  # type: ignore[assignment]
    axes = [*args, *(start_dim, end_dim)[len(args) :]]
    if len(axes) != 2:
        raise TypeError(f"flatten() takes two axes, start_dim and end_dim, but got {len(axes)}.")
    return layout.flatten(self, order, start_dim=axes[0], end_dim=axes[1])


@public("Tensor")
def gather(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """Gather elements: ``x.gather(dim, index)`` or ``x.gather(indices, axis)``.

    See :func:`mindgrad.ops.gather_elements` and :func:`mindgrad.ops.gather`.

    Args:
        *args (int or Tensor): ``dim`` and ``index``, or ``input_indices``, ``axis``, and
            ``batch_dims``.
        **named (int or Tensor): the same arguments, passed by keyword.

    Returns:
        Tensor of the gathered elements.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> print(x.gather(1, Tensor([[0], [1]])), x.gather(Tensor([1]), 1))
    [[1.]
     [4.]] [[2.]
     [4.]]
    """
    if "dim" in named or "index" in named or (args and isinstance(args[0], int)):
        return indexing.gather_elements(self, *args, **named)
    return indexing.gather(self, *args, **named)


@public("Tensor")
def scatter(self: Tensor, axis: int, index: Any, src: Any = None, *, value: Any = None) -> Tensor:
    """Write values at given indices along an axis; see :func:`mindgrad.ops.scatter`.

    Args:
        axis (int): axis to which ``index`` refers. The keyword ``dim`` is a synonym.
        index (Tensor): integer indices along ``axis``.
        src (Tensor or None): values to write, one for each index.
        value (number or None): number to write at every index, instead of ``src``.

    Returns:
        Tensor with the shape of the tensor.

    Raises:
        TypeError: If neither or both of ``src`` and ``value`` are given.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0, 3.0]).scatter(dim=0, index=Tensor([1]), value=9.0))
    [1. 9. 3.]
    """
    if (src is None) == (value is None):
        raise TypeError("scatter() takes either 'src' or 'value', but got both or neither.")
    return scattering.scatter(self, axis, index, value if src is None else src)


@public("Tensor")
def scatter_add(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """Add values: ``x.scatter_add(dim, index, src)`` or ``(indices, updates)``.

    See :func:`mindgrad.ops.tensor_scatter_elements` and :func:`mindgrad.ops.tensor_scatter_add`.

    Args:
        *args (int or Tensor): ``dim``, ``index``, and ``src``, or ``indices`` and ``updates``.
        **named (int or Tensor): the same arguments, passed by keyword.

    Returns:
        Tensor with the shape of the tensor.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).scatter_add(dim=0, index=Tensor([1, 1]), src=Tensor([5.0, 6.0])))
    [ 1. 13.]
    """
    names = ("dim", "index", "src") if len(args) == 3 or "src" in named else ("indices", "updates")
    values = {**dict(zip(names, args, strict=False)), **named}
    if values.keys() != set(names):
        raise TypeError(f"scatter_add() takes {', '.join(names)}, but got {', '.join(values) or 'nothing'}.")
    if len(names) == 2:
        return scattering.tensor_scatter_add(self, *[values[name] for name in names])
    return scattering.tensor_scatter_elements(self, values["index"], values["src"], values["dim"], "add")


@public("Tensor")
def unique(
    self: Tensor,
    sorted: bool | None = None,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the distinct elements.

    If no argument is passed, the elements are in order of appearance, as for :func:`mindgrad.ops.unique`. The
    method reads the values of the tensor. Therefore, its result has no derivative, and compiled functions
    cannot call the method.

    Args:
        sorted (bool or None): if this argument is ``True`` or ``False``, or if any other argument is passed,
            the distinct elements are in ascending order. The order is thus the same for ``True`` and
            ``False``.
        return_inverse (bool): whether to also return the index of each element among the distinct elements.
        return_counts (bool): whether to also return the number of occurrences of each distinct element.
        dim (int or None): axis whose distinct slices are returned instead of the elements.

    Returns:
        If no argument is passed, a pair of the distinct elements and the inverse indices. Otherwise, the
        tensor of distinct elements, or a tuple of this tensor and the requested results.

    >>> from mindgrad import Tensor
    >>> print(*Tensor([3, 1, 1]).unique(return_counts=True))
    [1 3] [2 1]
    """
    if sorted is None and not return_inverse and not return_counts and dim is None:
        return ordering.unique(self)
    elements, inverse, counts = np.unique(self.asnumpy(), return_inverse=True, return_counts=True, axis=dim)
    inverse = inverse.reshape(self.shape if dim is None else -1)
    asked = [(elements, True), (inverse, return_inverse), (counts, return_counts)]
    results = tuple([Tensor(array) for array, is_asked in asked if is_asked])
    return results if len(results) > 1 else results[0]


@public("Tensor")
def view(self: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """Return the elements in another shape, or their bytes in another dtype.

    Args:
        *sizes (int, tuple of int, or mindgrad.dtype): the new shape, as ints or one tuple; or a dtype as
            which the bytes along the last axis are reinterpreted. Reinterpretation reads the values, so its
            result has no derivative and compiled functions cannot use it.
        shape (tuple of int or None): the new shape, if it is passed by keyword.

    Returns:
        Tensor of the new shape or dtype.

    >>> import mindgrad as ms
    >>> ms.Tensor([1.0]).view(ms.int32), ms.Tensor([1.0, 2.0]).view(2, 1).shape
    (Tensor(shape=[1], dtype=Int32, value= [1065353216]), (2, 1))
    """
    if shape is not None:
        sizes = (*sizes, shape)
    if len(sizes) == 1 and isinstance(sizes[0], DType):
        return Tensor(np.ascontiguousarray(self.asnumpy()).view(sizes[0].numpy))
    return layout.view(self, *sizes)
