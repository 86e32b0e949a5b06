"""Checks of the results of compiled programs for NaN and infinity.

If the context option ``debug_nans`` is set, the results of each run of a program are checked. If a result is
not finite, the program is evaluated again on the same operands, one equation at a time and without rewrites.
The error message names the first equation that computed a NaN or an infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.base.refusal import SourceLocation, hints, located_text
from mindgrad.core.ir import kernels
from mindgrad.core.ir.finite import first_fault, refuse_fault
from mindgrad.core.ir.graph import Graph, Variable, is_communication, is_finite, silent
from mindgrad.core.ir.kernels import numpy_kernel
from mindgrad.core.ir.rewriting import without_rewrites
from mindgrad.core.ir.rules import Array
from mindgrad.core.ir.types import type_of

__all__ = ["are_finite", "checked", "locate_fault", "traced_plainly"]


def traced_plainly(trace: Callable) -> Graph:
    """Call ``trace``, which returns a graph, with rewrites turned off.

    :func:`locate_fault` evaluates the graph. Rewrites are off because they may remove the faulty equation or
    combine it with others.
    """
    with without_rewrites():
        return trace().graph


def are_finite(results: Sequence[Array]) -> bool:
    """Return whether all elements of ``results``, on the host or a device, are finite."""
    if kernels.runs_on_host:
        return all(is_finite(np.asarray(y)) for y in results)
    # check on the device, because copying the results to the host may take longer than computing them. JAX
    # compiles the check once for each combination of types
    jax = jax_module()
    inexact = [y for y in results if type_of(y).dtype.is_inexact]
    with jax.enable_x64(True):
        return not inexact or bool(jax.jit(_all_finite)(inexact))


def _all_finite(arrays: Sequence[Array]) -> Array:
    numpy = jax_module().numpy
    return reduce(numpy.logical_and, [numpy.isfinite(x).all() for x in arrays])


def checked(run: Callable, plain: Graph) -> Callable[..., Any]:
    """Return ``run`` with a check that its results are finite.

    Args:
        run: function ``run(arrays, donated, extra)`` on arrays of a device; it must not overwrite donated
            arrays.
        plain: the same program without rewrites.

    Raises:
        FloatingPointError: When the returned function is called, if a result is not finite because of an
            equation whose operands are finite.
    """

    def run_checked(arrays: Sequence[Array], donated: Sequence[Array], extra: Sequence[Array]) -> Any:
        results = run(arrays, donated, extra)
        if not are_finite(results):
            locate_fault(plain, [*arrays, *donated])
        return results

    return run_checked


def locate_fault(graph: Graph, arrays: Sequence[Array]) -> None:
    """Raise an error for the first equation that computes a NaN or infinity.

    The error names an equation only if its operands are finite and its NaN or infinity reaches a result of
    the graph. If the graph communicates with other processes, only the equations before the first
    communication are evaluated. The communication cannot be repeated, because the other processes do not
    evaluate their graphs again.

    Args:
        graph: the graph, without rewrites.
        arrays: operands of the graph.

    Raises:
        FloatingPointError: If there is such an equation.
    """
    first = next((k for k, equation in enumerate(graph.equations) if is_communication(equation)), None)
    if first is None:
        _refuse_first(graph, arrays)
        return
    before, behind = graph.equations[:first], graph.equations[first:]
    used = {*graph.outputs, *[x for equation in behind for x in equation.inputs]}
    own = [y for equation in before for y in equation.outputs if y in used]
    _refuse_first(Graph(graph.inputs, before, own), arrays)
    if all(is_finite(np.asarray(x)) for x in arrays):
        communication = behind[0]
        reason = (
            f"a NaN or an infinity first occurs at the operator '{communication.primitive.name}' or after "
            "it, although the inputs are finite. The line is unknown, because the computation communicates "
            "with other processes and is not repeated"
        )
        instead = "run the function without jit, which checks every operator." + hints["debug_nans"]
        source = communication.source
        raise FloatingPointError(
            f"{reason}: {instead}"
            if source is None
            else located_text(reason, instead, SourceLocation(*source))
        )


def _refuse_first(graph: Graph, arrays: Sequence[Array]) -> None:
    """Raise an error for the first faulty equation of a graph without communication.

    NumPy evaluates the graph. A search from the results that are not finite back to the inputs then finds the
    faults that reach a result.
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
        if variable in makers:  # the fault may be in an earlier equation
            waiting += [x for x in makers[variable].inputs if type(x) is Variable]
    if origins:
        min(origins, key=itemgetter(0))[1]()
