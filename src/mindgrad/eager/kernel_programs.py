"""Kernel programs run a traced function as NumPy kernels, one after the other: for calls too short for XLA.

    kernels(f)(x) = f(x)        without the Python of f, and without recording it

Cost: the time of the kernels, a little for each and for the call (measured in decision 14), and tracing once.
The graph is that of the compiler before its rewrites, which are meant for large arrays. Limits: no loops and
no callbacks; Parameters keep their types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad._base.signals import Deferred
from mindgrad._base.tree import flatten, unflatten
from mindgrad.execution.cache import call_signature
from mindgrad.execution.donation import window
from mindgrad.execution.finite_results import are_finite, locate_fault
from mindgrad.ir import settings
from mindgrad.ir.graph import Graph, Variable, calls_back, communicates, live_equations
from mindgrad.ir.kernels import compacted, run_compact, runs_functions, runs_on_host, silently
from mindgrad.ir.rewriting import without_rewrites
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.optimize.pipeline import before_compilation
from mindgrad.trace.tracing import TENSOR, Trace, kind_of

__all__ = ["KernelPrograms"]

#: programs kept for one function, and equations of one: more are for XLA
_KEPT, _MOST_EQUATIONS = 16, 256


class _KernelProgram:
    """One traced call: its kernels, the slots that they read and write, and its guards."""

    __slots__ = (
        "_checked", "_constants", "_kinds", "_parameters", "_results", "_steps", "_structure", "_types",
        "_written", "dependencies",
    )  # fmt: skip

    def __init__(self, traced: Trace, graph: Graph) -> None:
        self.dependencies = traced.dependencies
        self.dependencies.close([*traced.parameters, *traced.written])
        self._parameters = traced.parameters
        self._types = [v.type for v in graph.inputs]
        self._structure = traced.structure
        self._kinds = [kind_of(x) for x in traced.results]
        slots: dict[Any, int] = {v: k for k, v in enumerate(graph.inputs)}
        constants: list[Any] = []
        steps: list[tuple[Any, tuple[int, ...], tuple[int, ...], Any]] = []

        def slot(atom: Any, is_whole: bool) -> int:
            if type(atom) is Variable:
                return slots.setdefault(atom, len(slots))
            key = (atom, is_whole)
            if key not in slots:
                slots[key] = len(slots)
                constants.append((slots[key], atom.array() if is_whole else atom.value))
            return slots[key]

        for equation in live_equations(graph.equations, graph.outputs):
            # one number stands for a constant of equal elements, where others say the shape
            is_whole = not equation.primitive.pointwise or not any(
                type(x) is Variable for x in equation.inputs
            )
            operands = tuple([slot(x, is_whole) for x in equation.inputs])
            results = tuple([slot(y, True) for y in equation.outputs])
            steps.append((equation.primitive, operands, results, equation.parameters))
        outputs = [(slot(y, True), y.type) for y in graph.outputs]
        self._checked = (graph, [k for k, _ in outputs]) if settings.options["debug_nans"] else None
        self._results = outputs[len(traced.written) :]
        self._written = [(p, position) for p, (position, _) in zip(traced.written, outputs, strict=False)]
        self._steps = compacted(steps)
        self._constants: list[Any] = [None] * len(slots)
        for position, array in constants:
            self._constants[position] = array

    def call(self, tensors: list[Tensor]) -> Any:
        """The function's result for the tensors among its arguments."""
        slots = self._constants.copy()
        for k, (tensor, type_) in enumerate(zip([*tensors, *self._parameters], self._types, strict=True)):
            array = tensor._array
            if type(array) is not np.ndarray:
                array = tensor.host_array()
            slots[k] = array if array.shape == type_.shape else np.broadcast_to(array, type_.shape)
        silently(run_compact, (self._steps, slots), {})
        if self._checked is not None:
            graph, outputs = self._checked
            if not are_finite([slots[k] for k in outputs]):
                locate_fault(graph, slots[: len(graph.inputs)])
        if self._written:
            with window, Deferred():  # others see all new values or none
                for parameter, position in self._written:
                    parameter._array = np.asarray(slots[position])
        results = iter(self._results)
        leaves = []
        for kind in self._kinds:
            if kind is TENSOR:
                position, type_ = next(results)
                leaves.append(make_tensor(slots[position], type_))
            else:
                leaves.append(kind[0])
        return unflatten(self._structure, leaves)


class KernelPrograms:
    """The kernel programs of one function, one per signature of its arguments.

    Args:
        function: the function.
    """

    __slots__ = ("_function", "_programs")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._programs: dict[Any, _KernelProgram] = {}

    def ready(self, *args: Any, **kwargs: Any) -> Callable[[], Any] | None:
        """The call with these arguments, if there is a program for it."""
        if not runs_on_host():
            return None
        try:
            key, tensors = call_signature(args, kwargs)
        except TypeError:
            return None
        program = self._programs.get(key)
        if program is None or not program.dependencies.hold():
            return None
        return lambda: program.call(tensors)

    def prepare(self, *args: Any, **kwargs: Any) -> bool:
        """Make the program for these arguments.

        Returns:
            Whether there is one: not for loops, for callbacks, and for Parameters that get another type.
        """
        key, _ = call_signature(args, kwargs)
        with without_rewrites():
            traced = Trace(self._function, *flatten((args, kwargs)))
            graph = before_compilation(traced.graph)
        is_retyped = any(p.type is not y.type for p, y in zip(traced.written, graph.outputs, strict=False))
        if traced.outcome or is_retyped or not runs_on_host() or not _is_of_kernels(graph):
            return False
        if len(self._programs) >= _KEPT:
            self._programs.pop(next(iter(self._programs)))
        self._programs[key] = _KernelProgram(traced, graph)
        return True


def _is_of_kernels(graph: Graph) -> bool:
    """Whether ``graph`` gives new values, by few equations that are kernels of NumPy."""
    outputs = graph.outputs
    return (
        not calls_back(graph)
        and not communicates(graph)
        and len(graph) <= _MOST_EQUATIONS
        and all(type(y) is Variable for y in outputs)
        and len({*outputs, *graph.inputs}) == len(outputs) + len(graph.inputs)
        and not any(runs_functions(equation.primitive) for equation in graph.equations)
    )
