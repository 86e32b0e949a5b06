"""Programs of deferred calls: the events of a structure become graphs, and these are compiled.

    segment k (leaves, values of segments before) = the values that are asked for at its end, or outlive the
    call

The program is the one that graph mode would compile for the call: nested derivatives are replayed as
derivatives, so that the choice of mode, tiling and the other rewrites apply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mindgrad.backend.xla import compile_ahead
from mindgrad.eager.replay import OPEN, Event, Replay, needed_events
from mindgrad.eager.structure import Segment, Structure
from mindgrad.ir.build import building
from mindgrad.ir.graph import Graph, Variable, calls_back
from mindgrad.ir.rewriting import without_rewrites
from mindgrad.ir.scope import GraphScope, opened
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.optimize.pipeline import before_compilation

__all__ = ["compile_request", "compile_structure", "traced_events"]


def compile_structure(structure: Structure) -> list[Segment]:
    """Compile the segments of ``structure``: their values outlive a call, or are asked for during it.

    Raises:
        NotImplementedError: it has side effects.
    """
    version, count = structure.version, len(structure)
    segments: list[Segment] = []
    computed: set[int] = set()
    outliving, cuts = set(structure.outputs), dict(structure.cuts)  # copies: calls go on meanwhile
    for cut in sorted(cuts):
        outputs = _outputs(structure, cut, outliving | cuts[cut]) - computed
        segments.append(_compiled(structure, structure.events[:cut], outputs, computed))
        computed |= outputs
    last = _compiled(structure, structure.events[:count], outliving - computed, computed, is_last=True)
    last.version, last.known = version, last.known | computed
    return [*segments, last]


def compile_request(structure: Structure, number: int) -> Segment:
    """Compile a program for one value that is asked for inside of a recording."""
    last = next(k for k, event in enumerate(structure.events) if number in event.results)
    events, recordings = needed_events(structure.events[: last + 1], [number])
    return _compiled(structure, events, {number}, set(), recordings=recordings)


def _outputs(structure: Structure, end: int, others: set[int]) -> set[int]:
    """The values outside of recordings that are used from event ``end`` on, or are among ``others``."""
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
    """Compile ``outputs`` of ``events``, with the values ``computed`` as inputs.

    With numbers of half precision the program is not rewritten, so that it rounds and overflows where the
    operators do: loss scales depend on it.
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
    # where values are checked, what they were made of is kept
    may_donate = is_last and not structure.is_checked
    replaced = {value: leaf for leaf, value in structure.replaced if value in outputs} if may_donate else {}
    # those that are replaced come first: jax puts the first result of a type into the first donated memory
    numbers = sorted(outputs, key=lambda n: (n not in replaced, n))
    graph, inputs = traced_events(structure, events, numbers, computed, recordings)
    if calls_back(graph):
        raise NotImplementedError("an operator of it calls back into Python")
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
    """The graph of ``events``, as they are written.

    Args:
        structure: the call that they are of.
        events: the events, in order.
        numbers: the values that are the outputs.
        computed: values that are inputs, beside the leaves.
        recordings: those that are transformed; by default all.
        lines: as ``Replay.run`` takes them.

    Returns:
        The graph, and the numbers of its inputs, of leaves the inverse.
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
        for n in numbers:  # a value of a recording is computed again outside of it
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
