"""Indexing, reading and writing, is NumPy's: eagerly, under derivatives, and compiled."""

import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.functional.compiled import Compiled, trace
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
    return index[0] if len(index) == 1 and draw(st.booleans()) else index


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
        np.int64(1), np.array(1), np.uint8(2), np.array([1, 2], np.uint8), range(2), [], [[0, 1], [2, 0]],
        ([0, 2], [1, 3]), ((0, 2), 1), (0, [1, 2]), ([1, 2], 0), (None, 0), (0, None), ..., (), (..., 0),
        (0, ...), (slice(None), None, [0, 1]), ([0, 1], None, [1, 2]), (None, [0, 1], slice(1, None)),
        slice(np.int64(1), np.int32(3)), (slice(None), slice(None, None, -1)), ([True, False, True],),
        [True, False, True], A > 5, (A > 5).tolist(), (slice(None), [True, False, True, False]), A > 50,
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
    np.testing.assert_array_equal(x[[one, Tensor(0)]].asnumpy(), A[[1, 0]])
    np.testing.assert_array_equal(x[Parameter(two, name="two")].asnumpy(), A[[0, 2]])
    assert [10, 20, 30][one] == 20


def test_lists_of_tensors_index_while_compiling():
    f = Compiled(lambda x, i: x[[i, 0]])
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
        (lambda x: x[x > 1], "depends on its values.*ops.where"),
        (lambda x: x[x > 1, [0]], "too many indices"),
        (lambda x: x[:, None][x > 1, [0]], "depends on its values"),
        (lambda x: ops.masked_select(x, x > 1), "depends on its values"),
        (lambda x: ops.nonzero(x), "'NonZero'.*PYNATIVE_MODE"),
        (lambda x: ops.unique(x), "'Unique'"),
        (lambda x: ops.bincount(ops.cast(x, ms.int32)), "'Bincount'"),
        (lambda x: ops.masked_scatter(x, x > 1, x), "'MaskedScatter'"),
        (lambda x: x[: ops.cast(x[0], ms.int32)], "ops.slice"),
        (lambda x: writing(x > 1)(x, Tensor([1.0, 2.0])), "as many values as the mask has true elements"),
        (lambda x: ops.tensor_scatter_max(x, ops.cast(x, ms.int32)[:, None], x), "indices must be known"),
    ],
)
def test_a_shape_that_depends_on_data_is_refused_while_compiling(read, text):
    with pytest.raises((RuntimeError, IndexError), match=text):
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
        ([[0, 1], [2]], IndexError, "got"),
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
    with pytest.raises(TypeError, match="without axes has no parts"):
        Tensor(1.0)[0]
    np.testing.assert_array_equal(Tensor(1.0)[None].asnumpy(), [1])
    assert Tensor(1.0)[()].item() == Tensor(1.0)[...].item() == 1


# --- writing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (ms.float32, 2, 2), (ms.float32, True, 1), (ms.float32, np.float64(0.5), 0.5),
        (ms.float32, 1e40, np.inf), (ms.float16, Tensor(2.0, ms.float64), 2), (ms.int32, 1.7, 1), (ms.int32, Tensor(-1.7), -1),
        (ms.int64, True, 1), (ms.bool_, 2, True), (ms.complex64, 1j, 1j), (ms.bfloat16, 1.5, 1.5),
        (ms.float32, np.array([1.0]), 1), (ms.float32, [1.5], 1.5), (ms.float32, [Tensor(1.5)], 1.5),
        (ms.float32, Tensor([[[1.5]]]), 1.5),
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
        (ms.uint8, 300, OverflowError, "300 does not fit the element type UInt8"),
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
        np.testing.assert_array_equal(compiled(Tensor(number)).asnumpy(), [2 * number, 4])
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
    np.testing.assert_allclose(ops.grad(f)(x).asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(Compiled(ops.grad(f))(x).asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(ops.jvp(f, x, Tensor([1.0, 0.0]))[1].asnumpy(), expected[0], rtol=1e-6)


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


# --- functions ------------------------------------------------------------------------------------------

I = np.array([[0, 2], [1, 1]])
B3 = sample((2, 3, 4), seed=3)


def along(a, index, axis):
    return np.take_along_axis(a, index, axis)


READS = {
    "gather": (lambda x, i: ops.gather(x, i, 0), lambda a: a[[2, -3]], A, [2, -3]),
    "gather in an axis": (lambda x, i: ops.gather(x, i, 1), lambda a: np.take(a, I, 1), A, I),
    "gather in the last axis": (lambda x, i: ops.gather(x, i, -1), lambda a: np.take(a, I, -1), B3, I),
    "gather one": (lambda x, i: ops.gather(x, i, 1), lambda a: a[:, 2], A, 2),
    "gather nothing": (lambda x, i: ops.gather(x, i, 0), lambda a: a[:0], A, np.zeros(0, int)),
    "gather in batches": (
        lambda x, i: ops.gather(x, i, 1, 1),
        lambda a: np.stack([a[k][I[k]] for k in range(2)]),
        B3,
        I,
    ),
    "gather in batches behind an axis": (
        lambda x, i: ops.gather(x, i, 2, 1),
        lambda a: np.stack([a[k][:, I[k]] for k in range(2)]),
        B3,
        I,
    ),
    "gather_nd": (lambda x, i: ops.gather_nd(x, i), lambda a: a[I[:, 0], I[:, 1]], A, I),
    "gather_nd of parts": (lambda x, i: ops.gather_nd(x, i), lambda a: a[[1, 0]], B3, [[1], [0]]),
    "gather_nd of one": (lambda x, i: ops.gather_nd(x, i), lambda a: a[1, 2], A, [1, 2]),
    "gather_elements": (lambda x, i: ops.gather_elements(x, 1, i), lambda a: along(a[:2], I, 1), A, I),
    "gather_d": (lambda x, i: ops.gather_d(x, 0, i), lambda a: along(a[:, :2], I, 0), A, I),
    "gather_d from the end": (
        lambda x, i: ops.gather_d(x, -1, i),
        lambda a: along(a[:2], I - 4, 1),
        A,
        I - 4,
    ),
    "index_select": (lambda x, i: ops.index_select(x, 1, i), lambda a: a[:, [3, 3, 0]], A, [3, 3, 0]),
    "take": (lambda x, i: ops.take(x, i), lambda a: np.take(a, [[5, -1]]), A, [[5, -1]]),
    "take in an axis": (lambda x, i: ops.take(x, i, 1), lambda a: np.take(a, I, 1), A, I),
    "take and clip": (
        lambda x, i: x.take(i),
        lambda a: np.take(a, [11, 90, -2], mode="clip"),
        A,
        [11, 90, -2],
    ),
    "take around": (
        lambda x, i: x.take(i, 0, mode="wrap"),
        lambda a: np.take(a, [1, 5, -2], 0, mode="wrap"),
        A,
        [1, 5, -2],
    ),
    "dynamic_slice": (lambda x, i: ops.dynamic_slice(x, i, (2, 2)), lambda a: a[1:3, 2:4], A, [1, 3]),
    "dynamic slice": (lambda x, i: ops.slice(x, i, (2, 2)), lambda a: a[1:3, 1:3], A, [1, 1]),
    "select a part": (lambda x, i: x.select(1, 2), lambda a: a[:, 2], A, 0),
}


@pytest.mark.parametrize("name", READS)
def test_reads_as_numpy(name):
    ours, numpys, array, index = READS[name]
    index = Tensor(np.asarray(index, np.int32))
    check_moves(lambda x: ours(x, index), numpys, array, compiled=False)
    check_moves(ours, numpys, array, given=[index])
    check_moves(lambda x: ours(x, index), numpys, array)


def put(a, places, values, add=False):
    a = np.array(a)
    (np.add.at if add else np.ndarray.__setitem__)(a, tuple(np.moveaxis(np.asarray(places), -1, 0)), values)
    return a


WRITES = {
    "tensor_scatter_update": (
        lambda x, v, i: ops.tensor_scatter_update(x, i, v),
        lambda a, v: put(a, I, v),
        A,
        (2,),
        I,
    ),
    "tensor_scatter_update of parts": (
        lambda x, v, i: ops.tensor_scatter_update(x, i, v),
        lambda a, v: put(a, [[2], [0]], v),
        A,
        (2, 4),
        [[2], [0]],
    ),
    "scatter_update": (
        lambda x, v, i: ops.scatter_update(x, i, v),
        lambda a, v: put(a, [[1]], v),
        A,
        (1, 4),
        [1],
    ),
    "tensor_scatter_elements": (
        lambda x, v, i: ops.tensor_scatter_elements(x, i, v, 1),
        lambda a, v: put(a, [[[0, 0], [0, 2]], [[1, 1], [1, 3]]], v),
        A,
        (2, 2),
        [[0, 2], [1, -1]],
    ),
    "scatter": (
        lambda x, v, i: ops.scatter(x, 0, i, v),
        lambda a, v: put(a, [[[2, 0], [0, 1]]], v),
        A,
        (1, 2),
        [[2, 0]],
    ),
    "index_fill": (
        lambda x, v, i: ops.index_fill(x, 1, i, v),
        lambda a, v: written((slice(None), [0, 3]))(a, v),
        A,
        (),
        [0, -1],
    ),
    "dynamic_update_slice": (
        lambda x, v, i: ops.dynamic_update_slice(x, v, i),
        lambda a, v: written((slice(1, 3), slice(2, 4)))(a, v),
        A,
        (2, 2),
        [1, 3],
    ),
    "slice_scatter": (
        lambda x, v, i: ops.slice_scatter(x, v, 1, 0, None, 2),
        lambda a, v: written((slice(None), slice(0, None, 2)))(a, v),
        A,
        (3, 2),
        0,
    ),
    "select_scatter": (
        lambda x, v, i: ops.select_scatter(x, v, 1, -2),
        lambda a, v: written((slice(None), -2))(a, v),
        A,
        (3,),
        0,
    ),
    "itemset": (lambda x, v, i: x.itemset(5, v), lambda a, v: written((1, 1))(a, v), A, (), 0),
    "itemset by a tuple": (
        lambda x, v, i: x.itemset((0, 2), v),
        lambda a, v: written((0, 2))(a, v),
        A,
        (),
        0,
    ),
    "where": (lambda x, v, i: ops.where(Tensor(A > 5), x, v), lambda a, v: np.where(A > 5, a, v), A, (4,), 0),
    "select": (
        lambda x, v, i: ops.select(Tensor(A[0] > 1), v, x),
        lambda a, v: np.where(A[0] > 1, v, a),
        A,
        (3, 1),
        0,
    ),
    "masked_fill": (
        lambda x, v, i: ops.masked_fill(x, Tensor(A > 5), v),
        lambda a, v: np.where(A > 5, v, a),
        A,
        (),
        0,
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_as_numpy(name):
    ours, numpys, array, shape, index = WRITES[name]
    index = Tensor(np.asarray(index, np.int32))
    arrays = array, sample(shape, seed=5)
    check_moves(lambda x, v: ours(x, v, index), numpys, *arrays, compiled=False)
    check_moves(ours, numpys, *arrays, given=[index])


@pytest.mark.parametrize(
    ("ours", "numpys"),
    [
        (lambda x, i, v: ops.tensor_scatter_add(x, i, v), lambda a, v: put(a, I[:, :1] * 0, v, add=True)),
        (lambda x, i, v: ops.tensor_scatter_sub(x, i, v), lambda a, v: put(a, I[:, :1] * 0, -v, add=True)),
        (
            lambda x, i, v: ops.scatter_nd(i, v, (3, 4)),
            lambda a, v: put(np.zeros_like(a), I[:, :1] * 0, v, add=True),
        ),
        (lambda x, i, v: ops.scatter_add(x, i[:, 0], v), lambda a, v: put(a, I[:, :1] * 0, v, add=True)),
        (lambda x, i, v: ops.index_add(x, i[:, 0], v, 0), lambda a, v: put(a, I[:, :1] * 0, v, add=True)),
        (lambda x, i, v: x.index_add(0, i[:, 0], v), lambda a, v: put(a, I[:, :1] * 0, v, add=True)),
        (
            lambda x, i, v: ops.tensor_scatter_elements(x, i + ops.zeros((2, 4), ms.int32), v, 0, "add"),
            lambda a, v: put(a, I[:, :1] * 0, v, add=True),
        ),
    ],
)
def test_additions_add_up(ours, numpys):
    v = sample((2, 4), seed=5)
    index = Tensor(I[:, :1] * 0, ms.int32)
    for f in (ours, Compiled(ours)):
        np.testing.assert_array_equal(f(Tensor(A), index, Tensor(v)).asnumpy(), numpys(A, v))
    zero = numpys(np.zeros_like(A), np.zeros_like(v))

    def gradient(x, i, v, ct):
        return GRADIENT(lambda x, v: ours(x, i, v))(x, v, ct)

    given = (Tensor(A), index, Tensor(v), Tensor(A))
    dx, dv = gradient(*given)
    compiled = Compiled(gradient)(*given)
    # linear in x and in v: the gradient is the transpose, read off at unit vectors
    for found, shape, at in ((dx, A.shape, 0), (dv, v.shape, 1)):
        for place in np.ndindex(shape):
            units = [np.zeros_like(A), np.zeros_like(v)]
            units[at][place] = 1
            assert found[place].item() == ((numpys(*units) - zero) * A).sum()
    np.testing.assert_array_equal(compiled[0].asnumpy(), dx.asnumpy())
    np.testing.assert_array_equal(compiled[1].asnumpy(), dv.asnumpy())


@pytest.mark.parametrize(
    ("ours", "at"),
    [
        (ops.tensor_scatter_mul, np.multiply.at),
        (ops.tensor_scatter_div, np.divide.at),
        (ops.tensor_scatter_max, np.maximum.at),
        (ops.tensor_scatter_min, np.minimum.at),
    ],
)
def test_updates_of_one_place_are_combined_one_after_another(ours, at):
    index = np.array([[0], [2], [0], [0], [2]])
    v = np.random.default_rng(0).uniform(1, 9, (5, 4)).astype(np.float32)
    expected = A.copy()
    at(expected, index[:, 0], v)
    for f in (ours, Compiled(lambda x, i, v: ours(x, Tensor(index), v))):
        np.testing.assert_allclose(f(Tensor(A), Tensor(index), Tensor(v)).asnumpy(), expected, rtol=1e-6)
    np.testing.assert_array_equal(
        ours(Tensor(A), Tensor(np.zeros((0, 1), np.int32)), ops.zeros((0, 4))).asnumpy(), A
    )

    def total(x, v):
        return ours(x, Tensor(index), v).sum()

    dx, dv = ops.grad(total, (0, 1))(Tensor(A), Tensor(v))
    step = 1e-3
    for place in ((0, 1), (2, 3)):
        moved = A.astype(np.float64)
        moved[place] += step
        values = [np.array(moved), np.array(A, np.float64)]
        for each in values:
            at(each, index[:, 0], v.astype(np.float64))
        slope = (values[0].sum() - values[1].sum()) / step
        np.testing.assert_allclose(dx[place].item(), slope, rtol=1e-3, atol=1e-6)
    assert np.isfinite(dv.asnumpy()).all()


def test_choices():
    mask = Tensor(A > 5)
    assert ops.where(mask, 1, 0).dtype == ms.int64
    assert ops.where(mask, 1.0, 2).dtype == ms.float32
    assert ops.where(mask, X, 1).dtype == ms.float32
    assert ops.where(mask, Tensor([1, 2, 3, 4]), X).dtype == ms.float32
    assert ops.select(True, X, X).shape == (3, 4)
    np.testing.assert_array_equal(ops.where(mask, X, 0.0).asnumpy(), np.where(A > 5, A, 0))
    np.testing.assert_array_equal(X.where(X > 5, 0.0).asnumpy(), np.where(A > 5, A, 0))
    np.testing.assert_array_equal(X.select(X > 5, -1.0).asnumpy(), np.where(A > 5, A, -1))
    assert ops.masked_fill(Tensor([1, 2]), Tensor([True, False]), 7).dtype == ms.int64
    assert ops.masked_fill(Tensor([1.0, 2.0]), mask[:, :2], 7).shape == (3, 2)
    np.testing.assert_array_equal(ops.masked_select(X, mask).asnumpy(), A[A > 5])
    np.testing.assert_array_equal(
        ops.masked_select(X, Tensor([True, False, False, True])).asnumpy(), A[:, [0, 3]].ravel()
    )
    np.testing.assert_array_equal(
        ops.masked_scatter(X, mask, Tensor(-A)).asnumpy(), np.where(A > 5, np.minimum(6 - A, 0), A)
    )


def test_the_branch_that_is_not_chosen_contributes_nothing():
    def f(x):
        return ops.where(x > 0, ops.log(x), 0.0 * x).sum()

    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        np.testing.assert_array_equal(gradient(Tensor([0.0, 2.0])).asnumpy(), [0, 0.5])


SLICES = [
    (lambda x: ops.slice(x, (0, 1), (2, -1)), lambda a: a[0:2, 1:]),
    (lambda x: ops.slice(x, [1, 0], [0, 4]), lambda a: a[1:1]),
    (lambda x: ops.strided_slice(x, (0, 0), (3, 4), (2, 2)), lambda a: a[::2, ::2]),
    (lambda x: ops.strided_slice(x, (0, -1), (3, -5), (2, -2)), lambda a: a[::2, -1:-5:-2]),
    (lambda x: ops.strided_slice(x, (1,), (2,), (1,)), lambda a: a[1:2]),
    (lambda x: ops.strided_slice(x, (1, 1), (2, 3), (1, 1), begin_mask=1, end_mask=2), lambda a: a[:2, 1:]),
    (lambda x: ops.strided_slice(x, (1, 1), (2, 3), (1, 1), shrink_axis_mask=1), lambda a: a[1, 1:3]),
    (lambda x: ops.strided_slice(x, (1, 1), (2, 3), (1, 1), new_axis_mask=1), lambda a: a[None, 1:3]),
    (lambda x: ops.strided_slice(x, (1, 1), (2, 3), (1, 1), ellipsis_mask=1), lambda a: a[..., 1:3]),
]


@pytest.mark.parametrize(("ours", "numpys"), SLICES)
def test_slices(ours, numpys):
    check_moves(ours, numpys, A)


# --- order ----------------------------------------------------------------------------------------------


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(max_dims=3, max_side=5),
        elements=st.sampled_from([0.0, 1.0, -1.0, 2.5, np.nan]),
    ),
    st.data(),
)
def test_sorting(a, data):
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    values, order = ops.sort(Tensor(a), axis)
    assert order.dtype == ms.int32
    np.testing.assert_array_equal(order.asnumpy(), np.argsort(a, axis, kind="stable"))
    np.testing.assert_array_equal(values.asnumpy(), np.sort(a, axis))
    down = ops.argsort(Tensor(a), axis, descending=True).asnumpy()
    np.testing.assert_array_equal(along(a, down, axis), np.flip(np.sort(a, axis), axis))
    count = data.draw(st.integers(0, a.shape[axis]))
    largest, places = ops.topk(Tensor(a), count, axis)
    np.testing.assert_array_equal(places.asnumpy(), np.take(down, range(count), axis))
    np.testing.assert_array_equal(largest.asnumpy(), along(a, places.asnumpy(), axis))


def test_the_derivative_of_sorting_goes_to_the_element_that_was_found():
    a = np.array([[3.0, 1.0, 2.0], [0.5, 0.5, -1.0]], np.float32)
    weight = np.array([[1.0, 10.0, 100.0]] * 2, np.float32)

    def f(x):
        return (ops.sort(x)[0] * Tensor(weight)).sum()

    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        np.testing.assert_array_equal(gradient(Tensor(a)).asnumpy(), [[100, 1, 10], [10, 100, 1]])
    top = ops.grad(lambda x: ops.topk(x, 2, largest=False)[0].sum())(Tensor(a))
    np.testing.assert_array_equal(top.asnumpy(), [[0, 1, 1], [1, 0, 1]])
    assert Compiled(lambda x: ops.msort(x)[0, 0])(Tensor(a)).item() == 0.5


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(right):
    row = np.array([1.0, 2.0, 2.0, 5.0], np.float32)
    values = np.array([[0.0, 2.0], [5.0, 9.0]], np.float32)
    side = "right" if right else "left"
    expected = np.searchsorted(row, values, side)
    f = Compiled(lambda s, v: ops.searchsorted(s, v, right=right))
    for found in (ops.searchsorted(Tensor(row), Tensor(values), side=side), f(Tensor(row), Tensor(values))):
        assert found.dtype == ms.int64
        np.testing.assert_array_equal(found.asnumpy(), expected)
    rows = np.stack([row, row + 1])
    each = ops.searchsorted(Tensor(rows), Tensor(values), right=right, out_int32=True)
    assert each.dtype == ms.int32
    np.testing.assert_array_equal(
        each.asnumpy(), [np.searchsorted(r, v, side) for r, v in zip(rows, values, strict=True)]
    )


def test_results_whose_shape_depends_on_the_data():
    np.testing.assert_array_equal(ops.nonzero(X > 5).asnumpy(), np.argwhere(A > 5))
    for found, array in zip(ops.nonzero(X > 5, as_tuple=True), np.nonzero(A > 5), strict=True):
        np.testing.assert_array_equal(found.asnumpy(), array)
    elements, which = ops.unique(Tensor([[3, 1], [3, 2]]))
    np.testing.assert_array_equal(elements.asnumpy(), [3, 1, 2])
    np.testing.assert_array_equal(which.asnumpy(), [[0, 1], [0, 2]])
    np.testing.assert_array_equal(ops.bincount(Tensor([1, 1, 3]), minlength=5).asnumpy(), [0, 2, 0, 1, 0])
    np.testing.assert_array_equal(
        ops.bincount(Tensor([1, 1, 3]), Tensor([0.5, 1.0, 2.0])).asnumpy(), [0, 1.5, 0, 2]
    )
    # they may be used under a derivative: the values are known there
    slope = ops.grad(lambda x: (ops.masked_select(x, x > 5) ** 2).sum() + ops.unique(x)[0][0])(X)
    np.testing.assert_array_equal(
        slope.asnumpy(), np.where(A > 5, 2 * A, 0) + (np.arange(12) == 0).reshape(3, 4)
    )


V = Tensor([1.0, 2.0, 3.0])

MISTAKES = [
    (lambda: ops.gather(X, Tensor([3]), 0), IndexError, "'Gather'.*index 3 is out of bounds for axis 0"),
    (lambda: ops.gather(X, Tensor([0]), 2), ValueError, r"in range \[-2, 2\)"),
    (lambda: ops.gather(X, V, 0), TypeError, "made of integers"),
    (lambda: ops.gather(X, Tensor(I), 1, 1), ValueError, "'batch_dims'"),
    (lambda: ops.gather_nd(X, Tensor([[0, 1, 2]])), ValueError, "1 to 2 places"),
    (lambda: ops.gather_nd(X, Tensor([[3, 0]])), IndexError, "'GatherNd'"),
    (lambda: ops.gather_nd(X, Tensor([[-1, 0]])), IndexError, r"in range \[0, 3\)"),
    (lambda: ops.gather_nd(X, Tensor(1)), ValueError, "'GatherNd'"),
    (lambda: ops.gather_elements(X, 1, Tensor([0])), ValueError, "as many axes"),
    (lambda: ops.gather_elements(X, 1, Tensor(np.zeros((4, 1), int))), ValueError, "no larger"),
    (lambda: ops.gather_elements(X, 1, Tensor([[4]])), IndexError, "index 4"),
    (lambda: ops.index_select(X, 0, Tensor(I)), ValueError, "one axis"),
    (lambda: ops.take(X, Tensor([12])), IndexError, "index 12"),
    (lambda: X.take(Tensor([1]), mode="near"), ValueError, "'mode' must be"),
    (lambda: ops.where(X, X, X), TypeError, "must be a tensor of type Bool, but got Float32"),
    (lambda: ops.where(X > 5, X, V), ValueError, "do not broadcast"),
    (lambda: ops.where(X > 5), TypeError, "missing 2 required"),
    (lambda: ops.masked_fill(X, X, 1.0), TypeError, "'mask' must be a tensor of type Bool"),
    (lambda: ops.masked_fill(X, X > 5, X), ValueError, "without axes"),
    (lambda: ops.masked_fill(Tensor([1]), Tensor([True]), 1.5), TypeError, "Float32 does not fit"),
    (lambda: ops.slice(X, (0, 1), (2, 5)), ValueError, "does not lie inside"),
    (lambda: ops.slice(X, (0,), (2,)), ValueError, "one entry per axis"),
    (lambda: ops.slice(X, (0, -1), (2, 1)), ValueError, "does not lie inside"),
    (lambda: ops.strided_slice(X, (0, 0), (3, 4), (0, 2)), ValueError, "must not contain 0"),
    (lambda: ops.strided_slice(X, (0,), (3, 4), (1, 2)), ValueError, "one length"),
    (lambda: ops.strided_slice(X, (5,), (6,), (1,), shrink_axis_mask=1), IndexError, "index 5"),
    (lambda: ops.dynamic_slice(X, (0, 0), (4, 4)), ValueError, "none larger"),
    (lambda: ops.dynamic_slice(X, (0,), (1, 1)), ValueError, "2 integers"),
    (lambda: ops.dynamic_slice(X, Tensor([0.0, 1.0]), (1, 1)), ValueError, "2 integers"),
    (lambda: ops.dynamic_update_slice(X, V, (0, 0)), ValueError, "as many axes"),
    (lambda: ops.tensor_scatter_add(V, Tensor([[3]]), Tensor([1.0])), IndexError, "'TensorScatterAdd'"),
    (lambda: ops.tensor_scatter_add(V, Tensor([[0]]), Tensor([1])), TypeError, "element type Float32"),
    (lambda: ops.tensor_scatter_add(V, Tensor([[0]]), Tensor([[1.0]])), ValueError, r"shape \(1,\)"),
    (lambda: ops.tensor_scatter_update(V, Tensor([[0.0]]), V[:1]), TypeError, "made of integers"),
    (lambda: ops.scatter_nd(Tensor([[0, 1]]), Tensor([1.0, 2.0]), (3, 4)), ValueError, "'ScatterNd'"),
    (
        lambda: ops.tensor_scatter_elements(X, Tensor([[0]]), Tensor([[1.0]]), 0, "mul"),
        ValueError,
        "'none' or 'add'",
    ),
    (lambda: ops.index_add(V, Tensor([0]), Tensor([1.0, 2.0]), 0), ValueError, "'IndexAdd'"),
    (lambda: ops.index_fill(V, 0, Tensor([0]), V), ValueError, "one element"),
    (lambda: ops.masked_scatter(V, V > 0, Tensor([1.0])), ValueError, "only 1"),
    (lambda: ops.sort(Tensor(1.0)), ValueError, "no axes"),
    (lambda: ops.sort(Tensor([1j])), TypeError, "complex numbers have no order"),
    (lambda: ops.topk(V, 4), ValueError, r"in range \[0, 3\]"),
    (lambda: ops.nonzero(Tensor(1.0)), ValueError, "at least one axis"),
    (lambda: ops.searchsorted(X, V), ValueError, "'SearchSorted'"),
    (lambda: ops.searchsorted(V, V, side="middle"), ValueError, "'left' or 'right'"),
    (lambda: ops.bincount(V), TypeError, "made of integers"),
    (lambda: ops.bincount(Tensor([-1])), ValueError, "not negative"),
    (lambda: X.itemset(5.0), IndexError, "'itemset'"),
    (lambda: X.itemset(12, 5.0), IndexError, "out of bounds"),
]


@pytest.mark.parametrize(("mistake", "kind", "text"), MISTAKES)
def test_a_mistake_is_named(mistake, kind, text):
    with pytest.raises(kind, match=text):
        mistake()


def test_scattering_into_a_parameter_assigns_it():
    w = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")
    ops.scatter_add(w, Tensor([0, 0]), Tensor([1.0, 1.0]))
    ops.scatter_update(w, Tensor([2]), Tensor([9.0]))
    ops.index_add(w, Tensor([1]), Tensor([5.0]), 0)
    np.testing.assert_array_equal(w.asnumpy(), [3, 7, 9])
    assert builtins.len(w) == 3
