"""Mistakes in the declaration of an operator, in its rules, or in a rewrite, raise errors that name it."""

import re

import numpy
import pytest

from mindgrad.core import grad, jit, vmap
from mindgrad.core import numpy as np
from mindgrad.core.api.arguments import recorded_run
from mindgrad.core.ir.index_map import ORDERED
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.ir.verify import MalformedGraph
from mindgrad.core.passes import pipeline
from mindgrad.core.passes.graph_rewriter import rebuild
from mindgrad.core.primitives.axes import Along, along_axis
from mindgrad.core.primitives.elementwise import cos, exp, log, sin
from mindgrad.core.primitives.kinds import elementwise, general, linear, multilinear
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.samples import case, draw, reals
from mindgrad.core.trace.closed_program import trace
from mindgrad.core.trace.operands import applied, inexact, operand
from mindgrad.core.trace.record import transformed
from tests.laws.test_sparsity import test_rows as patterns_hold

X = numpy.array([0.5, 1.0, 2.0])
ELEMENTWISE = {"numpy": numpy.sin, "xla": "sin", "partials": lambda y, x: [cos(x)], "samples": reals()}
LINEAR = {
    "type_rule": lambda x: x, "numpy": lambda x: 2 * x, "xla": lambda jax, x: 2 * x,
    "transpose": lambda ct, x: 2 * ct,
}  # fmt: skip
GENERAL = {
    "type_rule": lambda x: x, "numpy": lambda x: x * x, "xla": lambda jax, x: x * x,
    "jvp": lambda y, xs, ts: 2 * xs[0] * ts[0],
}  # fmt: skip
PRODUCT = {
    "type_rule": lambda x, y: x, "numpy": numpy.multiply, "xla": "mul",
    "transpose": [lambda ct, x, y: ct * y, lambda ct, x, y: ct * x],
}  # fmt: skip
KINDS = {elementwise: ELEMENTWISE, linear: LINEAR, general: GENERAL, multilinear: PRODUCT}


@pytest.fixture(autouse=True)
def registry():
    before = set(REGISTRY)
    yield
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


def declared(constructor, **changes):
    fields = {**KINDS[constructor], **changes}
    return constructor("example", **{name: value for name, value in fields.items() if value is not ...})


def function(primitive, count=1):
    return lambda x: applied(primitive, *[inexact(operand(x, "example"))] * count)


def gradient(primitive, count=1):
    return grad(lambda x: np.sum(function(primitive, count)(x)))(X)


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        (elementwise, {"partial": 1}, "'partial' is unknown; nearest: 'partials'"),
        (elementwise, {"accepts": "floats"}, "'accepts' must be one of float, inexact"),
        (elementwise, {"partials": lambda x: [cos(x)]}, "'partials' must be a function of the output"),
        (elementwise, {"partials": [1.0]}, "'partials' must be a function of the output"),
        (elementwise, {"numpy": 1}, "'numpy' must be Callable, but got 1"),
        (elementwise, {"xla": 1}, "'xla' must be str or Callable, but got 1"),
        (elementwise, {"axes": "axis"}, "'axes' must be Axes or NoneType, but got 'axis'"),
        (elementwise, {"work": 3}, "'work' must be Work, but got 3"),
        (elementwise, {"effects": True}, "'effects' must be Effects, but got True"),
        (linear, {"transposes": 1}, "'transposes' is unknown; nearest: 'transpose'"),
        (linear, {"type_rule": ...}, "'type_rule' is missing"),
        (linear, {"xla": ...}, "'xla' is missing"),
        (linear, {"kind": "lineer"}, "'kind' must be one of constant, control"),
        (linear, {"linear_in": 0}, "'linear_in' must be list or tuple"),
        (general, {"taint": "start"}, "'taint' must be 'starts', 'passes', 'stops', or a function"),
        (multilinear, {"transpose": lambda ct, x, y: ct}, "'transpose' must be a list with one function"),
    ],
)
def test_declaration_with_a_wrong_field_raises(kind, changes, message):
    with pytest.raises(TypeError, match=f"the operator 'example', .*{re.escape(message)}"):
        declared(kind, **changes)
    assert "example" not in REGISTRY


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        (elementwise, {"partials": lambda y, x: cos(x)}, "list of 1 partials, but got <variable"),
        (elementwise, {"partials": lambda y, x: [x, x]}, "list of 1 partials, but got [<variable"),
        (linear, {"transpose": lambda ct, x: [ct, ct]}, "must return 1 values, but returned ["),
        (linear, {"transpose": lambda ct, x: reduce_sum(ct, axes=(0,))}, "a value of type Float64[3]"),
        (linear, {"type_rule": lambda x: x.with_shape((4,))}, "a value of type Float64[3]"),
        (general, {"jvp": lambda y, xs, ts: [ts[0]]}, "a value of type Float64[3]"),
        (general, {"jvp": lambda y, xs, ts: reduce_sum(ts[0], axes=(0,))}, "a value of type Float64[3]"),
        (linear, {"type_rule": lambda x: None}, "must return a TensorType, but returned None"),
        (linear, {"type_rule": lambda x: (x, x)}, "declares multiple=True"),
        (general, {"multiple": True}, "must return a tuple of TensorTypes"),
    ],
)
def test_rule_with_a_wrong_result_raises(kind, changes, message):
    with pytest.raises(TypeError, match=f"the operator 'example'.*{re.escape(message)}"):
        gradient(declared(kind, **changes))


def test_rule_of_several_results_with_one_tangent_raises():
    two = {"type_rule": lambda x: (x, x), "numpy": lambda x: (x, x), "multiple": True}
    pair = declared(general, **two, jvp=lambda ys, xs, ts: [ts[0]])
    with pytest.raises(TypeError, match="the rule 'jvp' of the operator 'example' must return 2 values"):
        grad(lambda x: np.sum(function(pair)(x)[0]))(X)


@pytest.mark.parametrize("rule", [lambda y, xs, ts: ts[0] * ts[0], lambda y, xs, ts: sin(ts[0])])
def test_nonlinear_forward_rule_raises(rule):
    with pytest.raises(TypeError, match=r"the operator '(mul|sin)' .* linear"):
        gradient(declared(general, jvp=rule))


def test_product_with_too_few_transposes_raises():
    with pytest.raises(TypeError, match="'example' needs 1 operands and one tangent"):
        gradient(declared(multilinear, transpose=[lambda ct, x, y: ct * y]), count=2)


def test_elementwise_operator_rejects_a_second_operand():
    x = np.array(X)
    with pytest.raises(TypeError, match="For 'sin', the number of operands must be 1, but got 2"):
        applied(sin, x, x)
    assert x.asnumpy().tolist() == X.tolist()


def test_parameter_that_is_not_hashable_raises():
    rule = {"type_rule": lambda x, axes: x, "numpy": lambda x, axes: x}
    with pytest.raises(TypeError, match=r"For 'example', the parameters {'axes': \[0\]} must be hashable"):
        applied(declared(linear, **rule), np.array(X), axes=[0])


def test_unknown_function_of_xla_raises():
    with pytest.raises(AttributeError, match="'example' declares xla='sine'"):
        jit(function(declared(elementwise, xla="sine")))(X).asnumpy()


def test_primitive_without_a_variable_raises():
    for x in (np.array(X), X, 1.0):
        with pytest.raises(TypeError, match="is a variable or constant of a graph"):
            sin(x)


def test_function_of_numpy_in_a_rule_raises():
    for rule in (lambda y, x: [numpy.cos(x)], lambda y, x: [np.cos(x)]):
        with pytest.raises(TypeError, match=r"'Variable' does not support|use the primitives"):
            gradient(declared(elementwise, partials=rule))
        del REGISTRY["example"]


def test_array_on_the_left_of_a_variable_becomes_a_constant():
    tripled = declared(linear, numpy=lambda x: 3 * x, transpose=lambda ct, x: numpy.full(3, 3.0) * ct)
    assert gradient(tripled).asnumpy().tolist() == [3.0, 3.0, 3.0]


def test_axes_without_their_parameter_raise():
    with pytest.raises(ValueError, match="the kind must be one of parallel, reduced, ordered"):
        Along("axis", "other", keeps=True)
    primitive = declared(linear, axes=Along("axis", ORDERED, keeps=True))
    with pytest.raises(TypeError, match="the 'axes' of the operator 'example' read the parameter 'axis'"):
        vmap(function(primitive))(np.array([X, X]))


def test_ordered_operator_without_a_direction_has_a_full_pattern():
    def kernel(jax_or_numpy, x, axis):
        return jax_or_numpy.flip(jax_or_numpy.cumsum(jax_or_numpy.flip(x, axis), axis), axis)

    linear(
        "example",
        type_rule=along_axis("example", "inexact"),
        numpy=lambda x, axis: kernel(numpy, x, axis),
        xla=lambda jax, x, axis: kernel(jax.numpy, x, axis),
        transpose=lambda ct, x, axis: REGISTRY["cumsum"](ct, axis=axis, reverse=False),
        axes=Along("axis", ORDERED, keeps=True),
        samples=[case(reals()[2, 4, 2], axis=1)],
    )
    patterns_hold("example")


def test_operator_without_samples_raises_in_the_tests():
    with pytest.raises(ValueError, match="the operator 'example' declares no samples"):
        list(draw(declared(linear), tensor_type("float64", ()).dtype))


# -- rules of transforms ---------------------------------------------------------------------------------


def transform(rule):
    def compute(x):
        run = recorded_run("example", lambda x: np.sum(np.sin(x)), (x,), {}, 0)
        _, results = transformed(run.recorded, rule, (), run.outputs)
        return run.inputs.trees(results)[0]

    return compute


@pytest.mark.parametrize("wrap", [lambda f: f, jit])
@pytest.mark.parametrize("result", [None, 2.0, [None], [2.0]])
def test_rule_of_a_transform_that_returns_no_atoms_raises(wrap, result):
    with pytest.raises(TypeError, match="must return a list of variables or constants, not"):
        wrap(transform(lambda builder, xs, ys, vectors: result))(X)


@pytest.mark.parametrize("wrap", [lambda f: f, jit])
@pytest.mark.parametrize("count", [0, 2])
def test_rule_of_a_transform_with_a_wrong_number_of_results_raises(wrap, count):
    with pytest.raises(ValueError, match=f"a rule returned {count} derivatives for 1 inputs"):
        wrap(transform(lambda builder, xs, ys, vectors: list(xs) * count))(X)


# -- rewrites --------------------------------------------------------------------------------------------


def logarithm(x):
    return np.log(np.exp(x)) + 1.0


def rewritten(emit):
    graph = trace(logarithm, [tensor_type("float64", (3,))]).graph
    return rebuild(graph, lambda e, read: emit(read(e.inputs[0])) if e.primitive is log else None)


@pytest.mark.parametrize("emit", [lambda x: 3.0, lambda x: (x,), lambda x: reduce_sum(exp(x), axes=(0,))])
def test_replacement_of_another_type_raises(emit):
    with pytest.raises(TypeError, match="the replacement of the operator 'log' must return a value of type"):
        rewritten(emit)


@pytest.mark.parametrize(
    "change", [lambda graph: None, lambda graph: trace(np.sum, [graph.inputs[0].type]).graph]
)
def test_pass_that_changes_the_types_of_a_graph_is_named(monkeypatch, change):
    def wrong_pass(graph):
        return change(graph)

    monkeypatch.setattr(pipeline, "_BEFORE_COMPILATION", [*pipeline._BEFORE_COMPILATION, wrong_pass])
    with pytest.raises(MalformedGraph, match="The rewrite 'wrong_pass' must keep the types"):
        jit(logarithm)(X)
