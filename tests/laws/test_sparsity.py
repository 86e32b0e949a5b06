"""Law 9: the pattern of a Jacobian holds every entry that is not zero, for every row, loops and gradients too."""

import numpy as np
import pytest
from scipy import sparse

from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.sparse.sparsity import Known, dependence
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from tests.laws.control_programs import PROGRAMS
from tests.laws.harness import ROWS, calls, graph_of

#: rows whose patterns hold nothing else, for general operands
EXACT = {
    *(name for name, row in REGISTRY.items() if row.moves),
    "dot",
    "reduce_sum",
    "cumsum",
    "scatter_add",
    "mul",
    "sin",
    "add",
} - {
    # what they write or read may be zero, or the same element
    "scatter_set",
    "dynamic_update_slice",
}


def jacobian(graph, active, arrays):
    """All entries, by forward mode along every unit vector; infinite ones count as entries too."""
    pushed = forward(graph, active)
    columns = []
    for k in active:
        for j in range(arrays[k].size):
            tangents = [np.zeros(arrays[i].shape, arrays[i].dtype) for i in active]
            tangents[list(active).index(k)].reshape(-1)[j] = 1
            found = evaluate(pushed, [*arrays, *tangents])[len(graph.outputs) :]
            columns.append(np.concatenate([np.ravel(t) for t in found] or [np.zeros(0)]))
    return np.stack(columns, 1) if columns else np.zeros((0, 0))


def pattern(graph, active, known):
    found = dependence(sparse, graph, active, known)
    width = sum(graph.inputs[k].type.size for k in active)
    rows = [
        np.zeros((y.type.size, width), bool) if p is None else p.toarray()
        for p, y in zip(found, graph.outputs, strict=True)
    ]
    return np.concatenate(rows) if rows else np.zeros((0, width), bool)


def holds(what, graph, active, arrays):
    true = jacobian(graph, active, arrays)
    if true.size == 0:
        return None
    others = {graph.inputs[k]: a for k, a in enumerate(arrays) if k not in active}
    found = {}
    for how, known in (("unknown", None), ("known", Known(others))):
        found[how] = pattern(graph, active, known)
        missing = np.argwhere((true != 0) & ~found[how])
        assert not len(missing), f"{what}, other operands {how}: the pattern lacks the entries {missing[:5]}"
    assert not (found["known"] & ~found["unknown"]).any(), f"{what}: knowing more adds entries"
    return true, found["known"]


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    for call in calls(name, float64):
        active = call.active
        if not active:
            continue
        both = holds(repr(call), graph_of(call), active, call.arrays)
        if both is not None and name in EXACT:
            true, found = both
            assert (found == (true != 0)).all(), f"{call!r}: the pattern holds more than the Jacobian"
        for k in active if len(active) > 1 else ():
            both = holds(f"{call!r} by operand {k}", graph_of(call), [k], call.arrays)
            if both is not None and name == "conv" and k == 0:
                assert (both[1] == (both[0] != 0)).all(), f"{call!r}: more than the Jacobian by the image"


@pytest.mark.parametrize("name", [name for name in ROWS if name not in ("svd", "qr")])
def test_gradients(name):
    """The pattern of a Hessian is that of the Jacobian of a gradient, whose graph is another."""
    for call in calls(name, float64)[:2]:
        results = call.results
        if not call.active or any(each.dtype.kind != "float" for each in results):
            continue
        if any(call.arrays[k].dtype.kind == "c" for k in call.active):
            continue
        cotangents = [
            np.random.default_rng(0).normal(size=each.shape).astype(each.dtype.numpy) for each in results
        ]
        holds(
            f"gradient of {call!r}",
            reverse(graph_of(call), call.active),
            call.active,
            [*call.arrays, *cotangents],
        )


@pytest.mark.parametrize("name", [name for name in ROWS if name not in ("svd", "qr")])
def test_what_is_linear_by_pieces_has_no_second_derivatives(name):
    """A row whose second derivatives are zero at all samples has none in its pattern either."""
    nonzero, entries = 0, 0
    for call in calls(name, float64):
        kinds = [each.dtype.kind for each in call.results]
        if not call.active or kinds != ["float"] * len(kinds):
            continue
        if any(call.arrays[k].dtype.kind == "c" for k in call.active):
            continue
        pulled = reverse(graph_of(call), call.active)
        gradient = Graph(pulled.inputs, pulled.equations, pulled.outputs[len(kinds) :])
        rng = np.random.default_rng(0)
        cotangents = [rng.normal(size=each.shape).astype(each.dtype.numpy) for each in call.results]
        with np.errstate(all="ignore"):
            true = jacobian(gradient, call.active, [*call.arrays, *cotangents])
        nonzero += np.count_nonzero(true)
        entries += int(pattern(gradient, call.active, None).sum())
    assert nonzero or not entries


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_branches_and_loops(program):
    arrays = [np.asarray(a) for a in program.cases[0]]
    holds(program.name, program.graph, program.active, arrays)
    pulled = reverse(program.graph, program.active)
    cotangents = [
        np.random.default_rng(0).normal(size=y.shape)
        if y.dtype.kind == "float"
        else np.zeros(y.shape, y.dtype.numpy)
        for y in program.graph.outputs
    ]
    holds(f"gradient of {program.name}", pulled, program.active, [*arrays, *cotangents])
