"""``mindgrad.numpy`` where NumPy's functions take more than numbers: margins, types of Python, truth values."""

import numpy as np
import pytest

import mindgrad as ms
import mindgrad.numpy as mnp
from mindgrad import Tensor
from tests.tolerances import assert_close

DATA = np.random.default_rng(5).normal(size=(2, 3, 4)).astype(np.float32)
WIDTHS = [((1, 1), (2, 3), (4, 5)), ((1, 3), (5, 2), (3, 0))]
MARGINS = [
    dict(mode="constant", constant_values=((3, 4), (5, 6), (7, 8))),
    dict(mode="constant", constant_values=2),
    dict(mode="edge"),
    dict(mode="wrap"),
    dict(mode="mean", stat_length=((1, 2), (2, 10), (3, 4))),
    dict(mode="mean"),
    dict(mode="median"),
    dict(mode="maximum"),
    dict(mode="minimum", stat_length=2),
    dict(mode="linear_ramp", end_values=((0, 10), (9, 1), (-10, 99))),
]


@pytest.mark.parametrize("options", MARGINS, ids=lambda options: options["mode"])
def test_margins_are_those_of_numpy(options):
    for widths in WIDTHS:
        expected = np.pad(DATA, widths, **options)
        assert_close(mnp.pad(Tensor(DATA), widths, **options), expected, kind="program", each=True, scale=0.1)


@pytest.mark.parametrize("mode", ["mean", "linear_ramp", "maximum"])
def test_margins_of_integers_are_integers(mode):
    data = np.array([[0, 4, 9], [7, 2, 5]])
    result = mnp.pad(Tensor(data, ms.int32), 2, mode)
    assert result.dtype == ms.int32
    np.testing.assert_array_equal(result.asnumpy(), np.pad(data, 2, mode))


def test_a_margin_passes_its_gradient_to_what_it_comes_from():
    gradient = ms.grad(lambda x: mnp.pad(x, (2, 0), "mean").sum())(Tensor([1.0, 2.0, 6.0]))
    assert_close(gradient, np.full(3, 1 + 2 / 3))


def test_a_margin_by_a_function_is_refused():
    with pytest.raises(NotImplementedError, match=r"np\.concatenate"):
        mnp.pad([1, 2], 1, lambda *_: None)
    with pytest.raises(ValueError, match="must be one of"):
        mnp.pad([1, 2], 1, "ramp")


@pytest.mark.parametrize("window", [mnp.bartlett, mnp.blackman, mnp.hamming, mnp.hanning])
def test_a_window_of_no_places_is_empty(window):
    assert window(-3).shape == window(0).shape == (0,)


def test_numbers_are_truth_values_where_a_condition_stands():
    np.testing.assert_array_equal(mnp.where(Tensor([0.0, 2.0, -1.0]), 1, 0).asnumpy(), [0, 1, 1])
    np.testing.assert_array_equal(mnp.select([[0, 2]], [[5, 6]]).asnumpy(), [0, 6])
    np.testing.assert_array_equal(mnp.absolute(Tensor([True, False])).asnumpy(), [True, False])
    np.testing.assert_array_equal(mnp.cumsum([0, 2, 0], dtype="bool").asnumpy(), [False, True, True])


@pytest.mark.parametrize(("kind", "expected"), [(int, ms.int32), ("int", ms.int32), (float, ms.float32)])
def test_types_of_python_have_32_bits(kind, expected):
    assert mnp.zeros((2,), kind).dtype == mnp.asarray([1], kind).dtype == expected
    assert mnp.promote_types(kind, mnp.bool_) == expected


def test_a_copy_is_another_object():
    x = mnp.asarray([1.0, 2.0])
    assert mnp.array(x, copy=False) is x
    copied = mnp.array(x)
    x[0] = 7.0
    np.testing.assert_array_equal(copied.asnumpy(), [1, 2])


def test_edges_of_bins_may_be_one_tensor():
    edges, points = np.array([[0, 1, 2], [2, 4, 8]]), np.array([[0.5, 3.0], [1.5, 5.0], [9.0, 9.0]])
    counts, actual = mnp.histogramdd(Tensor(points), bins=Tensor(edges))
    expected = np.histogramdd(points, bins=list(edges))[0]
    np.testing.assert_array_equal(counts.asnumpy(), expected)
    np.testing.assert_array_equal(actual[1].asnumpy(), edges[1])


def test_no_differences_leave_the_tensor_alone():
    np.testing.assert_array_equal(mnp.diff([1.0, 4.0], 0, append=9.0).asnumpy(), [1, 4])


def test_filling_with_nothing_is_nan():
    assert np.isnan(Tensor([1.0]).fill(None).asnumpy()).all()
    with pytest.raises(TypeError, match="NaN"):
        Tensor([1]).fill(None)


def test_lists_that_differ_in_length_are_refused_as_by_numpy():
    with pytest.raises(ValueError, match="inhomogeneous"):
        mnp.empty_like([[1, 2, 3], [4, 5]])
