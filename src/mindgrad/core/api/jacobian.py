"""``jacobian``, ``jacfwd``, and ``jacrev``: whole Jacobians in one pass.

jacrev(f)[i] = J_fᵀ eᵢ, stacked over outputs        jacfwd(f)[…, j] = J_f eⱼ, stacked over inputs
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from mindgrad.core.api.arguments import Run, recorded_run
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.numbers import as_python, block
from mindgrad.core.trace.record import transformed
from mindgrad.core.transforms.jacobians import by_columns, by_fewer, by_rows

__all__ = ["arranged", "blocks_of", "jacfwd", "jacobian", "jacrev"]


def jacfwd(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``function`` in forward mode.

    Args and results are described at :func:`jacobian`. Forward mode is efficient for few input elements.

    >>> from mindgrad.core import jacfwd, numpy as np
    >>> print(jacfwd(lambda t: np.sin(t * np.array([0.0, 1.0])))(0.0))
    [0. 1.]
    """
    return _jacobian("jacfwd", by_columns, function, argnums, has_aux)


def jacrev(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``function`` in reverse mode.

    Args and results are described at :func:`jacobian`. Reverse mode is efficient for few output elements.

    >>> from mindgrad.core import jacrev, numpy as np
    >>> print(jacrev(lambda x: x * x)(np.array([1.0, 2.0])))
    [[2. 0.]
     [0. 4.]]
    """
    return _jacobian("jacrev", by_rows, function, argnums, has_aux)


def jacobian(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian in the cheaper mode.

    Args:
        function: function of floating-point Tensors, floats, NumPy arrays, or containers of them.
        argnums: the positional argument, or the arguments, to differentiate with respect to. Default: ``0``.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Default: ``False``.

    Returns:
        Callable: function of the same arguments. It returns a tensor of shape ``(*output.shape,
        *input.shape)``. For containers, the Jacobian is nested by output and then by input. With ``has_aux``,
        it returns ``(jacobian, aux)``.

    Raises:
        TypeError: If a differentiated argument has no derivative.
        ValueError: If ``argnums`` does not name positional arguments of the call.

    >>> from mindgrad.core import jacobian, numpy as np
    >>> print(jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 4.0])))
    [[2. 1. 0.]
     [0. 4. 2.]]
    """
    return _jacobian("jacobian", by_fewer, function, argnums, has_aux)


def _jacobian(
    owner: str, rule: Callable[..., list[Any]], function: Callable[..., Any], argnums: Any, has_aux: bool
) -> Callable[..., Any]:
    @functools.wraps(function, assigned=("__module__", "__name__", "__doc__"), updated=())
    def compute(*args: Any, **kwargs: Any) -> Any:
        run = recorded_run(owner, function, args, kwargs, argnums, has_aux)
        outputs, derivatives = transformed(run.recorded, rule, (), run.outputs)
        blocks = [
            block(t, *pair)
            for t, pair in zip(derivatives, product(run.outputs, run.inputs.tensors), strict=True)
        ]
        output, aux = run.result(outputs)
        nested = blocks_of(run, output, [arranged(run, part, argnums) for part in _parts(run, blocks)])
        return (nested, aux) if has_aux else nested

    return compute


def _parts(run: Run, blocks: Sequence[Tensor]) -> list[Sequence[Tensor]]:
    count = len(run.inputs.tensors)
    return [blocks[k : k + count] for k in range(0, len(blocks), count or 1)]


def arranged(run: Run, blocks: Sequence[Any], argnums: int | Sequence[int]) -> Any:
    """Arrange one block for each input like the differentiated arguments."""
    trees = run.inputs.nested(blocks)
    return trees[0] if isinstance(argnums, int) else trees


def blocks_of(run: Run, output: object, rows: Sequence[Any]) -> Any:
    """Arrange ``rows``, one for each output tensor, in the structure of ``output``."""
    leaves, structure = flatten(output)
    following = iter(rows)
    return as_python(unflatten(structure, [x if x is None else next(following) for x in leaves]))
