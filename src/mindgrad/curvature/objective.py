"""Derivatives of a function with respect to weights, each compiled as one program.

An :class:`Objective` is a function, its weights, and the remaining arguments of the function. Its method
``call`` traces the function, computes a derivative from the graph, and compiles both together. Programs are
stored with the function and reused for later calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from mindgrad.api.argnums import Request
from mindgrad.api.arguments import check_callable
from mindgrad.api.functional_call import bound
from mindgrad.api.vjp_call import Run
from mindgrad.core.base.tree import map_leaves, unflatten
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, Variable
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.scope import GraphScope, as_it_is
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.record import transformed
from mindgrad.curvature.weight_space import WeightSpace
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.frontend.programs.object_cache import remembered

__all__ = ["Objective", "derivatives", "outputs_of"]


class Objective:
    """A function of weights.

    Args:
        owner: name of the public function, for error messages.
        function: the function. If the weights are Parameters, it is called as ``function(*args)``, and
            otherwise as ``function(weights, *args)``.
        weights: see :class:`~mindgrad.curvature.weight_space.WeightSpace`.
        args: the remaining arguments.
        needs_all: whether the function must depend on every weight.
    """

    def __init__(
        self,
        owner: str,
        function: Callable[..., Any],
        weights: Any,
        args: Sequence[Any] = (),
        needs_all: bool = True,
    ) -> None:
        check_callable(owner, function)
        self.owner = owner
        self.function = function
        self.space = WeightSpace(owner, weights)
        self.args = tuple(args)
        self.needs_all = needs_all
        self._values: list[Tensor] | None = None

    def fixed(self) -> Objective:
        """Return a copy that always reads the present values of the weights and arguments."""
        copied = copy(self)
        copied.args = map_leaves(_value, self.args)
        copied._values = [_value(x) for x in self.space.leaves]
        return copied

    def at(self, args: Sequence[Any]) -> Objective:
        """Return a copy with other arguments."""
        copied = copy(self)
        copied.args = tuple(args)
        return copied

    def call(self, compute: Callable[..., Any], *operands: Tensor) -> Any:
        """Return ``compute(run, *operands)``, computed by one compiled program.

        Args:
            compute: function of a :class:`~mindgrad.api.vjp_call.Run` of the objective, and of ``operands``.
                It must be one function object for all calls, because it is part of the cache key.
            operands: Tensors.

        Raises:
            ValueError: If the function does not depend on a weight, unless ``needs_all`` is false.
        """
        values = self._values
        if values is None and not self.space.are_parameters:
            values = self.space.leaves
        key = (compute, self.space.key, self.needs_all, values is None)
        program = remembered(self.function, key, lambda: Compiled(self._program(compute, values is not None)))
        return program(values, self.args, operands)

    def _program(self, compute: Callable[..., Any], has_values: bool) -> Callable[..., Any]:
        """Return the function that is compiled.

        ``has_values`` is whether it receives the values of the weights. Otherwise it reads the Parameters.
        """
        space, needs_all = self.space, self.needs_all
        if not space.are_parameters:
            request = Request(self.owner, self.function, 0, None, False)
            structure = space.structure

            def run_tree(values: list, args: tuple, operands: tuple) -> Any:
                run = request.run((unflatten(structure, values), *args), {})
                return compute(_checked(space, run) if needs_all else run, *operands)

            return run_tree
        request = Request(self.owner, self.function, None, list(space.leaves), False)

        def run(values: list | None, args: tuple, operands: tuple) -> Any:
            pairs = list(zip(space.leaves, values, strict=True)) if values is not None else []
            with bound(pairs):
                run = request.run(args, {})
            return compute(_checked(space, run) if needs_all else run, *operands)

        return run


def _value(x: Any) -> Any:
    """Return the present value of a Tensor, which later assignments do not change."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if getattr(x, "is_parameter", False):
        return x.value()
    return as_it_is(x) if isinstance(x, Tensor) else x


def _checked(space: WeightSpace, run: Run) -> Run:
    """Return ``run``; raise ``ValueError`` if an output does not depend on a weight."""
    scope = run.recorded.scope
    if not isinstance(scope, GraphScope):
        return run
    live = {y._atom for y in run.outputs}
    for equation in reversed(scope.builder.equations):
        primitive = equation.primitive
        if primitive.jvp is None or primitive.algebra.stops:
            continue
        if not live.isdisjoint(equation.outputs):
            live.update(equation.inputs)
    unused = [k for k, x in enumerate(run.recorded.inputs) if x._atom not in live]
    if unused:
        raise ValueError(
            f"For '{space.owner}', the function does not depend on {space.name(unused[0])}, so its "
            "curvature is zero. Remove the weights that the function does not use."
        )
    return run


def derivatives(run: Run, rule: Callable[..., list], vectors: Sequence[Tensor] = ()) -> tuple[list, list]:
    """Apply a rule to a recorded run, and return all outputs and the results."""
    return transformed(run.recorded, rule, vectors, run.outputs)


def outputs_of(run: Run) -> list[Tensor]:
    """Return all outputs of a recorded run."""
    return derivatives(run, _no_results)[0]


def _no_results(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents = ()) -> list[Atom]:
    return []
