"""A second process finds a program by its graph, without jax's lowering; where that could be wrong, by its text."""

import os
import sys
import time

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.core.backend import disk, graph_digest, xla
from mindgrad.core.backend.executable import GraphProgram
from mindgrad.core.backend.graph_digest import digest
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.base import source
from mindgrad.core.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.kinds import elementwise
from mindgrad.core.primitives.samples import reals
from mindgrad.frontend.programs.compiled import Compiled
from tests.unit.core.test_disk import place, stored  # noqa: F401

pytestmark = pytest.mark.xla

X = Tensor(np.linspace(0.5, 2.0, 4))


def value(function, *args):
    """The result of a function that is compiled anew, or found."""
    ms.clear_cache()
    return Compiled(function)(*args)


@pytest.fixture
def lowered(monkeypatch):
    """The programs that were lowered."""
    programs = []
    run = xla._run
    monkeypatch.setattr(
        xla, "_run", lambda graph, *args, **keywords: programs.append(graph) or run(graph, *args, **keywords)
    )
    return programs


def test_what_is_found_is_not_lowered(place, lowered):  # noqa: F811
    weight = Parameter(Tensor(np.ones(4)), name="weight")

    def step(x):
        while x.sum() < 100:
            x = x * 2
        weight.set_data(weight * 0.5)
        return {"x": x, "both": (weight.value(), ms.grad(lambda y: ops.sin(y).sum())(x))}

    first = value(step, X)
    count = len(lowered)
    assert count > 0
    second = value(step, X)
    assert len(lowered) == count
    assert weight.asnumpy().tolist() == [0.25] * 4
    np.testing.assert_array_equal(first["x"].asnumpy(), second["x"].asnumpy())
    np.testing.assert_array_equal(first["both"][1].asnumpy(), second["both"][1].asnumpy())
    assert len(stored(place)) == 1


def test_large_constants_are_operands(place, lowered):  # noqa: F811
    rows = np.arange(6000.0).reshape(2, 3000)
    of = lambda data: value(lambda x: (Tensor(data) * x[0]).sum(), X).item()
    assert of(rows) == rows.sum() * 0.5
    count = len(lowered)
    assert of(rows + 1) == (rows + 1).sum() * 0.5, "the data are not those of the first program"
    assert len(lowered) == count
    assert len(stored(place)) == 1


def product_with(array, is_operand=False):
    """The digest of a product with a constant."""
    type_ = tensor_type(array.dtype, array.shape)
    x, y, constant = Variable(type_), Variable(type_, tainted=True), Constant(array)
    graph = Graph((x,), [Equation(REGISTRY["mul"], (x, constant), {}, (y,))], (y,))
    return digest(GraphProgram(graph, (constant,) * is_operand, ()))


def test_operands_are_known_by_their_types_and_by_what_they_repeat():
    rows = np.arange(6.0).reshape(2, 3)
    arrays = [rows, rows.astype(np.float32), rows.T, np.broadcast_to(rows[:1], (2, 3))]
    arrays += [np.broadcast_to(rows[:, :1], (2, 3)), rows[:1]]
    found = [product_with(array, is_operand=True) for array in arrays]
    found += [product_with(rows), product_with(rows + 1)]
    assert len(set(found)) == len(found)
    assert product_with(rows + 1, is_operand=True) == found[0]


def test_small_constants_are_known_by_their_bits():
    nan = np.array(0x7FF8000000000001, np.uint64).view(np.float64)
    numbers = [0.0, -0.0, np.nan, nan, np.inf, 1.0, np.nextafter(1, 2)]
    found = [product_with(np.full(2, number)) for number in numbers]
    found += [product_with(np.full(2, number)) for number in (1, True, np.float32(1), 4607182418800017408)]
    assert None not in found
    assert len(set(found)) == len(found)
    assert product_with(np.full(2, 1.0)) == found[5]


def test_settings_of_jax_are_part_of_the_name(place):  # noqa: F811
    jax = jax_module()
    product = lambda x: ops.matmul(x.reshape(2, 2).astype(ms.float32), x.reshape(2, 2).astype(ms.float32))
    value(product, X)
    with jax.default_matmul_precision("highest"):
        value(product, X)
    assert len(stored(place)) == 2


def test_contexts_of_jax_that_are_no_settings_are_left_to_the_text(place, lowered, monkeypatch):  # noqa: F811
    double = lambda x: x * 2
    value(double, X)
    for module in disk._CONTEXTS:
        monkeypatch.setitem(sys.modules, module, os)
        count = len(lowered)
        value(double, X)
        assert len(lowered) == count + 1
        monkeypatch.delitem(sys.modules, module)
    assert len(stored(place)) == 2


def test_the_trees_are_those_of_jax(place, monkeypatch):  # noqa: F811
    weight, data = Parameter(Tensor(np.ones(4)), name="weight"), Tensor(np.arange(4000.0).reshape(1000, 4))

    def step(x):
        weight.set_data(weight + x)
        return weight + x, (data * weight).sum()

    expected = []
    trees = disk._trees

    def compared(program):
        expected.append(trees(program))
        return trees(program)

    monkeypatch.setattr(disk, "_trees", compared)
    compiled = []
    compile_ = disk.compiled_with
    monkeypatch.setattr(disk, "compiled_with", lambda *args: compiled.append(compile_(*args)) or compiled[-1])
    value(step, X)
    assert [(x.in_tree, x.out_tree) for x in compiled] == expected
    groups, _ = jax_module().tree_util.tree_unflatten(expected[0][0], [1, 2, 3])
    assert groups == ([1], [2], [3])


def test_a_row_of_the_user_is_known_by_its_text(place, lowered):  # noqa: F811
    def of(factor):
        row = elementwise(
            "scaled_by_user",
            numpy=lambda x: x * factor,
            xla=lambda jax, x: x * factor,
            partials=lambda y, x: [x],
            samples=reals(),
        )
        try:
            graph = row_graph(row)
            assert digest(GraphProgram(graph, (), ())) is None
            return np.asarray(xla.compile_ahead(graph).run([xla.to_device(np.ones(2))], [], [])[0])
        finally:
            del REGISTRY["scaled_by_user"]

    assert of(2.0).tolist() == [2.0, 2.0]
    assert of(3.0).tolist() == [3.0, 3.0]
    assert of(2.0).tolist() == [2.0, 2.0]
    assert len(stored(place)) == 2


def row_graph(row, **parameters):
    x, y = Variable(tensor_type("float64", (2,))), Variable(tensor_type("float64", (2,)))
    return Graph((x,), [Equation(row, (x,), parameters, (y,))], (y,))


def test_what_has_no_digest(monkeypatch):
    monkeypatch.setattr(Graph, "verifier", None)
    of = lambda **parameters: digest(GraphProgram(row_graph(REGISTRY["sin"], **parameters), (), ()))
    for unknown in (
        object(),
        lambda: 0,
        os.getcwd,
        np.sin,
        {1},
        frozenset("ab"),
        np.array([None]),
        os.stat_result,
    ):
        assert of(axis=unknown) is None
        assert of(axis=[(1, unknown)]) is None
        assert of(axis={"a": unknown}) is None
    known = (
        None,
        1,
        "a",
        b"a",
        (1,),
        [1],
        {"a": 1},
        {1: "a"},
        ms.float32,
        np.float32(1),
        slice(1),
        range(1),
        ...,
    )
    assert None not in (found := [of(axis=value) for value in known])
    assert len(set(found)) == len(known)


def test_the_source_of_the_packages_is_part_of_the_digest(monkeypatch, tmp_path):
    assert set(source.LOWERING) > {
        "core/ir",
        "core/primitives",
        "core/control",
        "core/backend",
        "distributed",
    }
    graph = row_graph(REGISTRY["sin"])
    of = lambda: graph_digest._source.cache_clear() or digest(GraphProgram(graph, (), ()))
    now = of()
    assert now is not None
    for package in source.LOWERING:
        (tmp_path / package).mkdir(parents=True, exist_ok=True)
        (tmp_path / package / "a.py").write_text("1")
    try:
        for module in (source, graph_digest):
            monkeypatch.setattr(module, "PACKAGE", str(tmp_path))
        assert of() is None, "it was written after the package was loaded"
        monkeypatch.setattr(source, "_loaded", time.time() + 100)
        first = of()
        assert first not in (now, None)
        (tmp_path / "core/primitives" / "a.py").write_text("2")
        second = of()
        (tmp_path / "core/primitives" / "a.py").rename(tmp_path / "core/primitives" / "b.py")
        third = of()
        assert len({now, first, second, third, None}) == 5
        (tmp_path / "core/primitives" / "b.py").unlink()
        assert of() is None, "a package without source"
    finally:
        graph_digest._source.cache_clear()
