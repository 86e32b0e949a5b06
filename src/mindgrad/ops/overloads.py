"""Overloads of Tensor's methods accept other names of their arguments, and arguments of another kind.

Releases of MindSpore have given an argument several names (``axis``, later ``dim``), and methods a second
signature (``x.gather(indices, axis)``, later ``x.gather(dim, index)``). ``SECOND_NAMES`` is the one table of
the names; a method of two signatures is a function here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad._base.location import warn_user
from mindgrad.ir.dtype import DType
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import arithmetic, indexing, layout, ordering, repeating, scattering
from mindgrad.ops import matrices as square
from mindgrad.ops.define import also_named
from mindgrad.ops.registry import public

__all__ = ["with_second_names"]

#: the second names of arguments, by method
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

#: methods that take numbers one by one or in a tuple, with the names of that tuple
_TUPLES: dict[str, tuple[str, ...]] = {"flip": ("dims",), "tile": ("dims", "reps")}


def with_second_names(methods: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """``methods``, of which those of the tables take the second names too.

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
    """``method(self, *numbers)``, to which one of ``names`` can be given instead of the numbers."""

    def taking(self: Tensor, *numbers: Any, **named: Any) -> Any:
        if named:
            ((name, value),) = named.items() if len(named) == 1 else [("", None)]
            if numbers or name not in names:
                raise TypeError(
                    f"{method.__name__}() takes numbers, or by keyword {' or '.join(names)} alone, but got "
                    f"{', '.join(named)}."
                )
            return method(self, value)
        return method(self, *numbers)

    taking.__name__, taking.__doc__ = method.__name__, method.__doc__
    return taking


# -- methods of two signatures ---------------------------------------------------------------------


@public("Tensor")
def repeat(self: Tensor, *repeats: Any, axis: int | None = None, **named: Any) -> Tensor:
    """The whole tensor repeated, with a number for each axis; with an ``axis`` each element.

    ``x.repeat(2, 1)`` is ``x.tile((2, 1))``, as in MindSpore 2.6 and later. Up to 2.5 it was
    :func:`mindgrad.ops.repeat_interleave`, with an axis as the second argument, and it is that where it can
    mean nothing else: by keyword, with fewer numbers than axes, with an axis that is 0 or negative. Where
    both are possible and differ, a warning says so.

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
            f"x.repeat({shown}) of a tensor of shape {self.shape} is x.tile({tuple(numbers)}), as since "
            f"MindSpore 2.6; up to 2.5 it repeated elements: x.repeat_interleave({shown}). "
            "Write the one that is meant."
        )
    return repeating.tile(self, tuple(numbers))


@public("Tensor")
def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self + alpha · other``; see :func:`mindgrad.ops.add`.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).add(Tensor([10.0, 20.0]), alpha=2))
    [21. 42.]
    """
    return arithmetic.add(self, other if alpha == 1 else arithmetic.mul(other, alpha))


@public("Tensor")
def sort(
    self: Tensor, axis: int = -1, descending: bool = False, *, stable: bool = True
) -> tuple[Tensor, Tensor]:
    """The elements in order, and where they stood; see :func:`mindgrad.ops.sort`.

    Args:
        axis: the axis, ``dim`` as a keyword too.
        descending: whether the largest comes first.
        stable: accepted for compatibility: equal elements always stay in their order.
    """
    return ordering.sort(self, axis, descending)


@public("Tensor")
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with the vector on a diagonal, or that diagonal of a matrix.

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
    """The axes from ``start_dim`` to ``end_dim`` made one; see :func:`mindgrad.ops.flatten`.

    Args:
        args: ``start_dim`` and ``end_dim``, or ``order``.
        order: ``"C"``, row-major; ``"F"``: the axes are reversed before.
        start_dim: the first axis that is merged.
        end_dim: the last axis that is merged.

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
    """``x.gather(dim, index)`` or ``x.gather(input_indices, axis, batch_dims)``.

    See :func:`mindgrad.ops.gather_elements` and :func:`mindgrad.ops.gather`.

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
    """The tensor with ``src``, or the number ``value``, at the places ``index`` along ``axis``.

    See :func:`mindgrad.ops.scatter`; ``axis`` is ``dim`` as a keyword too.

    Raises:
        TypeError: neither or both of ``src`` and ``value`` are given.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0, 3.0]).scatter(dim=0, index=Tensor([1]), value=9.0))
    [1. 9. 3.]
    """
    if (src is None) == (value is None):
        raise TypeError("scatter() takes either 'src' or 'value'.")
    return scattering.scatter(self, axis, index, value if src is None else src)


@public("Tensor")
def scatter_add(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """``x.scatter_add(dim, index, src)`` or ``x.scatter_add(indices, updates)``.

    See :func:`mindgrad.ops.tensor_scatter_elements` and :func:`mindgrad.ops.tensor_scatter_add`.

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
    """The different elements; without arguments as :func:`mindgrad.ops.unique`, in order of appearance.

    Args:
        sorted: if given, or any of the others, the elements are in order.
        return_inverse: whether it is given, too, which of them each element is.
        return_counts: whether it is given, too, how often each occurs.
        dim: an axis whose different parts are wanted, instead of the elements.

    Returns:
        Without arguments a pair; else a Tensor, or a tuple with what else is asked for. The values are read:
        they have no derivative, and no place in a compiled program.

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
    """The elements in another shape, or their bytes as those of another element type.

    Args:
        sizes: the sizes, or one tuple of them; or one element type, of which the last axis holds as many
            elements as its bytes make. This reads the values: it has no derivative, and no place in a
            compiled program.
        shape: the tuple, by keyword.

    >>> import mindgrad as ms
    >>> ms.Tensor([1.0]).view(ms.int32), ms.Tensor([1.0, 2.0]).view(2, 1).shape
    (Tensor(shape=[1], dtype=Int32, value= [1065353216]), (2, 1))
    """
    if shape is not None:
        sizes = (*sizes, shape)
    if len(sizes) == 1 and isinstance(sizes[0], DType):
        return Tensor(np.ascontiguousarray(self.asnumpy()).view(sizes[0].numpy))
    return layout.view(self, *sizes)
