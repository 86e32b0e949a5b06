"""The corpus of control flow: each program eager = compiled = known value, with all its derivatives."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn
from tests.programs.control import (
    assignments,
    branches,
    containers,
    fors,
    functions,
    gradients,
    jumps,
    nets,
    numerics,
    state,
    whiles,
)
from tests.programs.control.check import Checked, arrays_of, plain
from tests.programs.control.program import PROGRAMS
from tests.programs.corpus.check import MODES

ROOMS = (assignments, branches, containers, fors, functions, gradients, jumps, nets, numerics, state, whiles)
CASES = [(name, index) for name, each in PROGRAMS.items() for index in range(len(each.cases))]


@pytest.fixture(scope="module")
def checked():
    """Each program with its derivatives; compiled once."""
    made: dict[str, Checked] = {}

    def of(name):
        if name not in made:
            made[name] = Checked(PROGRAMS[name])
        return made[name]

    return of


@pytest.fixture
def graph_mode():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=before)


def agree(found, expected, what, rtol, atol):
    assert len(found) == len(expected), f"{what}: {len(found)} tensors instead of {len(expected)}"
    for index, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert ours.shape == theirs.shape, f"{what}, tensor {index}"
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol, err_msg=f"{what}, tensor {index}")


def size(arrays):
    """The largest magnitude, at least one: what roundings are measured with."""
    return max(1.0, *[float(np.max(np.abs(a), initial=0)) for a in arrays])


@pytest.mark.parametrize(("name", "index"), CASES)
def test_eager_meets_the_reference(checked, name, index):
    found, quotients = checked(name).eager(index), checked(name).quotients(index)
    assert list(found) == list(quotients) == list(MODES[:-1])
    each = PROGRAMS[name]
    for mode, expected in quotients.items():
        tolerance = each.rtol if mode == "value" else each.slack
        agree(found[mode], expected, mode, tolerance, tolerance * size(expected))


@pytest.mark.parametrize(("name", "index"), CASES)
def test_compiled_is_eager(checked, name, index):
    eager, compiled = checked(name).eager(index), checked(name).compiled(index)
    assert list(compiled) == list(MODES[:-1])
    for mode, expected in eager.items():
        assert [y.dtype for y in compiled[mode]] == [y.dtype for y in expected], mode
        agree(compiled[mode], expected, mode, 1e-9, 1e-10 * size(expected))


def called_twice(each, case):
    """What the program gives when it is called two times, and the Parameters that it leaves."""
    function = each.make()
    call = (
        function
        if isinstance(function, nn.Cell) or ms.get_context("mode") == ms.PYNATIVE_MODE
        else ms.jit(function)
    )
    inputs = [Tensor(x) if isinstance(x, np.ndarray) else x for x in (*case.xs, *case.others)]
    outputs = [arrays_of(call(*inputs)) for _ in range(2)]
    held = list(function.get_parameters()) if isinstance(function, nn.Cell) else []
    return [y for ys in outputs for y in ys] + [p.asnumpy() for p in held]


def expected_twice(each, case):
    """The same by the reference."""
    function = each.make()
    parameters = list(function.get_parameters()) if isinstance(function, nn.Cell) else []
    held = {p.name: plain(p.asnumpy()) for p in parameters}
    given = lambda: [plain(x) for x in (*case.xs, *case.others)]
    outputs = [arrays_of(each.reference(*([held] if held else []), *given())) for _ in range(2)]
    return [y for ys in outputs for y in ys] + [np.asarray(held[p.name]) for p in parameters]


@pytest.mark.parametrize("name", PROGRAMS)
def test_eager_calls_leave_what_the_reference_leaves(name):
    each = PROGRAMS[name]
    for case in each.cases:
        expected = expected_twice(each, case)
        agree(called_twice(each, case), expected, "value", each.rtol, each.rtol * size(expected))


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_mode_calls_leave_what_the_reference_leaves(graph_mode, name):
    each = PROGRAMS[name]
    for case in each.cases:
        expected = expected_twice(each, case)
        agree(called_twice(each, case), expected, "value", each.rtol, each.rtol * size(expected))
