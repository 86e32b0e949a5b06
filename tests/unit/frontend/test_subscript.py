"""Indexing, reading and writing, is NumPy's: eagerly, under derivatives, and compiled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mindgrad as ms
from mindgrad import CompileError, Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.frontend.programs.compiled import Compiled, trace
from tests.tolerances import assert_close
from tests.unit.moving_elements import GRADIENT, as_arrays, check_moves, sample

# --- indices ---------------------------------------------------------------------------------------------


@st.composite
def slices(draw, size):
    """Any slice, also one that begins or ends outside."""
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = st.sampled_from([None, 1, 2, -1, -2, 3])
    return slice(draw(bound), draw(bound), draw(step))


@st.composite
def masks(draw, shape):
    size = int(np.prod(shape))
    return np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool).reshape(shape)


@st.composite
def entries(draw, shape, lookups):
    """One entry of an index for the first axes of ``shape``, and how many axes it is about."""
    size = shape[0]
    kinds = ["slice", "slice", "mask"] + (["int", "array", "list"] if size else [])
    kind = draw(st.sampled_from(kinds))
    if kind == "slice":
        return draw(slices(size)), 1
    if kind == "mask":
        count = draw(st.integers(1, min(2, len(shape))))
        return draw(masks(shape[:count])), count
    number = st.integers(-size, size - 1)
    if kind == "int":
        return draw(number), 1
    wanted = draw(st.sampled_from([lookups, lookups[-1:], (1,), ()]))
    array = draw(hnp.arrays(draw(st.sampled_from([np.int32, np.int64])), wanted, elements=number))
    return (array.tolist() if kind == "list" and array.ndim else array), 1


@st.composite
def indices(draw, shape):
    """Any index into ``shape``: ints, slices, ``None``, ``...``, arrays, lists and masks, mixed."""
    lookups = draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=3))
    before, behind = [], []
    first, last = 0, len(shape)
    skips = draw(st.booleans())
    while first < last and not (skips and draw(st.booleans())):
        entry, count = draw(entries(shape[first:last], lookups))
        before.append(entry)
        first += count
        if draw(st.integers(0, 5)) == 0:
            before.append(None)
    if skips:
        before.append(Ellipsis)
        while last > first and draw(st.booleans()):
            entry, count = draw(entries((shape[last - 1],), lookups))
            behind.insert(0, entry)
            last -= count
    index = (*before, *behind)
    # a list of lists alone is the same as a tuple of them, as in MindSpore; for NumPy it is one array
    is_nested = type(index[0]) is list and any(type(each) is list for each in index[0])
    return index[0] if len(index) == 1 and not is_nested and draw(st.booleans()) else index


def selects(array, index):
    """What NumPy reads, or ``None`` where the arrays of the index do not broadcast."""
    try:
        return array[index]
    except IndexError:
        return None


def with_tensors(index):
    """The same index with tensors for its arrays."""
    if isinstance(index, tuple):
        return tuple(with_tensors(each) for each in index)
    return Tensor(index) if isinstance(index, np.ndarray) else index


def without_arrays(index):
    """The index with its integer arrays taken out, and how to put tensors in their places."""
    listed = list(index) if isinstance(index, tuple) else [index]
    holes = [i for i, each in enumerate(listed) if isinstance(each, np.ndarray) and each.dtype != bool]

    def refilled(tensors):
        filled = list(listed)
        for i, tensor in zip(holes, tensors, strict=True):
            filled[i] = tensor
        return tuple(filled) if isinstance(index, tuple) else filled[0]

    return [Tensor(listed[i]) for i in holes], refilled


SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)


@given(st.data())
def test_reading(data):
    shape = data.draw(SHAPES)
    index = data.draw(indices(shape))
    a = sample(shape)
    expected = selects(a, index)
    for each in (index, with_tensors(index)):
        if expected is None:
            with pytest.raises((IndexError, ValueError)):
                Tensor(a)[each]
        else:
            found = Tensor(a)[each]
            assert found.shape == expected.shape
            np.testing.assert_array_equal(found.asnumpy(), expected)


@given(st.data())
def test_the_derivative_of_reading(data):
    shape = data.draw(SHAPES)
    index = data.draw(indices(shape))
    if selects(np.zeros(shape), index) is not None:
        check_moves(lambda x: x[index], lambda a: a[index], sample(shape), compiled=False)


@settings(max_examples=40)
@given(st.data())
def test_reading_compiled(data):
    """Integer tensors of the index are inputs, so that their values are unknown while compiling."""
    shape = data.draw(SHAPES)
    index = data.draw(indices(shape))
    if selects(np.zeros(shape), index) is None:
        return
    tensors, refilled = without_arrays(index)
    check_moves(lambda x, *rest: x[refilled(rest)], lambda a: a[index], sample(shape), given=tensors)


@st.composite
def writes(draw):
    """A shape, an index into it, and the shape of a value that broadcasts to the part."""
    shape = draw(SHAPES)
    index = draw(indices(shape))
    part = selects(np.zeros(shape), index)
    if part is None:
        return None
    wanted = part.shape[draw(st.integers(0, part.ndim)) :]
    return shape, index, tuple(draw(st.sampled_from([n, n, 1])) for n in wanted)


def written(index):
    def write(a, v):
        a = np.array(a)
        a[index] = v
        return a

    return write


def writing(index):
    def write(x, v):
        x = x.copy()
        x[index] = v
        return x

    return write


@given(writes())
def test_writing(case):
    if case is None:
        return
    shape, index, value_shape = case
    a, v = sample(shape), 100 + sample(value_shape, seed=1)
    expected = written(index)(a, v)
    for each in (index, with_tensors(index)):
        x = Tensor(a)
        x[each] = Tensor(v)
        np.testing.assert_array_equal(x.asnumpy(), expected)
    if v.size:  # the list of an empty array has lost its shape
        x = Tensor(a)
        x[index] = v.tolist() if v.ndim else float(v)
        np.testing.assert_array_equal(x.asnumpy(), expected)


@given(writes())
def test_the_derivative_of_writing(case):
    if case is not None:
        shape, index, value_shape = case
        arrays = sample(shape), sample(value_shape, seed=1)
        check_moves(writing(index), written(index), *arrays, compiled=False)


@settings(max_examples=40)
@given(writes())
def test_writing_compiled(case):
    if case is None:
        return
    shape, index, value_shape = case
    tensors, refilled = without_arrays(index)

    def write(x, v, *rest):
        return writing(refilled(rest))(x, v)

    check_moves(write, written(index), sample(shape), sample(value_shape, seed=1), given=tensors)


# --- cases that are worth a name -------------------------------------------------------------------------

A = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("value", [True, False, np.True_, np.array(False), Tensor(True)])
def test_a_truth_value_is_an_axis_of_one_element_or_none(value):
    plain = value.asnumpy() if isinstance(value, Tensor) else value
    np.testing.assert_array_equal(Tensor(A)[value].asnumpy(), A[plain])
    if plain:
        np.testing.assert_array_equal(Tensor(A)[value, [0, 1]].asnumpy(), A[plain, [0, 1]])
    x, a = Tensor(A), A.copy()
    x[value] = 4
    a[plain] = 4
    np.testing.assert_array_equal(x.asnumpy(), a)


@pytest.mark.parametrize(
    "index",
    [
        np.int64(1), np.array(1), np.uint8(2), np.array([1, 2], np.uint8), range(2), [],
        ([0, 2], [1, 3]), ((0, 2), 1), (0, [1, 2]), ([1, 2], 0), (None, 0), (0, None), ..., (), (..., 0),
        (0, ...), (slice(None), None, [0, 1]), ([0, 1], None, [1, 2]), (None, [0, 1], slice(1, None)),
        slice(np.int64(1), np.int32(3)), (slice(None), slice(None, None, -1)), ([True, False, True],),
        [True, False, True], A > 5, (slice(None), [True, False, True, False]), A > 50,
        ([True, True, False], [0, 3]), (0, A[0] > 1), slice(5, 10), slice(2, 0), (slice(0, 0), 1),
    ],
)  # fmt: skip
def test_what_numpy_indexes(index):
    np.testing.assert_array_equal(Tensor(A)[index].asnumpy(), A[index])
    x, a = Tensor(A), A.copy()
    x[index] = 7
    a[index] = 7
    np.testing.assert_array_equal(x.asnumpy(), a)
    check_moves(lambda x: x[index], lambda a: a[index], A)


def test_tensors_index_wherever_ints_do():
    x, one, two = Tensor(A), Tensor(1), Tensor([0, 2])
    np.testing.assert_array_equal(x[one].asnumpy(), A[1])
    np.testing.assert_array_equal(x[one, two].asnumpy(), A[1, [0, 2]])
    np.testing.assert_array_equal(x[one : Tensor(3), one].asnumpy(), A[1:3, 1])
    np.testing.assert_array_equal(x[[one, Tensor(0)],].asnumpy(), A[[1, 0]])
    np.testing.assert_array_equal(x[Parameter(two, name="two")].asnumpy(), A[[0, 2]])
    assert [10, 20, 30][one] == 20


def test_lists_of_tensors_index_while_compiling():
    f = Compiled(lambda x, i: x[[i, 0],])
    np.testing.assert_array_equal(f(Tensor(A), Tensor(2)).asnumpy(), A[[2, 0]])


def test_negative_places_count_from_the_end_also_if_unknown():
    f = Compiled(lambda x, i: x[i])
    for dtype in (ms.int8, ms.int32, ms.int64):
        np.testing.assert_array_equal(f(Tensor(A), Tensor([-1, 0, -3], dtype)).asnumpy(), A[[-1, 0, -3]])
    np.testing.assert_array_equal(f(Tensor(A), Tensor([2, 0], ms.uint16)).asnumpy(), A[[2, 0]])


def test_an_unknown_place_outside_reads_nan_and_writes_nothing():
    f = Compiled(lambda x, i: x[i])
    np.testing.assert_array_equal(f(Tensor([1.0, 2.0]), Tensor([1, 2, -3])).asnumpy(), [2, np.nan, np.nan])

    def write(x, i):
        x[i] = 9.0
        return x

    np.testing.assert_array_equal(Compiled(write)(Tensor([1.0, 2.0]), Tensor([5, 0])).asnumpy(), [9, 2])


def test_of_several_writes_to_one_place_the_last_one_stays():
    def write(x, i, v):
        x[i] = v
        return x

    given = Tensor([1.0, 2.0, 3.0]), Tensor([0, 1, 0, 0]), Tensor([4.0, 5.0, 6.0, 7.0])
    for f in (write, Compiled(write)):
        np.testing.assert_array_equal(f(*(Tensor(x) for x in given)).asnumpy(), [7, 5, 3])

    def total(x, v):
        return (write(x, given[1], v) * Tensor([1.0, 10.0, 100.0])).sum()

    for gradients in (ops.grad(total, (0, 1)), Compiled(ops.grad(total, (0, 1)))):
        dx, dv = gradients(Tensor(given[0]), given[2])
        np.testing.assert_array_equal(dx.asnumpy(), [0, 0, 100])
        np.testing.assert_array_equal(dv.asnumpy(), [0, 10, 0, 1])


@pytest.mark.parametrize(
    ("index", "value"),
    [
        (lambda x: x > 5, 0.0),
        (lambda x: x > 50, 0.0),
        (lambda x: x[:, 0] > 3, [1.0, 2.0, 3.0, 4.0]),
        (lambda x: (slice(None), x[0] > 1), 7.0),
        (lambda x: (slice(None), x[0] > 1), [[1.0], [2.0], [3.0]]),
        (lambda x: (1, x[0] > 1), 7.0),
        (lambda x: (slice(None, None, -2), x[0] > 1), [[1.0], [2.0]]),
        (lambda x: (..., x[0] > 1), 7.0),
        (lambda x: (None, x > 5), 7.0),
        (lambda x: x[0, 0] < 1, 7.0),
        (lambda x: (x[0, 0] > 1, 1), 7.0),
    ],
)
def test_a_mask_that_is_unknown_while_compiling_can_be_written(index, value):
    def write(x, v):
        x[index(x)] = v
        return x

    def numpys(a, v):
        a = np.array(a)
        a[index(a)] = v
        return a

    expected = numpys(A, np.array(value, np.float32))
    for f in (write, Compiled(write)):
        np.testing.assert_array_equal(f(Tensor(A), Tensor(value)).asnumpy(), expected)
    mask = index(A)
    check_moves(writing(mask), written(mask), A, np.array(value, np.float32))
    slopes = [GRADIENT(f)(Tensor(A), Tensor(value), Tensor(A)) for f in (write,)]
    compiled = Compiled(lambda *given: GRADIENT(write)(*given))(Tensor(A), Tensor(value), Tensor(A))
    for found, array in zip(as_arrays(compiled), as_arrays(slopes[0]), strict=True):
        np.testing.assert_array_equal(found, array)


def test_masks_have_one_program_whatever_their_values():
    """A write of a number is a choice, so that its derivative is not derived anew for every mask."""

    def f(x):
        x = x * 1.0
        x[x > 1] = 0.0
        return x

    graph = trace(f, Tensor([1.0, 2.0]))
    assert graph.count()["select"] == 1


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda x: x[x > 1], r"depends on the values[\s\S]*ops.where"),
        (lambda x: x[x > 1, [0]], "too many indices"),
        (lambda x: x[:, None][x > 1, [0]], "depends on the values"),
        (lambda x: ops.masked_select(x, x > 1), "depends on the values"),
        (lambda x: ops.nonzero(x), "'NonZero'.*PYNATIVE_MODE"),
        (lambda x: ops.unique(x), "'Unique'"),
        (lambda x: ops.bincount(ops.cast(x, ms.int32)), "'Bincount'"),
        (lambda x: ops.masked_scatter(x, x > 1, x), "'MaskedScatter'"),
        (lambda x: x[: ops.cast(x[0], ms.int32)], "must be ints"),
        (lambda x: writing(x > 1)(x, Tensor([1.0, 2.0])), "number of True elements of the mask is not known"),
    ],
)
def test_a_shape_that_depends_on_data_is_refused_while_compiling(read, text):
    with pytest.raises((RuntimeError, IndexError, TypeError), match=text):
        Compiled(read)(Tensor([1.0, 2.0, 3.0]))


X = Tensor(A)


@pytest.mark.parametrize(
    ("index", "kind", "text"),
    [
        (3, IndexError, "index 3 is out of bounds for axis 0 with size 3"),
        (-4, IndexError, "index -4 is out of bounds"),
        ((0, 5), IndexError, "index 5 is out of bounds for axis 1 with size 4"),
        ([0, 3], IndexError, "index 3 is out of bounds for axis 0"),
        (np.array([-5]), IndexError, "out of bounds"),
        (Tensor([7]), IndexError, r"must be in range \[-3, 3\)"),
        ((0, 0, 0), IndexError, "too many indices.*2 axes, but 3"),
        ((..., 0, ...), IndexError, "only one '...'"),
        (1.0, IndexError, "got 1.0 of type float"),
        ("a", IndexError, "got 'a' of type str"),
        ({}, IndexError, "of type dict"),
        ([1.0], IndexError, "got"),
        ([[0, 1], [2], [3]], IndexError, "too many indices.*2 axes, but 3"),
        (Tensor([1.0]), IndexError, "elements of type Float32"),
        (np.array(["a"]), IndexError, "elements of type <U1"),
        ([True, False], IndexError, "mask of shape .2,. does not match.*axis 0 has size 3"),
        (np.zeros((3, 3), bool), IndexError, "axis 1 has size 4"),
        (slice(None, None, 0), ValueError, "step of a slice must not be 0"),
        (slice(1.5, 2), TypeError, "must be ints or None"),
        (([0, 1], [0, 1, 2]), ValueError, "do not broadcast"),
    ],
)
def test_an_index_that_does_not_fit_is_named(index, kind, text):
    with pytest.raises(kind, match=text):
        X[index]
    with pytest.raises(kind, match=text):
        Tensor(A)[index] = 0
    if not isinstance(index, (dict, float)):
        with pytest.raises(kind, match=text):
            trace(lambda x: x[index], X)


def test_a_number_has_no_parts():
    with pytest.raises(TypeError, match="0-D tensor has no axis to index"):
        Tensor(1.0)[0]
    np.testing.assert_array_equal(Tensor(1.0)[None].asnumpy(), [1])
    assert Tensor(1.0)[()].item() == Tensor(1.0)[...].item() == 1


# --- writing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (ms.float32, 2, 2), (ms.float32, True, 1), (ms.float32, np.float64(0.5), 0.5),
        (ms.float32, 1e40, np.inf), (ms.float16, Tensor(2.0, ms.float64), 2), (ms.int32, 1.7, 1),
        (ms.int32, Tensor(-1.7), -1), (ms.int64, True, 1), (ms.bool_, 2, True), (ms.complex64, 1j, 1j),
        (ms.bfloat16, 1.5, 1.5), (ms.float32, np.array([1.0]), 1), (ms.float32, [1.5], 1.5),
        (ms.float32, [Tensor(1.5)], 1.5), (ms.float32, Tensor([[[1.5]]]), 1.5),
    ],
)  # fmt: skip
def test_what_is_written_gets_the_element_type_of_the_tensor(dtype, value, expected):
    x = Tensor([0, 0, 0], dtype)
    x[1] = value
    assert x.dtype is dtype
    np.testing.assert_array_equal(x.asnumpy(), np.array([0, expected, 0]).astype(dtype.numpy))


@pytest.mark.parametrize(
    ("dtype", "value", "kind", "text"),
    [
        (ms.float32, None, TypeError, "must be a Tensor or a number, but got None"),
        (ms.float32, "a", TypeError, "'setitem'"),
        (ms.float32, 1j, TypeError, "'setitem'"),
        (ms.float32, Tensor(1j), TypeError, "complex values cannot be written"),
        (ms.float32, [1.0, 2.0], ValueError, r"shape \(2,\) does not broadcast to the shape \(\)"),
        (ms.uint8, 300, OverflowError, "300 does not fit the dtype UInt8"),
        (ms.int32, float("nan"), OverflowError, "does not fit"),
    ],
)
def test_what_cannot_be_written_is_named(dtype, value, kind, text):
    x = Tensor([0, 0, 0], dtype)
    with pytest.raises(kind, match=text):
        x[1] = value
    np.testing.assert_array_equal(x.asnumpy(), [0, 0, 0])


def test_writing_gives_the_name_a_new_value_and_leaves_other_tensors_alone():
    array = A.copy()
    x = Tensor(array)
    same, copied, part = x, x.copy(), x[0]
    x[0] = 1.0
    assert same is x
    np.testing.assert_array_equal(copied.asnumpy(), A)
    np.testing.assert_array_equal(part.asnumpy(), A[0])
    np.testing.assert_array_equal(array, A)
    x[0][1] = 5.0  # writes into a part, which is a tensor of its own
    np.testing.assert_array_equal(x[0].asnumpy(), np.ones(4))


def test_the_callers_tensor_never_changes_in_a_compiled_function():
    def f(x, rest):
        x[0] = x[1] * 10
        rest["y"][1:] += 1
        return x + rest["y"]

    x, y = Tensor([1.0, 2.0, 3.0]), Tensor([4.0, 5.0, 6.0])
    np.testing.assert_array_equal(Compiled(f)(x, {"y": y}).asnumpy(), [24, 8, 10])
    np.testing.assert_array_equal(x.asnumpy(), [1, 2, 3])
    np.testing.assert_array_equal(y.asnumpy(), [4, 5, 6])


def test_nor_in_a_compiled_function_inside_another_or_under_a_derivative():
    @ms.jit
    def inner(x):
        x[0] = 0.0
        return x

    def f(x):
        y = x * 1.0
        return (inner(y) + y).sum()

    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        np.testing.assert_array_equal(gradient(Tensor([1.0, 2.0])).asnumpy(), [1, 2])


def test_a_tensor_from_outside_keeps_its_value_when_a_compiled_function_writes_it():
    table = Tensor([1.0, 2.0])

    def f(x):
        table[0] = x
        return table * 2

    compiled = Compiled(f)
    for number in (5.0, 7.0):
        with pytest.raises(CompileError, match="changed in place in a compiled function"):
            compiled(Tensor(number))
        np.testing.assert_array_equal(table.asnumpy(), [1, 2])
    with pytest.raises(ZeroDivisionError):
        Compiled(lambda x: (f(x), 1 / 0))(Tensor(1.0))
    np.testing.assert_array_equal(table.asnumpy(), [1, 2])


def test_writing_into_a_tensor_made_inside_is_differentiated():
    def powers(x):
        found = ops.zeros((4,))
        for k in range(4):
            found[k] = x**k
        return found

    for f in (powers, Compiled(powers)):
        np.testing.assert_array_equal(f(Tensor(2.0)).asnumpy(), [1, 2, 4, 8])
    second = ops.grad(ops.grad(lambda x: powers(x).sum()))
    for f in (second, Compiled(second)):
        assert f(Tensor(2.0)).item() == 2 + 6 * 2.0


def test_an_outer_tensor_written_under_an_inner_derivative_keeps_both():
    """The value that an inner function gives to an outer tensor counts for the outer derivative."""

    def f(x):
        y = x * 2.0

        def inner(z):
            y[0] = z[0] * z[0]
            return (y * z).sum()

        slope = ops.grad(inner)(x)
        return (slope * y).sum()  # y is (x₀², 2 x₁) by now

    def plainly(x):
        y = ops.stack([x[0] * x[0], 2.0 * x[1]])
        slope = ops.stack([3.0 * x[0] * x[0], 2.0 * x[1]])
        return (slope * y).sum()

    x = Tensor([3.0, 5.0])
    assert f(x).item() == plainly(x).item()
    expected = ops.grad(plainly)(x).asnumpy()
    assert_close(ops.grad(f)(x), expected)
    assert_close(Compiled(ops.grad(f))(x), expected)
    assert_close(ops.jvp(f, x, Tensor([1.0, 0.0]))[1], expected[0])


def test_what_was_computed_before_a_write_is_not_changed_by_it():
    def f(x):
        y = x * 1.0
        before = y * y
        y[0] = 0.0
        return (before + y).sum()

    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        np.testing.assert_array_equal(gradient(Tensor([3.0, 4.0])).asnumpy(), [6, 9])


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_parameter_is_assigned(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")

        def construct(self, x):
            self.w[1] = x * x
            return (self.w * self.w).sum()

    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        net = Net()
        gradient = ops.GradOperation(get_all=True, get_by_list=True)
        (dx,), (dw,) = gradient(net, ParameterTuple([net.w]))(Tensor(2.0))
        assert dx.item() == 2 * 4.0 * 4.0
        np.testing.assert_array_equal(dw.asnumpy(), [2, 0, 6])
        np.testing.assert_array_equal(net.w.asnumpy(), [1, 4, 3])
    finally:
        ms.set_context(mode=before)
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    w[0] = 5.0
    np.testing.assert_array_equal(w.asnumpy(), [5, 2])


@pytest.mark.parametrize("dtype", [d for d in ms.dtype.__all__ if d != "DType"])
def test_every_element_type_is_indexed(dtype):
    kind = getattr(ms, dtype)
    x = Tensor(np.arange(12).reshape(3, 4)).astype(kind)
    a = x.asnumpy()
    for index in (0, slice(None, None, -2), ([0, 2], [1, 1]), np.arange(12).reshape(3, 4) > 5):
        np.testing.assert_array_equal(x[index].asnumpy(), a[index])
        y, b = x.copy(), a.copy()
        y[index] = x[0, 1]
        b[index] = a[0, 1]
        assert y.dtype is kind
        np.testing.assert_array_equal(y.asnumpy(), b)


def test_iteration_and_membership():
    assert [float(each) for each in Tensor([1.0, 2.0])] == [1, 2]
    np.testing.assert_array_equal(np.array([row.asnumpy() for row in X]), A)
    assert len([*X]) == 3
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(Tensor(1.0))
    total = Compiled(lambda x: sum(row for row in x))
    np.testing.assert_array_equal(total(X).asnumpy(), A.sum(0))
    assert 5.0 in X
    assert 50 not in X
    assert None not in X
    assert "a" not in X


def test_slice_with_unknown_bound_raises_and_names_the_mask():
    x = ops.ones(5)
    with pytest.raises(ms.CompileError, match=r"(?s)bound or the step of a slice.*arange\(len\(x\)\) < n"):
        ms.jit(lambda x, n: x[:n])(x, Tensor(2))
    np.testing.assert_array_equal(x[: Tensor(2)].asnumpy(), [1.0, 1.0])
