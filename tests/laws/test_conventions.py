"""Check the derivatives at kinks, jumps, and boundaries of domains in every mode.

First and second derivative; forward = reverse, all four second orders agree, NumPy = XLA. The same
table is ``docs/conventions.md``, written by ``python -m tests.laws.test_conventions``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mindgrad import Tensor
from mindgrad.ir.build import Builder, building
from mindgrad.ir.dtype import float64
from mindgrad.ir.evaluate import evaluate
from mindgrad.ir.graph import Graph
from mindgrad.ir.primitive import REGISTRY
from mindgrad.ir.scope import apply
from mindgrad.ir.types import tensor_type
from mindgrad.primitives.kinds import full, ones
from mindgrad.transforms.forward import forward
from mindgrad.transforms.reverse import pull_back, reverse
from tests.laws.checks import Program
from tests.laws.harness import ROWS, calls, difference, only_outputs

DOCUMENT = Path(__file__).parents[2] / "docs" / "conventions.md"
inf, nan = math.inf, math.nan


class Convention(NamedTuple):
    """An expression at a point, with its gradient and Hessian."""

    expression: str
    program: Callable[..., Any]
    point: tuple[Any, ...]
    first: Any
    second: Any
    because: str = ""


class Rows:
    """Rows as attributes: ``row.sin(x)``, of atoms or of tensors."""

    def __getattr__(self, name: str) -> Any:
        if name not in REGISTRY:
            raise AttributeError(f"there is no row named {name!r}")
        return of(name)


row = Rows()


def constant(x: Any, number: float) -> Any:
    return Tensor(full(x.type, number).array()) if isinstance(x, Tensor) else full(x.type, number)


def masked(inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """where(x > 0, inner(x), 0)."""
    return lambda x: row.select(x > 0, inner(x), constant(x, 0.0))


def mean(x: Any) -> Any:
    return row.reduce_sum(x, axes=(0,)) / x.shape[0]


def deviation(x: Any) -> Any:
    """The standard deviation of a vector, as the norm of its deviations from the mean."""
    centered = x - row.broadcast_in_dim(mean(x), shape=x.shape, dims=())
    return row.norm(centered, axes=(0,)) / math.sqrt(x.shape[0])


def squared(x: Any) -> Any:
    return row.integer_power(x, n=2)


def of(name: str, **parameters: Any) -> Callable[..., Any]:
    primitive = REGISTRY[name]

    def program(*xs: Any, **others: Any) -> Any:
        call = partial(apply, primitive) if any(isinstance(x, Tensor) for x in xs) else primitive
        return call(*xs, **parameters, **others)

    return program


def undefined(n: int) -> list[list[float]]:
    return [[nan] * n for _ in range(n)]


def nothing(n: int) -> list[list[float]]:
    return [[0.0] * n for _ in range(n)]


CONE = "first: subgradient of least norm; second: infinite or undefined"
LOST = "the chain rule multiplies ∞ by a zero that is not exact"
CORNER = "the slopes are −1 and 1; the subgradient of least norm is 0"
POWER = "a power of a root, norm, or absolute value is simplified before it is differentiated"
INVERSE = "a function of its inverse is replaced by the argument"
SQUARE = "the root or absolute value of a square is simplified before it is differentiated"
LEFT = "limit of the derivatives from inside the domain"
STEP = "the function is constant on both sides"

TABLE = [
    # kinks
    Convention("abs(x)", of("abs"), (0.0,), 0, 0, CORNER),
    Convention("abs(x + iy)", lambda x, y: row.abs(row.complex(x, y)), (0.0, 0.0), [0, 0], undefined(2), CONE),
    Convention("relu(x)", of("relu"), (0.0,), 0, 0, "convention of MindSpore"),
    Convention("relu6(x)", of("relu6"), (0.0,), 0, 0, "convention of MindSpore"),
    Convention("relu6(x)", of("relu6"), (6.0,), 1, 0, "convention of MindSpore"),
    Convention("clip(x, low, high)", of("clip"), (-1.0, -1.0, 2.0), [1, 0, 0], nothing(3), "at a bound, the derivative is the derivative inside the interval"),
    Convention("clip(x, low, high)", of("clip"), (2.0, -1.0, 2.0), [1, 0, 0], nothing(3), "at a bound, the derivative is the derivative inside the interval"),
    Convention("clip(x, low, high)", of("clip"), (0.5, 2.0, 1.0), [0, 0, 1], nothing(3), "if low exceeds high, the result is high, so the derivative with respect to high is 1"),
    Convention("maximum(x, y)", of("maximum"), (1.5, 1.5), [0.5, 0.5], nothing(2), "ties share the derivative equally"),
    Convention("minimum(x, y)", of("minimum"), (1.5, 1.5), [0.5, 0.5], nothing(2), "ties share the derivative equally"),
    Convention("max(v)", of("reduce_max", axes=(0,)), ([2.0, 1.0, 2.0],), [0.5, 0, 0.5], nothing(3), "ties share the derivative equally"),
    Convention("min(v)", of("reduce_min", axes=(0,)), ([2.0, 1.0, 1.0],), [0, 0.5, 0.5], nothing(3), "ties share the derivative equally"),
    Convention("hypot(x, y)", of("hypot"), (0.0, 0.0), [0, 0], undefined(2), CONE),
    Convention("norm(v)", of("norm", axes=(0,)), ([0.0, 0.0],), [0, 0], undefined(2), CONE),
    Convention("std(v)", deviation, ([1.0, 1.0],), [0, 0], undefined(2), "the standard deviation is a multiple of the norm of v − mean(v), which is 0"),
    Convention("bessel_ie(x)", of("bessel_ie", n=0), (0.0,), 0, 0.5, CORNER),
    Convention("bessel_y(x)", of("bessel_y", n=1), (0.0,), nan, nan, "the formula of the derivative contains ∞ − ∞"),
    Convention("bessel_ke(x)", of("bessel_ke", n=1), (0.0,), -inf, inf, LEFT),
    Convention("atan2(y, x)", of("atan2"), (0.0, 0.0), [0, 0], nothing(2), "the derivatives are x / r² and −y / r²; 0 / 0 counts as 0"),
    Convention("safe_reciprocal(x)", of("safe_reciprocal"), (0.0,), 0, 0, "the operator is defined to have the derivative 0 at 0"),
    # jumps
    Convention("sign(x)", of("sign"), (0.0,), 0, 0, STEP),
    Convention("floor(x)", of("floor"), (2.0,), 0, 0, STEP),
    Convention("ceil(x)", of("ceil"), (2.0,), 0, 0, STEP),
    Convention("trunc(x)", of("trunc"), (2.0,), 0, 0, STEP),
    Convention("trunc(x)", of("trunc"), (0.0,), 0, 0, STEP),
    Convention("round(x)", of("round"), (2.5,), 0, 0, STEP),
    Convention("floor_div(x, y)", of("floor_div"), (6.0, 2.0), [0, 0], nothing(2), STEP),
    Convention("mod(x, y)", of("mod"), (6.0, 2.0), [1, -3], nothing(2), "derivative of x − y · floor(x / y), where floor(x / y) counts as a constant"),
    Convention("mod(x, y)", of("mod"), (-1.0, 2.0), [1, 1], nothing(2), "derivative of x − y · floor(x / y), where floor(x / y) counts as a constant"),
    Convention("fmod(x, y)", of("fmod"), (6.0, 2.0), [1, -3], nothing(2), "derivative of x − y · trunc(x / y), where trunc(x / y) counts as a constant"),
    # edges of domains
    Convention("sqrt(x)", of("sqrt"), (0.0,), inf, -inf, LEFT),
    Convention("rsqrt(x)", of("rsqrt"), (0.0,), -inf, inf, LEFT),
    Convention("cbrt(x)", of("cbrt"), (0.0,), inf, nan, "the second derivative tends to −∞ on one side and to ∞ on the other"),
    Convention("reciprocal(x)", of("reciprocal"), (0.0,), -inf, inf, "limit of the derivatives from the right"),
    Convention("x / y", of("div"), (1.0, 0.0), [inf, -inf], [[0, -inf], [-inf, inf]], "limit of the derivatives from the right"),
    Convention("log(x)", of("log"), (0.0,), inf, -inf, LEFT),
    Convention("log2(x)", of("log2"), (0.0,), inf, -inf, LEFT),
    Convention("log10(x)", of("log10"), (0.0,), inf, -inf, LEFT),
    Convention("log1p(x)", of("log1p"), (-1.0,), inf, -inf, LEFT),
    Convention("asin(x)", of("asin"), (1.0,), inf, inf, LEFT),
    Convention("asin(x)", of("asin"), (-1.0,), inf, -inf, LEFT),
    Convention("acos(x)", of("acos"), (1.0,), -inf, -inf, LEFT),
    Convention("acos(x)", of("acos"), (-1.0,), -inf, inf, LEFT),
    Convention("acosh(x)", of("acosh"), (1.0,), inf, -inf, LEFT),
    Convention("atanh(x)", of("atanh"), (1.0,), inf, inf, LEFT),
    Convention("atanh(x)", of("atanh"), (-1.0,), inf, -inf, LEFT),
    Convention("erfinv(x)", of("erfinv"), (1.0,), inf, inf, LEFT),
    Convention("erfinv(x)", of("erfinv"), (-1.0,), inf, -inf, LEFT),
    Convention("lgamma(x)", of("lgamma"), (0.0,), -inf, inf, "limit of the derivatives from the right"),
    Convention("lgamma(x)", of("lgamma"), (-1.0,), nan, inf, "the first derivative has no limit, and the second tends to ∞"),
    Convention("digamma(x)", of("digamma"), (0.0,), inf, -inf, "limit of the derivatives from the right"),
    Convention("polygamma(x, 1)", of("polygamma", n=1), (0.0,), -inf, inf, "limit of the derivatives from the right"),
    Convention("polygamma(x, 1)", of("polygamma", n=1), (-1.0,), nan, inf, "the first derivative has no limit, and the second tends to ∞"),
    # zero times infinity
    Convention("where(x > 0, sqrt(x), 0)", masked(of("sqrt")), (0.0,), 0, 0, "the branch that `where` does not select contributes nothing"),
    Convention("where(x > 0, log(x), 0)", masked(of("log")), (-1.0,), 0, 0, "the branch that `where` does not select contributes nothing"),
    Convention("where(x > 0, 1 / x, 0)", masked(lambda x: 1 / x), (0.0,), 0, 0, "the branch that `where` does not select contributes nothing"),
    Convention("where(x > 0, exp(-x), 0)", masked(lambda x: row.exp(-x)), (-1000.0,), 0, 0, "the branch that `where` does not select contributes nothing, even if it overflows"),
    Convention("where(x > 0, x ** 1.5, 0)", masked(lambda x: row.pow(x, constant(x, 1.5))), (-1.0,), 0, 0, "the branch that `where` does not select contributes nothing"),
    Convention("where(x > 0, sqrt(sin(x)), 0)", masked(lambda x: row.sqrt(row.sin(x))), (0.0,), 0, 0, "the branch that `where` does not select contributes nothing"),
    Convention("sqrt(x · x)", lambda x: row.sqrt(x * x), (0.0,), 0, nan, "mindgrad converts the root of a sum of squares to a norm"),
    Convention("sqrt(sum(v · v))", lambda v: row.sqrt(row.reduce_sum(v * v, axes=(0,))), ([0.0, 0.0],), [0, 0], undefined(2), "mindgrad converts the root of a sum of squares to a norm"),
    Convention("x · log(x)", lambda x: x * row.log(x), (0.0,), nan, nan, "the value is 0 · −∞, which is NaN"),
    Convention("xlogy(x, y)", of("xlogy"), (0.0, 0.0), [-inf, 0], None, "derivatives: log y is −∞, and x / y counts as 0 for x = 0; the second derivative x / y² is undefined"),
    Convention("x ** 0 (a tensor of zeros)", lambda x, n: row.pow(x, n), (0.0, 0.0), [0, 0], None, "the function is constant in x; the derivative with respect to the exponent counts as 0"),
    Convention("x ** 0.0", lambda x: row.pow(x, constant(x, 0.0)), (0.0,), 0, 0, "the function is constant"),
    Convention("x ** 1.0", lambda x: row.pow(x, constant(x, 1.0)), (0.0,), 1, 0, "the function is x"),
    Convention("x ** 2.0", lambda x: row.pow(x, constant(x, 2.0)), (0.0,), 0, 2, "the function is x²"),
    Convention("x ** 1.5", lambda x: row.pow(x, constant(x, 1.5)), (0.0,), 0, inf, LEFT),
    Convention("x ** −2", of("integer_power", n=-2), (0.0,), -inf, inf, "limit of the derivatives from the right"),
    Convention("pow(x, y)", of("pow"), (0.0, 1.0), [1, 0], None, "the derivative x^y log x with respect to y counts as 0 for y > 0; ∂²/∂x∂y is undefined"),
    Convention("pow(x, y)", of("pow"), (0.0, 2.0), [0, 0], None, "the derivative x^y log x with respect to y counts as 0 for y > 0; its derivatives are undefined"),
    Convention("pow(x, y)", of("pow"), (-2.0, 2.0), [-4, nan], [[2, nan], [nan, nan]], "the derivative with respect to the exponent contains the logarithm of a negative base"),
    Convention("prod(v)", of("reduce_prod", axes=(0,)), ([0.0, 2.0, 3.0],), [6, 0, 0], [[0, 3, 2], [3, 0, 0], [2, 0, 0]], "each derivative is the product of the other elements, computed without division"),
    Convention("prod(v)", of("reduce_prod", axes=(0,)), ([0.0, 0.0, 3.0],), [0, 0, 0], [[0, 3, 0], [3, 0, 0], [0, 0, 0]], "each derivative is the product of the other elements, computed without division"),
    Convention("sum(cumprod(v))", lambda v: row.reduce_sum(row.cumprod(v, axis=0, reverse=False), axes=(0,)), ([0.0, 2.0, 3.0],), [9, 0, 0], [[0, 4, 2], [4, 0, 0], [2, 0, 0]], "each derivative is the product of the other elements, computed without division"),
    # powers of roots, and other functions of roots
    Convention("sqrt(x) ** 2", lambda x: squared(row.sqrt(x)), (0.0,), 1, 0, POWER),
    Convention("sqrt(x) ** 3", lambda x: row.integer_power(row.sqrt(x), n=3), (0.0,), 0, inf, POWER),
    Convention("sqrt(x) ** 4", lambda x: row.integer_power(row.sqrt(x), n=4), (0.0,), 0, 2, POWER),
    Convention("(x ** 0.5) ** 2", lambda x: squared(row.real_power(x, n=0.5)), (0.0,), 1, 0, POWER),
    Convention("abs(x) ** 2", lambda x: squared(row.abs(x)), (0.0,), 0, 2, POWER),
    Convention("hypot(x, y) ** 2", lambda x, y: squared(row.hypot(x, y)), (0.0, 0.0), [0, 0], [[2, 0], [0, 2]], POWER),
    Convention("norm(v) ** 2", lambda v: squared(row.norm(v, axes=(0,))), ([0.0, 0.0],), [0, 0], [[2, 0], [0, 2]], POWER),
    Convention("exp(−norm(v) ** 2)", lambda v: row.exp(-squared(row.norm(v, axes=(0,)))), ([0.0, 0.0],), [0, 0], [[-2, 0], [0, -2]], POWER),
    Convention("cos(norm(v))", lambda v: row.cos(row.norm(v, axes=(0,))), ([0.0, 0.0],), [0, 0], undefined(2), LOST),
    Convention("cos(abs(x))", lambda x: row.cos(row.abs(x)), (0.0,), 0, 0, "the limit is −1, but the chain rule multiplies by the slope of abs, which is 0 at 0"),
    Convention("cos(sqrt(x))", lambda x: row.cos(row.sqrt(x)), (0.0,), nan, nan, LOST),
    Convention("acos(x) ** 2", lambda x: squared(row.acos(x)), (1.0,), nan, nan, LOST),
    Convention("exp(−1 / x)", lambda x: row.exp(-1 / x), (0.0,), nan, nan, LOST),
    Convention("mask · sqrt(x) of a mask 0", lambda x: constant(x, 0.0) * row.sqrt(x), (0.0,), 0, 0, "the mask is an exact zero, because it does not depend on x"),
    Convention("exp(log(x))", lambda x: row.exp(row.log(x)), (0.0,), 1, 0, INVERSE),
    Convention("exp2(log2(x))", lambda x: row.exp2(row.log2(x)), (0.0,), 1, 0, INVERSE),
    Convention("expm1(log1p(x))", lambda x: row.expm1(row.log1p(x)), (-1.0,), 1, 0, INVERSE),
    Convention("cos(acos(x))", lambda x: row.cos(row.acos(x)), (1.0,), 1, 0, INVERSE),
    Convention("sin(asin(x))", lambda x: row.sin(row.asin(x)), (-1.0,), 1, 0, INVERSE),
    Convention("cosh(acosh(x))", lambda x: row.cosh(row.acosh(x)), (1.0,), 1, 0, INVERSE),
    Convention("tanh(atanh(x))", lambda x: row.tanh(row.atanh(x)), (1.0,), 1, 0, INVERSE),
    Convention("sqrt(x ** 4)", lambda x: row.sqrt(row.integer_power(x, n=4)), (0.0,), 0, 2, SQUARE),
    Convention("sqrt(x ** 8)", lambda x: row.sqrt(row.integer_power(x, n=8)), (0.0,), 0, 0, SQUARE),
    Convention("sqrt((x · x) · (x · x))", lambda x: row.sqrt((x * x) * (x * x)), (0.0,), 0, 2, SQUARE),
    Convention("abs(−x · x)", lambda x: row.abs(-(x * x)), (0.0,), 0, 2, SQUARE),
    Convention("abs(sum(v · v))", lambda v: row.abs(row.reduce_sum(v * v, axes=(0,))), ([0.0, 0.0],), [0, 0], [[2, 0], [0, 2]], SQUARE),
    # infinities
    Convention("logaddexp(x, y)", of("logaddexp"), (-inf, -inf), [0, 0], nothing(2), "both exponentials are zero"),
    Convention("logaddexp(x, y)", of("logaddexp"), (inf, inf), [0.5, 0.5], nothing(2), "ties share the derivative equally"),
    Convention("logaddexp(x, y)", of("logaddexp"), (-inf, 1.0), [0, 1], nothing(2), "the exponential of −∞ is zero, and contributes nothing"),
    Convention("logsumexp(v)", of("logsumexp", axes=(0,)), ([-inf, -inf],), [0, 0], nothing(2), "both exponentials are zero"),
    Convention("logsumexp(v)", of("logsumexp", axes=(0,)), ([-inf, 1.0],), [0, 1], nothing(2), "the exponential of −∞ is zero, and contributes nothing"),
]  # fmt: skip
IDS = [f"{c.expression} at {', '.join(map(str, c.point))}" for c in TABLE]


# --- in every mode ----------------------------------------------------------------------------------


def build(convention: Convention, dtype: str = "float64") -> tuple[Graph, list[np.ndarray]]:
    arrays = [np.asarray(x, dtype) for x in convention.point]
    builder = Builder()
    with building(builder):
        inputs = [builder.input(tensor_type(dtype, a.shape)) for a in arrays]
        return builder.close([convention.program(*inputs)]), arrays


def basis(arrays: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Every unit direction of all inputs together."""
    found = []
    for i, array in enumerate(arrays):
        for k in range(array.size):
            direction = [np.zeros_like(a) for a in arrays]
            direction[i].reshape(-1)[k] = 1
            found.append(direction)
    return found


def flat(tensors: list[Any]) -> np.ndarray:
    return np.concatenate([np.ravel(np.asarray(x)) for x in tensors])


def seeded(graph: Graph) -> Graph:
    """The gradient of the sum of the output, with ones known while it is built, as `grad` has it."""
    builder = Builder()
    with building(builder):
        inputs = [builder.input(v.type) for v in graph.inputs]
        outputs = builder.inline(graph, inputs)
        return builder.close(pull_back(builder, inputs, outputs, [ones(y.type) for y in outputs]))


class Modes(NamedTuple):
    """Keys of the programs of one convention: what each mode's results mean is in ``collect``."""

    graph: Graph
    arrays: list[np.ndarray]

    def programs(self) -> dict[tuple, tuple[Graph, list[np.ndarray]]]:
        graph, arrays = self
        active = range(len(arrays))
        count = len(arrays)
        seed = [np.ones(graph.outputs[0].shape, arrays[0].dtype)]
        jvp, vjp = forward(graph, active), reverse(graph, active)
        slope, gradient = only_outputs(jvp, 1), only_outputs(vjp, 1)
        over_gradient = only_outputs(forward(gradient, active), count)
        twice = only_outputs(reverse(gradient, active), count)
        both = only_outputs(forward(slope, active), 1)
        over_slope = only_outputs(reverse(slope, active), 1)
        from_ones = seeded(graph)
        found: dict[tuple, tuple[Graph, list[np.ndarray]]] = {("reverse",): (gradient, [*arrays, *seed])}
        found["reverse from ones",] = (from_ones, arrays)
        for i, u in enumerate(basis(arrays)):
            found["forward", i] = (slope, [*arrays, *u])
            found["forward over reverse", i] = (over_gradient, [*arrays, *seed, *u])
            found["reverse over reverse", i] = (twice, [*arrays, *seed, *u])
            found["reverse over forward", i] = (over_slope, [*arrays, *u, *seed])
            found["forward over reverse from ones", i] = (
                only_outputs(forward(from_ones, active), count),
                [*arrays, *u],
            )
            for j, v in enumerate(basis(arrays)):
                found["forward over forward", i, j] = (both, [*arrays, *u, *v])
        return found


def collect(results: dict[tuple, list[Any]], size: int) -> dict[str, np.ndarray]:
    """Gradient or Hessian in each mode."""
    found = {mode: flat(results[mode,]) for mode in ("reverse", "reverse from ones")}
    found["forward"] = np.array([np.sum(results["forward", i][0]) for i in range(size)])
    over = ("reverse over reverse", "reverse over forward", "forward over reverse")
    for mode in (*over, "forward over reverse from ones"):
        found[mode] = np.array([flat(results[mode, i]) for i in range(size)])
    found["forward over forward"] = np.array(
        [[np.sum(results["forward over forward", i, j][0]) for j in range(size)] for i in range(size)]
    )
    return found


def compiled(programs: dict[tuple, tuple[Graph, list[np.ndarray]]]) -> dict[tuple, list[Any]]:
    """The results of all modes of one convention, as one compiled program."""
    program = Program()
    for key, (graph, arrays) in programs.items():
        program.add(key, graph, arrays)
    return {key: results[1] for key, results in program.run().items()}


@pytest.mark.parametrize("executor", ["eager", "compiled"])
@pytest.mark.parametrize("index", range(len(TABLE)), ids=IDS)
def test_convention(index, executor):
    convention = TABLE[index]
    modes = Modes(*build(convention))
    programs = modes.programs()
    if executor == "eager":
        results = {key: evaluate(graph, arrays) for key, (graph, arrays) in programs.items()}
    else:
        results = compiled(programs)
    size = sum(array.size for array in modes.arrays)
    for mode, actual in collect(results, size).items():
        expected = convention.second if "over" in mode else convention.first
        if expected is None:
            continue
        off = difference(actual, np.asarray(expected, float).reshape((size,) * (1 + ("over" in mode))))
        assert off < 1e-12, f"{IDS[index]}, {mode}: {actual.tolist()} instead of {expected}"


# --- no row without a decision ----------------------------------------------------------------------

PROBES = (-1.0, 0.0, 1.0, 6.0)


def is_decided(name: str, point: float) -> bool:
    return any(
        c.expression.startswith(f"{name}(")
        and (c.because == STEP or any(np.any(np.asarray(x) == point) for x in c.point))
        for c in TABLE
    )


def unary(name: str) -> bool:
    found = calls(name, float64)
    one = all(len(c.active) == len(c.arrays) == 1 and c.results[0].dtype.is_float for c in found)
    return REGISTRY[name].pointwise and bool(found) and one


UNARY = [name for name in ROWS if unary(name)]


@pytest.mark.parametrize("name", UNARY)
def test_a_point_that_is_not_smooth_is_in_the_table(name):
    """The table has a line for each point where the value or slope jumps, or the slope is not finite."""
    parameters = calls(name, float64)[0].parameters
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type("float64", ()))
        graph = builder.close([REGISTRY[name](x, **parameters)])
    slope = forward(graph, [0])
    for point in PROBES:
        step = 1e-9
        sides = [evaluate(slope, [np.asarray(x), np.asarray(1.0)]) for x in (point - step, point + step)]
        inside = [side for side in sides if not np.isnan(side[0])]
        value, here = evaluate(slope, [np.asarray(point), np.asarray(1.0)])
        if not inside or np.isnan(value):
            continue
        smooth = np.isfinite(value) and np.isfinite(here)
        smooth = smooth and all(abs(v - value) < 1e-4 and abs(s - here) < 1e-4 for v, s in inside)
        assert smooth or is_decided(name, point), (
            f"'{name}' is not smooth at {point}: slope {here} there, "
            f"{[float(s) for _, s in inside]} next to it. Decide it in TABLE."
        )


# --- the document -----------------------------------------------------------------------------------


def shown(value: Any) -> str:
    if value is None:
        return "–"
    array = np.asarray(value, float)
    if array.ndim == 2 and not array.any():
        return "0"
    text = np.array2string(array, separator=", ", formatter={"float_kind": _number}).replace("\n", "")
    return " ".join(text.split())


def _number(x: float) -> str:
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    return f"{x:g}".replace("-", "−")


HEAD = """\
# Derivatives at nondifferentiable points

This page lists the derivatives that mindgrad returns at points where a function is not differentiable. Such
points are kinks (`abs(x)` at 0), ties of a maximum, jumps, boundaries of a domain, and infinite slopes. Use it to look up an
operator, or to understand a gradient that is zero or NaN. A *slope* is a partial derivative of one operator.

## Rules

| kind of point | derivative that mindgrad returns |
|---|---|
| kink, such as `abs(x)` at 0 | the subgradient of least norm: 0 for `abs(x)` |
| tie, such as `max(v)` with two largest elements | the derivative is divided equally among the tied elements: 1/2 for each of two |
| jump, such as `floor(x)` at 2 | 0 |
| boundary of a domain, such as `sqrt(x)` at 0 | the limit of the derivatives inside the domain: ∞ for `sqrt(x)` |
| zero times infinity in the chain rule | 0 if the zero is exact, otherwise NaN ([details](#zero-times-infinity)) |
| eigenvectors of a repeated eigenvalue | NaN ([details](#eigenvectors-of-repeated-eigenvalues)) |

## Table of derivatives

The derivatives in the table are the same in eager mode and compiled, and in forward and reverse mode. The second derivative is the
same in all four combinations of forward and reverse mode. The column "point" contains the values of the inputs. Gradients have one
entry for each input, and Hessians are written as lists of rows. If the column "second derivative" contains a single 0, all second
derivatives are zero. A dash means that the second derivative is not specified. `python -m tests.laws.test_conventions` writes this
page, and the test suite checks each line.
"""

TAIL = """
## Zero times infinity

By the chain rule, a derivative is a sum of products of slopes. If one slope is zero and another is infinite or NaN, the
product depends on the zero:

- **If the zero is exact, the product is zero.** An exact zero stays zero if the inputs change slightly. Examples are the cotangent
  of the branch that `where` does not select, a mask, and the slope of `relu` at negative numbers.
- **If the slope is zero only at this point, the product is NaN.** For example, the derivative of `cos(sqrt(x))` at 0 is
  `-sin(0) · ∞`. Its limit is −0.5, but the chain rule cannot determine the limit. NaN is better than a finite wrong number.

In the following cases, mindgrad simplifies the expression before it differentiates, so the infinite slope does not occur:

| expression | simplified to | examples |
|---|---|---|
| integer power of a root, a norm, or an absolute value | a power without the root | `norm(v) ** 2` becomes a sum of squares |
| a function of its inverse function | the argument of the inverse function | `cos(acos(x))` and `exp(log(x))` become `x` |
| root or absolute value of a square | an expression without the root | `sqrt(x ** 4)` becomes `x ** 2` |
| root of a sum of squares | a norm | `sqrt(sum(v · v))` becomes `norm(v)`, whose gradient at zero is zero |

Such an expression may contain other factors and divisors, as in `(2 * norm(v)) ** 2`. If another function has an infinite
slope, rewrite the formula without this slope.

The second derivative of a norm at zero is infinite or undefined. Therefore a function of a norm has the second derivative
NaN at zero, except if it is a function of the square of the norm.

## Masked and discarded values

If a program discards an element that is NaN or infinite, this element does not affect the gradient of the other elements:

| operation that discards a NaN or infinite element | effect of this element on the gradient |
|---|---|
| `where`, slice, or lookup that does not select the element | none, in every mode, even if the element is an input of a compiled function |
| branch of `if` that does not use the element | none |
| matrix product, convolution, or linear solve, before an operation that discards the results | none, if the cotangents of all results that depend on the element are zero |
| product with a mask after a matrix product, such as `(mask * loss).sum()` | The gradient is NaN in reverse mode. Write `where(mask, loss, 0)` instead. |

For example, if the loss of a sample is NaN and `where` discards it, the gradient with respect to the weights is correct.

mindgrad detects an infinite slope if an operator computes it, such as `log(x)` at 0, or if it is a constant of the program. In eager
mode, mindgrad also detects infinite values of tensors.

## Limits of these rules

- If a value itself is infinite, its derivative may be a sum of infinite terms. The sum is infinite or NaN, because forward and reverse
  mode add the terms in different orders.
- mindgrad treats two kinds of zeros as exact, although they may not be exact. They are zeros of a cotangent after a matrix product or
  convolution, and zeros of a tangent or cotangent from an earlier iteration of a loop. If such a zero is caused by rounding, underflow,
  or cancellation, its product with an infinite slope is zero. The derivative is then finite, although the exact value is infinite or
  undefined.
- If later iterations of a compiled loop compute NaN, and the program discards their results, reverse mode over reverse mode returns
  NaN.
- Suppose a compiled `while` loop processes a batch, and a slice after the loop discards a NaN sample. The gradient is finite only if
  the result of the slice does not depend on this sample in any iteration, as in a loop over `h = h @ w`.

## Eigenvectors of repeated eigenvalues

Eigenvectors of a repeated eigenvalue are not unique, so their derivative is NaN. The same holds for singular vectors of a repeated
singular value. The derivatives of the eigenvalues and singular values are finite, and so are the derivatives of vectors that belong to
other, simple eigenvalues or singular values.

For a symmetric matrix with repeated eigenvalues, a function of the eigenvalues has a second derivative under two conditions:

- The function does not depend on the order of the eigenvalues, for example because it adds a function of each eigenvalue.
- The first derivative is computed in reverse mode: by `ms.hessian` or `ms.hvp`, or by `ms.grad` or `ms.jvp` of `ms.grad`.

Otherwise, the second derivative is NaN, for example if `ms.jvp`, `ms.jet`, or `ms.taylor` computes the first derivative. The third
derivative is always NaN.

## See also

- [FAQ and troubleshooting](faq.md): causes of NaN and zero gradients.
- [Find NaN and infinity](howto/find_nans.md): the operator that creates a NaN.
- [Accuracy of derivatives](accuracy.md): the error of each operator.
"""


def document() -> str:
    """Write the page: rules, the table, and details."""
    lines = [
        "| expression | point | first derivative | second derivative | reason |",
        "|---|---|---|---|---|",
    ]
    for c in TABLE:
        at = ", ".join(shown(x) for x in c.point)
        lines.append(f"| `{c.expression}` | {at} | {shown(c.first)} | {shown(c.second)} | {c.because} |")
    return "\n".join([HEAD, *lines, TAIL])


def test_the_page_is_the_table():
    assert DOCUMENT.read_text(encoding="utf-8") == document(), (
        "docs/conventions.md is not the table: run python -m tests.laws.test_conventions"
    )


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
