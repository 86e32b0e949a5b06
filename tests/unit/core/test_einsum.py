"""Contractions: einsum and matmul plans against NumPy and jax, and the graphs that ``dot`` makes."""

import jax
import numpy as np
import pytest

from mindgrad.core.backend.xla import compile_graph
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.einsum import contraction_plan, einsum_plan, matmul_plan
from mindgrad.core.primitives.elementwise import sqrt
from mindgrad.core.primitives.kinds import full, ones
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from tests.tolerances import assert_close

SIZES = dict(zip("abcdefghijklmn", [2, 3, 4, 2, 3, 2, 4, 2, 3, 4, 2, 3, 4, 2], strict=True))

EINSUMS = [
    "ij,jk->ik", "ij,jk->ki", "ij,jk", "ij,kj->ik", "bij,bjk->bik", "bhid,bhjd->bhij",
    "ii", "ii->i", "iij->j", "iji->j", "iijj->ij", "ijk->", "ijk->kji", "ij->j", "i->i",
    "ij,j->ij", "ij,ji->ij", "ij,ij->", "i,j->ij", "i,i", "bi,bj->bij", "a,b,c->abc", ",->", "ij,k->k",
    "aab,bc->ac", "...ij,...jk->...ik", "i...,i...->...", "...,...", "...i->...", "b...i,i->b...",
    "ij,jk,kl->il", "ij,jk,kl,lm,mn->in", "ab,bc,cd,de,ef,fg->ag", "abc,cd,def->abef", "ij,ij,ij->i",
]  # fmt: skip


def operands(subscripts):
    generator = np.random.default_rng(3)
    arrays = []
    for position, field in enumerate(subscripts.partition("->")[0].split(",")):
        before, dots, after = field.partition("...")
        hidden = ((5, 3) if position == 0 else (3,)) if dots else ()
        shape = (*(SIZES[c] for c in before), *hidden, *(SIZES[c] for c in after))
        arrays.append(generator.normal(size=shape))
    return arrays


def graph_of(function, *arrays):
    builder = Builder()
    with building(builder):
        return builder.close([function(*[builder.input(type_of(a)) for a in arrays])])


def kernel(primitive, *arrays, **parameters):
    return primitive.numpy(*arrays, **parameters)


@pytest.mark.parametrize("subscripts", EINSUMS)
def test_einsum_is_numpys(subscripts):
    arrays = operands(subscripts)
    plan = einsum_plan(subscripts, [a.shape for a in arrays])
    wanted = np.einsum(subscripts, *arrays)
    assert plan.shape == wanted.shape
    assert_close(plan(arrays, kernel), wanted, kind="program")


def test_every_einsum_compiled_and_its_gradient_is_jaxs():
    """One compiled program for all: value and gradient by each operand."""
    generator = np.random.default_rng(4)
    for subscripts in EINSUMS[::4]:
        arrays = operands(subscripts)
        plan = einsum_plan(subscripts, [a.shape for a in arrays])
        active = list(range(len(arrays)))
        graph = reverse(graph_of(lambda *xs, plan=plan: plan(xs), *arrays), active)
        ct = generator.normal(size=plan.shape)
        with jax.enable_x64(True):
            value, pull = jax.vjp(lambda *xs, s=subscripts: jax.numpy.einsum(s, *xs), *arrays)
            wanted = [value, *pull(jax.numpy.asarray(ct))]
        eager = evaluate(graph, [*arrays, ct])
        compiled = compile_graph(graph)([*arrays, ct])
        for a, b, c in zip(eager, compiled, wanted, strict=True):
            assert_close(a, c, kind="program")
            assert_close(np.asarray(b), c, kind="program")


def test_axes_of_size_one_are_repeated():
    x, y = np.arange(3.0)[None], np.arange(6.0).reshape(2, 3)
    for subscripts in ("ij,ij->ij", "ij,ij->i", "ij,ij->j", "ij,ij"):
        plan = einsum_plan(subscripts, [x.shape, y.shape])
        assert_close(plan([x, y], kernel), np.einsum(subscripts, x, y), kind="program")


def test_integers_are_exact():
    x = np.array([[2**40, 1], [3, -(2**41)]])
    plan = einsum_plan("ij,jk->ik", [x.shape, x.shape])
    np.testing.assert_array_equal(plan([x, x], kernel), x @ x)


def test_operands_are_joined_in_the_cheapest_order():
    shapes = ((1000, 2), (2, 1000), (1000, 3))
    plan = einsum_plan("ij,jk,kl->il", shapes)
    assert [step.operands for step in plan.steps] == [(1, 2), (0, 3)]
    plan = einsum_plan("ij,jk,kl->il", ((3, 1000), (1000, 2), (2, 1000)))
    assert [step.operands for step in plan.steps] == [(0, 1), (3, 2)]


@pytest.mark.parametrize(
    ("subscripts", "shapes", "message"),
    [
        ("ij,jk", [(2, 3), (4, 5)], "'j' must have the same size, but operand 1"),
        ("ii", [(1, 3)], "'i' must have the same size, but operand 0"),
        ("ij", [(2, 3), (3, 4)], "names 1 operands, but 2"),
        ("ijk", [(2, 3)], "labels 3 axes"),
        ("i", [(2, 3)], "labels 1 axes"),
        ("ij->ii", [(2, 3)], "'i' in 'ij->ii'"),
        ("ij->k", [(2, 3)], "'k' in 'ij->k'"),
        ("i1", [(2, 3)], "consist of letters"),
        ("......", [(2, 3)], "consist of letters"),
        ("a->b->a", [(1,)], "consist of letters"),
        ("...i->i", [(2, 3)], "must appear in the output"),
    ],
)
def test_what_is_wrong_with_an_einsum_is_said(subscripts, shapes, message):
    with pytest.raises(ValueError, match=message):
        einsum_plan(subscripts, shapes)


def test_subscripts_must_be_a_string():
    with pytest.raises(TypeError, match="must be a string, but got int"):
        einsum_plan(3, [(2,)])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)),
        ((5, 3), (7, 5, 3, 2)), ((7, 2, 3), (3,)), ((3,), (7, 3, 2)), ((1, 2, 3), (1, 3, 4)),
        ((0, 3), (3, 2)), ((2, 0), (0, 3)),
    ],
)  # fmt: skip
def test_matmul_is_numpys(a, b):
    generator = np.random.default_rng(5)
    x, y = generator.normal(size=a), generator.normal(size=b)
    plan = matmul_plan(a, b)
    wanted = np.matmul(x, y)
    assert plan.shape == wanted.shape
    assert_close(plan([x, y], kernel), wanted, kind="program")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((), (3,), "at least one axis"),
        ((2, 3), (4, 5), "second-to-last"),
        ((2, 3), (4,), "only axis"),
        ((2, 2, 3), (3, 3, 4), "axes before the last two must broadcast"),
    ],
)
def test_what_is_wrong_with_a_matmul_is_said(a, b, message):
    with pytest.raises(ValueError, match=message):
        matmul_plan(a, b)


def test_a_plan_that_is_needed_again_is_not_made_again():
    first = contraction_plan((("i", "j"), ("j",)), ("i",), ((2, 3), (3,)))
    assert contraction_plan((("i", "j"), ("j",)), ("i",), ((2, 3), (3,))) is first


@pytest.mark.parametrize(
    ("a", "b"),
    [((2, 3), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((3,), (3,))],
)
def test_the_gradient_of_a_matrix_product_needs_no_transposition(a, b):
    plan = matmul_plan(a, b)
    graph = reverse(graph_of(lambda x, y: plan([x, y]), np.ones(a), np.ones(b)), [0, 1])
    assert graph.count() == {"dot": 3}


def test_nor_does_that_of_a_dense_layer_with_transposed_weights():
    plan = einsum_plan("bi,oi->bo", [(8, 3), (4, 3)])
    graph = reverse(graph_of(lambda x, w: plan([x, w]), np.ones((8, 3)), np.ones((4, 3))), [0, 1])
    assert graph.count() == {"dot": 3}


def test_a_product_with_ones_is_a_sum():
    generator = np.random.default_rng(6)
    x, w, y = (generator.normal(size=shape) for shape in ((4, 3), (3, 2), (2, 4, 3)))

    def left(x):
        return dot(x, ones(type_of(w)), contract=((1,), (0,)), batch=((), ()))

    def right(y):
        return dot(full(type_of(x), 2), y, contract=((1,), (2,)), batch=((0,), (1,)))

    for function, array, expected in (
        (left, x, x @ np.ones((3, 2))),
        (right, y, np.einsum("bi,cbi->bc", np.full((4, 3), 2), y)),
    ):
        graph = graph_of(function, array)
        assert "dot" not in graph.count()
        assert_close(evaluate(graph, [array])[0], expected, kind="program")

    def total(x, w):
        return reduce_sum(dot(x, w, contract=((1,), (0,)), batch=((), ())), axes=(0, 1))

    gradient = reverse(graph_of(total, x, w), [0, 1])
    _, dx, dw = evaluate(gradient, [x, w, np.array(1.0)])
    assert_close(dx, np.ones((4, 2)) @ w.T, kind="program")
    assert_close(dw, x.T @ np.ones((4, 2)), kind="program")


def test_an_infinite_derivative_times_zero_is_zero():
    """The norm as sqrt(dot(x, x)) at x = 0: 0 · ∞ contributes nothing, in both modes."""

    def norm(x):
        return sqrt(dot(x, x, contract=((1,), (1,)), batch=((0,), (0,))))

    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    graph = graph_of(norm, x)
    pulled = reverse(graph, [0])
    wanted = [[0.0, 0.0], [0.6, 0.8]]
    assert_close(evaluate(pulled, [x, np.ones(2)])[1], wanted, kind="program")
    assert_close(np.asarray(compile_graph(pulled)([x, np.ones(2)])[1]), wanted, kind="program")
    pushed = evaluate(forward(graph, [0]), [x, np.ones((2, 2))])[1]
    assert_close(pushed, [0.0, 1.4], kind="program")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.ones((2, 3), np.float32), np.ones((3, 2)), "the same dtype"),
        (np.ones((2, 3), bool), np.ones((3, 2), bool), "must be numeric, but got Bool"),
    ],
)
def test_element_types_that_dot_refuses(a, b, message):
    with pytest.raises(TypeError, match=message):
        graph_of(lambda x, y: dot(x, y, contract=((1,), (0,)), batch=((), ())), a, b)


def test_sizes_that_dot_refuses():
    with pytest.raises(ValueError, match="contracted axes"):
        graph_of(
            lambda x, y: dot(x, y, contract=((1,), (0,)), batch=((), ())),
            np.ones((2, 3)),
            np.ones((4, 2)),
        )
