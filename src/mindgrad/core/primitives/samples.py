"""Samples: inputs on which the tests check the rules of each primitive.

A sample is one call of a primitive with random operands. A *domain* describes how an operand is drawn. The
samples of a pointwise primitive are given by one domain per operand, and the samples of any other primitive
by a list of *cases*. A case consists of a domain and a shape for each operand, and the parameters of the
primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mindgrad.core.ir.dtype import DType, as_dtype
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Array, Rule, Statics
from mindgrad.core.ir.types import Shape

__all__ = ["Case", "Domain", "booleans", "case", "draw", "fixed", "integers", "reals"]

_SHAPES: tuple[tuple[int, ...], ...] = ((3, 2), (), (0,))


class Domain:
    """The domain of an operand, from which ``make(generator, shape)`` draws an array."""

    __slots__ = ("make", "shape")

    def __init__(self, make: Rule, shape: Shape | None = None):
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
    return Domain(lambda generator, shape: generator.integers(0, 2, shape).astype(bool))


def fixed(values: object) -> Domain:
    """Return a domain from which only the array ``values`` is drawn."""
    array = np.asarray(values)
    return Domain(lambda generator, shape: array, array.shape)


class Case:
    """One sample call of a primitive: its parameters, and a domain for each operand."""

    __slots__ = ("accepts", "domains", "parameters", "prepare")

    def __init__(
        self, domains: tuple[Domain, ...], parameters: Statics, accepts: str, prepare: Callable | None
    ):
        self.domains = domains
        self.parameters = parameters
        self.accepts = accepts
        self.prepare = prepare


def case(
    *domains: Domain, accepts: str = "inexact", prepare: Callable | None = None, **parameters: object
) -> Case:
    """Return a case. ``prepare(*arrays)``, if given, replaces the drawn operands."""
    return Case(domains, parameters, accepts, prepare)


def draw(primitive: Primitive, dtype: DType, seed: int = 0) -> Iterator[tuple[list, dict]]:
    """Yield sample calls ``(arrays, parameters)`` of ``primitive``."""
    generator = np.random.default_rng(seed)
    samples = primitive.samples
    if samples is None:
        raise ValueError(f"the operator '{primitive.name}' declares no samples, so no test can call it.")
    if isinstance(samples, tuple):
        domains, count, accepts = samples
        listed = domains if isinstance(domains, tuple) else (domains,) * count
        cases = [Case(tuple(d[s] for d in listed), {}, accepts, None) for s in _SHAPES]
    else:
        cases = samples  # type: ignore[assignment]  # a sampled operator has cases
    for case in cases:
        arrays = [_typed(d.make(generator, d.shape), dtype, generator, d) for d in case.domains]
        if case.prepare is not None:
            arrays = [np.asarray(a) for a in case.prepare(*arrays)]
        yield arrays, case.parameters


def _typed(array: Array, dtype: DType, generator: np.random.Generator, domain: Domain) -> Array:
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array
    if dtype.kind == "complex":
        array = array + 1j * np.asarray(domain.make(generator, domain.shape))
    if dtype.kind in ("int", "uint"):
        array = np.round(np.abs(array) if dtype.kind == "uint" else array)
    return array.astype(as_dtype(dtype).numpy)
