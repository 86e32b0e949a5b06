"""The operators and methods of Tensor, and what NumPy's own functions do with tensors."""

import operator

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.ops.methods import METHODS, OPERATORS, PROPERTIES
from tests.tolerances import assert_close

DTYPES = [getattr(ms, name) for name in ms.dtype.__all__ if name != "DType"]


def same(tensor, array):
    """``tensor`` has the element type, the shape and the values of ``array``."""
    array = np.asarray(array)
    assert isinstance(tensor, Tensor)
    assert (tensor.asnumpy().dtype, tensor.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(tensor.asnumpy(), array)


# --- operators -------------------------------------------------------------------------------------------

F = np.array([1.5, -2.5, 0.0], np.float32)
G = np.array([0.5, 2.0, -3.0], np.float32)
I = np.array([3, -4, 0], np.int32)
J = np.array([2, 3, -2], np.int32)
B = np.array([True, False, True])
C = np.array([True, True, False])

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
BITS = [operator.and_, operator.or_, operator.xor]


def typed(values, dtype):
    return np.asarray(values).astype(dtype)


@pytest.mark.parametrize("function", ARITHMETIC + COMPARISONS)
@pytest.mark.parametrize(
    ("a", "b"), [(F, G), (I, J), (F, J), (I, G), (F, 2.5), (I, 3), (2, G), (7, J), (1.5, J)]
)
def test_operators_are_numpys(function, a, b):
    with np.errstate(all="ignore"):
        wide = function(np.asarray(a, np.float64), np.asarray(b, np.float64))
        if function in COMPARISONS:
            expected = wide
        else:
            whole = all(np.asarray(v).dtype.kind == "i" for v in (a, b)) and function is not operator.truediv
            expected = wide.astype(np.int32 if whole else np.float32)
    left = Tensor(a) if isinstance(a, np.ndarray) else a
    right = Tensor(b) if isinstance(b, np.ndarray) else b
    actual = function(left, right)
    assert actual.asnumpy().dtype == expected.dtype
    assert_close(actual, expected)
    tensors = [x for x in (left, right) if isinstance(x, Tensor)]

    def f(*given):
        given = iter(given)
        return function(*[next(given) if isinstance(x, Tensor) else x for x in (left, right)])

    assert_close(Compiled(f)(*tensors), actual)


@pytest.mark.parametrize("function", BITS)
@pytest.mark.parametrize(("a", "b"), [(I, J), (B, C), (I, 5), (6, J), (B, True)])
def test_bits_are_numpys(function, a, b):
    left = Tensor(a) if isinstance(a, np.ndarray) else a
    right = Tensor(b) if isinstance(b, np.ndarray) else b
    same(function(left, right), function(a, b))


def test_the_other_operators():
    x, i, b = Tensor(F), Tensor(I), Tensor(B)
    same(-x, -F)
    same(+x, F)
    same(abs(x), np.abs(F))
    same(~b, ~B)
    same(~x, F == 0)
    same(i << 2, I << 2)
    same(i >> 1, I >> 1)
    same(1 << Tensor([0, 3]), np.array([1, 8]))
    same(x**2, F**2)
    same(i**2, I**2)
    same(2**x, 2**F)
    same(round(Tensor([1.5, 2.5])), np.array([2, 2], np.float32))
    same(round(Tensor([1.26]), 1), np.array([1.3], np.float32))
    same(divmod(x, 2)[0], F // 2)
    same(divmod(x, 2)[1], F % 2)
    m = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    same(m @ x, m.asnumpy() @ F)
    same(m.asnumpy() @ x, m.asnumpy() @ F)
    same([1.0, 2.0] @ m, np.array([1, 2], np.float32) @ m.asnumpy())
    same([1, 2, 3] + x, F + np.array([1, 2, 3], np.float32))
    same(x - (1.0, 2.0, 3.0), F - np.array([1, 2, 3], np.float32))


def test_augmented_assignment_leaves_the_other_name_alone():
    x = Tensor([1.0, 2.0])
    y = x
    y += 1
    y *= 2
    same(x, np.array([1, 2], np.float32))
    same(y, np.array([4, 6], np.float32))


def test_equality_with_what_is_no_number():
    x = Tensor([1.0, 2.0])
    for other in (None, "a", [1.0, 2.0], (1.0, 2.0), {}, object, slice(None)):
        assert (x == other) is False
        assert (x != other) is True
    same(x == np.array([1.0, 3.0]), [True, False])
    same(np.array([1.0, 3.0]) == x, [True, False])
    same(x != np.float64(1), [False, True])
    same(operator.eq(2.0, x), [False, True])
    assert x in [None, x]


@pytest.mark.parametrize("other", [None, "a", {}, object()])
@pytest.mark.parametrize("function", [*ARITHMETIC, operator.lt, operator.pow, operator.and_, operator.matmul])
def test_an_operand_of_a_wrong_type_is_named(function, other):
    with pytest.raises(TypeError, match=r"must be a Tensor or a number|must be tensors"):
        function(Tensor([1.0]) if function is not operator.and_ else Tensor([1]), other)


def test_a_number_that_does_not_fit_is_named():
    with pytest.raises(OverflowError, match="300 does not fit the dtype UInt8"):
        Tensor([1], ms.uint8) + 300
    with pytest.raises(ValueError, match=r"'Add'.*\(2,\) and \(3,\) do not broadcast"):
        Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])


PROMOTIONS = [
    (ms.int32, ms.float32, ms.float32),
    (ms.float16, ms.float32, ms.float32),
    (ms.float32, ms.float64, ms.float64),
    (ms.int32, ms.int64, ms.int64),
    (ms.uint8, ms.int8, ms.int16),
    (ms.uint8, ms.int16, ms.int16),
    (ms.uint16, ms.int8, ms.int32),
    (ms.uint32, ms.int32, ms.int64),
    (ms.int32, ms.float16, ms.float16),
    (ms.int64, ms.bfloat16, ms.bfloat16),
    (ms.float16, ms.bfloat16, ms.float32),
    (ms.bool_, ms.int8, ms.int8),
    (ms.bool_, ms.float16, ms.float16),
    (ms.float32, ms.complex64, ms.complex64),
    (ms.float64, ms.complex64, ms.complex128),
    (ms.complex64, ms.complex128, ms.complex128),
]


@pytest.mark.parametrize(("one", "other", "both"), PROMOTIONS)
def test_promotion(one, other, both):
    x, y = Tensor([1, 0]).astype(one), Tensor([1, 1]).astype(other)
    for found in (x + y, y + x, x * y, ops.where(Tensor([True, False]), x, y), ops.concat((x, y))):
        assert found.dtype is both
    assert Compiled(lambda a, b: a + b)(x, y).dtype is both
    same(x + y, np.array([2, 1]).astype(both.numpy))


@pytest.mark.parametrize("one", DTYPES)
@pytest.mark.parametrize("other", DTYPES)
def test_promotion_of_every_pair(one, other):
    """It is symmetric, of a kind at least as high as both, and exact for small numbers."""
    x, y = Tensor([1, 1]).astype(one), Tensor([1, 0]).astype(other)
    actual = x * y
    assert actual.dtype is (y * x).dtype
    kinds = ("bool", "int", "float", "complex")
    ranks = [kinds.index(d.kind.removeprefix("u")) for d in (actual.dtype, one, other)]
    # an unsigned 64-bit integer and a signed one: only a float holds both
    assert ranks[0] == max(ranks[1:]) + (
        {one.kind, other.kind} == {"int", "uint"} and ms.uint64 in (one, other)
    )
    same(actual, np.array([1, 0]).astype(actual.dtype.numpy))


@pytest.mark.parametrize(
    ("dtype", "number", "result"),
    [
        (ms.int32, 1.5, ms.float32),
        (ms.int64, 1.5, ms.float32),
        (ms.float16, 1.5, ms.float16),
        (ms.float64, 1.5, ms.float64),
        (ms.bfloat16, 2, ms.bfloat16),
        (ms.int8, 2, ms.int8),
        (ms.uint8, 2, ms.uint8),
        (ms.bool_, 2, ms.int64),
        (ms.bool_, 1.5, ms.float32),
        (ms.float32, True, ms.float32),
        (ms.float32, 1j, ms.complex64),
        (ms.float64, 1j, ms.complex128),
        (ms.complex64, 1.5, ms.complex64),
        (ms.float16, np.float64(1.5), ms.float16),
        (ms.int32, np.int64(2), ms.int32),
        (ms.int32, np.float32(1.5), ms.float32),
    ],
)
def test_a_number_never_widens_a_type_of_its_own_kind(dtype, number, result):
    x = Tensor([1, 0]).astype(dtype)
    for found in (x * number, number * x, x + number, Compiled(lambda x: x * number)(x)):
        assert found.dtype is result
    same(x * number, (np.array([1, 0]) * number).astype(result.numpy))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_operators_on_numbers_and_on_nothing(shape):
    a = np.full(shape, 1.5, np.float32)

    def f(x):
        return x * x + x / 2 - x, x > 1, x.sum(), x.reshape(-1), -x

    for run in (f, Compiled(f)):
        arithmetic, compared, total, flat, negative = run(Tensor(a))
        same(arithmetic, a * a + a / 2 - a)
        same(compared, a > 1)
        same(total, a.sum(dtype=np.float32))
        same(flat, a.reshape(-1))
        same(negative, -a)
    same(ops.grad(lambda x: x * x)(Tensor(a)), 2 * a)


# --- NumPy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.float64(2) * x,
        lambda x: x * np.float64(2),
        lambda x: np.float32(2) * x,
        lambda x: np.int64(2) * x,
        lambda x: np.array([2.0, 2.0], np.float32) * x,
        lambda x: x * np.array([2.0, 2.0], np.float32),
        lambda x: np.array(2.0, np.float32) * x,
        lambda x: x / np.float64(0.5),
        lambda x: np.float64(1) + x * np.float64(2) - np.float64(3),
        lambda x: np.multiply(x, 2),
        lambda x: np.add(x, x),
        lambda x: (np.eye(2, dtype=np.float32) * np.float32(2)) @ x,
        lambda x: -(np.float64(0) - 2 * x),
    ],
)
def test_numpy_numbers_stay_on_the_tape(f):
    x = Tensor([1.0, 3.0])
    assert isinstance(f(x), Tensor)
    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        same(gradient(x), np.array([2, 2], np.float32))


def test_numpys_functions_take_the_values_of_tensors():
    x = Tensor([1.0, 4.0])
    for actual, array in [
        (np.sqrt(x), [1, 2]),
        (np.concatenate([x, x]), [1, 4, 1, 4]),
        (np.asarray(x), [1, 4]),
        (np.array(x), [1, 4]),
        (np.add.reduce(x), 5),
        (np.hypot(x, 0), [1, 4]),
        (np.where(np.asarray(x) > 2, x, 0), [0, 4]),
        (np.sum(x), 5),
        (np.mean(x), 2.5),
        (np.max(x), 4),
        (np.stack((x, x)), [[1, 4], [1, 4]]),
        (np.asarray(x, np.float64), [1, 4]),
    ]:
        assert isinstance(actual, (np.ndarray, np.generic))
        np.testing.assert_array_equal(actual, array)
    total = np.ones(2, np.float32)
    total += x
    np.testing.assert_array_equal(total, [2, 5])
    assert_close(x, [1, 4])


@pytest.mark.parametrize(
    "f",
    [
        np.sin,
        np.sqrt,
        np.sum,
        np.mean,
        np.asarray,
        np.array,
        np.linalg.norm,
        lambda x: np.concatenate([x, x]),
        lambda x: np.add.reduce(x),
        lambda x: np.maximum(x, 0),
        lambda x: np.multiply(np.ones(2), x, out=np.ones(2)),
        lambda x: np.where([True, False], x, x),
        lambda x: np.interp(x, [0, 1], [0, 1]),
        lambda x: np.einsum("i,i->", x, x),
    ],
)
def test_numpys_functions_never_cut_off_a_derivative(f):
    for run in (ops.grad, lambda f: Compiled(ops.grad(f)), Compiled):
        with pytest.raises(TypeError, match=r"derivative would be lost.*stop_gradient"):
            run(lambda x: x * f(x))(Tensor([1.0, 2.0]))


def test_numpys_questions_about_shape_and_type_need_no_values():
    def f(x):
        assert (np.shape(x), np.ndim(x), np.size(x), np.iscomplexobj(x)) == ((2,), 1, 2, False)
        same(Tensor(np.zeros_like(x)), np.zeros(2, np.float32))
        return x * np.full_like(x, 3)

    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        same(gradient(Tensor([1.0, 2.0])), np.full(2, 3, np.float32))


def test_numpys_functions_never_cut_off_a_parameter():
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    np.testing.assert_array_equal(np.asarray(w), [1, 2])
    assert_close(np.sin(w), np.sin([1, 2]))
    op = ops.GradOperation(get_by_list=True)
    for f in (np.sin, np.asarray, np.sum):
        with pytest.raises(TypeError, match="derivative would be lost"):
            op(lambda x, f=f: x * f(w), ms.ParameterTuple([w]))(Tensor([1.0, 1.0]))


# --- methods ---------------------------------------------------------------------------------------------

# what 106 programs use (and what this system's own programs need): each must be there
USED = """
    asnumpy shape reshape astype mean sum dtype max T flatten abs transpose min expand_dims squeeze item view
    all any argmax argmin broadcast_to copy cumsum diagonal fill itemset nbytes ndim prod ptp ravel repeat
    resize searchsorted size sort std strides swapaxes take to_list trace var size itemsize half int float
    bool long double short to choose_none init_data asnumpy value where select gather masked_fill clip clamp
    matmul pow exp log sqrt square tanh sigmoid sin cos tan erf relu split chunk tile unbind norm softmax
    log_softmax isnan isinf isfinite logical_and logical_or logical_not permute unsqueeze numel dim
"""


@pytest.mark.parametrize("name", sorted(set(USED.split()) - {"to_list", "choose_none"}))
def test_a_method_that_programs_use_is_there(name):
    assert getattr(Tensor, name).__doc__


def test_every_entry_of_the_table_is_a_described_member():
    for name, function in {**OPERATORS, **METHODS}.items():
        assert getattr(Tensor, name) is function
        assert function.__doc__, name
    for name in PROPERTIES:
        assert getattr(Tensor, name).__doc__, name


M = np.array([[4.0, 1.0, 2.0], [3.0, 6.0, 5.0]], np.float32)


@pytest.mark.parametrize(
    ("ours", "numpys"),
    [
        (lambda x: x.sum(), lambda a: a.sum()),
        (lambda x: x.sum(0), lambda a: a.sum(0)),
        (lambda x: x.sum(-1, True), lambda a: a.sum(-1, keepdims=True)),
        (lambda x: x.sum(axis=(0, 1), keepdims=True), lambda a: a.sum(keepdims=True)),
        (lambda x: x.sum(dim=0, keepdim=True), lambda a: a.sum(0, keepdims=True)),
        (lambda x: x.sum(initial=1.0), lambda a: a.sum() + 1),
        (lambda x: x.sum(dtype=ms.float64), lambda a: a.sum(dtype=np.float64)),
        (lambda x: x.mean(), lambda a: a.mean()),
        (lambda x: x.mean(axis=1, keep_dims=True), lambda a: a.mean(1, keepdims=True)),
        (lambda x: x.prod(1), lambda a: a.prod(1)),
        (lambda x: x.max(), lambda a: a.max()),
        (lambda x: x.max(axis=0), lambda a: a.max(0)),
        (lambda x: x.max(1, keepdims=True), lambda a: a.max(1, keepdims=True)),
        (lambda x: x.max(initial=5.5), lambda a: a.max()),
        (lambda x: x.max(where=x < 5, initial=-1.0), lambda a: a[a < 5].max()),
        (lambda x: x.max(0, return_indices=True)[0], lambda a: a.max(0)),
        (lambda x: x.min(), lambda a: a.min()),
        (lambda x: x.min(axis=-1), lambda a: a.min(-1)),
        (lambda x: x.ptp(), lambda a: np.ptp(a)),
        (lambda x: x.ptp(axis=0), lambda a: np.ptp(a, 0)),
        (lambda x: x.var(), lambda a: a.var()),
        (lambda x: x.var(axis=1, ddof=1), lambda a: a.var(1, ddof=1)),
        (lambda x: x.std(0), lambda a: a.std(0)),
        (lambda x: x.cumsum(), lambda a: a.cumsum()),
        (lambda x: x.cumsum(1), lambda a: a.cumsum(1)),
        (lambda x: x.diff(), lambda a: np.diff(a)),
        (lambda x: x.diff(axis=0), lambda a: np.diff(a, axis=0)),
        (lambda x: x.diff(2), lambda a: np.diff(a, 2)),
        (lambda x: (x > 3).all(), lambda a: (a > 3).all()),
        (lambda x: (x > 3).any(axis=0), lambda a: (a > 3).any(0)),
        (lambda x: x.clip(2, 5), lambda a: a.clip(2, 5)),
        (lambda x: x.clip(None, 5), lambda a: a.clip(None, 5)),
        (lambda x: x.abs(), np.abs),
        (lambda x: x.sqrt(), np.sqrt),
        (lambda x: x.add(1).mul(2).sub(3).div(4), lambda a: ((a + 1) * 2 - 3) / 4),
        (lambda x: x.matmul(x.T), lambda a: a @ a.T),
        (lambda x: x.norm(), lambda a: np.linalg.norm(a)),
        (lambda x: x.float(), lambda a: a),
        (lambda x: x.half(), lambda a: a.astype(np.float16)),
        (lambda x: x.to(ms.float64), lambda a: a.astype(np.float64)),
        (lambda x: x.type_as(Tensor([1.0], ms.float16)), lambda a: a.astype(np.float16)),
        (lambda x: x.take(Tensor([0, 2]), 1), lambda a: a[:, [0, 2]]),
        (lambda x: x.masked_fill(x > 3, 0.0), lambda a: np.where(a > 3, 0, a).astype(np.float32)),
        (lambda x: x.reshape_as(x.T), lambda a: a.reshape(3, 2)),
        (lambda x: x[0].expand_as(x), lambda a: np.broadcast_to(a[0], a.shape)),
        (lambda x: x.contiguous().value().clone(), lambda a: a),
        (lambda x: x.sort(1)[0], lambda a: np.sort(a, 1)),
        (lambda x: x.topk(2)[0], lambda a: np.sort(a, 1)[:, :0:-1]),
    ],
)
def test_methods_are_numpys(ours, numpys):
    expected = np.asarray(numpys(M))
    for f in (ours, Compiled(ours)):
        found = f(Tensor(M))
        assert (found.asnumpy().dtype, found.shape) == (expected.dtype, expected.shape)
        assert_close(found, expected)


def test_methods_that_find_places():
    x = Tensor(M)
    assert x.argmax().item() == 4
    np.testing.assert_array_equal(x.argmax(axis=1).asnumpy(), [0, 1])
    np.testing.assert_array_equal(x.argmin(0).asnumpy(), [1, 0, 0])
    np.testing.assert_array_equal(x.argmax(axis=1, keepdims=True).asnumpy(), [[0], [1]])
    values, places = x.max(axis=1, return_indices=True)
    np.testing.assert_array_equal(values.asnumpy(), [4, 6])
    np.testing.assert_array_equal(places.asnumpy(), [0, 1])
    values, places = x.argmin_with_value(1)
    np.testing.assert_array_equal(values.asnumpy(), [1, 3])
    np.testing.assert_array_equal(places.asnumpy(), [1, 0])


def test_element_types_by_name():
    x = Tensor([1.7, 0.0])
    for name, dtype in {
        "float": ms.float32, "half": ms.float16, "double": ms.float64, "bfloat16": ms.bfloat16,
        "int": ms.int32, "long": ms.int64, "short": ms.int16, "byte": ms.uint8, "bool": ms.bool_,
    }.items():  # fmt: skip
        assert getattr(x, name)().dtype is dtype
    assert x.astype(float).dtype is ms.float64
    assert x.astype("int8").dtype is ms.int8
    assert x.astype(np.int16).dtype is ms.int16
    with pytest.raises(TypeError, match="'number' is not a dtype"):
        x.astype("number")


def test_a_cast_passes_the_derivative_in_the_type_of_the_input():
    def f(x):
        return (x.astype(ms.float64) * 3.0).astype(ms.float32).sum()

    gradient = ops.grad(f)(Tensor([1.0, 2.0], ms.float16))
    assert gradient.dtype is ms.float16
    np.testing.assert_array_equal(gradient.asnumpy(), [3, 3])


def test_assign_value_binds_the_tensor_anew():
    x = Tensor([1.0, 2.0])
    y = x
    assert x.assign_value(Tensor([3, 4])) is x
    same(y, np.array([3, 4], np.float32))
    w = Parameter(x, name="w")
    w.assign_value(Tensor([5.0, 6.0]))
    np.testing.assert_array_equal(w.asnumpy(), [5, 6])


# --- in place ------------------------------------------------------------------------------------------------

IN_PLACE = [
    ("abs_", (), np.abs(F)), ("add_", (Tensor(G),), F + G), ("ceil_", (), np.ceil(F)),
    ("clamp_", (-1.0, 1.0), np.clip(F, -1, 1)), ("copy_", (Tensor(G),), G), ("copy_", (2.0,), np.full(3, 2, "f")),
    ("cos_", (), np.cos(F)), ("div_", (Tensor(G),), F / G), ("exp_", (), np.exp(F)), ("fill_", (3,), np.full(3, 3, "f")),
    ("floor_", (), np.floor(F)), ("index_add_", (0, Tensor([1]), Tensor(G[:1])), F + G[0] * np.array([0, 1, 0], "f")),
    ("masked_fill_", (Tensor(B), 9.0), np.where(B, np.float32(9), F)), ("mul_", (2,), F * 2), ("neg_", (), -F),
    ("pow_", (2,), F**2), ("reciprocal_", (), np.array([1 / 1.5, -0.4, np.inf])), ("relu_", (), np.maximum(F, 0)),
    ("round_", (), np.round(F)), ("scatter_", (0, Tensor([2]), Tensor(G[:1])), np.array([F[0], F[1], G[0]])),
    ("scatter_add_", (0, Tensor([2]), Tensor(G[:1])), np.array([F[0], F[1], F[2] + G[0]])),
    ("sigmoid_", (), 1 / (1 + np.exp(-F))), ("sin_", (), np.sin(F)), ("square_", (), F * F),
    ("sub_", (Tensor(G),), F - G), ("tanh_", (), np.tanh(F)), ("zero_", (), F * 0),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize(("name", "args", "expected"), IN_PLACE, ids=[case[0] for case in IN_PLACE])
def test_methods_in_place(name, args, expected):
    x = Tensor(F)
    other = x.copy()
    assert getattr(x, name)(*args) is x
    assert_close(x, expected)
    same(other, F)  # nothing else follows
    parameter = Parameter(Tensor(F), name="p")
    assert getattr(parameter, name)(*args) is parameter
    assert_close(parameter, expected)


def test_methods_in_place_keep_shape_and_type():
    x = Tensor([1, 2])
    with pytest.raises(TypeError, match=r"'div_', the result is of type Float32.* Write x = x.div\("):
        x.div_(Tensor([2.0, 2.0]))
    with pytest.raises(ValueError, match=r"'add_', the result must have the shape \(2,\)"):
        x.add_(Tensor([[1], [2]]))
    same(x, np.array([1, 2]))
    half = Tensor([1.0, 2.0], ms.float16)
    assert half.add_(Tensor([1.0, 1.0])).dtype is ms.float16
    same(half.add_(1, alpha=2), np.array([4, 5], np.float16))


def in_place_program(x):
    y = x * 1
    y.add_(1).mul_(y)  # (x + 1)²
    if (y > 0).all():
        y.sub_(x)
    for _ in range(3):
        y.mul_(0.5)
    while y.sum() < 50:
        y.add_(y)
    y[0] = 2.0
    y.exp_()
    return y * x


def test_methods_in_place_are_differentiated():
    x = Tensor([1.0, 2.0, 0.5], ms.float64)
    value, first = in_place_program(x), ops.grad(in_place_program)(x)
    second = ops.grad(lambda x: ops.grad(in_place_program)(x).sum())(x)
    same(x, np.array([1.0, 2.0, 0.5]))
    doubled = 2.0 ** np.ceil(np.log2(50 / (((x.asnumpy() + 1) ** 2 - x.asnumpy()) / 8).sum())) / 8
    a = x.asnumpy()
    inner = np.where(np.arange(3) == 0, 2.0, ((a + 1) ** 2 - a) * doubled)
    slope = np.where(np.arange(3) == 0, 0.0, (2 * (a + 1) - 1) * doubled)
    assert_close(value, np.exp(inner) * a, kind="program", each=True)
    assert_close(first, np.exp(inner) * (1 + a * slope), kind="program", each=True)
    curve = np.where(np.arange(3) == 0, 0.0, 2 * doubled)
    assert_close(
        second, np.exp(inner) * (slope * (1 + a * slope) + slope + a * curve), kind="program", each=True
    )

    compiled = ms.jit(lambda x: (in_place_program(x), ops.grad(in_place_program)(x)))(x)
    assert_close(compiled[0], value, kind="program", each=True)
    assert_close(compiled[1], first, kind="program", each=True)
    same(x, np.array([1.0, 2.0, 0.5]))


# --- storage and choices ---------------------------------------------------------------------------------------


def test_storage_and_choices():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert (x.stride(), x.stride(1), x.element_size(), x.is_contiguous()) == ([2, 1], 1, 4, True)
    assert x.flush_from_cache() is None
    assert x.to_tensor() is x
    same(x.new_full((2,), 7), np.full(2, 7, "f"))
    same(x.new_tensor([1, 2]), np.array([1, 2], "f"))
    same(Tensor.from_numpy(np.arange(3)), np.arange(3))
    with pytest.raises(TypeError, match="must be a NumPy array"):
        Tensor.from_numpy([1])
    same(Tensor([[1 + 2j, 0j]]).H, np.array([[1 + 2j, 0j]]).conj().T)
    same(x.mH, x.asnumpy().T)
    with pytest.raises(ValueError, match="must have two axes"):
        _ = Tensor([1.0]).H
    place = np.array([[1, 0, 3]])
    choices = [np.array([1.0, 2.0, 3.0], "f"), np.array([[4.0], [5.0]], "f")]
    for mode in ("clip", "wrap"):
        same(Tensor(place).choose([Tensor(c) for c in choices], mode), np.choose(place, choices, mode=mode))
    same(Tensor([1, 0]).choose(x), np.array([3.0, 2.0], "f"))
    with pytest.raises(ValueError, match="'clip' or 'wrap'"):
        Tensor([1]).choose([x], "raise")
    same(x.sum_to_size(2, 1), np.array([[3.0], [7.0]], "f"))
    same(x.sum_to_size((2,)), np.array([4.0, 6.0], "f"))
    with pytest.raises(ValueError, match="cannot be summed to the shape"):
        x.sum_to_size(3)
    added = x.index_put((Tensor([0, 0]), Tensor([1, 1])), Tensor([5.0, 6.0]), True)
    same(added, np.array([[1, 13], [3, 4]], "f"))
    same(x.index_put((Tensor([0]), Tensor([1])), Tensor([5.0])), np.array([[1, 5], [3, 4]], "f"))


def test_arrays_of_tensors_never_change_tensors():
    x = Tensor([1.0, 2.0])
    same, row = x.copy(), x.reshape(1, 2)
    parameter = Parameter(Tensor([1.0, 2.0]))
    for array in (x.asnumpy(), x.numpy(), np.array(x), parameter.asnumpy(), parameter.numpy()):
        array[0] = 9.0  # a copy: for programs that go on computing in it
    for array in (np.asarray(x), x.__array__(), np.asarray(parameter), np.reshape(x, (2, 1))):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9.0
    with pytest.raises(ValueError, match="read-only"):
        np.add([1.0, 1.0], 1.0, out=x)
    for tensor in (x, same, row, parameter):
        assert tensor.asnumpy().ravel().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_sums_and_differences_with_tuples_of_tensors(run):
    x, parts = Tensor([[3.0, 4.0], [5.0, 6.0]]), (Tensor(1.0), Tensor(2.0))

    def results(x, first, second):
        pair = (first, second)
        return x + pair, pair + x, x - [first, second], pair - x, x // pair

    whole = np.array([[3.0, 4.0], [5.0, 6.0]]), np.array([1.0, 2.0])
    expected = [whole[0] + whole[1]] * 2 + [whole[0] - whole[1], whole[1] - whole[0], whole[0] // whole[1]]
    for result, value in zip(run(results)(x, *parts), expected, strict=True):
        np.testing.assert_array_equal(result.asnumpy(), value)
    assert ms.grad(lambda p: ops.sum(x - (p, 2.0)))(Tensor(1.0)).asnumpy() == -2
    with pytest.raises(TypeError, match="holds tensors"):
        x * parts
