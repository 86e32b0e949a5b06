"""Parts of MindSpore's library below its public surface: fields of embeddings, signatures, checks."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg

import mindgrad as ms
from mindgrad import Tensor, _checkparam, jit, nn, ops
from mindgrad.ops import _constants, signature
from mindgrad.scipy import linalg
from mindgrad.train.callback import _CheckpointManager
from tests.tolerances import assert_close

TABLE = np.arange(20.0, dtype=np.float32).reshape(10, 2)
INDICES = np.array([[2, 4, 6, 0, 0], [1, 3, 5, 0, 0]])
WEIGHTS = np.array([[-1, 2, 1, 0, 0], [1, 1, 3, 0, 0]], np.float32)
FIELDS = np.array([[0, 1, 1, 0, 0], [0, 0, 1, 0, 0]])


def by_field(operator):
    out = np.zeros((2, 3, 2), np.float32)
    for batch in range(2):
        for field in range(3):
            members = [i for i in range(5) if FIELDS[batch, i] == field and WEIGHTS[batch, i]]
            if not members:
                continue
            rows = TABLE[INDICES[batch, members]] * WEIGHTS[batch, members, None]
            weight = np.abs(WEIGHTS[batch, members]).sum()
            out[batch, field] = {"SUM": rows.sum(0), "MEAN": rows.sum(0) / weight, "MAX": rows.max(0)}[
                operator
            ]
    return out


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("operator", ["SUM", "MEAN", "MAX"])
def test_rows_are_put_together_by_fields(operator, mode):
    ms.set_context(mode=mode)
    try:
        layer = nn.MultiFieldEmbeddingLookup(10, 2, 3, Tensor(TABLE), operator=operator)
        inputs = Tensor(INDICES), Tensor(WEIGHTS), Tensor(FIELDS)
        assert_close(layer(*inputs), by_field(operator))
        slope = ms.grad(layer, None, layer.trainable_params())(*inputs)
        assert np.isfinite(slope[0].asnumpy()).all()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    with pytest.raises(ValueError, match="must be one of SUM, MEAN, MAX"):
        nn.MultiFieldEmbeddingLookup(10, 2, 3, operator="MIN")
    with pytest.raises(ValueError, match="matrices of the same shape"):
        layer(Tensor([1]), Tensor([1.0]), Tensor([1]))


@pytest.mark.parametrize("driver", [None, "gelsy", "gelss", "gelsd"])
@pytest.mark.parametrize(("shape", "columns"), [((4, 2), ()), ((4, 2), (3,)), ((2, 4), (3,))])
def test_least_squares_say_what_is_known_of_the_matrix(driver, shape, columns):
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=shape), generator.normal(size=(shape[0], *columns))
    x, residuals, rank, s = linalg.lstsq(Tensor(a), Tensor(b), driver=driver)
    expected = scipy.linalg.lstsq(a, b, lapack_driver=driver or "gelsd")
    assert_close(x, expected[0], kind="program")
    assert rank == expected[2]
    if driver in (None, "gelsy"):
        assert residuals.shape == s.shape == (0,)
        return
    assert_close(s, expected[3], kind="program")
    assert_close(residuals, np.ravel(expected[1]), kind="program")


def test_least_squares_of_any_rank():
    a = np.ones((3, 2))
    x, _, rank, _ = jit(linalg.lstsq)(Tensor(a), Tensor([1.0, 2.0, 6.0], ms.float64))
    assert_close(x, [1.5, 1.5], kind="program")
    assert rank == 1
    with pytest.raises(ValueError, match="'gelsy', 'gelss' or 'gelsd'"):
        linalg.lstsq(Tensor(a), Tensor([1.0, 2.0, 3.0]), driver="other")


def test_signatures_and_constants():
    made = signature.make_sig("x", signature.sig_rw.RW_WRITE, dtype=signature.sig_dtype.T1)
    assert (made.name, made.rw.name, made.dtype.name) == ("x", "RW_WRITE", "T1")
    assert _constants.kMakeTuple == "MakeTuple"
    assert _checkparam.twice(2) == (2, 2)
    for wrong in ([3, 4], (1, 2, 3), "3"):
        with pytest.raises(TypeError, match="tuple of two ints"):
            _checkparam.twice(wrong)
    with pytest.raises(ValueError, match="must be NCHW, but got NHWC"):
        _checkparam.check_input_format("NHWC")
    with pytest.raises(NotImplementedError, match="ModelCheckpoint itself keeps the latest"):
        _CheckpointManager()


@pytest.mark.parametrize("call", [lambda f: f, jit], ids=["eager", "compiled"])
def test_lists_index_as_tuples_unless_they_hold_numbers_only(call):
    x = np.arange(12.0).reshape(2, 2, 3)
    index = Tensor([0, 1])
    for given, like in [
        ([[0, 1], [1, 0]], ([0, 1], [1, 0])),
        ([Tensor(1), Tensor(0)], (1, 0)),
        ([index, 1], ([0, 1], 1)),
        ([slice(0, 1), 0], (slice(0, 1), 0)),
        ([0, 1], [0, 1]),
        ([True, False], [True, False]),
    ]:
        read = call(lambda x, given=given: x[given])(Tensor(x))
        np.testing.assert_array_equal(read.asnumpy(), x[like])


def test_axes_and_orders_are_given_as_tensors():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ops.ReduceSum()(x, Tensor([0])).asnumpy().tolist() == [4.0, 6.0]
    assert ops.amin(x, Tensor(1)).asnumpy().tolist() == [1.0, 3.0]
    assert ops.reduce_sum(x, Tensor([0, 1])) == 10.0
    constant = Tensor([0], const_arg=True)
    assert jit(lambda x, axis: ops.reduce_sum(x, axis))(x, constant).asnumpy().tolist() == [4.0, 6.0]
    with pytest.raises(TypeError, match=r"not known at compile time.* const_arg=True"):
        jit(lambda x, axis: ops.reduce_sum(x, axis))(x, Tensor([0]))
    assert ops.polygamma(Tensor(1), x).asnumpy().tolist() == ops.polygamma(1, x).asnumpy().tolist()
    with pytest.raises(ValueError, match="must be one number"):
        ops.polygamma(Tensor([1, 2]), x)


def test_a_maximum_of_all_axes_keeps_none():
    x = Tensor([[1.0, 5.0]])
    for results in (ops.max(x, keepdims=True), x.argmin_with_value(axis=None, keep_dims=True)):
        assert [each.shape for each in results] == [(), ()]


def test_generated_operators_are_found_without_an_import():
    program = (
        "import mindgrad as ms; print(ms.ops.auto_generate.add_ext(ms.Tensor([1.0]), ms.Tensor([2.0]), 3))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[7.]\n"


def test_bilinear_forms_of_given_weights():
    generator = np.random.default_rng(0)
    x, y, weight = (generator.normal(size=shape) for shape in ((3, 2), (3, 4), (5, 2, 4)))
    found = ops.bidense(Tensor(x), Tensor(y), Tensor(weight), ops.ones(5, ms.float64))
    assert_close(found, np.einsum("bi,oij,bj->bo", x, weight, y) + 1, kind="program")
    with pytest.raises(ValueError, match=r"shape \(k, 2, 4\)"):
        ops.bidense(Tensor(x), Tensor(y), Tensor(weight[0]))


def test_pooling_with_indices_of_either_type():
    x = Tensor(np.arange(16.0, dtype=np.float32).reshape(1, 1, 4, 4))
    for dtype in (ms.int32, ms.int64):
        values, indices = ops.MaxPoolWithArgmaxV2(2, argmax_type=dtype)(x)
        assert indices.dtype == dtype
        np.testing.assert_array_equal(values.asnumpy().ravel(), indices.asnumpy().ravel())
