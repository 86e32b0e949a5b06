"""Compile deferred calls: convert events to graphs, and compile the graphs.

A call is divided into *segments* at the points where Python reads a value. Each segment is compiled to one
function. Its operands are inputs of the call and values of earlier segments. It returns the values that
Python reads at its end, the values that later segments use, and the values that outlive the call. All values
of a call are numbered (``eager.replay``).

The graphs are equal to the graphs of graph mode. Nested derivatives are emitted as derivatives of inner
graphs. Therefore, all rewrites apply, including tiling and the choice between forward and reverse mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mindgrad.core.backend.xla import compile_ahead
from mindgrad.core.ir.build import building
from mindgrad.core.ir.graph import Graph, Variable, calls_back
from mindgrad.core.ir.rewriting import without_rewrites
from mindgrad.core.ir.scope import GraphScope, opened
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.eager.replay import OPEN, Event, Replay, needed_events
from mindgrad.eager.structure import Segment, Structure

__all__ = ["compile_request", "compile_structure", "traced_events"]


def compile_structure(structure: Structure) -> list[Segment]:
    """Compile the segments of ``structure``.

    Raises:
        NotImplementedError: If an operator calls back into Python.
    """
    version, count = structure.version, len(structure)
    segments: list[Segment] = []
    computed: set[int] = set()
    outliving, cuts = set(structure.outputs), dict(structure.cuts)  # copies, because calls may change them
    for cut in sorted(cuts):
        outputs = _outputs(structure, cut, outliving | cuts[cut]) - computed
        segments.append(_compiled(structure, structure.events[:cut], outputs, computed))
        computed |= outputs
    last = _compiled(structure, structure.events[:count], outliving - computed, computed, is_last=True)
    last.version, last.known = version, last.known | computed
    return [*segments, last]


def compile_request(structure: Structure, number: int) -> Segment:
    """Compile the computation of one value that Python reads inside a recording.

    A call cannot be divided at such a read, because a derivative requires all operators of the recording.

    Args:
        structure: the structure of the call.
        number: the number of the value.
    """
    last = next(k for k, event in enumerate(structure.events) if number in event.results)
    events, recordings = needed_events(structure.events[: last + 1], [number])
    return _compiled(structure, events, {number}, set(), recordings=recordings)


def _outputs(structure: Structure, end: int, others: set[int]) -> set[int]:
    """Return the numbers of the values before event ``end`` that must be outputs.

    Such a value is not inside a recording, and it is in ``others`` or a later event uses it.
    """
    own = {
        n
        for event in structure.events[:end]
        for n, scope in zip(event.results, event.scopes, strict=True)
        if not scope
    }
    used = {n for event in structure.events[end:] for n in event.operands}
    return own & (used | others)


def _compiled(
    structure: Structure,
    events: Sequence[Event],
    outputs: set[int],
    computed: set[int],
    recordings: set[int] | None = None,
    is_last: bool = False,
) -> Segment:
    """Compile a function that returns the values ``outputs`` of ``events``.

    The values ``computed`` of earlier segments are its inputs. If a value has dtype float16 or bfloat16, the
    graph is not rewritten, so that it rounds and overflows as if the operators ran one by one. Loss scaling
    detects overflow, so it requires this behavior.
    """
    if any(t.dtype.is_half for event in events for t in event.types):
        with without_rewrites():
            return _compiled_as_it_is(structure, events, outputs, computed, recordings, is_last)
    return _compiled_as_it_is(structure, events, outputs, computed, recordings, is_last)


def _compiled_as_it_is(
    structure: Structure,
    events: Sequence[Event],
    outputs: set[int],
    computed: set[int],
    recordings: set[int] | None,
    is_last: bool,
) -> Segment:
    # ``debug_nans`` requires the inputs to find the operator that returned NaN or infinity, so do not donate
    # them
    may_donate = is_last and not structure.is_checked
    replaced = {value: leaf for leaf, value in structure.replaced if value in outputs} if may_donate else {}
    # JAX stores the first result of each type in the first donated buffer of this type, so put the replaced
    # values first
    numbers = sorted(outputs, key=lambda n: (n not in replaced, n))
    graph, inputs = traced_events(structure, events, numbers, computed, recordings)
    if calls_back(graph):
        raise NotImplementedError("one of its operators calls back into Python")
    graph = before_compilation(graph)
    order = [replaced[value] for value in numbers if value in replaced]
    donated = [k for k in dict.fromkeys(order) if ~k in inputs]
    plain = [k for k in inputs if ~k not in donated]
    executable = compile_ahead(graph, [inputs.index(~k) for k in donated], is_exact=True)
    return Segment(len(events), executable, plain, donated, numbers)


def traced_events(
    structure: Structure,
    events: Sequence[Event],
    numbers: Sequence[int],
    computed: set[int],
    recordings: set[int] | None,
    lines: Mapping[Event, tuple[str, int]] | None = None,
) -> tuple[Graph, list[int]]:
    """Return the graph of ``events``, without rewrites.

    Args:
        structure: the structure of the call.
        events: the events to convert, in program order.
        numbers: the numbers of the values that the graph returns.
        computed: the numbers of values that are inputs of the graph, in addition to the inputs of the call.
        recordings: the numbers of the recordings that are differentiated. Default: all recordings.
        lines: maps an event to its source line, if the line differs from ``Event.line`` (``Replay.run``).

    Returns:
        The graph, and the numbers of its inputs. Input k of the call has the number ``~k``.
    """
    scope = GraphScope()
    inside = {n for event in events if event.primitive is OPEN for n in event.operands}
    types = {n: t for event in events for n, t in zip(event.results, event.types, strict=True)}
    with opened(scope):
        symbols: dict[int, Variable] = {}
        leaves: list[Tensor] = []
        for k, leaf in enumerate(structure.leaves):
            if leaf.constant is not None:
                leaves.append(make_tensor(leaf.array, leaf.type))
                continue
            tainted = leaf.is_infinite and ~k not in inside
            symbols[~k] = scope.builder.input(leaf.type, tainted=tainted)
            leaves.append(scope.tensor(symbols[~k]))
        for n in sorted(computed):
            symbols[n] = scope.builder.input(types[n])
        replacements = {n: scope.tensor(symbols[n]) for n in computed}
        values: dict[int, Tensor] = {}
        Replay([scope]).run(events, leaves, values, recordings, None, replacements, lines)
        for n in numbers:  # the value belongs to a recording, so compute it again outside
            if values[n].is_traced or values[n]._array is not None:
                continue
            needed, inner = needed_events(events, [n])
            outside: dict[int, Tensor] = {}
            Replay([scope]).run(needed, leaves, outside, inner, None, replacements, lines)
            values[n] = outside[n]
        with building(scope.builder):
            atoms = [scope.atom(values[n]) for n in numbers]
            graph = scope.builder.close(atoms)
    used = {x for equation in graph.equations for x in equation.inputs} | set(graph.outputs)
    inputs = [k for k, symbol in symbols.items() if symbol in used]
    return Graph([symbols[k] for k in inputs], graph.equations, graph.outputs), inputs
