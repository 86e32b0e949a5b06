"""Samples: inputs on which the tests check the rules of each primitive.

A sample is one call of a primitive with random operands. A *domain* describes how an operand is drawn. A
pointwise primitive has one domain per operand. Any other primitive has a list of *cases*: a domain and a
shape for each operand, and the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindgrad.ir.dtype import DType, as_dtype
from mindgrad.ir.primitive import Primitive

__all__ = ["Case", "Domain", "booleans", "case", "draw", "fixed", "integers", "reals"]

_SHAPES: tuple[tuple[int, ...], ...] = ((3, 2), (), (0,))


class Domain:
    """Domain of an operand; ``make(generator, shape)`` draws an array from it."""

    __slots__ = ("make", "shape")

    def __init__(self, make: Callable[[Any, tuple[int, ...]], np.ndarray], shape: Any = None):
        self.make = make
        self.shape = shape

    def __getitem__(self, shape: int | tuple[int, ...]) -> Domain:
        """Return this domain with a fixed shape, as in ``reals(-1, 1)[2, 3]``."""
        return Domain(self.make, shape if isinstance(shape, tuple) else (shape,))


def reals(low: float = -2.0, high: float = 2.0) -> Domain:
    """Return the domain of real numbers in [low, high).

    For complex types, real and imaginary parts are in this range.
    """
    return Domain(lambda generator, shape: generator.uniform(low, high, shape))


def integers(low: int, high: int) -> Domain:
    """Return the domain of integers in [low, high), drawn as int64 for all dtypes."""
    return Domain(lambda generator, shape: generator.integers(low, high, shape))


def booleans() -> Domain:
    """Return the domain of Booleans."""
    return Domain(lambda generator, shape: generator.integers(0, 2, shape).astype(bool))


def fixed(values: Any) -> Domain:
    """Return the domain that consists of exactly these values."""
    array = np.asarray(values)
    return Domain(lambda generator, shape: array, array.shape)


class Case:
    """One call of a primitive: a domain with a shape per operand, and the parameters."""

    __slots__ = ("accepts", "domains", "parameters", "prepare")

    def __init__(self, domains: tuple[Domain, ...], parameters: dict[str, Any], accepts: str, prepare: Any):
        self.domains = domains
        self.parameters = parameters
        self.accepts = accepts
        self.prepare = prepare


def case(*domains: Domain, accepts: str = "inexact", prepare: Any = None, **parameters: Any) -> Case:
    """Create a case; ``prepare(*arrays)`` may replace the drawn operands."""
    return Case(domains, parameters, accepts, prepare)


def draw(primitive: Primitive, dtype: DType, seed: int = 0) -> Iterator[tuple[list, dict]]:
    """Yield sample calls ``(arrays, parameters)`` of ``primitive``.

    Real numbers are converted to ``dtype``.
    """
    generator = np.random.default_rng(seed)
    samples = primitive.samples
    if isinstance(samples, tuple):
        domains, count, accepts = samples
        listed = domains if isinstance(domains, tuple) else (domains,) * count
        cases = [Case(tuple(d[s] for d in listed), {}, accepts, None) for s in _SHAPES]
    else:
        cases = samples
    for case in cases:
        arrays = [_typed(d.make(generator, d.shape), dtype, generator, d) for d in case.domains]
        if case.prepare is not None:
            arrays = [np.asarray(a) for a in case.prepare(*arrays)]
        yield arrays, case.parameters


def _typed(array: np.ndarray, dtype: DType, generator: Any, domain: Domain) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array
    if dtype.kind == "complex":
        array = array + 1j * np.asarray(domain.make(generator, domain.shape))
    if dtype.kind in ("int", "uint"):
        array = np.round(np.abs(array) if dtype.kind == "uint" else array)
    return array.astype(as_dtype(dtype).numpy)
