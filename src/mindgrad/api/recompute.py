"""Gradient checkpointing: recompute the values of a block in reverse mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.control.recompute import recomputed
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.memo import retained
from mindgrad.core.ir.scope import GraphScope, apply, open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import (
    graph_recording,  # noqa: F401 - derivatives inside a trace need it
    references,
)
from mindgrad.core.trace.record import record, transformed
from mindgrad.frontend import user_calls

__all__ = ["check_options", "recompute", "run_recomputed"]


def recompute(
    block: Callable[..., Any],
    *args: Any,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Callable[[], Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Call a block and recompute it in reverse mode (gradient checkpointing).

    Reverse mode stores only the inputs of the block, and recomputes its intermediate values when the gradient
    is computed. A function that consists of several blocks then stores the intermediate values of only one
    block at a time. For example, n equal layers in √n blocks need about √n times the memory of a layer,
    instead of n times, at the cost of one more evaluation of the function. Values and gradients of any order
    do not change. A gradient of the gradient stores the values that the first gradient computes.

    Args:
        block (Callable or Cell): function to evaluate. Parameters and captured tensors that ``block`` reads
            count as inputs.
        *args (Any): positional arguments of ``block``.
        use_reentrant (bool, optional): accepted for compatibility. Default: ``True``.
        output_recompute (bool, optional): accepted for compatibility. Outputs are stored only if other
            operators need them. Default: ``False``.
        early_stop (bool, optional): accepted for compatibility. Values that the gradient does not need are
            never recomputed. Default: ``True``.
        context_fn (None, optional): must be ``None``. The recomputation uses the context of the first run.
            Default: ``None``.
        **kwargs (Any): keyword arguments of ``block``.

    Returns:
        Any: the result of ``block(*args, **kwargs)``.

    Raises:
        TypeError: If ``block`` is not callable, or ``use_reentrant``, ``output_recompute``, or ``early_stop``
            is not a bool.
        ValueError: If ``context_fn`` is not ``None``.

    Examples:
        >>> import mindgrad as ms
        >>> from mindgrad import ops
        >>> def block(x):
        ...     return ops.sin(ops.exp(x) * ops.tanh(x))
        >>> f = lambda x: ms.recompute(block, ms.recompute(block, x)).sum()
        >>> g = lambda x: block(block(x)).sum()
        >>> x = ms.Tensor([0.1, 0.5])
        >>> bool((ms.grad(f)(x) == ms.grad(g)(x)).all())
        True

    See Also:
        :meth:`mindgrad.nn.Cell.recompute`, :func:`mindgrad.grad`
    """
    if not callable(block):
        raise TypeError(f"For 'recompute', 'block' must be a Cell or function, but got {block!r}.")
    check_options(use_reentrant, output_recompute, early_stop, context_fn)
    return run_recomputed(block, args, kwargs)


def check_options(use_reentrant: Any, output_recompute: Any, early_stop: Any, context_fn: Any) -> None:
    """Raise an error for a wrong type or value of an option of :func:`recompute`."""
    flags = {"use_reentrant": use_reentrant, "output_recompute": output_recompute, "early_stop": early_stop}
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"For 'recompute', '{name}' must be a bool, but got {flag!r}.")
    if context_fn is not None:
        raise ValueError(
            "For 'recompute', 'context_fn' must be None, because the recomputation does not run Python "
            "code. Move the code of 'context_fn' into the block."
        )


def run_recomputed(block: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return ``block(*args, **kwargs)``, evaluated as :func:`recompute` does."""
    if not open_scopes():  # nothing is differentiated or compiled
        return block(*args, **kwargs)
    leaves, structure = flatten((args, kwargs))
    inputs = [references.read(x) for x in leaves if isinstance(x, Tensor)]

    def run(*tensors: Tensor) -> Any:
        following = iter(tensors)
        given = [next(following) if isinstance(x, Tensor) else x for x in leaves]
        positional, named = unflatten(structure, given)
        return user_calls.run(block, *positional, **named)

    run_once = record(run, inputs, within=GraphScope(values_are_inputs=True))
    outside, _ = transformed(run_once, _nothing, applied=_applied)
    return run_once.result(outside)


def _nothing(*_: Any) -> list[Any]:
    return []


def _applied(graph: Graph, tensors: Sequence[Tensor]) -> list[Tensor]:
    given = [references.read(t) for t in tensors]
    return list(apply(recomputed, *given, body=retained(graph)))
