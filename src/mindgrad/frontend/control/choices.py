"""Compile indexed calls ``[f, g, h][i](x)`` with a tensor ``i`` to branches.

    [f₀, …, fₙ][i](x) = f₀(x) if i ≤ 0 else f₁(x) if i ≤ 1 else … else fₙ(x)

All functions are traced. As in the branches of an ``if``, their results must have the same types and shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.tensor import Tensor

__all__ = ["choice", "functions_in"]


def functions_in(items: Any) -> list[Callable[..., Any]]:
    """Return a list of the functions in ``items``, or an empty list.

    The list is empty if ``items`` is not a list, a tuple, or a Cell that contains Cells, or if an item is not
    a function.
    """
    is_cell = hasattr(items, "parameters_and_names") and hasattr(type(items), "__iter__")
    is_sequence = isinstance(items, (list, tuple)) or is_cell
    listed = list(items) if is_sequence else []
    return listed if all(callable(item) and not isinstance(item, (Tensor, type)) for item in listed) else []


def choice(functions: Sequence[Callable[..., Any]], index: Any, runtime: Any) -> Callable[..., Any]:
    """Return a function that calls ``functions[index]``, where ``index`` is a tensor.

    Args:
        functions: the functions to choose from.
        index: tensor with one integer, whose value is not known at compile time. A negative index counts from
            the end. An out-of-range index selects the first or last function, because a compiled function
            cannot raise an error.
        runtime: the ``Runtime`` that traces calls and branches (``frontend.control.runtime``).

    Raises:
        TypeError: If ``index`` is not a single integer.
    """
    if index.size != 1 or index.dtype.kind not in ("int", "uint"):
        raise TypeError(
            f"a list of functions is indexed by one integer, but got a tensor of type {index.dtype} and "
            f"shape {index.shape}."
        )
    position = (index + len(functions) * (index < 0)).reshape(())
    last = len(functions) - 1

    def chosen(*args: Any, **kwargs: Any) -> Any:
        def from_place(number: int) -> Any:
            function = runtime.call(functions[number])
            if number == last:
                return function(*args, **kwargs)
            one, others = lambda: function(*args, **kwargs), lambda: from_place(number + 1)
            return runtime.if_expression(position <= number, one, others)

        return from_place(0)

    return chosen
