"""How far two results of a test may be apart: one rule for all tests.

The limit of a comparison follows from its element type and its kind, see ``KINDS``. It does not depend on the numbers
that one machine happened to compute: another processor fuses other multiply-adds and adds in another order.
eps is the distance from 1 to the next number of the type. Two rules give the limits:

- *Counted roundings*: a result at the end of a known chain of operations has a relative error of at most
  ``roundings * eps``. The counts include a factor of about 10 for functions that are exact to a few eps and for
  condition numbers above 1. Kernels compute in float32 if a type has two bytes, and round each result once:
  there a chain counts as at most ``ROUNDINGS_OF_HALVES`` roundings.
- *Lost digits*: if the condition is known only roughly, a share of the digits must agree: ``eps ** share``.
  Two thirds are 10 of 16 digits in float64 and 5 of 7 in float32.

A test states a number of its own if the number is its subject: tables of accuracy, tails of functions, the limits
that a solver received, statistics of random samples.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from mindgrad.core.ir.dtype import as_dtype

__all__ = ["assert_close", "tolerance"]


class Kind(NamedTuple):
    """One kind of comparison.

    Attributes:
        roundings: the largest relative error in units of eps; ``None`` if a share of the digits must agree.
        share: the share of the digits that must agree if ``roundings`` is ``None``.
        elementwise: whether each element is compared relative to itself. Sums mix elements of different sizes, so
            otherwise the errors are relative to the largest expected element.
    """

    roundings: float | None = None
    share: float = 1.0
    elementwise: bool = False


KINDS = {
    # copies and integers
    "exact": Kind(roundings=0, elementwise=True),
    # a few functions of each element, one after another
    "elementwise": Kind(roundings=16, elementwise=True),
    # sums and products of up to 16 elements; for more, the count grows with the square root of ``length``
    "contraction": Kind(roundings=64),
    # a program of some ten operators against a formula or in two modes: eager, compiled, batched, differentiated
    "program": Kind(roundings=256),
    # a deep network, or several steps of an optimizer, each of which starts from the errors of the step before
    "long program": Kind(roundings=1024),
    # condition numbers up to about 1000: linear systems, spectra, differences of nearly equal numbers
    "ill-conditioned": Kind(roundings=4096),
    # operators at random samples, special functions against another implementation
    "law": Kind(share=2 / 3),
    # an iteration that stopped at its own limit, or whose steps feed their errors into the next ones
    "iteration": Kind(share=1 / 2),
    # central difference quotients: the step divides the roundings, and the truncation adds to them
    "difference": Kind(share=2 / 5),
    # difference quotients of fourth order
    "fine difference": Kind(share=1 / 2),
}

#: largest number of roundings that is counted for float16 and bfloat16
ROUNDINGS_OF_HALVES = 8


def tolerance(dtypes: Any, kind: str = "elementwise", *, length: int = 16, order: int = 0) -> float:
    """Return the largest error, relative to the expected values, of a comparison.

    Args:
        dtypes: an element type or a list of several; the coarsest of them counts. Integers and Booleans are exact.
        kind: one of ``KINDS``.
        length: number of elements that a contraction adds up. Its count of roundings grows with the square root,
            because roundings have either sign.
        order: order of a derivative. Each order makes the chain longer and the condition worse, together by about 10.

    Examples:
        >>> tolerance(np.float32) / 2**-23
        16.0
        >>> tolerance([np.float64, np.int32], "contraction", length=1024) / 2**-52
        512.0
    """
    given = dtypes if isinstance(dtypes, list) else [dtypes]
    epsilon = max(
        (float(ml_dtypes.finfo(d.numpy).eps) for d in map(as_dtype, given) if d.is_inexact), default=0.0
    )
    rule = KINDS[kind]
    if rule.roundings is None:
        return epsilon**rule.share * 10**order
    roundings = rule.roundings * max(1.0, math.sqrt(length / 16)) * 10**order
    if epsilon > np.finfo(np.float32).eps:
        roundings = min(roundings, ROUNDINGS_OF_HALVES)
    return roundings * epsilon


def assert_close(
    actual: Any,
    expected: Any,
    kind: str = "elementwise",
    *,
    each: bool = False,
    scale: float = 0.0,
    length: int = 16,
    order: int = 0,
    dtype: Any = None,
    what: str = "",
) -> None:
    """Raise ``AssertionError`` with the numbers unless two results agree as well as their types and kind allow.

    Args:
        actual: a tensor, an array, a number, or a sequence of these.
        expected: the result to compare with: a number, or of the same shape. NaN equals NaN, and infinities must agree.
        kind: one of ``KINDS``.
        each: whether each element is compared relative to itself although sums mix them: small elements count.
        scale: size of the numbers that cancelled in a result that is smaller, such as a gradient that is zero.
        length: number of elements that a contraction adds up.
        order: order of a derivative.
        dtype: element type, or a list of several, in which the numbers were computed. Default: the coarsest type of
            the arguments. Python numbers have none; if both arguments consist of them, float64.
        what: name of the result for the message.

    Examples:
        >>> assert_close(np.float32([0.1, 0.2]), [0.1, 0.2])
    """
    if dtype is None:
        dtype = [*element_types(actual), *element_types(expected)] or np.float64
    limit = tolerance(dtype, kind, length=length, order=order)
    found, wanted = wide_array(actual), wide_array(expected)
    each = each or KINDS[kind].elementwise
    if not each:
        scale = max(scale, float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0)))
    np.testing.assert_allclose(
        found, wanted, rtol=limit if each else 0, atol=limit * scale, err_msg=f"{what} ({kind})"
    )


def element_types(value: Any) -> list[Any]:
    """Return the element types in a value; Python numbers have none."""
    if hasattr(value, "dtype"):
        return [value.dtype]
    return [each for part in value for each in element_types(part)] if isinstance(value, list | tuple) else []


def wide_array(value: Any) -> np.ndarray:
    """Return the numbers of a value: integers as they are, others in float64 or complex128."""
    if isinstance(value, list | tuple):
        return np.asarray([wide_array(part) for part in value])
    array = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    wide = {"b": bool, "i": np.int64, "u": np.uint64, "c": np.complex128}
    return array.astype(wide.get(array.dtype.kind, np.float64))
