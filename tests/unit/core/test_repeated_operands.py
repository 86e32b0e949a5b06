"""Operands that come again: what is known of them from the first time is right the second time too."""

import contextvars
import threading
import warnings

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.core.base.tables import tabulated
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.ops import operands

#: numbers that are equal, or whose text is, and that are not the same operand
ALIKE = [1, 1.0, True, 1 + 0j, np.float32(1.0), 0, 0.0, -0.0, False, 2**40, float(2**40)]


def _fresh(monkeypatch):
    monkeypatch.setattr(operands, "_NUMBERS", {})
    monkeypatch.setattr(operands, "_AS_THEY_ARE", set())


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "bool_", "complex64"])
def test_numbers_that_are_equal_are_operands_of_their_own(monkeypatch, dtype):
    """Each number in any order gives what it gives where nothing is remembered."""
    x = Tensor(np.array([1, 0]), getattr(ms, dtype))

    def values(number):
        made = []
        for compute in (
            lambda: x + number, lambda: number - x, lambda: x * number, lambda: number / x, lambda: x / number,
            lambda: ops.atan2(x, number), lambda: x == number, lambda: ops.floor_div(x, number),
        ):  # fmt: skip
            try:
                y = compute()
                made.append((str(y.dtype), y.asnumpy().tobytes()))
            except (TypeError, OverflowError) as error:
                made.append(str(error))
        return made

    expected = []
    for number in ALIKE:
        _fresh(monkeypatch)
        expected.append(values(number))
    _fresh(monkeypatch)
    for _ in range(2):
        assert [values(number) for number in ALIKE] == expected
        assert [values(number) for number in reversed(ALIKE)] == expected[::-1]


def test_sign_of_a_zero_that_comes_again():
    x = Tensor([1.0])
    for _ in range(2):
        assert (x / 0.0).asnumpy() == np.inf
        assert (x / -0.0).asnumpy() == -np.inf


def test_nan_that_comes_again_is_nan():
    x = Tensor([1.0])
    for nan in [float("nan")] * 2 + [float("nan")]:
        assert np.isnan((x + nan).asnumpy()).all()


def test_numbers_kept_are_few(monkeypatch):
    _fresh(monkeypatch)
    x = Tensor([1.0])
    for k in range(3 * operands._NUMBERS_KEPT):
        y = x + float(k)
    assert y.asnumpy() == 3 * operands._NUMBERS_KEPT
    assert 0 < len(operands._NUMBERS) <= operands._NUMBERS_KEPT


def test_number_kept_cannot_be_written():
    x = Tensor([1.0])
    x + 17.25
    arrays = [t._array for key, t in operands._NUMBERS.items() if key[3] == 17.25]
    assert len(arrays) == 1
    with pytest.raises(ValueError, match="read-only"):
        arrays[0][...] = 0


def test_type_that_a_row_refuses_is_refused_again():
    for _ in range(3):
        with pytest.raises(TypeError, match="For 'BitwiseAnd'"):
            ops.bitwise_and(Tensor([1.0]), Tensor([2.0]))
        with pytest.raises(TypeError, match="For 'Neg'"):
            -Tensor([True])


def test_integers_become_float_each_time():
    x = Tensor([1, 2])
    for _ in range(3):
        assert (x / x).dtype == ms.float32
        assert ops.sin(x).dtype == ms.float32
        assert ops.truncate_div(x, x).dtype == ms.int64  # the same row, not for floats only
        assert (x / 2).dtype == ms.float32


def test_shapes_that_do_not_broadcast_are_refused_each_time():
    for _ in range(2):
        with pytest.raises(ValueError, match="For 'Add', the shapes"):
            Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="For 'Mul', the shapes"):
            Tensor([1.0, 2.0]) * Tensor([1.0, 2.0, 3.0])


def test_parameter_that_changes_is_read_again():
    p = Parameter(Tensor([1.0]), name="p")
    seen = []
    for k in range(3):
        seen.append(float((p * 2.0 + Tensor([0.0])).asnumpy()[0]))
        p.set_data(Tensor([k + 5.0]))
    assert seen == [2.0, 10.0, 12.0]


# -- indices, axes and shapes ------------------------------------------------------------------------------

#: indices of which many are equal, and that are not the same index
INDICES = [
    1, True, np.int64(1), (1,), [1], np.bool_(True), (True,), None, (None, 1), (1, None), ..., (1, ...), (..., 1),
    slice(1, None), (slice(1, None),), (slice, 1), slice(True, None), slice(np.int64(1), None), slice(None, None, -1),
    (slice(None), 1), (1, slice(None)), (-1, slice(None, None, 2)), 0, False, -1, (0, 0), ((1,), (1,)), (), 7, 1.0,
]  # fmt: skip


def _read(x, index):
    try:
        return x[index].asnumpy() if isinstance(x, Tensor) else np.asarray(x[index])
    except (IndexError, TypeError) as error:
        return type(error)


@pytest.mark.parametrize("order", [1, -1])
def test_indices_that_are_equal_are_indices_of_their_own(order):
    array = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    x = Tensor(array)
    alone = []
    for index in INDICES:
        tabulated.cache_clear()
        alone.append(_read(x, index))
    for _ in range(2):
        for index, expected in list(zip(INDICES, alone, strict=True))[::order]:
            actual = _read(x, index)
            if isinstance(expected, type):
                assert actual is expected, index
            else:
                assert actual.shape == expected.shape, index
                assert (actual == expected).all(), index
                assert (actual == _read(array, index)).all(), index
    assert tabulated.cache_info().currsize


def test_bound_that_is_a_tensor_is_read_each_time():
    x, n = Tensor([1.0, 2.0, 3.0]), Tensor(1)
    for first in (1, 2, 0):
        n.assign_value(Tensor(first))
        assert x[n:].asnumpy().tolist() == [1.0, 2.0, 3.0][first:]
        assert x[n].asnumpy() == first + 1


def test_truth_values_and_floats_are_no_axes_or_sizes_after_ints_were():
    x = Tensor(np.ones((2, 3), np.float32))
    for _ in range(2):
        assert x.sum(1).shape == (2,)
        assert x.sum((1,)).shape == (2,)
        assert x.reshape((1, 6)).shape == (1, 6)
        assert x.transpose((1, 0)).shape == (3, 2)
        assert ops.concat((x, x), 1).shape == (2, 6)
        assert x.sum(1, keepdims=True).shape == (2, 1)
        for wrong in (
            lambda: ops.sum(x, True), lambda: ops.sum(x, (True,)), lambda: ops.sum(x, 1.0), lambda: ops.sum(x, 1, 1),
            lambda: x.reshape((True, 6)), lambda: x.reshape((1.0, 6)), lambda: x.transpose((True, False)),
            lambda: ops.concat((x, x), True), lambda: ops.concat((x, x), 1.0),
        ):  # fmt: skip
            with pytest.raises(TypeError):
                wrong()
        for wrong in (
            lambda: x.sum(2),
            lambda: x.sum((1, 1)),
            lambda: x.reshape((4, 2)),
            lambda: x.transpose((1, 1)),
        ):
            with pytest.raises(ValueError, match="For '"):
                wrong()


# -- warnings of kernels ----------------------------------------------------------------------------------


def test_kernels_warn_of_nothing_and_leave_numpy_as_it_is():
    before = np.geterr()
    with np.errstate(all="raise"):
        assert (Tensor([1.0]) / 0.0).asnumpy() == np.inf
        assert np.isinf(ops.exp(Tensor([1000.0])).asnumpy()).all()
        with pytest.raises(FloatingPointError):
            np.float32(1) / np.float32(0)
    assert np.geterr() == before


def test_kernel_that_fails_leaves_numpy_as_it_is(monkeypatch):
    def kernel(x):
        raise ArithmeticError("no value")

    monkeypatch.setattr(REGISTRY["tan"], "numpy", kernel)
    before = np.geterr()
    for _ in range(2):
        with pytest.raises(ArithmeticError, match="no value"):
            ops.tan(Tensor([1.0]))
    assert np.geterr() == before
    assert (Tensor([1.0]) / 0.0).asnumpy() == np.inf


def test_kernels_inside_kernels_and_in_threads(monkeypatch):
    """As in a handler of a signal or a finalizer, which run in the middle of a kernel."""
    primitive = REGISTRY["tan"]
    inner = Tensor([1.0])

    def kernel(x):
        if threading.current_thread() is threading.main_thread() and len(started) < 3:
            started.append((inner / 0.0).asnumpy()[0])
            ops.tan(Tensor([0.5]))
        return np.divide(x, 0)

    started = []
    monkeypatch.setattr(primitive, "numpy", kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads = [
            threading.Thread(target=lambda: [ops.tan(Tensor([0.5])) for _ in range(50)]) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        assert np.isinf(ops.tan(Tensor([0.5])).asnumpy()).all()
        for thread in threads:
            thread.join()
    assert started == [np.inf] * 3


def test_functions_of_the_user_see_their_context_variables():
    variable = contextvars.ContextVar("variable", default="of nobody")
    variable.set("of the caller")
    seen = []

    def hook(gradient):
        seen.append(variable.get())
        variable.set("of the hook")
        return gradient * 2

    hooked = ops.HookBackward(lambda gradient: hook(gradient[0]))
    assert ms.grad(lambda x: hooked(x) * 3)(Tensor([1.0])).asnumpy() == 6
    assert seen[0] == "of the caller"
    assert variable.get() == "of the hook"
