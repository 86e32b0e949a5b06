"""Error messages of the core name the function, the value, and a fix."""

import ast
import math
import re
import sys
from pathlib import Path

import numpy
import pytest

import mindgrad.core as core
from mindgrad.core import (
    cond,
    fori_loop,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    laplacian,
    linearize,
    scan,
    taylor,
    value_and_grad,
    vjp,
    vmap,
    while_loop,
)
from mindgrad.core import numpy as np

SOURCE = Path(__file__).parents[2] / "src" / "mindgrad" / "core"
X = numpy.array([0.5, -1.0, 2.0])
A = numpy.array([[1.0, 2.0, 0.5], [0.3, -1.0, 4.0]])

#: names of the upper packages, which a user of the core does not have
FOREIGN = re.compile(r"mindgrad\.(?!core)\w|\bms\.|\bops\.|\bmint\.|\bnn\.|_MODE\b|set_context|\bCells?\b")


def strings(path):
    """The strings of a file, with their lines, without docstrings."""
    tree = ast.parse(path.read_text())
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


def test_messages_of_the_core_name_only_the_core():
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in strings(path)
        if " " in text and FOREIGN.search(text)
    ]
    assert not found


# -- names and keywords that do not exist ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "keyword", "nearest"),
    [
        (lambda: grad(abs, argnum=1), "argnum", "argnums"),
        (lambda: value_and_grad(abs, hasaux=True), "hasaux", "has_aux"),
        (lambda: jacfwd(abs, argnum=1), "argnum", "argnums"),
        (lambda: jacrev(abs, argnum=1), "argnum", "argnums"),
        (lambda: jacobian(abs, argnum=1), "argnum", "argnums"),
        (lambda: hessian(abs, argnum=1), "argnum", "argnums"),
        (lambda: laplacian(abs, argnum=1), "argnum", "argnums"),
        (lambda: jit(abs, static_argnum=0), "static_argnum", "static_argnums"),
        (lambda: vmap(abs, in_axis=0), "in_axis", "in_axes"),
        (lambda: vjp(abs, 1.0, hasaux=True), "hasaux", "has_aux"),
        (lambda: linearize(abs, 1.0, hasaux=True), "hasaux", "has_aux"),
    ],
)
def test_unknown_keyword_raises_with_the_nearest_name(call, keyword, nearest):
    with pytest.raises(TypeError, match=rf"^\w+\(\) got an unexpected .* '{keyword}'; nearest: '{nearest}'"):
        call()


def test_missing_attribute_raises_with_the_nearest_name():
    with pytest.raises(
        AttributeError, match=r"'mindgrad\.core' has no attribute 'jacobain'; nearest: 'jacobian'"
    ):
        core.jacobain  # noqa: B018
    with pytest.raises(AttributeError, match=r"'mindgrad\.core\.numpy' .*'arctan3'; nearest: .*'arctan2'"):
        np.arctan3  # noqa: B018
    with pytest.raises(AttributeError, match=r"numpy\.linalg' .* 'slv'; nearest: 'solve'"):
        np.linalg.slv  # noqa: B018
    assert not hasattr(core, "lax")
    assert not hasattr(np, "random")


def test_missing_import_raises_with_the_nearest_name():
    with pytest.raises(ImportError, match=r"'jacobain' from 'mindgrad\.core'; nearest: 'jacobian'"):
        from mindgrad.core import jacobain  # noqa: F401
    with pytest.raises(ImportError, match=r"'arctan3' from 'mindgrad\.core\.numpy'; nearest: .*'arctan2'"):
        from mindgrad.core.numpy import arctan3  # noqa: F401


# -- arguments that are not functions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "transform", [grad, value_and_grad, jacfwd, jacrev, jacobian, hessian, laplacian, jit, vmap]
)
def test_transform_of_a_value_raises_immediately(transform):
    with pytest.raises(
        TypeError, match=rf"^For '{transform.__name__}', .* function, but got 3.0 of type float"
    ):
        transform(3.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vjp(2.0, 1.0), "^For 'vjp', the first argument must be a function, but got 2.0"),
        (lambda: jvp(2.0, (1.0,), (1.0,)), "^For 'jvp', the first argument"),
        (lambda: linearize(2.0, 1.0), "^For 'linearize', the first argument"),
        (lambda: hvp(2.0, (1.0,), (1.0,)), "^For 'hvp', the first argument"),
        (lambda: taylor(2.0, (1.0,), (1.0,), 2), "^For 'taylor', the first argument"),
        (lambda: hvp(np.sum, X, X), r"^For 'hvp', primals must be a tuple or list.* Write \(primal,\)"),
        (lambda: taylor(np.sin, 1.0, 1.0, 2), "^For 'taylor', primals must be a tuple or list"),
        (lambda: cond(True, 1.0, 2.0), "^For 'cond', true_fun must be a function, but got 1.0 of type float"),
        (lambda: cond(True, abs, X), "^For 'cond', false_fun must be a function"),
        (lambda: while_loop(1, abs, 0.0), "^For 'while_loop', cond_fun must be a function"),
        (lambda: fori_loop(0, 1, 1, 0.0), "^For 'fori_loop', body_fun must be a function"),
        (
            lambda: scan(np.array(1.0), 0.0, X),
            r"^For 'scan', f must be a function, but got a tensor of type Float32",
        ),
    ],
)
def test_value_instead_of_a_function_raises(call, message):
    with pytest.raises(TypeError, match=message):
        call()


# -- shapes of products ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: np.dot(A, A), r"'dot', .* \(2, 3\) and \(2, 3\) have sizes \[3\] along .* and \[2\] along"),
        (lambda: np.dot(X, X[:2]), r"'dot', .* sizes \[3\] along axes \(0,\) .* \[2\] along \(0,\)"),
        (lambda: np.inner(A, X[:2]), r"'inner', .* sizes \[3\] along axes \(1,\) .* \[2\] along \(0,\)"),
        (lambda: np.tensordot(A, A, 1), r"'tensordot', .* \[3\] along axes \(1,\) .* \[2\] along \(0,\)"),
        (lambda: np.tensordot(A, A, ([0], [5])), "'tensordot', axis 5 is out of bounds"),
        (lambda: np.matmul(A, A), r"'matmul', .* first operand has size 3, .* the second has size 2"),
        (
            lambda: np.zeros((5, 2, 3)) @ np.zeros((4, 3, 2)),
            r"'matmul', .* \(5, 2, 3\) and .* \(5,\) and \(4,\)",
        ),
    ],
)
def test_product_of_mismatched_shapes_names_the_sizes(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_tensordot_pairs_axes_in_the_given_order():
    a, b = numpy.arange(24.0).reshape(2, 3, 4), numpy.arange(24.0).reshape(4, 3, 2)
    for axes in (1, 0, ([1, 2], [1, 0]), ([0], [2]), (-1, 0)):
        expected = numpy.tensordot(a, b, axes)
        numpy.testing.assert_array_equal(np.tensordot(a, b, axes).asnumpy(), expected)


# -- loops and branches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: scan(lambda c, x: (np.stack([c, c]), x), 1.0, X),
            TypeError,
            r"must keep its type. The shapes \(\) and \(2,\) differ: .*broadcast_to",
        ),
        (
            lambda: scan(lambda c, x: (c + x, x), np.array(1), X),
            TypeError,
            r"Int64\[\] before an iteration, and Float64\[\] after it.* x\.astype\('float64'\)",
        ),
        (
            lambda: cond(True, lambda: X, lambda: np.sum(X)),
            TypeError,
            r"\[3\] in true_fun, and Float64\[\] in false_fun.*shapes \(3,\) and \(\) differ",
        ),
        (
            lambda: cond(True, lambda: X, lambda: X.astype("float32")),
            TypeError,
            r"Convert one of them, for example with x\.astype\('float32'\)",
        ),
        (lambda: cond(True, lambda: None, lambda: 1.0), TypeError, r"\['result = None'\], and false_fun"),
        (
            lambda: fori_loop(0, 3, lambda i, c: np.stack([c, c]), X),
            TypeError,
            r"'fori_loop', carry has type .*The shapes \(3,\) and \(2, 3\) differ",
        ),
        (lambda: fori_loop(0, 3, lambda i, c: None, X), TypeError, "'fori_loop'.*'carry = None'"),
        (
            lambda: fori_loop(0, 1.5, lambda i, c: c, X),
            TypeError,
            r"must be ints .* Int64\[\] and Float64\[\]",
        ),
        (lambda: scan(lambda c, x: (None, x), 0.0, X), TypeError, "'scan'.*returned .*'carry = None'"),
        (
            lambda: scan(lambda c, x: c, X, A),
            TypeError,
            r"f must return a pair \(carry, y\), but returned a tensor",
        ),
        (lambda: scan(lambda c, x: (c, x), 0.0, [1.0, 2.0]), ValueError, r"shapes in xs are \[\(\), \(\)\]"),
        (lambda: scan(lambda c, x: (c, x), 0.0, X, length=4), ValueError, r"\[\(3,\)\], and length is 4"),
        (lambda: scan(lambda c, x: (c, x), 0.0, None, 3.0), ValueError, "length is 3.0"),
    ],
)
def test_mistake_in_a_loop_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


# -- static arguments of jit ----------------------------------------------------------------------------------


def test_static_parameter_may_be_passed_by_position_and_by_name():
    def double_above(x, n=2.0):
        return x * 2 if n > 1 else x

    for compiled in (jit(double_above, static_argnames="n"), jit(double_above, static_argnums=-1)):
        assert [compiled(3.0, 3.0), compiled(3.0, n=3.0), compiled(3.0, 0.5), compiled(3.0)] == [
            6.0,
            6.0,
            3.0,
            6.0,
        ]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"static_argnames": "m"}, ValueError, r"'m' is not a parameter of the function, .*\['x', 'n'\]"),
        ({"static_argnums": 2}, ValueError, "static argument 2 is not a parameter"),
        ({"static_argnums": (0, -3)}, ValueError, "static argument -3 is not a parameter"),
        ({"static_argnums": "n"}, TypeError, "static_argnums must be ints"),
        ({"static_argnames": (1,)}, TypeError, "static_argnames must be strings"),
    ],
)
def test_static_argument_that_does_not_exist_raises(options, error, message):
    with pytest.raises(error, match=message):
        jit(lambda x, n: x, **options)


# -- values that are not known --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "read", [float, int, lambda x: x.item(), lambda x: x.tolist(), lambda x: x.asnumpy()]
)
@pytest.mark.parametrize("transform", [jit, vmap])
def test_reading_an_unknown_value_names_the_line_and_a_fix(transform, read):
    with pytest.raises(TypeError, match=r"known at compile time[\s\S]*line \d+[\s\S]*Instead: Use"):
        transform(lambda x: read(np.sum(x)))(A)


def test_slice_with_an_unknown_bound_names_a_mask():
    with pytest.raises(RuntimeError, match=r"where\(arange\(len\(x\)\) < n, x, 0\)"):
        jit(lambda x, n: x[:n])(X, np.array(2))


def test_mask_with_unknown_values_names_where():
    if "mindgrad.ops" not in sys.modules:  # it defines x[mask] for elementwise functions and reductions
        with pytest.raises(RuntimeError, match=r"where\(mask, x, 0\)"):
            jit(lambda x: x[x > 0])(X)


def test_zero_gradient_warning_names_functions_of_the_core():
    with pytest.warns(UserWarning, match=r"apply stop_gradient to .*sigmoid or tanh"):
        grad(lambda x: np.sum(np.floor(x)))(X)


# -- mistakes of programs that were written for JAX -----------------------------------------------------------


def test_item_assignment_names_updated():
    if "mindgrad.ops" not in sys.modules:  # it defines assignment to elements
        with pytest.raises(TypeError, match=r"np\.updated\(x, index, value\)"):
            np.array([1.0])[0] = 2.0


def test_copy_of_a_tensor_is_another_tensor():
    x = np.array(X)
    for each in (np.array(x), np.copy(x), np.array(x, dtype=np.float64)):
        assert each is not x
        numpy.testing.assert_array_equal(each.asnumpy(), X)
    assert np.asarray(X).dtype == np.float64


def test_float_of_a_differentiated_number_names_the_core():
    with pytest.raises(TypeError, match=r"derivative would be lost. Use a function of mindgrad\.core\.numpy"):
        grad(lambda x: math.sin(x))(0.5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: grad(abs, 1.0)(2.0), TypeError, "argnums must be an int or a tuple of ints, but got 1.0"),
        (lambda: grad(lambda x: [x, x], has_aux=True)(2.0), TypeError, "but returned a list"),
        (lambda: jacrev(lambda x: x * 1j)(1.0), TypeError, "'jacrev', the output must be real.*Use jacfwd"),
        (lambda: jacfwd(np.real)(1.0 + 2j), TypeError, "'jacfwd', the input .* Complex128. Use jacrev"),
        (lambda: jacobian(lambda z: (np.real(z), z * z))(1.0 + 2j), TypeError, "'jacobian', .* separately"),
        (lambda: hessian(lambda x: x**3 * 1j)(1.0), TypeError, "'hessian', the output must be real"),
        (lambda: hessian(np.real)(1.0 + 2j), TypeError, "'hessian', the input must be real"),
        (lambda: np.stack([]), ValueError, "at least one array"),
        (lambda: np.concatenate([]), ValueError, "at least one array"),
        (lambda: np.concatenate(X, X), TypeError, "the axis must be an int or a tuple of ints"),
        (
            lambda: np.sum(X, axis=1.0),
            TypeError,
            "'sum', the axis must be an int or a tuple of ints, but got 1.0",
        ),
        (lambda: np.swapaxes(X, 0, 1), ValueError, "'swapaxes', axis 1 is out of bounds"),
        (lambda: np.rollaxis(A, 5), ValueError, "'rollaxis', axis 5 is out of bounds"),
        (lambda: np.zeros("a"), TypeError, "shape must be an int or a tuple of ints, but got 'a'"),
        (lambda: np.reshape(X, (1.0, 3)), TypeError, r"but got \(1.0, 3\)"),
    ],
)
def test_mistake_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_jacobian_of_a_complex_input_and_real_output_is_the_gradient():
    square = lambda z: np.real(z * z)
    for transform in (jacobian, jacrev, grad):
        assert complex(transform(square)(1.0 + 2j)) == 2 - 4j
    assert complex(jacobian(lambda z: z * z)(1.0 + 2j)) == 2 + 4j
    assert jacobian(lambda x: x * 1j)(1.0) == 1j


@pytest.mark.parametrize("transform", [grad, jacfwd, jacrev, jacobian, hessian])
def test_derivative_with_respect_to_an_empty_container_is_empty(transform):
    assert transform(lambda p: np.sum(X))({}) == {}


def test_vmap_repeats_a_constant_result():
    numpy.testing.assert_array_equal(vmap(lambda row: 3.0)(A).asnumpy(), [3.0, 3.0])
    numpy.testing.assert_array_equal(vmap(lambda row: X, out_axes=1)(A).asnumpy(), numpy.stack([X, X], 1))
    assert vmap(lambda row: 3.0, out_axes=None)(A) == 3.0
    assert vmap(lambda row: (row, None))(A)[1] is None


def test_integer_of_numpy_is_an_axis():
    assert np.expand_dims(X, numpy.int64(0)).shape == (1, 3)
    assert np.sum(A, axis=numpy.int64(1)).shape == (2,)


@pytest.mark.parametrize(
    "create",
    [lambda x, n: np.zeros(n), lambda x, n: np.arange(n), lambda x, n: np.reshape(x, (n,))],
)
def test_size_that_is_a_tensor_raises_at_its_line(create):
    with pytest.raises(TypeError, match=r"A tensor is a size[\s\S]*line \d+[\s\S]*static in jit"):
        jit(create)(X, np.array(3))


@pytest.mark.parametrize(
    "transform", [jit, vmap, lambda f: lambda x: scan(lambda c, row: (c, f(row)), 0.0, x)]
)
def test_tensor_that_left_its_function_raises(transform):
    kept = []

    def keep(x):
        kept.append(np.sum(x))
        return x

    def use():
        transform(keep)(A)
        return kept[0] + 1

    with pytest.raises(RuntimeError, match=r"outside the compiled function|created outside is changed"):
        use()


@pytest.mark.parametrize("transform", [jit, vmap])
def test_selection_by_a_mask_raises_as_a_result(transform):
    with pytest.raises(TypeError, match=r"number of elements that a mask selects[\s\S]*where\(mask, x, 0\)"):
        transform(lambda x: x[x > 0])(A)


def test_upper_packages_add_fixes_only_for_topics_of_the_core():
    source = Path(__file__).parents[2] / "src" / "mindgrad"
    used = {
        topic
        for file in (source / "core").rglob("*.py")
        for topic in re.findall(r"""\bhints\[["'](\w+)["']\]""", file.read_text())
    }
    supplied = set(re.findall(r'^    "(\w+)": ', (source / "frontend" / "mode.py").read_text(), re.M))
    assert used
    assert used == supplied
