"""``GradOperation`` and ``grad``: gradient functions with MindSpore's arguments and structures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.tree import flatten
from mindgrad.core import settings
from mindgrad.core.tensor import Tensor
from mindgrad.functional.autodiff import pull, recorded_call
from mindgrad.functional.compiled import Compiled

__all__ = ["GradOperation", "grad", "value_and_gradient"]


def value_and_gradient(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    weights: Sequence[Any],
    sens: Any = None,
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """``(result, gradients of the inputs at positions, gradients of weights)``."""
    recorded = recorded_call(function, args, kwargs, positions, weights)
    count = len(recorded.outputs)
    cotangents: list[Tensor | None] = [None] * count if sens is None else flatten(sens)[0]
    outputs, gradients = pull(recorded, cotangents)
    return recorded.result(outputs), gradients[: len(positions)], gradients[len(positions) :]


class GradOperation:
    """Makes the gradient function of a function or Cell."""

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> Callable[..., Any]:
        def gradient(*args: Any, **kwargs: Any) -> Any:
            sens = None
            if self.sens_param:
                *args, sens = args
            positions = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
            if not self.get_all:
                positions = positions[: 0 if self.get_by_list else 1]
            _, inputs, by_list = value_and_gradient(fn, args, kwargs, positions, weights or (), sens)
            if self.get_by_list:
                return (tuple(inputs), tuple(by_list)) if self.get_all else tuple(by_list)
            return tuple(inputs) if self.get_all else inputs[0] if inputs else ()

        compiled = Compiled(gradient)
        return lambda *a, **k: compiled(*a, **k) if settings.is_graph_mode() else gradient(*a, **k)


def grad(fn: Callable[..., Any], grad_position: Any = 0, sens_param: bool = False) -> Callable[..., Any]:
    """The gradient function of ``fn`` with respect to the inputs at ``grad_position``."""

    def gradient(*args: Any, **kwargs: Any) -> Any:
        sens = None
        if sens_param:
            *args, sens = args
        positions = grad_position if isinstance(grad_position, tuple) else (grad_position,)
        _, inputs, _ = value_and_gradient(fn, args, kwargs, positions, (), sens)
        return tuple(inputs) if len(positions) > 1 else inputs[0]

    compiled = Compiled(gradient)
    return lambda *a, **k: compiled(*a, **k) if settings.is_graph_mode() else gradient(*a, **k)
