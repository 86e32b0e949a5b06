"""Samples of a primitive are the inputs on which the laws test it; they stand in its row.

A pointwise row gives a domain per operand. Any other row gives *cases*: operand domains with shapes,
and parameters.
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
    """The domain of an operand's samples: ``make(generator, shape)`` gives float64, int64 or bool."""

    __slots__ = ("make", "shape")

    def __init__(self, make: Callable[[Any, tuple[int, ...]], np.ndarray], shape: Any = None):
        self.make = make
        self.shape = shape

    def __getitem__(self, shape: int | tuple[int, ...]) -> Domain:
        """This domain with a fixed shape: ``reals(-1, 1)[2, 3]``."""
        return Domain(self.make, shape if isinstance(shape, tuple) else (shape,))


def reals(low: float = -2.0, high: float = 2.0) -> Domain:
    """Real numbers between ``low`` and ``high``, complex ones with both parts there."""
    return Domain(lambda generator, shape: generator.uniform(low, high, shape))


def integers(low: int, high: int) -> Domain:
    """Integers from ``low`` to ``high`` (excluded), stored as int64 whatever the row's dtype."""
    return Domain(lambda generator, shape: generator.integers(low, high, shape))


def booleans() -> Domain:
    """Truth values."""
    return Domain(lambda generator, shape: generator.integers(0, 2, shape).astype(bool))


def fixed(values: Any) -> Domain:
    """Exactly these values."""
    array = np.asarray(values)
    return Domain(lambda generator, shape: array, array.shape)


class Case:
    """One call of a row: a domain with a shape per operand, and the parameters."""

    __slots__ = ("accepts", "domains", "parameters", "prepare")

    def __init__(self, domains: tuple[Domain, ...], parameters: dict[str, Any], accepts: str, prepare: Any):
        self.domains = domains
        self.parameters = parameters
        self.accepts = accepts
        self.prepare = prepare


def case(*domains: Domain, accepts: str = "inexact", prepare: Any = None, **parameters: Any) -> Case:
    """A case of a row; ``prepare(*arrays)`` may shape the samples (make a matrix symmetric)."""
    return Case(domains, parameters, accepts, prepare)


def draw(primitive: Primitive, dtype: DType, seed: int = 0) -> Iterator[tuple[list, dict]]:
    """Sample calls ``(arrays, parameters)`` of ``primitive`` in which reals have type ``dtype``."""
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
