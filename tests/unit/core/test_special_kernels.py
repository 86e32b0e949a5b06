"""The special functions' NumPy kernels against SciPy, over their whole domains."""

import math

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import mindgrad.core.primitives.special as special
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives import special_kernels as kernels
from mindgrad.core.primitives.special import polygamma
from tests.tolerances import assert_close

EXTREMES = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]
POSITIVE = [0.0, 1.0, 2.0, math.inf, math.nan]
TINY = 10.0 ** np.linspace(-300, 0, 400)
HUGE = 10.0 ** np.linspace(0, 300, 400)


def points(low, high, *more, extremes=EXTREMES):
    return np.concatenate([np.linspace(low, high, 4001), *more, extremes])


#: kernel, oracle, where, allowed error relative to the larger of the value and the last number
CASES = {
    "erf": (kernels.erf_kernel, scipy.special.erf, points(-6, 6, TINY, HUGE), 2e-15, 0),
    "erfc": (kernels.erfc_kernel, np.vectorize(math.erfc), points(-6, 26, TINY, HUGE), 3e-15, 0),
    "erfinv": (kernels.erfinv_kernel, scipy.special.erfinv, points(-1, 1, TINY, 1 - TINY), 3e-15, 0),
    "lgamma": (
        kernels.lgamma_kernel,
        scipy.special.gammaln,
        points(0.01, 40, TINY, HUGE, extremes=POSITIVE),
        3e-15,
        1,
    ),
    "digamma": (
        kernels.digamma_kernel,
        scipy.special.digamma,
        points(0.01, 40, TINY, HUGE, extremes=POSITIVE),
        3e-15,
        1,
    ),
    "polygamma 1": (
        lambda x: kernels.polygamma_kernel(x, n=1),
        lambda x: scipy.special.polygamma(1, x),
        points(-20.5, 40, HUGE, extremes=POSITIVE),
        1e-13,
        0,
    ),
    "polygamma 5": (
        lambda x: kernels.polygamma_kernel(x, n=5),
        lambda x: scipy.special.polygamma(5, x),
        points(0.1, 40, HUGE[:40], extremes=POSITIVE),
        1e-13,
        0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_kernel_is_exact_to_a_few_roundings(name):
    kernel, oracle, x, within, least = CASES[name]
    with np.errstate(all="ignore"):
        actual, expected = kernel(x), oracle(x)
        off = np.abs(actual - expected) / np.maximum(np.abs(expected), max(least, 1e-300))
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    off = np.where(same, 0.0, off)
    worst = np.argmax(np.where(np.isnan(off), np.inf, off))
    assert off[worst] < within, f"{name}({x[worst]}) = {actual[worst]}, not {expected[worst]}"


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, np.float32], ids=lambda d: np.dtype(d).name
)
@pytest.mark.parametrize("name", ["erf", "erfc", "erfinv", "lgamma", "digamma", "sigmoid", "softplus"])
def test_narrow_types_are_rounded_once_or_twice(name, dtype):
    row = getattr(special, name)
    x = np.linspace(0.05, 0.95, 19).astype(dtype)
    actual = row.numpy(x)
    assert actual.dtype == x.dtype
    wanted = row.numpy(x.astype(np.float64))
    epsilon = float(ml_dtypes.finfo(dtype).eps)
    assert np.all(np.abs(actual.astype(np.float64) - wanted) <= 2 * epsilon * np.abs(wanted))


def test_lgamma_keeps_every_digit_next_to_its_roots():
    # log Γ(1 + z) = −γ z + ζ(2)/2 z² − …, log Γ(2 + z) = log(1 + z) + log Γ(1 + z); SciPy has 12 digits here
    z = 2.0**-26
    value = -0.5772156649015329 * z + math.pi**2 / 12 * z * z
    found = kernels.lgamma_kernel(np.array([1 + z, 2 + z]))
    assert_close(found, [value, math.log1p(z) + value], kind="contraction")


def test_values_at_poles():
    with np.errstate(all="ignore"):
        poles = np.array([0.0, -0.0, -1.0, -7.0, -math.inf])
        assert kernels.lgamma_kernel(poles).tolist() == [math.inf] * 5
        assert kernels.digamma_kernel(poles)[:2].tolist() == [-math.inf] * 2
        assert np.isnan(kernels.digamma_kernel(poles)[2:]).all()
        assert kernels.polygamma_kernel(poles, n=1)[:4].tolist() == [math.inf] * 4
        assert kernels.polygamma_kernel(poles, n=2)[:2].tolist() == [-math.inf] * 2
        assert np.isnan(kernels.polygamma_kernel(poles, n=2)[2:]).all()


def test_polygamma_refuses_what_is_no_order():
    x = np.float64(1.0)
    for order in (-1, 1.0, True):
        with pytest.raises(ValueError, match="order must be a nonnegative int"):
            polygamma.type_rule(type_of(x), n=order)
