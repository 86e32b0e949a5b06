"""Programs whose results are checked: where one is not finite, the equation that made it is named.

A run costs one look at the results more. Only a program with a NaN or an infinity among them is evaluated
again on the same operands, equation by equation, as it was before any rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial, reduce
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from mindgrad._base.refusal import SourceLocation, located_text
from mindgrad.backend.xla import compile_ahead
from mindgrad.ir import settings
from mindgrad.ir.build import Builder, building
from mindgrad.ir.finite import first_fault, refuse_fault
from mindgrad.ir.graph import Graph, Variable, is_communication, is_finite, silent
from mindgrad.ir.kernels import numpy_kernel, runs_on_host
from mindgrad.ir.rewriting import without_rewrites
from mindgrad.ir.types import TensorType, type_of
from mindgrad.rows.logic import isfinite, logical_and
from mindgrad.rows.reduction import reduce_all

__all__ = ["are_finite", "checked", "locate_fault", "traced_plainly"]

#: programs that look at the results of others on a device, which are kept
_SIGNATURES = 256


def traced_plainly(trace: Callable[[], Any]) -> Graph:
    """The graph of ``trace()``, derivatives written out as their laws say, without rewrites."""
    with without_rewrites():
        return trace().graph


def are_finite(results: Sequence[Any]) -> bool:
    """Whether no element of the arrays, of the host or a device, is infinite or NaN."""
    if runs_on_host():
        return all(is_finite(np.asarray(y)) for y in results)
    # those of another device stay there: a copy of them would take longer than what made them
    types = [type_of(y) for y in results]
    real = [k for k, type_ in enumerate(types) if type_.dtype.kind == "float"]
    device = (settings.options["device_target"], settings.options["device_id"])
    is_real_finite = _finiteness(tuple([types[k] for k in real]), device)
    others = [y for k, y in enumerate(results) if types[k].dtype.kind == "complex"]
    return is_real_finite([results[k] for k in real]) and all(is_finite(np.asarray(y)) for y in others)


@lru_cache(maxsize=_SIGNATURES)
def _finiteness(types: tuple[TensorType, ...], _: Any) -> Callable[[Sequence[Any]], bool]:
    """The program that tells on the device whether all elements of real arrays are finite."""
    if not types:
        return lambda arrays: True
    builder = Builder()
    with building(builder):
        arrays = [builder.input(type_) for type_ in types]
        are_whole = [reduce_all(isfinite(x), axes=tuple(range(x.type.rank))) for x in arrays]
        executable = compile_ahead(builder.close([reduce(logical_and, are_whole)]))
    return lambda arrays: bool(executable.run(arrays, [], executable.extra)[0])


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

    Nothing is raised where they are in operands of the program. A value that is masked out does not count.
    Of a program that communicates only what stands before is evaluated: the other processes do not run again.

    Args:
        graph: the program, without rewrites.
        arrays: its operands.

    Raises:
        FloatingPointError: there is such an equation.
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
        instead = "run in PYNATIVE_MODE, which checks every operator."
        source = communication.source
        raise FloatingPointError(
            f"{reason}: {instead}"
            if source is None
            else located_text(reason, instead, SourceLocation(*source))
        )


def _refuse_first(graph: Graph, arrays: Sequence[Any]) -> None:
    """Raise the error of the first equation of a program that runs in this process alone."""
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
        if variable in makers:  # a NaN may come of an infinity that was made before
            waiting += [x for x in makers[variable].inputs if type(x) is Variable]
    if origins:
        min(origins, key=itemgetter(0))[1]()
