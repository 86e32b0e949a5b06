"""The Tensor: how it is made, what it is, its operators, methods, and what NumPy does with it."""

import copy
import pickle
import queue
import re

import ml_dtypes
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled

DTYPES = [getattr(ms, name) for name in ms.dtype.__all__ if name != "DType"]


def same(tensor, array):
    """``tensor`` has the element type, the shape and the values of ``array``."""
    array = np.asarray(array)
    assert isinstance(tensor, Tensor)
    assert (tensor.asnumpy().dtype, tensor.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(tensor.asnumpy(), array)


# --- construction ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "array"),
    [
        (1, np.int64(1)),
        (1.5, np.float32(1.5)),
        (True, np.bool_(True)),
        (1j, np.complex128(1j)),
        ([1, 2], np.array([1, 2], np.int64)),
        ((1.5, 2), np.array([1.5, 2], np.float32)),
        ([[1, 2], [3, 4.5]], np.array([[1, 2], [3, 4.5]], np.float32)),
        ([True, False], np.array([True, False])),
        ([True, 2], np.array([1, 2], np.int64)),
        ([True, 1.5], np.array([1, 1.5], np.float32)),
        ([1, 1j], np.array([1, 1j], np.complex128)),
        ([], np.zeros(0, np.float32)),
        ((), np.zeros(0, np.float32)),
        ([[]], np.zeros((1, 0), np.float32)),
        (2**40, np.int64(2**40)),
        (2**63, np.uint64(2**63)),
        (1e40, np.float32(np.inf)),
        (float("nan"), np.float32(np.nan)),
        (np.float64(1.5), np.float64(1.5)),
        (np.int8(1), np.int8(1)),
        (np.bool_(True), np.bool_(True)),
        ([np.float64(1.5)], np.array([1.5], np.float32)),
        ([np.int32(1)], np.array([1], np.int64)),
        ([np.ones(2), np.ones(2)], np.ones((2, 2), np.float32)),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.arange(3)[::-1], np.array([2, 1, 0])),
        (np.array([1.5], ">f4"), np.array([1.5], np.float32)),
        (np.array(2.0, np.float16), np.float16(2)),
        (np.array([1.5], ml_dtypes.bfloat16), np.array([1.5], ml_dtypes.bfloat16)),
        (Tensor([1, 2], ms.int8), np.array([1, 2], np.int8)),
        ([Tensor(1.5), 2.5], np.array([1.5, 2.5], np.float32)),
        ([Tensor([1, 2], ms.int32), [3, 4]], np.array([[1, 2], [3, 4]], np.int64)),
    ],
)
def test_the_element_type_follows_from_the_data(data, array):
    same(Tensor(data), array)


@pytest.mark.parametrize("source", DTYPES)
def test_every_element_type_from_every_other(source):
    x = Tensor([0, 1, 3]).astype(source)
    assert x.dtype is source
    compiled = Compiled(lambda x: [x.astype(target) for target in DTYPES])(x)
    for target, found in zip(DTYPES, compiled, strict=True):
        values = x.asnumpy()
        if source.kind == "complex" and target.kind != "complex":
            values = values.real
        values = values.astype(target.numpy)
        for each in (Tensor(x, target), x.astype(target), Tensor(x.asnumpy(), target), found):
            same(each, values)


@pytest.mark.parametrize(
    ("data", "dtype", "array"),
    [
        (-1, ms.uint8, np.uint8(255)),
        (300, ms.uint8, np.uint8(44)),
        (1.7, ms.int32, np.int32(1)),
        ([1.5, 0.0], ms.bool_, np.array([True, False])),
        (1 + 2j, ms.float32, np.float32(1)),
        ([1], "float32", np.array([1], np.float32)),
        ([1], np.float16, np.array([1], np.float16)),
        ([1], int, np.array([1], np.int64)),
        ([1], bool, np.array([True])),
        (1e40, ms.float16, np.float16(np.inf)),
    ],
)
def test_the_element_type_that_is_asked_for(data, dtype, array):
    same(Tensor(data, dtype), array)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({}, TypeError, "type of 'input_data' should be one of"),
        ({"input_data": "a"}, TypeError, "but got 'a' of type str"),
        ({"input_data": {1: 2}}, TypeError, "of type dict"),
        ({"input_data": {1, 2}}, TypeError, "of type set"),
        ({"input_data": iter([3])}, TypeError, "of type list_iterator"),
        ({"input_data": b"a"}, TypeError, "of type bytes"),
        ({"input_data": len}, TypeError, "'input_data'"),
        ({"input_data": [[1, 2], [3]]}, TypeError, r"data is \[\[1, 2\], \[3\]\] that contain unsupported"),
        ({"input_data": ["a"]}, TypeError, "contain unsupported element"),
        ({"input_data": [1, "a"]}, TypeError, "contain unsupported element"),
        ({"input_data": [None]}, TypeError, "contain unsupported element"),
        ({"input_data": 2**70}, TypeError, "contain unsupported element"),
        ({"input_data": [Tensor([1.0]), 2.0]}, TypeError, "contain unsupported element"),
        ({"input_data": np.array(["a"])}, TypeError, "NumPy array of type <U1"),
        ({"input_data": np.array([None])}, TypeError, "NumPy array of type object"),
        ({"input_data": np.datetime64("2020-01-01")}, TypeError, "datetime64"),
        ({"input_data": np.ones(2, np.longdouble)}, TypeError, "NumPy array of type"),
        ({"input_data": [1], "dtype": "number"}, TypeError, "is not a dtype"),
        ({"input_data": [1], "dtype": 3}, TypeError, "is not a dtype"),
        ({"input_data": [1, 2], "shape": (2,)}, ValueError, "'shape' and 'init' should be set to None"),
        ({"input_data": [1, 2], "init": 1}, ValueError, "'shape' and 'init' should be set to None"),
        ({"shape": (2,), "init": 1}, ValueError, "'init', 'dtype', and 'shape' must be passed together"),
        (
            {"init": 1, "dtype": ms.float32},
            ValueError,
            "'init', 'dtype', and 'shape' must be passed together",
        ),
        ({"shape": (2,), "init": "one", "dtype": ms.float32}, TypeError, "'init' must be a number"),
    ],
)
def test_what_no_tensor_can_be_made_of(arguments, kind, text):
    with pytest.raises(kind, match=text):
        Tensor(**arguments)


def test_initializers():
    same(Tensor(shape=(2,), dtype=ms.float16, init=1.5), np.full(2, 1.5, np.float16))

    def countdown(array):
        array[...] = np.arange(array.size)[::-1]

    same(Tensor(shape=3, dtype=ms.int32, init=countdown), np.array([2, 1, 0], np.int32))


def test_a_tensor_shares_nothing_with_what_it_was_made_of_or_gives():
    array = np.array([1.0, 2.0])
    x = Tensor(array)
    y = Tensor(x)
    array[0] = 9
    x.asnumpy()[1] = 9
    y[0] = 5.0
    same(x, np.array([1.0, 2.0]))


def test_a_traced_tensor_is_passed_on_and_never_cut_off():
    def f(x):
        return (Tensor(x) * Tensor(x, ms.float64)).sum()

    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        same(gradient(Tensor([1.0, 2.0])), np.array([2, 4], np.float32))
    w = Parameter(Tensor([3.0]), name="w")
    op = ops.GradOperation(get_by_list=True)
    same(op(lambda x: Tensor(w) * x, ms.ParameterTuple([w]))(Tensor([2.0]))[0], np.array([2], np.float32))
    for run in (ops.grad, lambda f: Compiled(ops.grad(f))):
        with pytest.raises(TypeError, match=r"derivative would be lost.*with stack"):
            run(lambda x: Tensor([x[0], 1.0]).sum())(Tensor([1.0, 2.0]))


# --- what it is ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_attributes_of_every_type_and_shape(dtype, shape):
    a = np.ones(shape, dtype.numpy)
    x = Tensor(a)
    assert (x.shape, x.dtype, x.ndim, x.size) == (a.shape, dtype, a.ndim, a.size)
    assert (x.itemsize, x.nbytes) == (a.itemsize, a.nbytes)
    assert x.strides == np.ones(shape or (1,), dtype.numpy).strides[: len(shape)] or 0 in shape
    assert (x.dim(), x.numel(), x.has_init) == (a.ndim, a.size, False)
    assert x.is_floating_point() == (dtype.kind == "float")
    assert x.is_complex() == (dtype.kind == "complex")
    assert repr(x).startswith(f"Tensor(shape={list(shape)}, dtype={dtype}, value=")
    assert str(x) == str(a.astype(np.float32) if dtype is ms.bfloat16 else a)
    assert x.tolist() == a.tolist()
    pickled = pickle.loads(pickle.dumps(x))
    for other in (copy.copy(x), copy.deepcopy(x), pickled, x.copy(), Tensor(x)):
        assert other is not x
        same(other, a)
    if a.size == 1:
        assert x.item() == a.item()
        assert bool(x) is True
        assert f"{x:}" == str(x)
    else:
        with pytest.raises(ValueError, match=f"should have only one element, but got {a.size}"):
            x.item()
        with pytest.raises(ValueError, match=f"should have only one element, but got {a.size}"):
            bool(x)


def test_numbers_from_tensors():
    assert float(Tensor([1.5])) == 1.5
    assert int(Tensor(1.7)) == 1
    assert complex(Tensor(1j)) == 1j
    assert Tensor([[1.0, 2.0]]).item(1) == 2.0
    assert Tensor([[1.0, 2.0]]).item((0, 1)) == 2.0
    assert f"{Tensor(1.25):.1f}" == "1.2"
    assert range(5)[Tensor(2)] == 2
    for number in (float, int, complex):
        with pytest.raises(ValueError, match="Only one element tensors can be converted"):
            number(Tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match="Float32 cannot be used as an index"):
        range(5)[Tensor(2.0)]
    assert len(Tensor([[1.0, 2.0]])) == 1
    with pytest.raises(TypeError, match="Not support len of a 0-D tensor"):
        len(Tensor(1.0))


def test_tensors_are_told_apart_by_identity():
    x, y = Tensor([1.0]), Tensor([1.0])
    assert {x: 1, y: 2}[x] == 1
    assert hash(x) != hash(y)


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.asnumpy(),
        lambda x: x.numpy(),
        lambda x: x.tolist(),
        lambda x: x[0].item(),
        lambda x: float(x[0]),
        lambda x: int(x[0]),
        lambda x: range(5)[ops.cast(x[0], ms.int32)],
        lambda x: x.reshape(ops.cast(x, ms.int32)),
    ],
)
def test_values_are_unknown_while_compiling(read):
    with pytest.raises(TypeError, match=r"not known at compile time|used as the key"):
        Compiled(read)(Tensor([1.0, 2.0]))


def test_truth_is_unknown_while_compiling():
    with pytest.raises(TypeError, match=r"where\(condition, x, 0\)"):
        Compiled(lambda x: [y for y in (x, -x) if y > 0])(Tensor(1.0))


def test_printing_while_compiling_says_so():
    seen = queue.Queue()
    Compiled(lambda x: (seen.put((str(x), repr(x), f"{x}")), x)[1])(Tensor([1.0, 2.0]))
    for text in seen.queue[0]:
        assert re.fullmatch(r"Tensor\(shape=\[2\], dtype=Float32, value=<being compiled: \d+>\)", text)
