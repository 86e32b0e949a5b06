"""tests/tolerances.py: limits follow from types and kinds, and a comparison outside of them fails."""

import ml_dtypes
import numpy as np
import pytest

import mindgrad as ms
from tests.tolerances import KINDS, assert_close, tolerance

EPSILON = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}


@pytest.mark.parametrize("kind", KINDS)
def test_tolerance_of_every_kind_leaves_digits(kind):
    for name, most in {"float16": 0.1, "bfloat16": 0.2, "float32": 2e-3, "float64": 1e-6}.items():
        assert 0 <= tolerance(getattr(ms, name), kind) < most


def test_tolerance_counts_roundings_of_the_coarsest_type():
    assert tolerance([np.float64, ms.float32, np.int64], "program") == 256 * EPSILON["float32"]
    assert tolerance(np.complex64) == tolerance(np.float32)
    assert tolerance(ml_dtypes.bfloat16, "ill-conditioned") == 8 * EPSILON["bfloat16"]
    assert tolerance([np.int32, np.bool_], "law") == 0
    assert tolerance(np.float64, "contraction", length=1600) == 640 * EPSILON["float64"]
    assert tolerance(np.float64, "program", order=2) == 100 * tolerance(np.float64, "program")


def test_assert_close_finds_the_type_of_its_arguments():
    close, wide = ms.Tensor([1.0, 2.0]), np.array([1.0 + 1e-6, 2.0])
    assert_close(close, wide)
    assert_close([close[0], close[1]], wide.tolist())
    assert_close(float(close[0]), 1 + 1e-6, dtype=np.float32)
    for actual, expected in ((wide, [1.0, 2.0]), (close, wide + 2e-6), (float(close[0]), 1 + 1e-6)):
        with pytest.raises(AssertionError, match=r"\(elementwise\)"):
            assert_close(actual, expected)


def test_assert_close_compares_with_the_largest_expected_element():
    small = np.array([1.0, 1e-9])
    off = small + [0, 1e-14]
    assert_close(off, small, "program")
    assert_close(1e-14, 0.0, "program", scale=1)
    for arguments in ({"kind": "program", "each": True}, {"kind": "elementwise"}):
        with pytest.raises(AssertionError, match="what it is"):
            assert_close(off, small, **arguments, what="what it is")
    with pytest.raises(AssertionError):
        assert_close(1e-14, 0.0, "program")


def test_assert_close_raises_on_integers_and_special_values():
    assert_close(ms.Tensor([np.nan, np.inf, 1.0]), [np.nan, np.inf, 1.0], "law")
    for actual, expected in ((np.array([3, 4]), np.array([3, 5])), ([np.nan], [1.0]), ([np.inf], [-np.inf])):
        with pytest.raises(AssertionError):
            assert_close(actual, expected, "difference")
