"""Conventions of MindSpore's kernels for arguments at the edge of what an operator is for."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, jit, ops
from mindgrad.ops.auto_generate import InplaceAddExt
from tests.tolerances import assert_close


@pytest.mark.parametrize("call", [lambda f: f, jit], ids=["eager", "compiled"])
def test_labels_that_are_not_positive_add_nothing_to_a_divergence(call):
    loss = call(lambda x, p: ops.kl_div(x, p, "none"))
    assert_close(loss(Tensor([1.0, 2.0]), Tensor([-1.0, 0.0])), [0.0, 0.0], kind="exact")
    slope = call(ms.grad(lambda x, p: ops.kl_div(x, p, "sum")))
    np.testing.assert_array_equal(
        slope(Tensor([1.0, 2.0, 3.0]), Tensor([-1.0, 0.0, 2.0])).asnumpy(), [0, 0, -2]
    )


@pytest.mark.parametrize("dtype", [ms.int8, ms.int32, ms.uint8])
def test_channels_of_integers_are_dropped(dtype):
    x = ops.ones((1, 64, 2, 2), dtype) * 3
    y = ops.dropout2d(x, 0.3)
    assert y.dtype == dtype
    assert set(np.unique(y.asnumpy())) == {0, 4}  # 3 / 0.7, cut off
    kept, mask = ops.Dropout2D(0.5)(x)
    assert ((kept != 0) == mask).all()
    with pytest.raises(TypeError, match="floating-point"):
        ops.dropout(x, 0.3)


def test_inverses_of_integers_are_cut_off():
    for dtype, least in ((ms.int8, -128), (ms.int64, np.iinfo(np.int64).min), (ms.uint8, 0)):
        signed = dtype is not ms.uint8
        x = Tensor([1, 0, 2, 127, *[-1, -2] * signed], dtype)
        assert ops.inv(x).asnumpy().tolist() == [1, least, 0, 0, *[-1, 0] * signed]


def test_a_number_is_its_own_shuffle():
    assert ops.shuffle(Tensor(2.5)) == 2.5
    with pytest.raises(TypeError, match="must be a Tensor, but got int"):
        ops.shuffle(2)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_numbers_that_are_no_class_are_expected_by_the_formula(mode):
    ms.set_context(mode=mode)
    try:
        _, expected, _ = ops.uniform_candidate_sampler(Tensor([[7]]), 1, 3, False, 4)
        assert expected.asnumpy() == 0.75
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_an_index_outside_is_an_error_of_python_and_of_kernels():
    for error in (IndexError, RuntimeError):
        with pytest.raises(error, match="out of bounds"):
            ops.gather(Tensor([1.0]), Tensor([3]), 0)
        with pytest.raises(error, match="must be below"):
            ops.unsorted_segment_sum(Tensor([1.0]), Tensor([3], ms.int32), 2)


def test_elements_are_added_in_place():
    x = Tensor([1.0, 2.0])
    InplaceAddExt()(x, Tensor([3.0, 4.0]), 2)
    assert x.asnumpy().tolist() == [7.0, 10.0]


@pytest.mark.parametrize("call", [lambda f: f, jit], ids=["eager", "compiled"])
def test_tensors_are_assigned(call):
    def f(x, y):
        z = x * y
        ops.assign_add(z, y)
        ops.AssignSub()(z, x)
        return z

    x, y = Tensor([2.0]), Tensor([3.0])
    assert call(f)(x, y).asnumpy() == [7.0]
    assert [g.asnumpy().item() for g in call(ms.grad(f, (0, 1)))(x, y)] == [2.0, 3.0]
    with pytest.raises(ValueError, match=r"shape .* of the Tensor"):
        ops.assign(x, Tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match="must be a Parameter or Tensor, but got int"):
        ops.assign(3, 4)


def test_normal_numbers_like_a_tensor_are_of_32_bits():
    x = Tensor([1.0], ms.float16)
    assert ops.randn_like(x).dtype == ms.float32
    assert ops.randn_like(x, dtype=ms.float64).dtype == ms.float64
    assert ms.mint.randn_like(x).dtype == ms.float16


@pytest.mark.parametrize(
    ("padding", "padded"),
    [
        ((1, -1), [3, 0, 1, 2, 3]),
        ((-1, 2), [1, 2, 3, 4, 1, 2]),
        ((3, -2), [0, 1, 2, 0, 1, 2]),
        ((-1, -1), [1, 2, 3]),
    ],
)
def test_circular_padding_goes_around_what_is_left(padding, padded):
    x = Tensor(np.arange(5.0).reshape(1, 1, 5))
    assert ops.pad(x, padding, mode="circular").asnumpy().ravel().tolist() == padded


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_elements_of_a_parameter_are_assigned_by_vmap(mode):
    ms.set_context(mode=mode)
    try:
        weight = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]), name="weight")
        moved = ops.vmap(lambda w, x: ops.assign_add(w, x * w), in_axes=(1, 0))(weight, Tensor([10.0, 20.0]))
        assert moved.asnumpy().tolist() == [[11.0, 33.0], [42.0, 84.0]]
        assert weight.asnumpy().tolist() == [[11.0, 42.0], [33.0, 84.0]]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_bound_may_be_a_truth_value():
    x = Tensor([-2.0, 0.5, 2.0])
    assert ops.hardshrink(x, True).asnumpy().tolist() == [-2.0, 0.0, 2.0]
    assert ops.softshrink(x, True).asnumpy().tolist() == [-1.0, 0.0, 1.0]


STEPS = {
    "floor": lambda x: ops.floor(x / 41.0),
    "ceil": lambda x: ops.ceil(x / 41.0),
    "trunc": lambda x: ops.trunc(x / Tensor(41.0)),
    "round": lambda x: ops.round(x / 82.0),
    "moved": lambda x: ops.floor((x / 41.0).reshape(-1, 1)),
    "frac": lambda x: ops.frac(x / 41.0),
    "rounding_mode": lambda x: ops.div(x, 41.0, rounding_mode="floor"),
    "integer": lambda x: (x / 41.0).astype(ms.int32),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_compiled_step_of_a_quotient(name):
    step, whole = STEPS[name], np.arange(1, 60, dtype=np.float32) * np.float32(41)
    for x in (whole, whole[:1], whole[0]):
        np.testing.assert_array_equal(jit(step)(Tensor(x)).asnumpy(), step(Tensor(x)).asnumpy())
    rows = Tensor(np.stack([whole, whole]))
    np.testing.assert_array_equal(jit(ms.vmap(step))(rows).asnumpy(), ms.vmap(step)(rows).asnumpy())


@pytest.mark.parametrize("dtype", [ms.int8, ms.uint8, ms.int16, ms.int32, ms.uint32, ms.int64, ms.uint64])
@pytest.mark.parametrize("source", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_floats_beyond_the_range_of_integers_are_its_ends(source, dtype):
    x = Tensor([1e30, -1e30, np.inf, -np.inf, np.nan, -5.5, 100.5], source)
    ends = np.iinfo(ms.dtype_to_nptype(dtype))
    expected = [ends.max, ends.min, ends.max, ends.min, 0, max(-5, ends.min), 100]
    for made in (x.astype(dtype), jit(lambda x: x.astype(dtype))(x), ops.stack([y.astype(dtype) for y in x])):
        assert made.asnumpy().tolist() == expected
    assert x[-1:].astype(dtype).asnumpy() == 100


def test_the_derivative_through_integers_is_the_same_in_both_modes():
    slope = ms.grad(lambda x: (x.astype(ms.int32) * 1.37 * x).sum())
    x = Tensor([3.0, 2.5])
    assert_close(jit(slope)(x), slope(x))


@pytest.mark.parametrize("call", [lambda f: f, jit], ids=["eager", "compiled"])
def test_the_factor_of_a_matrix_that_is_not_definite_has_zeros_above_its_diagonal(call):
    factors = call(ops.cholesky)(Tensor([[[-1.0, 0.0], [0.0, 1.0]], [[4.0, 0.0], [0.0, 9.0]]])).asnumpy()
    np.testing.assert_array_equal(factors, [[[np.nan, 0], [np.nan, np.nan]], [[2, 0], [0, 3]]])
