"""``explain``: what the rewrites did, and what a program costs."""

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.control.scan import scan
from mindgrad.core.control.trip_counts import runs
from mindgrad.core.ir import settings
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.rewriting import REWRITES, Rewrite
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes import pipeline
from mindgrad.core.primitives.elementwise import exp, log
from mindgrad.frontend.programs.compiled import trace
from mindgrad.inspect.cost import Cost, cost
from mindgrad.inspect.explain_command import main
from mindgrad.inspect.explanation import _saving

X = Tensor(np.array([1.0, 2.0, 3.0], np.float32))


@pytest.fixture
def inverse(monkeypatch):
    """A rewrite of this test's own, on finished programs."""
    rewrite = Rewrite("inverse", "log(exp x) = x")

    def passed(graph):
        made = [e for e in graph.equations if e.primitive is log and e.inputs[0].made_by is not None]
        made = [e for e in made if e.inputs[0].made_by.primitive is exp]
        if not made:
            return graph
        rewrite.fired(len(made))
        builder = Builder()
        with building(builder):
            known = {v: builder.input(v.type) for v in graph.inputs}
            for e in graph.equations:
                if e in made:
                    known[e.outputs[0]] = known[e.inputs[0].made_by.inputs[0]]
                else:
                    given = [known.get(x, x) for x in e.inputs]
                    known[e.outputs[0]] = e.primitive(*given, **e.parameters)
            return builder.close([known[y] for y in graph.outputs])

    monkeypatch.setattr(pipeline, "_BEFORE_COMPILATION", [*pipeline._BEFORE_COMPILATION, passed])
    yield rewrite
    del REWRITES["inverse"]


def test_what_fired_and_what_it_saved(inverse):
    actual = ms.explain(lambda x: ops.log(ops.exp(x)) * 2.0 + ops.log(ops.exp(x * 3.0)))(X)
    (fired,) = [each for each in actual.fired if each.name == "inverse"]
    assert fired == ("inverse", "log(exp x) = x", 2)
    assert actual.before == Cost(equations=7, flops=21, bytes=7 * 24 + 12, is_known=True)
    # what is left, 2x + 3x, is one equation
    assert actual.after == Cost(equations=1, flops=3, bytes=24, is_known=True)
    assert (len(actual.graph_before), len(actual.graph)) == (7, 1)
    assert str(actual.graph).count("exp") == 0
    assert str(actual.graph_before).count("exp") == 2


def test_the_table(inverse):
    text = str(ms.explain(named)(X))
    assert repr(ms.explain(named)(X)) == text
    assert "graph(" not in text
    assert "graph(x: Float32[3])" in ms.explain(named)(X).table(graph=True)
    assert " ".join(text.split()).startswith(
        "named: The rewrite 'inverse' is applied. Compared with the function without rewrites: no operations, "
        "no bytes read and written."
    )
    lines = [line.split() for line in text.splitlines()]
    assert ["equations", "2", "0", "0.00", "×"] in lines
    assert ["bytes", "48", "0", "0.00", "×"] in lines
    assert ["inverse", "1", "×", "log(exp", "x)", "=", "x"] in lines
    assert all(line == line.rstrip() for line in text.splitlines())


def named(x):
    return ops.log(ops.exp(x))


def test_nothing_fires_where_nothing_applies_and_where_rewrites_are_off(inverse):
    assert "No rewrite applies" in str(ms.explain(lambda x: x * 2.0)(X))
    settings.store("rewrites", False)
    try:
        actual = ms.explain(named)(X)
        assert not settings.get("rewrites")
    finally:
        settings.store("rewrites", True)
    assert actual.fired == ()
    assert actual.before == actual.after
    assert "MINDGRAD_OPT=0" in str(actual)


def test_the_option_stays_as_it_was_behind_an_error():
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ms.explain(broken)(X)
    assert settings.get("rewrites")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.ones(3, np.float32)), name="w")

    def construct(self, x):
        self.w = self.w + 1.0
        return (x * self.w).sum()


def test_functions_cells_gradients_and_compiled_functions_by_their_names():
    net = Net()
    explained = {
        "f": ms.explain(f)(X),
        "jitted": ms.explain(jitted)(X),
        "Net": ms.explain(net)(X),
        "grad_of_f": ms.explain(ms.grad(f))(X),
        "value_and_grad_of_f": ms.explain(ms.value_and_grad(f))(X),
        "GradOperation_of_Net": ms.explain(ops.GradOperation(get_all=True)(net))(X),
    }
    for name, found in explained.items():
        assert str(found).startswith(f"{name}: ")
        assert found.after.equations == len(found.graph) > 0
    assert net.w.asnumpy().tolist() == [1, 1, 1], "nothing ran"
    assert explained["grad_of_f"].graph.count() != explained["f"].graph.count()


def f(x):
    return ops.sin(x) * x


@ms.jit
def jitted(x):
    return ops.sin(x) * x


def test_keywords_and_the_mode():
    def scaled(x, factor=1.0, other=None):
        return x * factor + other

    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        found = ms.explain(scaled)(X, factor=2.0, other=X)
        assert len(found.graph.inputs) == 2
        assert found.after.equations >= 1
    with pytest.raises(TypeError, match="positional argument: 'x'"):
        ms.explain(scaled)()


@pytest.mark.parametrize("wrong", [3, None, X, "f"])
def test_what_is_no_function_is_refused(wrong):
    with pytest.raises(TypeError, match="For 'explain', the first argument must be a 'Function' or 'Cell'"):
        ms.explain(wrong)


# -- the cost of a program -----------------------------------------------------------------------------


def of(function, *shapes):
    return cost(trace(function, *[Tensor(np.ones(s, np.float32)) for s in shapes]))


def test_products_count_their_multiplications():
    assert of(ops.matmul, (5, 7), (7, 2)) == Cost(1, 2 * 5 * 7 * 2, 4 * (35 + 14 + 10), True)
    batched = of(ops.matmul, (4, 5, 7), (4, 7, 2))
    assert (batched.flops, batched.equations) == (2 * 4 * 5 * 7 * 2, 1)


def test_convolutions_count_their_windows():
    found = of(lambda x, w: ops.conv2d(x, w), (1, 3, 8, 8), (6, 3, 3, 3))
    assert found.flops == 2 * 6 * 6 * 6 * 3 * 3 * 3


def test_reductions_count_what_they_read_and_moves_nothing():
    assert of(lambda x: x.sum(0), (10, 3)).flops == 30
    assert of(lambda x: x.reshape(30), (10, 3)) == Cost(1, 0, 0, True)
    turned = of(lambda x: x.T, (10, 3))
    assert (turned.flops, turned.bytes) == (0, 240)


def test_the_size_of_other_programs_grows_as_it_should():
    for function, power in ((ops.cholesky, 3), (ops.inverse, 3), (ops.matrix_determinant, 3)):
        small, large = of(function, (10, 10)).flops, of(function, (20, 20)).flops
        assert 1.8**power < large / small < 2.2**power, function


def test_loops_multiply():
    body = Builder()
    with building(body):
        x, s = (body.input(tensor_type("float32", (4,))) for _ in range(2))
        iteration = body.close([x * s])
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type("float32", (4,)))
        xs = builder.input(tensor_type("float32", (9, 4)))
        graph = builder.close(scan(x, xs, body=iteration, length=9, consts=0, carries=1))
    assert cost(graph) == Cost(1, 9 * 4, 9 * 3 * 16, True)


def test_a_while_is_counted_with_one_iteration_and_told():
    @ms.jit
    def halved(x):
        while x.sum() > 1.0:
            x = x / 2.0
        return ops.tanh(x)

    actual = ms.explain(halved)(X)
    assert not actual.after.is_known
    assert "counted as one iteration" in str(actual)
    divisions = [
        run for run in runs(actual.graph, iterations=50) if run.equation.primitive.name in ("mul", "div")
    ]
    assert [(run.times, run.is_known) for run in divisions] == [(50, False)]
    (tanh,) = [run for run in runs(actual.graph, iterations=50) if run.equation.primitive.name == "tanh"]
    assert (tanh.times, tanh.is_known) == (1, True)
    back = [run for run in runs(ms.explain(ms.grad(halved))(X).graph, iterations=50) if run.times == 50]
    assert any(run.equation.primitive.name in ("mul", "div") for run in back)


def test_the_sentence_says_what_was_done_and_what_it_saved():
    bend = ms.grad(ms.grad(lambda t: ops.tanh(ops.sin(t) * t)))
    found = ms.explain(bend)(ops.ones((100, 1)))
    assert "One Taylor series computes the nested derivatives. " in found.sentence
    assert re.search(
        r"rewrites: 1\.\d× fewer operations, 1\.\d× fewer bytes read and written\.$",
        found.sentence,
    )
    assert "More operations" not in str(found)


def test_every_rewrite_has_words():
    examples = ("halves of an example", "inverse")  # of a docstring, and of this file
    assert [name for name, rewrite in REWRITES.items() if not rewrite.words and name not in examples] == []


def test_lines_have_the_work_of_values_and_derivatives():
    def u(x):
        h = ops.tanh(x)
        return (h * h).sum()

    lines = ms.explain(ms.value_and_grad(u))(X).lines()
    first = u.__code__.co_firstlineno
    found = {(cost.line - first, cost.is_derivative) for cost in lines}
    assert {(1, False), (2, False), (1, True)} <= found
    assert sum(cost.equations for cost in lines) == ms.explain(ms.value_and_grad(u))(X).after.equations
    assert any(cost.label.endswith("h = ops.tanh(x)") for cost in lines)


def test_nested_derivatives_belong_to_lines():
    """The Taylor series and the forward Laplacian of a line are derivatives of that line."""
    bend = ms.grad(ms.grad(lambda t: ops.tanh(ops.sin(t) * t)))
    laplacian = ms.laplacian(lambda x: ops.tanh(ops.sin(x)).sum(-1, keepdims=True))

    def halved(x):
        while x.sum() > 1.0:
            x = ops.sin(x) * 0.5
        return x.sum()[None]

    points = ops.ones((100, 4))
    for f, x in (
        (bend, points),
        (laplacian, points),
        (ms.grad(lambda x: (laplacian(x) ** 2).mean()), points),
        (ms.laplacian(lambda x: laplacian(x)), points),
        (ms.laplacian(halved), ops.ones((4,))),
    ):
        lines = ms.explain(f)(
            x
        ).lines()  # sums of results and their seeds belong to no line of these functions
        assert sum(cost.flops for cost in lines if cost.file) >= 0.9 * sum(cost.flops for cost in lines)
        assert sum(cost.bytes for cost in lines if cost.file) >= 0.9 * sum(cost.bytes for cost in lines)
        assert not any("ms.explain" in cost.label for cost in lines)


def test_compilations_are_those_of_xla():
    found = ms.explain(lambda x: ops.matmul(x, x), compiled=True)(ops.ones((8, 8)))
    without, used = found.compilations
    assert used.seconds > 0
    assert used.temporary_bytes == without.temporary_bytes >= 0
    assert used.flops >= 2 * 8**3
    assert "XLA: memory of a call" in str(found)


def test_json_html_and_rich_hold_the_same(capsys):
    found = ms.explain(ms.grad(f))(X)
    read = json.loads(found.json())
    assert read["sentence"] == found.sentence
    assert read["after"]["equations"] == found.after.equations
    assert [line["label"] for line in read["lines"]] == [cost.label for cost in found.lines()]
    page = found._repr_html_()
    assert "<table " in page
    assert "<lambda>" not in ms.explain(lambda x: x)(X)._repr_html_(), "escaped"
    console = Console(width=200, file=io.StringIO())
    console.print(found)
    assert "without rewrites" in console.file.getvalue()
    found.show()
    assert capsys.readouterr().out == f"{found}\n", "plain text in a pipe"


def test_the_command(tmp_path, capsys):
    script = tmp_path / "wave.py"
    script.write_text("from mindgrad import ops\n\ndef u(x):\n    return ops.sin(x).sum()\n")
    assert main([f"{script}:u", "Tensor([1.0])", "--order", "2"]) == 0
    assert capsys.readouterr().out.startswith("grad_of_grad_of_u: ")
    assert main([f"{script}:u", "Tensor([1.0])", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["function"] == "u"
    assert main([f"{script}:u", "Tensor([1.0])", "--graph"]) == 0
    assert "graph(x: Float32[1])" in capsys.readouterr().out


def test_saving_is_a_factor_unless_the_change_is_small():
    assert [_saving(1000, after, "operations") for after in (1000, 998, 1004, 980, 100, 3000, 0)] == [
        "the same number of operations", "about the same number of operations",
        "about the same number of operations", "1.02× fewer operations", "10× fewer operations",
        "3.0× as many operations", "no operations",
    ]  # fmt: skip
    assert [_saving(1000, after, "temporary memory") for after in (1000, 500, 2000)] == [
        "the same temporary memory", "2.0× less temporary memory", "2.0× as much temporary memory",
    ]  # fmt: skip
    assert _saving(0, 1000, "operations") == "1 k more operations"


def test_explain_with_more_operations_says_when_they_are_expected():
    found = ms.explain(ms.grad(ms.grad(lambda x: ops.norm(x))))(Tensor([1.0, 2.0]))
    assert found.after.flops > found.before.flops
    assert re.search(r"without rewrites: \d\.\d× as many operations", found.sentence)
    assert "More operations are expected for a gradient with respect to several" in str(found)
    assert "MINDGRAD_OPT=0" in found._repr_html_()
