"""Programs whose results are checked: where one is not finite, the equation that made it is named.

A run costs one look at the results more. Only a program with a NaN or an infinity among them is evaluated
again on the same operands, equation by equation, as it was before any rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from mindgrad.ir.finite import first_fault, refuse_fault
from mindgrad.ir.graph import Graph, Variable, is_finite, silent
from mindgrad.ir.kernels import numpy_kernel
from mindgrad.ir.rewriting import without_rewrites

__all__ = ["are_finite", "checked", "locate_fault", "traced_plainly"]


def traced_plainly(trace: Callable[[], Any]) -> Graph:
    """The graph of ``trace()``, derivatives written out as their laws say, without rewrites."""
    with without_rewrites():
        return trace().graph


def are_finite(results: Sequence[Any]) -> bool:
    """Whether no element of the arrays, of the host or a device, is infinite or NaN."""
    return all(is_finite(np.asarray(y)) for y in results)


def checked(run: Callable[..., Any], plain: Graph) -> Callable[..., Any]:
    """``run``, which takes and gives arrays of a device, with a check of its results.

    Args:
        run: ``run(arrays, donated, extra)``; nothing is donated.
        plain: the same program without rewrites.

    Raises:
        FloatingPointError: (when called) a result is not finite, though all operands of the equation are.
    """

    def run_checked(arrays: Sequence[Any], donated: Sequence[Any], extra: Sequence[Any]) -> Any:
        results = run(arrays, donated, extra)
        if not are_finite(results):
            locate_fault(plain, [*arrays, *donated])
        return results

    return run_checked


def locate_fault(graph: Graph, arrays: Sequence[Any]) -> None:
    """Raise the error of the first equation that makes a NaN or an infinity which reaches the results.

    Nothing is raised where they come from operands of the program. A value that is masked out does not count.

    Args:
        graph: the program, without rewrites.
        arrays: its operands.

    Raises:
        FloatingPointError: there is such an equation.
    """
    values: dict[Any, Any] = dict(zip(graph.inputs, map(np.asarray, arrays), strict=True))
    faults: dict[Variable, tuple[int, Callable[[], NoReturn]]] = {}
    for number, equation in enumerate(graph.equations):
        operands = [values[x] if type(x) is Variable else x.array() for x in equation.inputs]
        parameters = silent(equation.parameters) if equation.has_effect else equation.parameters
        result = numpy_kernel(equation.primitive, operands, parameters)
        results = result if equation.primitive.multiple else (result,)
        values.update(zip(equation.outputs, results, strict=True))
        faulty = first_fault(operands, results, parameters)
        if faulty is not None:
            fault = partial(refuse_fault, equation.primitive.name, operands, faulty, equation.source)
            faults.update(dict.fromkeys(equation.outputs, (number, fault)))
    makers = {y: equation for equation in graph.equations for y in equation.outputs}
    waiting: list[Any] = [y for y in graph.outputs if type(y) is Variable]
    visited: set[Variable] = set()
    origins = []
    while waiting:
        variable = waiting.pop()
        if variable in visited or is_finite(np.asarray(values[variable])):
            continue
        visited.add(variable)
        if variable in faults:
            origins.append(faults[variable])
        elif variable in makers:
            waiting += [x for x in makers[variable].inputs if type(x) is Variable]
    if origins:
        min(origins, key=itemgetter(0))[1]()
