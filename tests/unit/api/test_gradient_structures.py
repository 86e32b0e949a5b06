"""Gradients by floats and containers: in their structure, in both modes, nested, and what is refused."""

import collections
import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.base.tree import flatten
from tests.tolerances import assert_close

Pair = collections.namedtuple("Pair", "w k")


@dataclass
class Weights:
    w: Any
    k: Any = 2.0
    note: Any = None


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


X, Y = Tensor([1.0, -2.0]), Tensor([3.0, 4.0])


def alike(found, expected):
    """Check structure, kinds of leaves, and values."""
    leaves, structure = flatten(found)
    others, form = flatten(expected)
    assert structure == form
    for leaf, other in zip(leaves, others, strict=True):
        if isinstance(other, (Tensor, np.ndarray)):
            assert isinstance(leaf, Tensor)
            assert_close(leaf, np.asarray(other))
        else:
            assert type(leaf) is type(other)
            if isinstance(other, float):
                assert_close(leaf, other, kind="program")
            else:
                assert leaf == other


def loss(w, k):
    return (w * w * k).sum()


BY_W, BY_K = Tensor([4.0, -8.0]), 5.0  # of the loss at X, 2.0

CONTAINERS = {
    "list": ([X, 2.0], lambda p: loss(p[0], p[1]), [BY_W, BY_K]),
    "tuple": ((X, 2.0), lambda p: loss(p[0], p[1]), (BY_W, BY_K)),
    "dict": ({"w": X, "k": 2.0}, lambda p: loss(p["w"], p["k"]), {"w": BY_W, "k": BY_K}),
    "named tuple": (Pair(X, 2.0), lambda p: loss(p.w, p.k), Pair(BY_W, BY_K)),
    "dataclass": (Weights(X), lambda p: loss(p.w, p.k), Weights(BY_W, BY_K)),
    "nested": (
        {"a": [Pair(X, (2.0, None))], "b": OrderedDict(c=Y)},
        lambda p: loss(p["a"][0].w, p["a"][0].k[0]),
        {"a": [Pair(BY_W, (BY_K, None))], "b": OrderedDict(c=Tensor([0.0, 0.0]))},
    ),
    "parameter": ([Parameter(X, name="x"), 2.0], lambda p: loss(p[0], p[1]), [BY_W, BY_K]),
    "empty": ([], lambda p: loss(X, 2.0), []),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_gradients_have_the_structure_of_the_argument(name):
    given, f, expected = CONTAINERS[name]
    alike(ms.grad(f)(given), expected)
    value, found = ms.value_and_grad(f)(given)
    alike(value, Tensor(10.0))
    alike(found, expected)
    alike(ms.jit(ms.grad(f))(given), expected)


def test_floats():
    square = lambda x: x * x
    alike(ms.grad(square)(3.0), 6.0)
    alike(ms.value_and_grad(square)(3.0), (9.0, 6.0))
    alike(ms.jit(ms.value_and_grad(square))(3.0), (9.0, 6.0))
    alike(ms.grad(square, sens_param=True)(3.0, 10.0), 60.0)
    alike(ms.grad(square)(np.float32(3.0)), 6.0)
    alike(ms.grad(lambda x: ops.sin(x) * 2)(0.0), 2.0)
    alike(ms.grad(lambda x: x * x if x > 2 else x)(3.0), 6.0)
    alike(ms.grad(ms.grad(ms.grad(lambda x: x**4)))(2.0), 48.0)
    alike(ms.grad(square)(ms.mutable(3.0)), 6.0)


def test_every_position():
    f = lambda a, x, b: (a * x).sum() * b
    a, x, b = 3.0, Tensor([1.0, 2.0]), {"b": 2.0}
    g = lambda a, x, b: f(a, x, b["b"])
    alike(ms.grad(g, (0, 1))(a, x, b), (6.0, Tensor([6.0, 6.0])))
    alike(ms.grad(g, (2, 0))(a, x, b), ({"b": 9.0}, 6.0))
    alike(ms.grad(g, 2)(a, x, b=b), {"b": 9.0})
    alike(ms.grad(g, (0, 2))(b=b, x=x, a=a), (6.0, {"b": 9.0}))
    alike(ms.grad(lambda a, x: a * x, (0, 1))(3.0, Tensor(2.0)), (2.0, Tensor(3.0)))
    # what is not differentiated is as it was
    alike(ms.grad(lambda kind, x, n: x * n if kind == "a" else x, 1)("a", Tensor(2.0), 3), Tensor(3.0))


def test_a_function_computes_as_without_a_derivative():
    """A number is of Python's precision and does not widen the tensors that it meets."""
    for dtype in (ms.float16, ms.float32, ms.float64):
        x = Tensor([1.0, 2.0], dtype)
        f = lambda k, x: (k * x).sum()
        value, (by_k, by_x) = ms.value_and_grad(f, (0, 1))(0.1, x)
        plain = f(0.1, x)
        assert value.dtype is plain.dtype is dtype
        assert by_x.dtype is dtype
        assert value.asnumpy() == plain.asnumpy()
        alike(by_k, 3.0)
    assert ms.value_and_grad(lambda k: k**3 / 7)(0.1)[0] == 0.1**3 / 7
    assert_close(ms.grad(lambda k: 2.0**k)(0.1), np.log(2) * 2**0.1)


def test_floats_are_data_of_a_compiled_program(mode):
    functions = [
        (lambda k: k * k, lambda k: k),
        (lambda p: p["k"] * p["k"], lambda k: {"k": k}),
    ]
    for function, form in functions:
        gradient, before = ms.grad(function), ms.cache_info(function).misses
        for k in range(4):
            alike(gradient(form(float(k))), form(2.0 * k))
        assert ms.cache_info(function).misses - before == (1 if mode == ms.GRAPH_MODE else 0)


def test_auxiliary_results_weights_identifiers_and_scale():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    f = lambda p, x: (net(x * p["k"]).sum(), p["k"], "text", p)
    slopes, aux = ms.grad(f, has_aux=True)({"k": 2.0}, X)
    alike(slopes, {"k": -1.0})
    alike(aux, (2.0, "text", {"k": 2.0}))
    (by_p, by_x), by_weight = ms.grad(lambda p, x: f(p, x)[0], (0, 1), net.trainable_params())({"k": 2.0}, X)
    alike((by_p, by_x), ({"k": -1.0}, Tensor([2.0, 2.0])))
    alike(by_weight, (Tensor([[2.0, -4.0]]), Tensor([1.0])))
    g = lambda p, x: p[0] * p[1] * x
    found = ms.grad(g, (0, 1), return_ids=True)((3.0, X), Y)
    alike(found, ((0, (-5.0, Tensor([9.0, 12.0]))), (1, Tensor([3.0, -6.0]))))
    alike(ms.get_grad(found, 0), (-5.0, Tensor([9.0, 12.0])))
    alike(ms.grad(g, sens_param=True)((3.0, X), Y, Tensor([1.0, 0.0])), (3.0, Tensor([9.0, 0.0])))


def test_nested_gradients_and_vmap():
    inner = ms.grad(lambda q: (q["a"] * q["a"] * q["b"]).sum())
    outer = ms.grad(lambda q: sum(each.sum() for each in inner(q).values()))
    alike(outer({"a": X, "b": Y}), {"a": 2 * Y + 2 * X, "b": 2 * X})
    rows = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    each = ms.vmap(ms.grad(lambda p: (p["k"] * p["x"]).sum()), in_axes=({"k": None, "x": 0},))
    found = each({"k": 3.0, "x": rows})
    alike(found, {"k": Tensor([3.0, 7.0, 11.0]), "x": ops.full((3, 2), 3.0)})
    assert found["k"].dtype is ms.float32
    # a number that is a constant here, in a derivative by something else
    by_x = ms.grad(lambda x: (ms.grad(lambda k: (k * k * x).sum())(3.0) * x).sum())
    alike(by_x(X), ops.full((2,), 6.0 * -2))


def test_a_step_of_descent_in_a_compiled_function():
    @ms.jit
    def step(p):
        slopes = ms.grad(lambda p: (p["w"] * p["k"]).sum())(p)
        return {name: p[name] - 0.5 * slopes[name] for name in p}

    alike(step({"w": X, "k": 2.0}), {"w": Tensor([0.0, -3.0]), "k": 2.5})


IDENTITY = np.eye(2)


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd, ms.jacobian])
def test_jacobians_are_structure_by_structure(jacobian):
    f = lambda p: {"y": p["x"] * p["k"], "z": [p["k"] ** 2]}
    expected = {
        "y": {"x": 3.0 * IDENTITY, "k": np.array([1.0, -2.0])},
        "z": [{"x": np.zeros(2), "k": 6.0}],
    }
    alike(jacobian(f)({"x": X, "k": 3.0}), expected)
    found = jacobian(lambda x, p: x * p.w, (0, 1))(X, Pair(Y, None))
    alike(found, (np.diag([3.0, 4.0]), Pair(np.diag([1.0, -2.0]), None)))
    alike(jacobian(lambda k: k**3)(2.0), 12.0)
    wide = Tensor([1.0, 2.0], ms.float64)
    assert [jacobian(lambda k, x: k * x)(2.0, x).dtype for x in (X, wide)] == [ms.float32, ms.float64]


def test_hessians_and_their_products():
    f = lambda p: (p["x"] ** 2 * p["k"]).sum()
    given = {"x": X, "k": 2.0}
    corner = np.array([2.0, -4.0])
    alike(
        ms.hessian(f)(given),
        {"x": {"x": 4.0 * IDENTITY, "k": corner}, "k": {"x": corner, "k": np.array(0.0)}},
    )
    alike(ms.hessian(lambda k: k**3)(2.0), 12.0)
    for product in (ms.hvp, ms.vhp):
        alike(product(f)(given, {"x": Y, "k": 1.0}), {"x": Tensor([14.0, 12.0]), "k": -10.0})
        alike(product(lambda k: k**3)(2.0, 10.0), 120.0)


def test_forward_and_reverse_products():
    f = lambda p: (p["x"] * p["k"], p["k"] ** 2)
    given, v = {"x": X, "k": 2.0}, {"x": Y, "k": 1.0}
    out = (Tensor([2.0, -4.0]), 4.0)
    alike(ms.jvp(f, given, v), (out, (Tensor([7.0, 6.0]), 4.0)))
    alike(ms.jvp(lambda p, y: p["x"] * y, ({"x": X}, Y), ({"x": Y}, X))[1], Y * Y + X * X)
    value, push = ms.linearize(f, given)
    alike((value, push(v)), (out, (Tensor([7.0, 6.0]), 4.0)))
    value, pull = ms.vjp(f, given)
    alike((value, pull(Y, 10.0)), (out, ({"x": Tensor([6.0, 8.0]), "k": 35.0},)))
    alike(ms.vjp(lambda p, y: p["x"] * y, ({"x": X}, Y), v=Y)[1], ({"x": Y * Y}, X * Y))
    with pytest.raises(TypeError, match=r"v\['k'\] should be a float, but got a Tensor of shape \(2,\)"):
        ms.jvp(f, given, {"x": Y, "k": Y})


REFUSED = [
    (3, r"argument 0 'p' is the int 3, .* make it a float, or leave its position out of 'grad_position'"),
    (True, "argument 0 'p' is the bool True"),
    ("text", "argument 0 'p' is the str 'text'"),
    (None, "argument 0 'p' is None"),
    (3j, "argument 0 'p' is of type complex, .* make it a Tensor"),
    (
        {"w": X, "n": [1.0, 2]},
        r"p\['n'\]\[1\] of argument 0 'p' is the int 2, .* make it a float, or pass it as",
    ),
    (Weights(X, note="text"), r"p\.note of argument 0 'p' is the str 'text'"),
    ([X, Tensor([1])], r"p\[1\] of argument 0 'p' is a Tensor of dtype Int64, .* a floating-point Tensor"),
    ((X, Tensor([True])), r"p\[1\] of argument 0 'p' is a Tensor of dtype Bool"),
    ([nn.ReLU()], r"p\[0\] of argument 0 'p' is of type ReLU"),
]


@pytest.mark.parametrize(("given", "text"), REFUSED)
def test_what_has_no_derivative_is_named(given, text):
    def f(p, x):
        raise AssertionError("nothing is computed")

    left_out = given is None or isinstance(given, (int, str))
    for derivative in (ms.grad(f), ms.value_and_grad(f, (1, 0)), ms.jacrev(f), ms.hessian(f))[2 * left_out :]:
        with pytest.raises(TypeError, match=text):
            derivative(given, X)
    alike(ms.grad(lambda p, x: x * 2, 1)(given, X), Tensor([2.0, 2.0]))


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_inputs_without_derivative_are_left_out(mode):
    ms.set_context(mode=mode)
    try:
        f = lambda x, k, how, y: x * k * y if how == "product" else x
        arguments = X, 3, "product", Y
        alike(ms.grad(f, (0, 1, 2, 3))(*arguments), (3 * Y, 3 * X))
        alike(ms.grad(f, (1, 3))(*arguments), 3 * X)
        alike(ms.value_and_grad(f, (0, 2))(*arguments), (3 * X * Y, 3 * Y))
        alike(ms.grad(lambda x, dtype: x.astype(dtype) * 2, (0, 1))(X, ms.float32), 0 * X + 2)
        with pytest.warns(UserWarning, match="'grad' returns the empty tuple .* argument 1 is the int 3"):
            assert ms.grad(f, 1)(*arguments) == ()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_arrays_in_containers_are_tensors_and_masked_ones_refused():
    alike(ms.grad(lambda p: (p["w"] ** 2).sum())({"w": np.ones(2)}), {"w": Tensor(2 * np.ones(2))})
    with pytest.raises(TypeError, match=r"Tensor\(array\)"):
        ms.grad(lambda p: X)({"w": np.ma.array([1.0, 2.0], mask=[0, 1])})


def test_the_operation_of_mindspore_differentiates_tensors_only():
    f = lambda k, x: k * x
    alike(ops.GradOperation(get_all=True)(f)(3.0, X), (Tensor([3.0, 3.0]),))
    with pytest.warns(UserWarning, match="returns the empty tuple .* got float. Use mindgrad.grad"):
        assert ops.GradOperation()(f)(3.0, X) == ()
    with pytest.warns(UserWarning, match="got list"):
        assert ops.GradOperation(get_all=True)(lambda p: p[0])([X]) == ()


def test_sparse_matrices_are_structure_by_structure(mode):
    f = lambda p: (p["x"] * p["k"], p["x"].sum())
    actual, aux = ms.jacobian(f, has_aux=True, sparse=True)({"x": X, "k": 2.0})
    np.testing.assert_array_equal(actual["x"].toarray(), 2 * IDENTITY)
    np.testing.assert_array_equal(actual["k"].toarray(), [[1.0], [-2.0]])
    alike(aux, Tensor(-1.0))
    before = ms.cache_info(f).misses
    for k in range(3, 6):
        actual = ms.jacobian(f, has_aux=True, sparse=True)({"x": X, "k": float(k)})[0]
        np.testing.assert_array_equal(actual["x"].toarray(), k * IDENTITY)
    assert ms.cache_info(f).misses == before
    second = ms.hessian(lambda p: (p[0] ** 2 * p[1]).sum(), sparse=True)([X, 2.0])
    np.testing.assert_array_equal(second[0][0].toarray(), 4 * IDENTITY)
    np.testing.assert_array_equal(second[0][1].toarray(), [[2.0], [-4.0]])


def test_steps_of_a_number_have_no_derivative():
    alike(ms.grad(lambda k: int(k) * k)(2.6), 2.0)
    alike(ms.grad(lambda k: round(k) * k)(2.6), 3.0)
    alike(ms.grad(lambda k: k // 1 * k)(2.6), 2.0)


def test_functions_of_other_libraries_lose_no_derivative_of_a_number():
    for function in (math.sin, np.sin):
        with pytest.raises((TypeError, ms.CompileError), match=r"mindgrad\.ops"):
            ms.grad(lambda k, function=function: function(k) * k)(2.6)
    alike(ms.grad(lambda k: math.sin(2.0) * k)(2.6), math.sin(2.0))
    alike(ms.grad(lambda k: ops.sin(k) * k)(0.0), 0.0)


@pytest.mark.parametrize("derivative", [ms.jacfwd, ms.jacobian])
@pytest.mark.parametrize("compiled", [False, True])
def test_jacobians_of_complex_outputs(derivative, compiled):
    """Of a quantum state by its angles; and the derivative of that, of the quantum Fisher information."""

    def state(angles):
        phase = ops.exp(1j * angles[1])
        return ops.stack([ops.cos(angles[0]) + 0j, ops.sin(angles[0]) * phase, phase])

    def information(angles):
        slopes = derivative(state)(angles)
        return ops.matmul(ops.conj(slopes).T, slopes).real()

    a, b = 0.3, 0.7
    phase = np.exp(1j * b)
    expected = np.array([[-np.sin(a), 0], [np.cos(a) * phase, 1j * np.sin(a) * phase], [0, 1j * phase]])
    x = Tensor(np.array([a, b]))
    for function, value in (
        (derivative(state), expected),
        (derivative(information), np.array([[[0, 0], [0, 0]], [[0, 0], [np.sin(2 * a), 0]]])),
    ):
        found = (ms.jit(function) if compiled else function)(x)
        assert found.dtype is (ms.complex128 if np.iscomplexobj(value) else ms.float64)
        assert_close(found, value, kind="program")
