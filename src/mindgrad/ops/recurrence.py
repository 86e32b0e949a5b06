"""The time loop of recurrent layers and sequence losses.

In eager mode, the time loop is an ordinary Python loop. In a compiled function, the compiler handles the time
loop like a loop in user code: a long loop becomes one ``scan``. A long loop in a deferred eager call also
becomes one ``scan``, because its iterations run only mindgrad's own code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.evaluate import inline
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.memo import retained
from mindgrad.core.ir.rewriting import is_rewriting
from mindgrad.core.ir.scope import current_deferral, identity
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.core.trace.closed_program import trace
from mindgrad.frontend import mutation_policy, owned_objects
from mindgrad.frontend.control.runtime import RUNTIME
from mindgrad.ops import joining

__all__ = ["Step", "over_time"]

Step = Callable[[Tensor, Any], tuple[Any, Tensor]]


def over_time(step: Step, xs: Tensor, carry: Any) -> tuple[Tensor, Any]:
    """Iterate ``carry, y = step(x, carry)`` for each x along the first axis of ``xs``.

    Returns:
        The outputs y of all iterations, stacked along a new first axis, and the last carry.
    """
    if current_deferral() is not None and xs.shape[0] >= costs().scan_iterations:
        return _deferred(step, xs, carry)
    outputs: list[Tensor] = []
    if not references.is_compiling():
        for x in joining.unstack(xs):
            carry, y = step(x, carry)
            outputs.append(y)
        return joining.stack(outputs), carry
    carried = [carry, owned_objects.made(outputs)]

    def iteration(x: Tensor) -> None:
        carried[0], y = step(x, carried[0])
        carried[1].append(y)

    def put(values: tuple[Any, ...]) -> None:
        carried[:] = values

    names = ("the state of a recurrence", "the outputs of a recurrence")
    RUNTIME.for_(xs, iteration, lambda: tuple(carried), put, names)
    return joining.stack(carried[1]), carried[0]


class _Loop(NamedTuple):
    """A traced loop.

    Attributes:
        graph: equations of the loop.
        operands: for each input of the graph, its index among the tensors that the loop receives and that its
            step closes over, or a constant.
        leaves, structure: the result, with ``None`` in place of the outputs of the graph.
    """

    graph: Graph
    operands: tuple[Any, ...]
    leaves: list[Any]
    structure: Any


#: cache: (step function, types of all tensors) -> traced loop
_loops: dict[Any, _Loop] = {}
_LOOPS_KEPT = 128


def _deferred(step: Step, xs: Tensor, carry: Any) -> tuple[Tensor, Any]:
    """Add the loop to the deferred call as a whole, not iteration by iteration.

    The traced loop is cached if the step function and its closure can be compared.
    """
    leaves, structure = flatten(carry)
    tensors = [references.read(x) for x in (xs, *leaves) if isinstance(x, Tensor)]
    count = len(tensors)
    others = tuple([None if isinstance(x, Tensor) else x for x in leaves])
    described = _described(step, tensors)
    key = (described, structure, others, tuple([t.type for t in tensors]), is_rewriting())
    loop = _loops.get(key) if described is not None else None
    if loop is None:
        loop = _traced(step, tensors, count, leaves, structure)
        if described is not None and all(isinstance(each, int) for each in loop.operands):
            if len(_loops) >= _LOOPS_KEPT:
                _loops.clear()
            _loops[key] = loop
    outputs = iter(inline(loop.graph, [tensors[x] if isinstance(x, int) else x for x in loop.operands]))
    return unflatten(loop.structure, [next(outputs) if x is None else x for x in loop.leaves])


def _traced(step: Step, tensors: Sequence[Tensor], count: int, leaves: list[Any], structure: Any) -> _Loop:
    """Trace the loop over ``tensors[0]``, with the carry ``tensors[1:count]``."""

    def loop(sequence: Tensor, *carry: Tensor) -> Any:
        following = iter(carry)
        filled = [next(following) if isinstance(x, Tensor) else x for x in leaves]
        with mutation_policy.tracing():
            return over_time(step, sequence, unflatten(structure, filled))

    program = trace(loop, [t.type for t in tensors[:count]], values_are_inputs=True)
    numbers = {identity(t): k for k, t in enumerate(tensors)}
    operands: list[Any] = list(range(count))
    operands += [numbers.get(identity(t), t) for t in program.captured.values()]
    others = [None if isinstance(x, Tensor) else x for x in program.leaves]
    return _Loop(retained(program.graph), tuple(operands), others, program.structure)


def _described(value: Any, tensors: list[Tensor]) -> Any:
    """Return a cache key of a function and its closure, or ``None``.

    A key contains the code and the captured numbers, strings, and functions. Captured tensors are appended to
    ``tensors``. There is no key if another object is captured.
    """
    if isinstance(value, Tensor):
        tensors.append(references.read(value))
        return Tensor
    if value is None or isinstance(value, (bool, int, float, str)):
        return (type(value), value)
    if not isinstance(value, FunctionType):
        return None
    cells = [_described(cell.cell_contents, tensors) for cell in value.__closure__ or ()]
    return None if None in cells or value.__defaults__ else (value.__code__, *cells)
