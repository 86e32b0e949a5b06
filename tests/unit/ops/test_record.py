"""Eager recording: plans, captured values, nesting, failures, threads, memory."""

import gc
import queue
import threading
import weakref

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import CompileError, Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.core.ir import build
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.scope import open_scopes
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives.samples import draw
from mindgrad.core.trace import plans
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.ops import GradOperation, grad, jvp, stop_gradient
from tests.tolerances import assert_close

#: how a function of tensors is run: as it is, or as one compiled program
WAYS = pytest.mark.parametrize("way", [lambda f: f, Compiled], ids=["eager", "compiled"])


def wide(*numbers):
    """A Float64 tensor; of one number, one without axes."""
    return Tensor(np.array(numbers if len(numbers) > 1 else numbers[0], np.float64))


def equals(tensor, expected):
    assert_close(tensor, expected, kind="program")


@pytest.fixture
def derived(monkeypatch):
    """The recordings that were derived, in order; no plan is there at the start."""
    made = []

    class Counted(plans.Plan):
        def __init__(self, recorder, *rest):
            made.append(len(recorder.entries))
            super().__init__(recorder, *rest)

    monkeypatch.setattr(plans, "Plan", Counted)
    monkeypatch.setattr(plans, "_PLANS", {})
    return made


@pytest.fixture(autouse=True)
def _nothing_is_left_open():
    yield
    assert open_scopes() == []
    with pytest.raises(RuntimeError, match="no graph is being built"):
        build.current()


# -- levels --------------------------------------------------------------------------------------


def along(f, x):
    return jvp(f, x, ops.ones_like(x))[1]


#: name: function of x, its derivative
LEVELS = {
    "x·d/dy(x + y)": (lambda x: x * grad(lambda y: x + y)(x), lambda x: 1),
    "x·d/dy(x·y)": (lambda x: x * grad(lambda y: x * y)(wide(7.0)), lambda x: 2 * x),
    "x·d/dy(x·y²) at y = x": (lambda x: x * grad(lambda y: x * y * y)(x), lambda x: 6 * x**2),
    "d/dy(x) = 0": (lambda x: x + grad(lambda y: x)(x), lambda x: 1),
    "d/dy(x·y) at y = x, x unused": (lambda x: grad(lambda y: stop_gradient(x) * y)(x), lambda x: 0),
    "three levels": (
        lambda x: grad(lambda y: x * grad(lambda z: x * y * z * z)(y))(x),
        lambda x: 12 * x**2,
    ),
    "three levels, all captured": (
        lambda x: x * grad(lambda y: x * y * grad(lambda z: x * y * z)(x + y))(x),
        lambda x: 8 * x**3,
    ),
    "an inner variable is the outer one": (lambda x: grad(lambda x: grad(lambda x: x**4)(x) * x)(x), lambda x: 48 * x**2),
    "forward in reverse": (lambda x: x * along(lambda y: x + y, x), lambda x: 1),
    "forward in reverse, captured": (lambda x: along(lambda y: y * y * x, x), lambda x: 4 * x),
    "the tangent is captured": (lambda x: jvp(lambda y: y * y, wide(3.0), x)[1], lambda x: 6),
    "the cotangent is captured": (lambda x: ops.vjp(lambda y: y * y, x, v=x)[1], lambda x: 4 * x),
    "between two gradients": (lambda x: grad(lambda y: y**3)(grad(lambda y: y**2 * x)(x)), lambda x: 48 * x**3),
    "the value is captured whole": (lambda x: ms.value_and_grad(lambda y: x * x)(wide(2.0))[0], lambda x: 2 * x),
    "value and gradient": (lambda x: sum(ms.value_and_grad(lambda y: x * y * y)(x)), lambda x: 3 * x**2 + 4 * x),
}  # fmt: skip


@WAYS
@pytest.mark.parametrize("outer", [grad, lambda f: lambda x: along(f, x)], ids=["reverse", "forward"])
@pytest.mark.parametrize("name", LEVELS)
def test_perturbations_of_different_levels_are_not_confused(name, outer, way):
    function, expected = LEVELS[name]
    x = wide(1.5)
    equals(way(outer(function))(x), expected(1.5))


@WAYS
def test_an_outer_variable_is_differentiated_through_an_inner_weight_gradient(way):
    """d/dx of d/dw (w·x)² = 2 w x² is 4 w x, and its derivative by w is 2 x²."""
    w = Parameter(wide(3.0), name="w")
    weights = ParameterTuple([w])

    def inner(x):
        return GradOperation(get_by_list=True)(lambda x: (w * x) ** 2, weights)(x)[0]

    x = wide(2.0)
    equals(way(grad(inner))(x), 4 * 3 * 2)
    equals(way(grad(inner, None, weights))(x)[0], 2 * 2**2)


@WAYS
def test_what_an_inner_function_leaves_in_a_list_is_a_value_of_the_outer_one(way):
    """A list that is filled inside is Python's way out of a function: d/dx (x · x) = 2 x."""

    def outer(x):
        left = []

        def inner(y):
            left.append(y * x)
            return y * y

        slope = grad(inner)(x)
        return left[0] * slope

    if way is Compiled:
        with pytest.raises(RuntimeError, match="Return it from the function instead"):
            way(grad(outer))(wide(3.0))
    else:
        equals(grad(outer)(wide(3.0)), 6 * 3.0**2)
        equals(grad(grad(outer))(wide(3.0)), 12 * 3.0)


def test_what_is_left_in_a_list_passes_two_levels():
    """a = z·y·x from the third level, used in the first: z = y = x there, so a = x³."""

    def outer(x):
        left = []

        def middle(y):
            def inner(z):
                left.append(z * y * x)
                return z * z

            return grad(inner)(y) * y

        grad(middle)(x)
        return left[0]

    equals(grad(outer)(wide(2.0)), 3 * 2.0**2)


def test_a_pullback_that_leaves_the_level_it_was_made_at():
    """vᵀJ of z² y x at z = y = x with v = x: 2 x⁴."""

    def outer(x):
        left = {}

        def inner(y):
            _, left["pull"] = ms.vjp(lambda z: z * z * y * x, y)
            return y * y

        grad(inner)(x)
        return left["pull"](x)[0]

    equals(grad(outer)(wide(2.0)), 8 * 2.0**3)


def test_a_value_kept_from_an_earlier_gradient_is_a_constant():
    kept = []

    def first(x):
        kept.append(x * x)
        return kept[-1] * x

    x = wide(3.0)
    grad(first)(x)
    assert not kept[0].is_traced
    equals(kept[0] + 1, 10)
    equals(grad(lambda x: x * kept[0])(x), 9)
    equals(grad(lambda x: grad(lambda y: y * x * kept[0])(x))(x), 9)
    equals(grad(lambda x: grad(lambda y: y * kept[0])(kept[0]) * x)(x), 9)


# -- plans ---------------------------------------------------------------------------------------


def test_a_gradient_in_a_loop_is_derived_once(derived):
    def f(x):
        return ops.sin(x) * x

    for number in (0.5, 1.0, -2.0, np.inf, np.nan):
        x = np.array(number)
        with np.errstate(invalid="ignore"):
            equals(grad(f)(Tensor(x)), np.sin(x) + x * np.cos(x))
    assert derived == [2]


def test_equal_programs_share_a_plan_whatever_python_made_them(derived):
    for k in range(1, 5):
        weight = wide(float(k))
        equals(grad(lambda x, k=k, w=weight: ops.tanh(x * w) * k)(wide(0.0)), k * k)
    assert len(derived) == 1, "numbers and captured tensors are data"


def test_what_selects_a_plan(derived):
    def f(x, deep):
        return ops.sin(ops.sin(x)) if deep else ops.sin(x)

    x = wide(1.0, 2.0)
    for _ in range(2):
        grad(f)(x, True)
        grad(f)(x, False)
        grad(f)(Tensor([1.0, 2.0]), False)
        grad(f)(wide(1.0, 2.0, 3.0), False)
        jvp(lambda x: f(x, False), x, x)
        ops.vjp(lambda x: f(x, False), x, v=x)
    assert len(derived) == 6


def test_aliased_and_different_inputs_have_plans_of_their_own(derived):
    def f(a, b):
        return a * a * b

    both = GradOperation(get_all=True)(f)
    x, y = wide(2.0), wide(5.0)
    for given, expected in [((x, y), (20, 4)), ((x, x), (8, 4)), ((x, y), (20, 4))]:
        for found, wanted in zip(both(*given), expected, strict=True):
            equals(found, wanted)
    assert len(derived) == 1


def test_nested_gradients_are_derived_once(derived):
    def f(x):
        return ops.exp(x) * x

    third = grad(grad(grad(f)))
    for number in (0.5, 1.0, 2.0):
        equals(third(wide(number)), np.exp(number) * (number + 3))
        if number == 0.5:
            first = len(derived)
    assert len(derived) == first == 3


def test_custom_derivatives_that_are_equal_share_a_plan(derived):
    class Square(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (2 * x * dout,)

    for number in (1.0, 2.0, 3.0):
        equals(grad(lambda x: ops.sin(Square()(x)))(wide(number)), 2 * number * np.cos(number**2))
    assert len(derived) == 1


def test_a_function_that_branches_on_values_has_a_plan_per_branch(derived):
    def f(x):
        total = x
        while total < 10:
            total = total * total
        return total

    for _ in range(2):
        equals(grad(f)(wide(4.0)), 8.0)
        equals(grad(f)(wide(2.0)), 32.0)
        equals(grad(f)(wide(20.0)), 1.0)
    assert len(derived) == 3


def test_more_plans_than_are_kept(monkeypatch, derived):
    monkeypatch.setattr(plans, "_PLANS_KEPT", 3)
    x = wide(0.5)
    for _ in range(2):
        for count in range(1, 6):
            f = x
            equals(grad(lambda x, n=count: _power(x, n))(f), count * 0.5 ** (count - 1))
    assert len(plans._PLANS) <= 3


def _power(x, count):
    y = x
    for _ in range(count - 1):
        y = y * x
    return y


def test_an_argument_and_its_equal_are_told_apart_in_a_plan():
    """The plan of one call must not take the captured tensor of another for its input."""
    w = wide(2.0)
    f = lambda x: x * w
    equals(grad(f)(wide(5.0)), 2)
    equals(grad(f)(w), 2)
    equals(grad(lambda x: x * w * x)(w), 8)
    equals(grad(lambda x: x * w * x)(wide(3.0)), 12)


ROWS = sorted(name for name, row in REGISTRY.items() if row.pointwise)


@pytest.mark.parametrize("name", ROWS)
def test_kernels_of_pointwise_rows_take_one_element_for_many(name):
    """Plans store a constant of equal elements as one element; the kernel must spread it."""
    primitive = REGISTRY[name]
    tried = 0
    for dtype in (ms.float64, ms.complex128, ms.int32, ms.bool_):
        with np.errstate(all="ignore"):
            for arrays, parameters in draw(primitive, dtype, 0):
                arrays = [np.asarray(array) for array in arrays]
                if (
                    len(arrays) < 2
                    or not arrays[0].size
                    or not arrays[0].ndim
                    or _refused(primitive, arrays, parameters)
                ):
                    continue
                for place in range(len(arrays)):
                    one = [a.reshape(-1)[0] if i == place else a for i, a in enumerate(arrays)]
                    many = [np.broadcast_to(a, arrays[0].shape) for a in one]
                    found = primitive.numpy(*map(np.asarray, one), **parameters)
                    np.testing.assert_array_equal(found, primitive.numpy(*many, **parameters))
                    tried += 1
    assert tried or all(len(arrays) < 2 for arrays, _ in draw(primitive, ms.float64, 0))


def _refused(row, arrays, parameters):
    try:
        row.type_rule(*map(type_of, arrays), **parameters)
    except (TypeError, ValueError):
        return True
    return False


# -- captured tensors ----------------------------------------------------------------------------


@WAYS
def test_set_data_between_calls_is_seen(way):
    w = Parameter(wide(2.0), name="w")
    f = way(grad(lambda x: ops.sin(x * w)))
    by_weight = way(grad(lambda x: ops.sin(x * w), None, w))
    nested = way(grad(grad(lambda x: w * x * x * x)))
    for number in (2.0, 3.0, -1.0):
        w.set_data(wide(number))
        equals(f(wide(0.5)), number * np.cos(0.5 * number))
        equals(by_weight(wide(0.5)), 0.5 * np.cos(0.5 * number))
        equals(nested(wide(0.5)), 3 * number)


@WAYS
def test_a_parameter_that_is_written_inside(way):
    """y = w + x, w ← y, result y·x: the new w has the gradient of x flow through it."""
    w = Parameter(wide(1.0), name="w")

    def f(x):
        w.set_data(w + x)
        return w * x

    run = way(grad(f))
    equals(run(wide(2.0)), 1 + 2 * 2)
    equals(w, 3)
    equals(run(wide(2.0)), 3 + 2 * 2)
    equals(w, 5)
    equals(way(grad(f, None, w))(wide(2.0)), 2)
    equals(w, 7)


@WAYS
def test_a_parameter_written_at_an_inner_level_is_read_at_the_outer_one(way):
    w = Parameter(wide(1.0), name="w")

    def outer(x):
        def inner(y):
            w.set_data(y * x)
            return w * y

        slope = grad(inner)(x)  # d/dy (y² x) = 2 y x = 2 x²
        return slope * w  # w = x²

    equals(way(grad(outer))(wide(3.0)), 8 * 3.0**3)
    equals(w, 9)


@WAYS
def test_a_parameter_written_twice_at_inner_levels(way):
    """w ← 3y, then w ← w y; slopes 6x and 6x², and w = 3x²."""
    w = Parameter(wide(3.0), name="w")

    def outer(x):
        def inner(y):
            w.set_data(w * y)
            return w * y

        return grad(inner)(x) * grad(inner)(x) + w

    equals(way(grad(outer))(wide(2.0)), 3 * 36 * 2.0**2 + 6 * 2.0)
    equals(w, 12)


@WAYS
def test_the_weight_of_an_inner_gradient_is_what_was_written_before(way):
    w = Parameter(wide(3.0), name="w")

    def outer(x):
        w.set_data(w * x)  # 3x
        return grad(lambda y: w * w * y, None, w)(x)  # 2 w y = 6x²

    equals(way(grad(outer))(wide(2.0)), 24)
    w.set_data(wide(3.0))
    equals(way(grad(outer, None, w))(wide(2.0)), 2 * 2 * 2)  # 2 (w x) x by w


def test_a_write_is_undone_when_the_function_fails():
    w = Parameter(wide(1.0), name="w")

    def f(x):
        w.set_data(w + x)
        raise ArithmeticError("stop")

    with pytest.raises(ArithmeticError, match="stop"):
        grad(f)(wide(2.0))
    equals(w, 1)
    equals(grad(lambda x: w * x)(wide(2.0)), 1)


@WAYS
def test_item_assignment_to_a_local_tensor(way):
    def f(x):
        y = x * 2
        y[0] = x[1] * x[2]
        return ops.sum(y * y)

    equals(way(grad(f))(wide(1.0, 2.0, 3.0)), [0, 2 * 2 * 9 + 8 * 2, 2 * 3 * 4 + 8 * 3])


@WAYS
def test_item_assignment_to_an_argument_leaves_the_caller_s_tensor(way):
    def f(x):
        x[0] = 5.0 * x[1]
        return ops.sum(x * x)

    x = wide(1.0, 2.0, 3.0)
    run = way(grad(f))
    for _ in range(2):
        equals(run(x), [0, 100 + 4, 6])
        equals(x, [1, 2, 3])


@WAYS
def test_item_assignment_to_the_argument_that_two_inputs_share(way):
    def f(a, b):
        a[0] = b[0] * b[0]
        return ops.sum(a * b)

    x = wide(2.0, 3.0)
    by_a, by_b = way(GradOperation(get_all=True)(f))(x, x)
    equals(by_a, [0, 3])
    equals(by_b, [3 * 4, 3])


@WAYS
def test_augmented_assignment_makes_a_new_tensor(way):
    def f(x):
        x += 1
        x *= x
        return ops.sum(x)

    x = wide(1.0, 2.0)
    equals(way(grad(f))(x), [4, 6])
    equals(x, [1, 2])


@WAYS
def test_item_assignment_inside_to_a_captured_tensor_of_an_outer_level(way):
    def outer(x):
        w = x * 1

        def inner(y):
            w[0] = y[0] * x[1]
            return ops.sum(w * y)

        slope = grad(inner)(x)  # (2 y₀ x₁, x₁, x₂) at y = x
        return ops.sum(slope * w)  # w = (x₀ x₁, x₁, x₂)

    a, b, c = 1.0, 2.0, 3.0
    equals(way(grad(outer))(wide(a, b, c)), [4 * a * b * b, 4 * a * a * b + 2 * b, 2 * c])


@WAYS
def test_item_assignment_inside_to_the_argument_of_an_outer_level(way):
    def outer(x):
        def inner(y):
            x[0] = y[1] * x[2]
            return ops.sum(x * y)

        slope = grad(inner)(x)  # (x₁ x₂, x₀ x₂ + x₁, x₂) with x₀ as it was
        return ops.sum(slope * slope) + x[0]  # x₀ = x₁ x₂ by now

    equals(way(grad(outer))(wide(1.0, 2.0, 3.0)), [30, 49, 42])


def test_item_assignment_outside_between_calls_is_seen():
    w = wide(1.0, 2.0)
    f = grad(lambda x: ops.sum(w * x * x))
    equals(f(wide(1.0, 1.0)), [2, 4])
    w[0] = 5.0
    equals(f(wide(1.0, 1.0)), [10, 4])


def test_item_assignment_inside_to_a_tensor_from_outside_stays():
    """Eagerly Python is what it is: the tensor holds what was assigned, as a constant."""
    w = wide(0.0, 2.0)
    f = grad(lambda x: _assigned(w, x))
    equals(f(wide(3.0, 5.0)), [3 * 3.0**2, 2])
    equals(w, [9, 2])
    assert not w.is_traced
    equals(grad(lambda x: ops.sum(w * x))(wide(1.0, 1.0)), [9, 2])


def _assigned(w, x):
    w[0] = x[0] * x[0]
    return ops.sum(w * x)


def test_a_compiled_program_does_not_change_a_tensor_from_outside():
    w = wide(0.0, 2.0)
    f = Compiled(grad(lambda x: _assigned(w, x)))
    for _ in range(2):
        with pytest.raises(CompileError, match="changed in place in a compiled function"):
            f(wide(3.0, 5.0))
        equals(w, [0, 2])
    equals(Compiled(grad(lambda x: _assigned(w.copy(), x)))(wide(3.0, 5.0)), [27, 2])


@WAYS
def test_a_tensor_captured_before_and_after_it_is_assigned_to(way):
    def outer(x):
        w = x * x

        def inner(y):
            before = ops.sum(w * y)
            w[1] = 3 * y[0]
            return before * ops.sum(w * y)

        return ops.sum(grad(inner)(x))

    def plain(x):
        x0, x1 = x
        # before = a y₀ + b y₁, after = a y₀ + 3 y₀ y₁, with a = x₀², b = x₁², then y = x
        a, b = x0**2, x1**2
        before, after = a * x0 + b * x1, a * x0 + 3 * x0 * x1
        return a * after + before * (a + 3 * x1) + b * after + before * 3 * x0

    x, h = np.array([0.7, 1.3]), 1e-6
    expected = [(plain(x + h * e) - plain(x - h * e)) / (2 * h) for e in np.eye(2)]
    assert_close(way(grad(outer))(Tensor(x)), expected, kind="iteration")


# -- failures ------------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_exception_closes_every_scope(way, depth):
    def f(x):
        x = ops.sin(x)
        raise ArithmeticError("inside")

    nested = f
    for _ in range(depth):
        nested = grad(nested)
    with pytest.raises(ArithmeticError, match="inside"):
        way(nested)(wide(1.0))
    assert open_scopes() == []
    equals(way(grad(ops.sin))(wide(0.0)), 1)


@WAYS
def test_an_exception_that_the_outer_function_catches(way):
    def fragile(y):
        _ = ops.sin(y)
        raise ArithmeticError("inside")

    def f(x):
        try:
            return grad(fragile)(x)
        except ArithmeticError:
            return x * x * x

    equals(way(grad(f))(wide(2.0)), 12)


def test_a_tensor_assigned_to_before_an_exception_is_an_ordinary_value():
    w = wide(1.0, 2.0)

    def f(x):
        w[0] = x[0] * 2
        raise ArithmeticError("after the assignment")

    with pytest.raises(ArithmeticError):
        grad(f)(wide(4.0, 4.0))
    assert not w.is_traced
    equals(w, [8, 2])
    equals(grad(lambda x: ops.sum(x * w))(wide(1.0, 1.0)), [8, 2])
    with pytest.raises(ArithmeticError):
        Compiled(grad(f))(wide(4.0, 4.0))
    equals(w, [8, 2])


# -- arguments -----------------------------------------------------------------------------------


@WAYS
def test_keyword_arguments(way):
    def f(x, y, *, scale=1.0, shift=None):
        z = x * x * y * scale
        return z if shift is None else z + shift * x

    x, y = wide(2.0), wide(3.0)
    equals(way(grad(f))(x, y), 12)
    equals(way(grad(f))(x, y, scale=2.0), 24)
    equals(way(grad(f))(x, y=y, shift=wide(5.0)), 17)
    equals(way(grad(f, 1))(y=y, x=x), 4)
    equals(way(grad(lambda x: grad(f)(x, y=x, scale=2.0)))(x), 8 * 2)


@WAYS
def test_python_numbers_of_numpy_stay_on_the_tape(way):
    def f(x):
        return np.float64(2) * x * np.float32(1.5) + np.int64(3) * x - np.float64(1) / x

    equals(way(grad(f))(wide(2.0)), 3 + 3 + 1 / 4)
    equals(way(grad(grad(f)))(wide(2.0)), -2 / 8)


def test_numpy_functions_on_traced_tensors_are_refused():
    with pytest.raises(TypeError, match="derivative would be lost"):
        grad(lambda x: Tensor(np.asarray(x) * 2))(wide(1.0))
    with pytest.raises(TypeError):
        grad(lambda x: np.sin(x))(wide(1.0))


# -- size ----------------------------------------------------------------------------------------


@WAYS
def test_a_thousand_operators_in_a_row(way):
    def f(x):
        for _ in range(1000):
            x = x * 1.001
        return x * x

    factor = 1.001**1000
    assert_close(way(grad(f))(wide(3.0)), 2 * 3 * factor**2, kind="program")
    assert_close(way(grad(grad(f)))(wide(3.0)), 2 * factor**2, kind="program")


def test_thousands_of_operators_at_three_levels():
    def f(x):
        for _ in range(700):
            x = ops.sin(x) + 1e-3
        return x

    third = grad(grad(grad(f)))(wide(0.5)).item()

    def series(x):
        """The first four Taylor coefficients, pushed through sin by the chain rule."""
        a, b, c, d = x, 1.0, 0.0, 0.0
        for _ in range(700):
            s, k = np.sin(a), np.cos(a)
            a, b, c, d = s + 1e-3, k * b, k * c - s * b * b, k * d - 3 * s * b * c - k * b**3
        return d

    assert_close(third, series(0.5), kind="program")


def test_levels_of_nesting():
    f = ops.sin
    for _ in range(8):
        f = grad(f)
    equals(f(wide(0.3)), np.sin(0.3))


# -- threads -------------------------------------------------------------------------------------


def in_threads(work, count=4):
    """Run ``work(number)`` in threads that start together; the first failure is raised."""
    barrier, failures = threading.Barrier(count), []

    def run(number):
        try:
            barrier.wait(30)
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


@WAYS
def test_threads_share_a_gradient_function(way, monkeypatch):
    monkeypatch.setattr(plans, "_PLANS", {})
    w = Parameter(wide(2.0), name="w")
    first = way(grad(lambda x: ops.sin(x * w) * x))
    second = way(grad(lambda x: grad(lambda y: ops.exp(y * w) * x)(x)))

    def work(number):
        for step in range(20):
            x = number + step / 20
            equals(first(wide(x)), np.sin(2 * x) + 2 * x * np.cos(2 * x))
            assert_close(second(wide(x)), np.exp(2 * x) * (2 + 4 * x), kind="program")

    in_threads(work)


def test_threads_that_derive_more_plans_than_are_kept(monkeypatch):
    monkeypatch.setattr(plans, "_PLANS", {})
    monkeypatch.setattr(plans, "_PLANS_KEPT", 2)

    def work(number):
        for count in range(2, 40):
            found = grad(lambda x, n=count: _power(x, n % 7 + number + 1))(wide(0.5)).item()
            n = count % 7 + number + 1
            assert_close(found, n * 0.5 ** (n - 1), kind="program")

    in_threads(work)


def test_a_scope_is_open_on_its_own_thread_only():
    seen = []

    def f(x):
        thread = threading.Thread(target=lambda: seen.append(list(open_scopes())))
        thread.start()
        thread.join()
        assert len(open_scopes()) == 1
        return x * x

    grad(f)(wide(1.0))
    assert seen == [[]]


# -- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_recording_is_freed_with_its_call(order):
    recordings, arrays = [], []

    def f(x):
        y = ops.sin(x) * x
        recordings.append(weakref.ref(y))
        arrays.append(weakref.ref(y._array))
        return ops.sum(y * y)

    nested = f
    for _ in range(order):
        nested = grad(nested)
    gc.disable()  # reference counts alone must do: memory is freed at once, not some time
    try:
        result = nested(Tensor(np.linspace(0.0, 1.0, 100)))
        assert [ref() for ref in recordings] == [None]
        assert [ref() for ref in arrays] == [None]
    finally:
        gc.enable()
    assert result.shape == (100,)


def test_plans_hold_no_arrays_of_their_recordings():
    def run():
        large = Tensor(np.ones(1000))
        grad(lambda x: ops.sum(ops.tanh(x * large)))(large)
        array = weakref.ref(large._array)
        assert array() is not None
        return array

    array = run()
    gc.collect()
    assert array() is None


def test_a_compiled_program_frees_what_it_was_traced_with():
    seen = queue.Queue()

    def f(x):
        y = ops.sin(x)
        seen.put(weakref.ref(y))
        return y * y

    run = Compiled(grad(f))
    run(wide(1.0))
    gc.collect()
    assert [ref() for ref in seen.queue] == [None]


def test_a_cell_and_its_gradient_functions_are_freed_together():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(wide(2.0))

        def construct(self, x):
            return self.w * x * x

    net = Net()
    ms.value_and_grad(net, 0, net.trainable_params())(wide(1.0))
    jvp(net, wide(1.0), wide(1.0))
    Compiled(grad(net))(wide(1.0))
    alive = weakref.ref(net)
    del net
    gc.collect()
    assert alive() is None
