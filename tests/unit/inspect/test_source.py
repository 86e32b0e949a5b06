"""``source``: programs and derivatives written as Python, which give what they were written from."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.inspect.emit.numpy_target import NumpyTarget
from mindgrad.inspect.source import LANGUAGES
from mindgrad.inspect.source_command import main
from tests.laws.harness import ROWS, calls, graph_of, kernel
from tests.programs.control import branches, fors, functions, gradients, jumps, nets, numerics, whiles
from tests.programs.control.program import PROGRAMS as CONTROL
from tests.programs.corpus import contraction, indexing, layout, nested, physics, pointwise, reductions, types
from tests.programs.corpus import nets as corpus_nets
from tests.programs.corpus.program import PROGRAMS
from tests.thorough import size
from tests.tolerances import assert_close

PACKAGES = (
    branches, contraction, corpus_nets, fors, functions, gradients, indexing, jumps, layout, nested, nets,
    numerics, physics, pointwise, reductions, types, whiles,
)  # fmt: skip


def arrays(tree):
    found = [leaf for leaf in flatten(tree)[0] if leaf is not None]
    return [np.asarray(x.asnumpy() if hasattr(x, "asnumpy") else x) for x in found]


def agree(found, expected, kind="program", names=""):
    found, expected = arrays(found), arrays(expected)
    assert len(found) == len(expected), names
    scale = max([1.0, *[float(np.max(np.abs(y), initial=0)) for y in expected]])
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), names
        assert_close(ours, theirs, kind, each=True, scale=scale, what=names)


# --- every row ---------------------------------------------------------------------------------------


def evaluated(call, target):
    """What the text of one application gives."""
    from mindgrad.inspect.emit.function import Signature, emitted

    graph = graph_of(call)
    names = [f"x{k}" for k in range(len(graph.inputs))]
    structure = lambda texts: f"({', '.join(texts)},)"
    module = emitted(graph, Signature("f", names, [], [], structure, [], None, "one row"), target)
    scope = {}
    exec(module.text, scope)
    return scope["f"](*call.arrays, **module.constants)


@pytest.mark.parametrize("name", [name for name in ROWS if not REGISTRY[name].communicates])
def test_the_text_of_a_row_gives_what_its_kernel_gives(name):
    """In element types of each kind; to the last bits, for NumPy has several ways to sum."""
    count = 0
    for dtype in map(as_dtype, ("float32", "bfloat16", "complex64", "int32", "bool")):
        for call in calls(name, dtype):
            found = evaluated(call, NumpyTarget())
            for ours, theirs in zip(found, kernel(call), strict=True):
                ours, theirs = np.asarray(ours), np.asarray(theirs)
                assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), repr(call)
                assert_close(ours, theirs, "law", each=True, scale=1, what=repr(call))
            count += 1
    assert count, f"no sample of {name}"


def test_a_wrong_form_is_noticed(monkeypatch):
    """The test above, on a planted error."""
    primitive = REGISTRY["logsumexp"]
    monkeypatch.setitem(NumpyTarget.forms, "logsumexp", lambda target, xs, result, axes: ("np.max(x0)", 9))
    assert primitive.name == "logsumexp"
    with pytest.raises(AssertionError):
        test_the_text_of_a_row_gives_what_its_kernel_gives("logsumexp")


# --- whole programs ------------------------------------------------------------------------------------

#: what a second run does not give again
STATEFUL = {"ARandomNumberGenerator", "writes_into_an_argument"}


def program_of(name):
    """The function, its Parameters, the inputs that it is differentiated by, and the others."""
    if name in PROGRAMS:
        program = PROGRAMS[name]
        function, weights, others = program.parts()
        return function, weights, [Tensor(x) for x in program.inputs()], others
    program = CONTROL[name]
    function, case = program.make(), program.cases[-1]
    weights = list(function.trainable_params()) if isinstance(function, nn.Cell) else []
    xs, others = (
        [Tensor(x) if isinstance(x, np.ndarray) else x for x in group] for group in (case.xs, case.others)
    )
    return function, weights, xs, others


def derivatives(function, weights, count):
    """The function, its gradient, and the gradient of the squares of that."""
    positions = tuple(range(count))

    def squares(*xs):
        slopes = flatten(ms.grad(function, positions)(*xs))[0]
        return sum(((y * y).sum() for y in slopes if isinstance(y, Tensor)), 0.0)

    return [function, ms.grad(function, positions, weights or None), ms.grad(squares, positions)]


def checked(name, order, language, rewrites=True):
    function, weights, xs, others = program_of(name)
    derived = derivatives(function, weights, len(xs))[order]
    before = {p.name: p.asnumpy().copy() for p in weights}
    expected = derived(*xs, *others)
    for p in weights:
        p.set_data(Tensor(before[p.name]))
    program = ms.source(derived, *xs, *others, emit=language, rewrites=rewrites)
    found = program.run()
    if len(arrays(found)) != len(arrays(expected)):  # with what it writes
        found = found[0]
    agree(found, expected, "iteration", f"{name}, order {order}, {language}\n{program}")
    return program


NAMES = [
    *[name for name in PROGRAMS if name not in STATEFUL],
    *[name for name, program in CONTROL.items() if not program.refused and name not in STATEFUL],
]


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@pytest.mark.parametrize(("name", "order"), [(name, k % 3) for k, name in enumerate(NAMES[:: size(3, 2)])])
def test_programs_of_the_corpora_agree(name, order):
    """Each once, as itself, as its gradient or as a second derivative; rewritten and as written in turn."""
    if order and not program_of(name)[2]:
        order = 0
    try:
        checked(name, order, "numpy", rewrites=len(name) % 2 == 0)
    except (TypeError, ValueError) as error:  # of the gradient itself: a program whose result is no number
        if "source" in str(error):
            raise
        checked(name, 0, "numpy")


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@pytest.mark.parametrize(("name", "order"), [(name, k % 3) for k, name in enumerate(NAMES[::40])])
def test_programs_for_jax_agree(name, order):
    checked(name, order if program_of(name)[2] else 0, "jax")


#: of a third of the corpora, those with an operator that MindSpore lacks
WITHOUT = {"a_projection_from_eigenvectors", "spectra", "a_log_likelihood", "cumulative"}


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@pytest.mark.parametrize(("name", "order"), [(name, k % 3) for k, name in enumerate(NAMES[::7])])
def test_programs_for_mindspore_agree(name, order):
    """On MindSpore where it is installed, else on this package under its name."""
    order = order if program_of(name)[2] else 0
    if name in WITHOUT:
        with pytest.raises(
            NotImplementedError, match=r"cannot be written for mindspore.*Choose another 'emit'"
        ):
            checked(name, order, "mindspore")
    else:
        checked(name, order, "mindspore")


# --- what it looks like --------------------------------------------------------------------------------


def u(x):
    h = ops.tanh(x * 2.0)
    y = h * ops.sin(x)
    return y.sum()


POINT = Tensor(np.array([0.3, -1.2], np.float32))


def body(program):
    return (
        program.text.partition("def grad_of")[2].partition('"""\n')[2].partition('"""\n')[2] or program.text
    )


def test_a_derivative_has_the_names_of_the_program():
    text = str(ms.source(u, POINT, order=1))
    assert "h = np.tanh(v1)" in text
    assert "du_dx = h * np.cos(x) + d_h * np.sin(x)" in text
    assert "h = ops.tanh(x * 2.0)\n" in text, "the user's line as a comment"
    assert "d2u_dx2 = " in str(ms.source(u, POINT, order=2))


def quartic(x):
    return (x**4).sum()


def quartics(x):
    return x**4


@pytest.mark.parametrize(
    ("function", "order"),
    [
        (ms.vmap(quartic), 0), (ms.jit(quartic), 0), (ms.jit(ms.grad(quartic)), 1), (ms.jacfwd(quartic), 1),
        (ms.vmap(ms.grad(quartic)), 1), (ms.divergence(quartics), 1), (ms.hessian(quartic), 2),
        (ms.laplacian(quartic), 2), (ms.grad(ms.laplacian(quartic)), 3), (ops.biharmonic(quartic), 4),
        (ops.directional_derivative(quartic, 3), 3), (ms.hvp(quartic), 2),
    ],
)  # fmt: skip
def test_the_order_is_that_of_the_derivative_not_the_number_of_transforms(function, order):
    text = str(ms.source(function, *[ops.ones(3)] * len(inspect.signature(function).parameters)))
    words = ["", "The derivative of ", *[f"The derivative of order {k} of " for k in range(2, 5)]]
    assert text.startswith(f'"""{words[order]}quartic')


def test_a_compiled_cell_has_its_names():
    text = str(ms.source(ms.jit(nn.Dense(3, 2)), ops.ones((1, 3))))
    assert "def Dense(x, *, weight, bias):" in text


def test_parameters_are_arguments_under_their_names():
    net = nn.Dense(3, 2)
    weights = net.trainable_params()
    x = Tensor(np.ones((4, 3), np.float32))
    derived = ms.value_and_grad(lambda x: (net(x) ** 2).sum(), None, weights)
    program = ms.source(derived, x)
    assert list(program.parameters) == ["weight", "bias"]
    assert "d_weight = " in str(program)
    assert "d_bias = " in str(program)
    agree(program.run(), derived(x))


def decay(x, n):
    i = 0
    while i < n:
        x = x * 0.5 + ops.sin(x)
        i = i + 1
    return x.sum()


def test_a_loop_is_a_loop_and_its_derivative_one_backwards():
    program = ms.source(ms.grad(decay), POINT, Tensor(4))
    text = str(program)
    assert sum(line.lstrip().startswith("while ") for line in text.splitlines()) == 1
    assert "in reversed(saved):" in text
    agree(program.run(), ms.grad(decay)(POINT, Tensor(4)))
    longer = ms.grad(decay)(POINT, Tensor(9))
    agree(program.function()(POINT.asnumpy(), np.int64(9)), longer)  # any number of iterations


def test_jax_has_loops_of_its_own():
    program = ms.source(ms.grad(decay), POINT, Tensor(4), emit="jax")
    agree(
        program.function()(POINT.asnumpy(), np.int64(2000)),
        ms.grad(decay)(POINT, Tensor(2000)),
        "long program",
    )


def test_large_constants_are_arguments_and_small_ones_text():
    small, large = np.arange(40.0), np.arange(4000.0)
    f = lambda x: (x * Tensor(small)).sum() + (x.sum() * Tensor(large)).sum()
    program = ms.source(f, Tensor(np.ones(40)))
    assert [x.size for x in program.parameters.values()] == [4000]
    agree(program.run(), f(Tensor(np.ones(40))))


def test_a_constant_of_equal_elements_is_a_number():
    ones, zeros = Tensor(np.full((4, 5), 2.5, np.float32)), Tensor(np.full(20, -0.0, np.float32))
    program = ms.source(lambda x: x.reshape(4, 5) * ones + (x - zeros).reshape(4, 5), ops.ones(20))
    assert "constant" not in str(program)
    assert "b85decode" not in str(program)
    assert "* 2.5" in str(program)
    mixed = ms.source(lambda x: x * Tensor([0.0, -0.0]), ops.ones(2))
    assert "np.array([0.0, -0.0], np.float32)" in str(mixed)
    agree(program.run(), np.full((4, 5), 3.5, np.float32), "elementwise")


def test_structures_stay():
    f = lambda p: {"twice": [p["w"] * 2, (p["b"],)], "n": 3}
    p = {"w": Tensor([1.0, 2.0]), "b": Tensor([3.0])}
    found = ms.source(f, p).run()
    assert found["n"] == 3
    agree(found, f(p), "elementwise")


def test_written_parameters_come_behind_the_result():
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.total = ms.Parameter(Tensor([1.0]), name="total")

        def construct(self, x):
            self.total += x
            return self.total * x

    result, written = ms.source(Counter(), Tensor([2.0])).run()
    agree(result, np.array([6.0], np.float32), "elementwise")
    agree(written, {"total": np.array([3.0], np.float32)}, "elementwise")


def test_floats_are_arguments():
    program = ms.source(ms.grad(lambda x: x * x * x), 2.0)
    assert program.run() == 12.0
    assert program.function()(3.0) == 27.0


@pytest.mark.parametrize(("arguments", "kind", "message"), [
    ({"emit": "fortran"}, ValueError, "'emit' should be one of 'numpy', 'jax', 'mindspore'"),
    ({"order": -1}, ValueError, "'order' should be an int of at least 0"),
])  # fmt: skip
def test_wrong_arguments_are_said(arguments, kind, message):
    with pytest.raises(kind, match=message):
        ms.source(u, POINT, **arguments)


def test_an_operator_that_a_library_lacks_is_named_with_its_line():
    def f(x):
        return ops.bessel_j0(x).sum()

    with pytest.raises(NotImplementedError, match=r"'bessel_j' \(line \d+ of .*test_source.py\).*'emit'"):
        ms.source(f, POINT, emit="mindspore")


# --- files and the command -------------------------------------------------------------------------------


def test_a_saved_program_runs_by_itself(tmp_path):
    net = nn.Dense(3, 2)
    x = Tensor(np.ones((4, 3), np.float32))
    ms.source(net, x).save(tmp_path / "net.py")
    done = subprocess.run(
        [sys.executable, "-I", "net.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    shown = np.array(done.stdout.replace("[", " ").replace("]", " ").split(), np.float32)
    assert_close(shown.reshape(4, 2), net(x), kind="program")


def test_the_command_writes_what_the_function_writes(tmp_path, capsys):
    script = tmp_path / "wave.py"
    script.write_text("from mindgrad import ops\n\ndef u(x):\n    return ops.sin(x).sum()\n")
    assert main([f"{script}:u", "Tensor([1.0])", "--order", "2"]) == 0
    shown = capsys.readouterr().out
    assert "d2u_dx2 = " in shown
    scope = {}
    exec(shown, scope)
    assert_close(scope["grad_of_grad_of_u"](np.float32([1.0])), -np.sin(1.0))
    assert main([f"{script}:u", "Tensor([1.0])", "--emit", "jax", "-o", str(tmp_path / "out.py")]) == 0
    assert "import jax" in (tmp_path / "out.py").read_text()


def test_the_command_says_what_cannot_be_written(tmp_path, capsys):
    script = tmp_path / "wave.py"
    script.write_text("from mindgrad import ops\n\ndef u(x):\n    return ops.bessel_j0(x).sum()\n")
    with pytest.raises(SystemExit) as ended:
        main([f"{script}:u", "Tensor([1.0])", "--emit", "mindspore"])
    assert ended.value.code == 1
    assert "'bessel_j'" in capsys.readouterr().err


def test_the_languages_are_those_of_the_documentation():
    assert LANGUAGES == ("numpy", "jax", "mindspore")


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 2)

    def construct(self, h):
        return h + ops.exp(self.dense(h))


class Blocks(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Block(), Block()])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x.sum()


def test_layers_are_variables_and_comments_name_their_cells():
    program = ms.source(Blocks(), ops.ones((3, 2)), order=1)
    lines = [line.strip() for line in str(program).splitlines()]
    line = Block.construct.__code__.co_firstlineno + 1
    for cell in ("blocks.0", "blocks.1"):
        assert f"# line {line} in {cell}: return h + ops.exp(self.dense(h))" in lines
    for name in ("blocks_0_dense", "blocks_1_dense", "d_blocks_0"):
        assert any(line.startswith(f"{name} = ") for line in lines), name
    assert not any("ms.source(" in line for line in lines)  # the line that asks is none of the program


def test_carries_of_loops_and_their_cotangents_are_variables():
    def damped(x):
        total = x
        while total.sum() < 9.0:
            if total.sum() > 3.0:
                total = total * x
            else:
                total = total + ops.exp(x)
        return total.sum()

    program = ms.source(ms.grad(damped), Tensor([1.1, 1.2]))
    text = str(program)
    for part in ("while continues:", "total_2 = ", "d_total = ", "d_x = d_x + ", "in reversed(saved):"):
        assert part in text, part
    assert "carry" not in text
