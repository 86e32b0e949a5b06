"""Elementwise functions of NumPy, for type checkers and editors.

Written by `scripts/stubs.py` from the table in `mindgrad/numpy/pointwise.py`; do not edit.
"""

from typing import Any

from mindgrad.ir.tensor import Tensor

__all__ = ['absolute', 'add', 'arccos', 'arccosh', 'arcsin', 'arcsinh', 'arctan', 'arctan2', 'arctanh', 'bitwise_and', 'bitwise_not', 'bitwise_or', 'bitwise_xor', 'cbrt', 'ceil', 'copysign', 'cos', 'cosh', 'deg2rad', 'divide', 'equal', 'exp', 'exp2', 'expm1', 'fabs', 'fix', 'float_power', 'floor', 'floor_divide', 'fmod', 'gcd', 'greater', 'greater_equal', 'heaviside', 'hypot', 'invert', 'isfinite', 'isinf', 'isnan', 'isneginf', 'isposinf', 'lcm', 'less', 'less_equal', 'log', 'log10', 'log1p', 'log2', 'logaddexp', 'logaddexp2', 'logical_and', 'logical_not', 'logical_or', 'logical_xor', 'maximum', 'minimum', 'multiply', 'negative', 'not_equal', 'positive', 'power', 'rad2deg', 'radians', 'reciprocal', 'remainder', 'rint', 'sign', 'signbit', 'sin', 'sinh', 'sqrt', 'square', 'subtract', 'tan', 'tanh', 'true_divide', 'trunc']

def absolute(x: Any, dtype: Any = None) -> Tensor:
    """Of each element |x|; see `mindgrad.ops.abs`."""
def add(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements x1 + x2; see `mindgrad.ops.add`."""
def arccos(x: Any, dtype: Any = None) -> Tensor:
    """Of each element arccos x; see `mindgrad.ops.acos`."""
def arccosh(x: Any, dtype: Any = None) -> Tensor:
    """Of each element arcosh x; see `mindgrad.ops.acosh`."""
def arcsin(x: Any, dtype: Any = None) -> Tensor:
    """Of each element arcsin x; see `mindgrad.ops.asin`."""
def arcsinh(x: Any, dtype: Any = None) -> Tensor:
    """Of each element arsinh x; see `mindgrad.ops.asinh`."""
def arctan(x: Any, dtype: Any = None) -> Tensor:
    """Of each element arctan x; see `mindgrad.ops.atan`."""
def arctan2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the angle of the point (x2, x1); see `mindgrad.ops.atan2`."""
def arctanh(x: Any, dtype: Any = None) -> Tensor:
    """Of each element artanh x; see `mindgrad.ops.atanh`."""
def bitwise_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the bits that x1 and x2 both have; see `mindgrad.ops.bitwise_and`."""
def bitwise_not(x: Any, dtype: Any = None) -> Tensor:
    """Of each element the bits that x has not; of truth values the opposite; see `mindgrad.ops.bitwise_not`."""
def bitwise_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the bits that x1 or x2 has; see `mindgrad.ops.bitwise_or`."""
def bitwise_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the bits that one of x1 and x2 has; see `mindgrad.ops.bitwise_xor`."""
def cbrt(x: Any, dtype: Any = None) -> Tensor:
    """Of each element ∛x; see `mindgrad.ops.cbrt`."""
def ceil(x: Any, dtype: Any = None) -> Tensor:
    """Of each element x rounded up; see `mindgrad.ops.ceil`."""
def copysign(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the size of x1 with the sign of x2; see `mindgrad.ops.copysign`."""
def cos(x: Any, dtype: Any = None) -> Tensor:
    """Of each element cos x; see `mindgrad.ops.cos`."""
def cosh(x: Any, dtype: Any = None) -> Tensor:
    """Of each element cosh x; see `mindgrad.ops.cosh`."""
def deg2rad(x: Any, dtype: Any = None) -> Tensor:
    """Of each element degrees as radians; see `mindgrad.ops.deg2rad`."""
def divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements x1 / x2; see `mindgrad.ops.true_divide`."""
def equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether x1 = x2; see `mindgrad.ops.equal`."""
def exp(x: Any, dtype: Any = None) -> Tensor:
    """Of each element exp x; see `mindgrad.ops.exp`."""
def exp2(x: Any, dtype: Any = None) -> Tensor:
    """Of each element 2 to the power of x; see `mindgrad.ops.exp2`."""
def expm1(x: Any, dtype: Any = None) -> Tensor:
    """Of each element exp x − 1; see `mindgrad.ops.expm1`."""
def fabs(x: Any, dtype: Any = None) -> Tensor:
    """Of each element |x|; see `mindgrad.ops.abs`."""
def fix(x: Any, dtype: Any = None) -> Tensor:
    """Of each element x rounded towards 0; see `mindgrad.ops.trunc`."""
def float_power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements x1 to the power of x2, as floating-point numbers; see `mindgrad.ops._power_of_floats`."""
def floor(x: Any, dtype: Any = None) -> Tensor:
    """Of each element x rounded down; see `mindgrad.ops.floor`."""
def floor_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements x1 / x2 rounded down; see `mindgrad.ops.floor_div`."""
def fmod(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the remainder of x1 / x2 with the sign of x1; see `mindgrad.ops.fmod`."""
def gcd(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the greatest common divisor of integers; see `mindgrad.ops.gcd`."""
def greater(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether x1 > x2; see `mindgrad.ops.greater`."""
def greater_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether x1 ≥ x2; see `mindgrad.ops.greater_equal`."""
def heaviside(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements 0 below 0, 1 above, x2 at 0; see `mindgrad.ops.heaviside`."""
def hypot(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements √(x1² + x2²); see `mindgrad.ops.hypot`."""
def invert(x: Any, dtype: Any = None) -> Tensor:
    """Of each element the bits that x has not; of truth values the opposite; see `mindgrad.ops.bitwise_not`."""
def isfinite(x: Any, dtype: Any = None) -> Tensor:
    """Of each element whether x is finite; see `mindgrad.ops.isfinite`."""
def isinf(x: Any, dtype: Any = None) -> Tensor:
    """Of each element whether x is infinite; see `mindgrad.ops.isinf`."""
def isnan(x: Any, dtype: Any = None) -> Tensor:
    """Of each element whether x is not a number; see `mindgrad.ops.isnan`."""
def isneginf(x: Any, dtype: Any = None) -> Tensor:
    """Of each element whether x is −∞; see `mindgrad.ops.isneginf`."""
def isposinf(x: Any, dtype: Any = None) -> Tensor:
    """Of each element whether x is +∞; see `mindgrad.ops.isposinf`."""
def lcm(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the least common multiple of integers; see `mindgrad.ops.lcm`."""
def less(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether x1 < x2; see `mindgrad.ops.less`."""
def less_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether x1 ≤ x2; see `mindgrad.ops.less_equal`."""
def log(x: Any, dtype: Any = None) -> Tensor:
    """Of each element log x; see `mindgrad.ops.log`."""
def log10(x: Any, dtype: Any = None) -> Tensor:
    """Of each element log x to base 10; see `mindgrad.ops.log10`."""
def log1p(x: Any, dtype: Any = None) -> Tensor:
    """Of each element log (1 + x); see `mindgrad.ops.log1p`."""
def log2(x: Any, dtype: Any = None) -> Tensor:
    """Of each element log x to base 2; see `mindgrad.ops.log2`."""
def logaddexp(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements log (exp x1 + exp x2); see `mindgrad.ops.logaddexp`."""
def logaddexp2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements log (2^x1 + 2^x2) to base 2; see `mindgrad.ops.logaddexp2`."""
def logical_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether x1 and x2 are true; see `mindgrad.ops.logical_and`."""
def logical_not(x: Any, dtype: Any = None) -> Tensor:
    """Of each element whether x is false; see `mindgrad.ops.logical_not`."""
def logical_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether x1 or x2 is true; see `mindgrad.ops.logical_or`."""
def logical_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether one of x1 and x2 is true; see `mindgrad.ops.logical_xor`."""
def maximum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the greater one of x1 and x2; see `mindgrad.ops.maximum`."""
def minimum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the smaller one of x1 and x2; see `mindgrad.ops.minimum`."""
def multiply(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements x1 · x2; see `mindgrad.ops.mul`."""
def negative(x: Any, dtype: Any = None) -> Tensor:
    """Of each element −x; see `mindgrad.ops.neg`."""
def not_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements whether x1 ≠ x2; see `mindgrad.ops.not_equal`."""
def positive(x: Any, dtype: Any = None) -> Tensor:
    """Of each element x; see `mindgrad.ops.positive`."""
def power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements x1 to the power of x2; see `mindgrad.ops.pow`."""
def rad2deg(x: Any, dtype: Any = None) -> Tensor:
    """Of each element radians as degrees; see `mindgrad.ops.rad2deg`."""
def radians(x: Any, dtype: Any = None) -> Tensor:
    """Of each element degrees as radians; see `mindgrad.ops.deg2rad`."""
def reciprocal(x: Any, dtype: Any = None) -> Tensor:
    """Of each element 1 / x; see `mindgrad.ops.reciprocal`."""
def remainder(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements the remainder of x1 / x2 with the sign of x2; see `mindgrad.ops.floor_mod`."""
def rint(x: Any, dtype: Any = None) -> Tensor:
    """Of each element x rounded to integers, halves to even ones; see `mindgrad.ops.rint`."""
def sign(x: Any, dtype: Any = None) -> Tensor:
    """Of each element −1, 0 or 1 as x is below, at or above 0; see `mindgrad.ops.sign`."""
def signbit(x: Any, dtype: Any = None) -> Tensor:
    """Of each element whether x is negative, −0.0 among them; see `mindgrad.ops.signbit`."""
def sin(x: Any, dtype: Any = None) -> Tensor:
    """Of each element sin x; see `mindgrad.ops.sin`."""
def sinh(x: Any, dtype: Any = None) -> Tensor:
    """Of each element sinh x; see `mindgrad.ops.sinh`."""
def sqrt(x: Any, dtype: Any = None) -> Tensor:
    """Of each element √x; see `mindgrad.ops.sqrt`."""
def square(x: Any, dtype: Any = None) -> Tensor:
    """Of each element x²; see `mindgrad.ops.square`."""
def subtract(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements x1 − x2; see `mindgrad.ops.sub`."""
def tan(x: Any, dtype: Any = None) -> Tensor:
    """Of each element tan x; see `mindgrad.ops.tan`."""
def tanh(x: Any, dtype: Any = None) -> Tensor:
    """Of each element tanh x; see `mindgrad.ops.tanh`."""
def true_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Of each pair of elements x1 / x2; see `mindgrad.ops.true_divide`."""
def trunc(x: Any, dtype: Any = None) -> Tensor:
    """Of each element x rounded towards 0; see `mindgrad.ops.trunc`."""
