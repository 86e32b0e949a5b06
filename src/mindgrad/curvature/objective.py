"""Derivatives of a function with respect to weights, each compiled as one program.

An :class:`Objective` is a function, its weights, and the remaining arguments of the function. Its method
``call`` traces the function, computes a derivative from the graph, and compiles both together. Programs are
stored with the function and reused for later calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.api.argnums import Request
from mindgrad.api.arguments import check_callable
from mindgrad.api.vjp_call import Run
from mindgrad.core.base.tree import unflatten
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.record import transformed
from mindgrad.curvature.weight_space import WeightSpace
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.frontend.programs.object_cache import remembered

__all__ = ["Objective"]


class Objective:
    """A function of weights.

    Args:
        owner: name of the public function, for error messages.
        function: the function. If the weights are Parameters, it is called as ``function(*args)``, and
            otherwise as ``function(weights, *args)``.
        weights: see :class:`~mindgrad.curvature.weight_space.WeightSpace`.
        args: the remaining arguments.
    """

    def __init__(
        self, owner: str, function: Callable[..., Any], weights: Any, args: Sequence[Any] = ()
    ) -> None:
        check_callable(owner, function)
        self.owner = owner
        self.function = function
        self.space = WeightSpace(owner, weights)
        self.args = tuple(args)

    def call(self, compute: Callable[..., Any], *operands: Tensor) -> Any:
        """Return ``compute(run, *operands)``, computed by one compiled program.

        Args:
            compute: function of a :class:`~mindgrad.api.vjp_call.Run` of the objective, and of ``operands``.
                It must be one function object for all calls, because it is part of the cache key.
            operands: Tensors.
        """
        space, owner, function = self.space, self.owner, self.function

        def make() -> Compiled:
            if space.are_parameters:
                request = Request(owner, function, None, list(space.leaves), False)

                def run(args: tuple, operands: tuple) -> Any:
                    return compute(request.run(args, {}), *operands)

                return Compiled(run)
            request = Request(owner, function, 0, None, False)
            structure = space.structure

            def run_tree(leaves: list, args: tuple, operands: tuple) -> Any:
                return compute(request.run((unflatten(structure, leaves), *args), {}), *operands)

            return Compiled(run_tree)

        program = remembered(function, (compute, space.key), make)
        given = (self.args, operands)
        return program(*given) if space.are_parameters else program(list(space.leaves), *given)


def derivatives(run: Run, rule: Callable[..., list], vectors: Sequence[Tensor] = ()) -> tuple[list, list]:
    """Apply a rule to a recorded run.

    Returns the outputs of the run, and the results of the rule.
    """
    return transformed(run.recorded, rule, vectors, run.outputs)
