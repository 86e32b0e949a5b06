"""``jacobian``, ``jacfwd``, and ``jacrev``: complete Jacobians.

    jacrev(f)(x)[i] = J_f(x)ᵀ eᵢ        jacfwd(f)(x)[…, j] = J_f(x) eⱼ

``jacrev`` computes one row for each output element. ``jacfwd`` computes one column for each input element.
All rows or columns are computed in one batch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Never

from mindgrad.core.api.arguments import Run, check_call, check_real, recorded_run
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.numbers import as_python, block
from mindgrad.core.trace.record import transformed
from mindgrad.core.transforms.jacobians import by_columns, by_fewer, by_rows

__all__ = ["arranged", "blocks_of", "jacfwd", "jacobian", "jacrev"]


def jacfwd(
    function: Callable[..., object], argnums: int | Sequence[int] = 0, has_aux: bool = False, **unknown: Never
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``function`` in forward mode.

    The arguments and results are the same as for :func:`jacobian`. Forward mode is cheaper if the inputs have
    fewer elements than the outputs.

    >>> from mindgrad.core import jacfwd, numpy as np
    >>> print(jacfwd(lambda t: np.sin(t * np.array([0.0, 1.0])))(0.0))
    [0. 1.]
    """
    check_call(jacfwd, function, unknown)
    return _jacobian("jacfwd", by_columns, function, argnums, has_aux)


def jacrev(
    function: Callable[..., object], argnums: int | Sequence[int] = 0, has_aux: bool = False, **unknown: Never
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``function`` in reverse mode.

    The arguments and results are the same as for :func:`jacobian`. Reverse mode is cheaper if the outputs
    have fewer elements than the inputs.

    >>> from mindgrad.core import jacrev, numpy as np
    >>> print(jacrev(lambda x: x * x)(np.array([1.0, 2.0])))
    [[2. 0.]
     [0. 4.]]
    """
    check_call(jacrev, function, unknown)
    return _jacobian("jacrev", by_rows, function, argnums, has_aux)


def jacobian(
    function: Callable[..., object], argnums: int | Sequence[int] = 0, has_aux: bool = False, **unknown: Never
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``function``.

    The Jacobian is computed in forward mode if the inputs have at most as many elements as the outputs, or an
    output is complex, and otherwise in reverse mode.

    Args:
        function: function of floating-point Tensors, floats, NumPy arrays, or containers of them.
        argnums: index, or tuple of indices, of the differentiated positional arguments. Default: ``0``.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Default: ``False``.

    Returns:
        Callable: function of the same arguments. It returns a tensor of shape ``(*output.shape,
        *input.shape)``. If the output or the inputs are containers, the Jacobian is a container that is
        indexed as ``jacobian[output][input]``. With ``has_aux``, it returns ``(jacobian, aux)``.

    Raises:
        TypeError: If a differentiated argument has no derivative. ``jacrev`` requires real outputs, and
            ``jacfwd`` requires real inputs unless an output is complex.
        ValueError: If ``argnums`` is not an index, or tuple of indices, of positional arguments.

    >>> from mindgrad.core import jacobian, numpy as np
    >>> print(jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 4.0])))
    [[2. 1. 0.]
     [0. 4. 2.]]
    """
    check_call(jacobian, function, unknown)
    return _jacobian("jacobian", by_fewer, function, argnums, has_aux)


def _jacobian(
    owner: str, rule: Callable[..., list[Atom]], function: Callable[..., object],
    argnums: int | Sequence[int], has_aux: bool,
) -> Callable[..., Any]:  # fmt: skip
    @functools.wraps(function, assigned=("__module__", "__name__", "__doc__"), updated=())
    def compute(*args: object, **kwargs: object) -> Any:
        run = recorded_run(owner, function, args, kwargs, argnums, has_aux)
        chosen, xs, ys = rule, run.inputs.tensors, run.outputs
        if owner == "jacrev":
            check_real(owner, "output", ys, "Use jacfwd or jacobian.")
        elif any(y.dtype.kind != "complex" for y in ys):  # forward mode omits the imaginary direction
            if owner == "jacfwd":
                check_real(owner, "input for a real output", xs, "Use jacrev or jacobian.")
            elif any(x.dtype.kind == "complex" for x in xs):
                check_real(owner, "output, like another output,", ys, "Differentiate them separately.")
                chosen = by_rows
        outputs, derivatives = transformed(run.recorded, chosen, (), ys)
        blocks = [block(t, *pair) for t, pair in zip(derivatives, product(ys, xs), strict=True)]
        output, aux = run.result(outputs)
        nested = blocks_of(run, output, [arranged(run, part, argnums) for part in _parts(run, blocks)])
        return (nested, aux) if has_aux else nested

    return compute


def _parts(run: Run, blocks: Sequence[Tensor]) -> list[Sequence[Tensor]]:
    count = len(run.inputs.tensors)
    return [blocks[k * count : (k + 1) * count] for k in range(len(run.outputs))]


def arranged(run: Run, blocks: Sequence[object], argnums: int | Sequence[int]) -> Any:
    """Return ``blocks``, one for each input, in the containers of the inputs."""
    trees = run.inputs.nested(blocks)
    return trees[0] if isinstance(argnums, int) else trees


def blocks_of(run: Run, output: object, rows: Sequence[object]) -> Any:
    """Return ``rows``, one for each output tensor, in the containers of ``output``."""
    leaves, structure = flatten(output)
    following = iter(rows)
    return as_python(unflatten(structure, [x if x is None else next(following) for x in leaves]))
