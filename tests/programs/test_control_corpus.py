"""The corpus of control flow: each program eager = compiled = known value, with all its derivatives."""

import ast
import inspect

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.ops import grad, jvp
from tests.programs.control import (
    assignments,
    branches,
    containers,
    fors,
    functions,
    gradients,
    jumps,
    long,
    nets,
    numerics,
    refused,
    state,
    whiles,
)
from tests.programs.control.check import MODES, Checked, arrays_of, compiled_modes, plain
from tests.programs.control.hyper_dual import ELEMENTARY, derivatives
from tests.programs.control.program import PROGRAMS
from tests.programs.evaluated import evaluated
from tests.tolerances import assert_close

PACKAGES = (
    assignments,
    branches,
    containers,
    fors,
    functions,
    gradients,
    jumps,
    nets,
    numerics,
    refused,
    state,
    whiles,
)
COMPILED = [name for name, each in PROGRAMS.items() if not each.refused]


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


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@pytest.mark.parametrize("name", PROGRAMS)
def test_eager_meets_the_reference(name):
    each = PROGRAMS[name]
    checked = Checked(each)
    for index in range(len(each.cases)):
        found, quotients = checked.eager(index), checked.quotients(index)
        assert tuple(found) == tuple(quotients) == MODES
        for mode, expected in quotients.items():
            tolerance = each.rtol if mode == "value" else each.slack
            agree(found[mode], expected, f"case {index}, {mode}", tolerance, tolerance * size(expected))


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@pytest.mark.parametrize("name", COMPILED)
def test_compiled_is_eager(name):
    """One test per program, so that it is compiled once, by one worker, and nothing of it stays."""
    checked = Checked(PROGRAMS[name])
    modes = compiled_modes(name)
    for index in range(len(checked.program.cases)):
        eager, compiled = checked.eager(index, modes), checked.compiled(index)
        assert tuple(compiled) == modes
        for mode, expected in eager.items():
            what = f"case {index}, {mode}"
            assert [y.dtype for y in compiled[mode]] == [y.dtype for y in expected], what
            agree(compiled[mode], expected, what, 1e-9, 1e-10 * size(expected))


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


@pytest.mark.numpy
@pytest.mark.parametrize("name", [n for n in COMPILED if isinstance(PROGRAMS[n].make, type)])
def test_graph_mode_calls_leave_what_the_reference_leaves(graph_mode, name):
    """A Cell's call is one program; what it writes, the next call reads."""
    each = PROGRAMS[name]
    for case in each.cases:
        expected = expected_twice(each, case)
        agree(called_twice(each, case), expected, "value", each.rtol, each.rtol * size(expected))


@pytest.mark.parametrize("name", [name for name, each in PROGRAMS.items() if each.refused])
def test_graph_mode_refuses(graph_mode, name):
    """Before anything runs, with the line, the reason, and what to write instead."""
    each = PROGRAMS[name]
    for case in each.cases:
        with pytest.raises((TypeError, RuntimeError), match=each.refused) as raised:
            called_twice(each, case)
        assert "refused.py" in str(raised.value)
        assert "nstead" in str(raised.value)


# -- loops of very many iterations ------------------------------------------------------------------------


def compiled_derivatives(f, xs, others, order):
    """Value and gradient, and with ``order`` 2 the Hessian times (1, …, 1) in two ways, as one program."""
    positions = tuple(range(len(xs)))

    def everything(xs, others):
        loss = lambda *xs: f(*xs, *others, ops)
        slope = lambda *xs: as_tuple(grad(loss, positions if len(xs) > 1 else 0)(*xs))
        found = [loss(*xs), *slope(*xs)]
        if order == 2:
            along = lambda *xs: sum(slope(*xs))
            ones = tuple(ops.ones_like(x) for x in xs)
            found += as_tuple(grad(along, positions if len(xs) > 1 else 0)(*xs))
            found += as_tuple(jvp(slope, xs if len(xs) > 1 else xs[0], ones if len(xs) > 1 else ones[0])[1])
        return found

    # XLA takes ten seconds for branches in loops in loops and their second derivatives
    compiled = (evaluated if f is long.nested and order == 2 else ms.jit)(everything)
    as_tensors = lambda numbers: tuple(Tensor(np.array(x)) for x in numbers)
    return lambda xs, others: [float(y.asnumpy()) for y in compiled(as_tensors(xs), as_tensors(others))]


def as_tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def exact_derivatives(f, xs, others, order):
    value, gradient, curved = derivatives(lambda *xs: f(*xs, *others, ELEMENTARY), xs, [1.0] * len(xs))
    return [value, *gradient, *(curved * 2 if order == 2 else [])]


LONG = [
    (long.population, 1, [[0.2, 1.3]], [(0, 0.1), (1, 0.1), (2, 0.1), (99, 2e-2), (1_000, 2e-3), (100_000, 2e-5)]),
    (long.population, 2, [[0.2, 1.3], [0.9, -0.4]], [(0, 0.1), (1, 0.1), (500, 4e-3), (10_000, 2e-4)]),
    (long.nested, 2, [[0.2, 1.3], [1.9, -0.4]], [(0,), (1,), (30,)]),
    (long.nested, 1, [[0.2, 1.3]], [(5_000,)]),
    (long.leave_at, 2, [[0.4]], [(0, -1), (1, 0), (1_000, 0), (1_000, 1), (1_000, 999), (1_000, -1)]),
    (long.leave_at, 1, [[0.4]], [(100_000, 0), (100_000, 99_999), (100_000, -1)]),
]  # fmt: skip
LONG_NAMES = [f"{f.__name__}, order {order}" for f, order, _, _ in LONG]


@pytest.mark.parametrize(("f", "order", "points", "settings"), LONG, ids=LONG_NAMES)
def test_loops_of_many_iterations(f, order, points, settings):
    run = compiled_derivatives(f, points[0], settings[0], order)
    for xs in points:
        for others in settings:
            expected = exact_derivatives(f, xs, others, order)
            what = f"{xs} {others}"
            assert_close(run(xs, others), expected, "law", each=True, order=2, scale=1, what=what)


# -- what the corpus holds ---------------------------------------------------------------------------


def is_a(*kinds, **fields):
    """Whether a node of the source is one of ``kinds`` whose fields are as given, or of the kinds given."""

    def matches(node):
        return isinstance(node, kinds) and all(
            wanted(getattr(node, name)) if callable(wanted) and not isinstance(wanted, type)
            else isinstance(getattr(node, name), wanted)
            for name, wanted in fields.items()
        )  # fmt: skip

    return matches


def calls(*names):
    return is_a(ast.Call, func=lambda f: getattr(f, "id", getattr(f, "attr", None)) in names)


STATEMENTS = {
    "elif": is_a(ast.If, orelse=lambda body: len(body) == 1 and isinstance(body[0], ast.If)),
    "conditional expression": is_a(ast.IfExp),
    "while": is_a(ast.While),
    "while else": is_a(ast.While, orelse=len),
    "for else": is_a(ast.For, orelse=len),
    "for with a pattern": is_a(ast.For, target=ast.Tuple),
    "range": calls("range"), "zip": calls("zip"), "enumerate": calls("enumerate"),
    "reversed": calls("reversed"), "items": calls("items"), "sorted": calls("sorted"), "sum": calls("sum"),
    "any, all": calls("any", "all"), "max, min": calls("max", "min"), "len": calls("len"),
    "isinstance": calls("isinstance"), "partial": calls("partial"), "super": calls("super"),
    "break": is_a(ast.Break), "continue": is_a(ast.Continue), "pass": is_a(ast.Pass),
    "and": is_a(ast.BoolOp, op=ast.And), "or": is_a(ast.BoolOp, op=ast.Or), "not": is_a(ast.UnaryOp, op=ast.Not),
    "chained comparison": is_a(ast.Compare, ops=lambda found: len(found) > 1),
    **{kind.__name__: is_a(ast.Compare, ops=lambda found, kind=kind: isinstance(found[0], kind))
       for kind in (ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)},
    "list comprehension": is_a(ast.ListComp), "dict comprehension": is_a(ast.DictComp),
    "set comprehension": is_a(ast.SetComp), "generator expression": is_a(ast.GeneratorExp),
    "nested comprehension": is_a(ast.ListComp, generators=lambda found: len(found) > 1),
    "starred target": is_a(ast.Tuple, ctx=ast.Store, elts=lambda found: any(isinstance(x, ast.Starred) for x in found)),
    "several targets": is_a(ast.Assign, targets=lambda found: len(found) > 1),
    **{f"{kind.__name__} augmented": is_a(ast.AugAssign, op=kind)
       for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod, ast.MatMult, ast.BitOr)},
    **{f"{kind.__name__} is augmented": is_a(ast.AugAssign, target=kind) for kind in (ast.Name, ast.Attribute, ast.Subscript)},
    **{f"{kind.__name__} is assigned": is_a(kind, ctx=ast.Store) for kind in (ast.Attribute, ast.Subscript)},
    "slice": is_a(ast.Slice), "walrus": is_a(ast.NamedExpr), "annotation": is_a(ast.AnnAssign),
    "assert": is_a(ast.Assert), "raise": is_a(ast.Raise), "with": is_a(ast.With), "del": is_a(ast.Delete),
    "f-string": is_a(ast.JoinedStr), "lambda": is_a(ast.Lambda), "nonlocal": is_a(ast.Nonlocal),
    "nested function": is_a(ast.FunctionDef, body=lambda body: any(isinstance(x, ast.FunctionDef) for x in body)),
    "*args": is_a(ast.arguments, vararg=ast.arg), "**kwargs": is_a(ast.arguments, kwarg=ast.arg),
    "defaults": is_a(ast.arguments, defaults=len), "keyword-only": is_a(ast.arguments, kwonlyargs=len),
    "positional-only": is_a(ast.arguments, posonlyargs=len),
    "*args in a call": is_a(ast.Call, args=lambda found: any(isinstance(x, ast.Starred) for x in found)),
    "**kwargs in a call": is_a(ast.Call, keywords=lambda found: any(x.arg is None for x in found)),
    "property": is_a(ast.FunctionDef, decorator_list=lambda found: any(getattr(x, "id", "") == "property" for x in found)),
    "inheritance": is_a(ast.ClassDef, bases=lambda found: any(isinstance(x, ast.Name) for x in found)),
    "gradient": calls("grad", "value_and_grad", "GradOperation"), "forward mode": calls("jvp"), "vjp": calls("vjp"),
    "assign": calls("assign"), "set_data": calls("set_data"),
}  # fmt: skip


def programs_in(package):
    """The definitions of a module without its references, and without the decorators that name these."""
    tree = ast.parse(inspect.getsource(package))
    marks = [
        d for node in tree.body for d in getattr(node, "decorator_list", []) if "reference" in ast.unparse(d)
    ]
    references = {name.id for mark in marks for name in ast.walk(mark) if isinstance(name, ast.Name)}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name not in references:
            node.decorator_list = [d for d in node.decorator_list if d not in marks]
            yield from ast.walk(node)


def test_the_corpus_is_what_it_is_said_to_be():
    assert len(PROGRAMS) >= 230
    assert sum(len(each.cases) for each in PROGRAMS.values()) >= 580
    nodes = [node for package in PACKAGES for node in programs_in(package)]
    assert [name for name, matches in STATEMENTS.items() if not any(map(matches, nodes))] == []
