"""What the laws share: sample calls of every row, graphs of one call, directions, comparisons.

A *call* is one row on arrays with parameters, drawn from the row's own samples. Complex tangents and
cotangents pair by ``Re(Σ c · t)``, see ``mindgrad.core.primitives.complexes``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import DTYPES, DType, as_dtype
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.primitive import REGISTRY, Primitive
from mindgrad.core.ir.types import TensorType, tensor_type, type_of
from mindgrad.core.primitives.samples import draw
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse

assert len(REGISTRY) > 100, "importing the catalog fills the registry"

#: rows that stand for other programs and have no samples of their own; their tests are elsewhere
WITHOUT_SAMPLES = {name for name, row in REGISTRY.items() if row.kind == "control"}
#: rows whose operands belong together (a matrix, its eigenvalues and eigenvectors) and are not moved one by one
OF_MATRICES_WITH_EIGENVALUES = {"eigenvalue_tangent", "matrix_of_eigenvalues"}
ROWS = sorted(set(REGISTRY) - WITHOUT_SAMPLES - OF_MATRICES_WITH_EIGENVALUES)


class Call(NamedTuple):
    """One application of a row."""

    row: Primitive
    arrays: list[np.ndarray]
    parameters: dict[str, Any]
    index: int

    @property
    def types(self) -> list[TensorType]:
        return [type_of(array) for array in self.arrays]

    @property
    def results(self) -> list[TensorType]:
        """The types of the outputs, as the row's type rule has them."""
        found = self.row.type_rule(*self.types, **self.parameters)
        return list(found) if self.row.multiple else [found]

    @property
    def active(self) -> list[int]:
        """The operands that can be differentiated by."""
        return [i for i, array in enumerate(self.arrays) if is_inexact(array)]

    def __repr__(self) -> str:
        shown = ", ".join([*map(repr, self.types), *(f"{k}={v}" for k, v in self.parameters.items())])
        return f"{self.row.name}({shown}), sample {self.index}"


def is_inexact(array: Any) -> bool:
    """Whether an array is of a floating-point or complex type, bfloat16 included."""
    return as_dtype(array.dtype).is_inexact


def drawn(name: str, dtype: DType, seed: int = 0) -> list[Call]:
    """The sample calls of a row in which real numbers have type ``dtype``, also if it refuses it."""
    return list(_drawn(name, dtype, seed))


@lru_cache(maxsize=256)
def _drawn(name: str, dtype: DType, seed: int) -> tuple[Call, ...]:
    primitive = REGISTRY[name]
    with np.errstate(all="ignore"):  # NaN and infinite samples become integers too
        samples = [
            Call(primitive, [np.asarray(array) for array in arrays], parameters, index)
            for index, (arrays, parameters) in enumerate(draw(primitive, dtype, seed))
        ]
    for array in [array for call in samples for array in call.arrays]:
        array.flags.writeable = False  # they are those of all tests
    return tuple(samples)


def calls(name: str, dtype: DType, seed: int = 0) -> list[Call]:
    """The sample calls that the row accepts."""
    return [call for call in drawn(name, dtype, seed) if refusal(call) is None]


def refusal(call: Call) -> str | None:
    """Why the row does not take these operands; ``None`` if it does."""
    try:
        _ = call.results
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def graph_of(call: Call) -> Graph:
    """The program that is just this call."""
    builder = Builder()
    with building(builder):
        inputs = [builder.input(each) for each in call.types]
        found = call.row(*inputs, **call.parameters)
        return builder.close(list(found) if call.row.multiple else [found])


def kernel(call: Call) -> list[np.ndarray]:
    """The outputs of the row's NumPy kernel."""
    with np.errstate(all="ignore"):
        found = call.row.numpy(*call.arrays, **call.parameters)
    return list(found) if call.row.multiple else [found]


# --- directions -------------------------------------------------------------------------------------


def directions(call: Call, dtype: DType, seed: int) -> list[np.ndarray]:
    """A tangent for each active operand: a difference of samples, so that it keeps their structure."""
    one = drawn(call.row.name, dtype, seed)[call.index].arrays
    two = drawn(call.row.name, dtype, seed + 1)[call.index].arrays
    found = []
    for i in call.active:
        with np.errstate(all="ignore"):
            difference = np.asarray(one[i], np.complex128) - np.asarray(two[i], np.complex128)
        difference = np.where(np.isfinite(difference), difference, 0)
        if not difference.any():  # fixed samples
            difference = np.random.default_rng(seed).normal(size=difference.shape)
        largest = np.max(np.abs(difference), initial=1e-9)
        scaled = difference / (2 * largest)
        if call.arrays[i].dtype.kind != "c":
            scaled = scaled.real
        found.append(np.asarray(scaled).astype(call.arrays[i].dtype))
    return found


def weights(types: Iterable[TensorType], seed: int) -> list[np.ndarray]:
    """A cotangent for each output; zero for one without derivative."""
    generator = np.random.default_rng(seed)
    found = []
    for each in types:
        array = generator.uniform(0.5, 1.5, each.shape) * generator.choice([-1.0, 1.0], each.shape)
        if each.dtype.kind == "complex":
            array = array + 1j * generator.uniform(0.5, 1.5, each.shape)
        if not each.dtype.is_inexact:
            array = np.zeros(each.shape)
        found.append(np.asarray(array).astype(each.dtype.numpy))
    return found


def pairing(left: Sequence[Any], right: Sequence[Any]) -> float:
    """Re(Σ c · t) over all tensors."""
    total = 0.0
    for c, t in zip(left, right, strict=True):
        total += float(np.sum(np.asarray(c, np.complex128) * np.asarray(t, np.complex128)).real)
    return total


# --- derivatives ------------------------------------------------------------------------------------


class Derivatives(NamedTuple):
    """The graphs of one call and its derivatives, and the arrays that go into them.

    ``second`` is ``reverse``'s cotangent map differentiated: its inputs are those of ``reverse``.
    """

    call: Call
    graph: Graph
    forward: Graph
    reverse: Graph
    tangents: list[np.ndarray]
    others: list[np.ndarray]
    cotangents: list[np.ndarray]

    def gradient(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Jᵀ c at ``arrays``."""
        return evaluate(self.reverse, [*arrays, *self.cotangents])[len(self.graph.outputs) :]


def derivatives(call: Call, dtype: DType) -> Derivatives:
    """First derivatives of a call in both modes."""
    graph = graph_of(call)
    return Derivatives(
        call,
        graph,
        forward(graph, call.active),
        reverse(graph, call.active),
        directions(call, dtype, 10),
        directions(call, dtype, 20),
        weights(call.results, 3),
    )


def only_outputs(graph: Graph, start: int) -> Graph:
    """The graph with its outputs from ``start`` on."""
    builder = Builder()
    with building(builder):
        inputs = [builder.input(v.type) for v in graph.inputs]
        return builder.close(builder.inline(graph, inputs)[start:])


def finite_difference(function: Any, arrays: Sequence[Any], active: Sequence[int], steps: Any) -> Any:
    """The derivative of ``function`` along ``steps``: central, of fourth order."""
    h = 5e-4

    def at(k: float) -> list[np.ndarray]:
        moved = list(arrays)
        for i, step in zip(active, steps, strict=True):
            moved[i] = np.asarray(arrays[i] + k * h * step)
        return [np.asarray(y, np.complex128) for y in function(moved)]

    def step(a: Any, b: Any) -> Any:  # an infinity that stays does not change
        return np.where(a == b, 0, a - np.where(a == b, 0, b))

    up, down, up2, down2 = at(1), at(-1), at(2), at(-2)
    with np.errstate(all="ignore"):
        return [
            (8 * step(a, b) - step(c, d)) / (12 * h) for a, b, c, d in zip(up, down, up2, down2, strict=True)
        ]


# --- comparison -------------------------------------------------------------------------------------


def difference(found: Any, wanted: Any) -> float:
    """The largest difference, relative to the largest wanted number (at least 1); NaN equals NaN."""
    found, wanted = np.asarray(found, np.complex128), np.asarray(wanted, np.complex128)
    if found.shape != wanted.shape:
        return np.inf
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    if same.all():
        return 0.0
    if not (np.isfinite(found[~same]).all() and np.isfinite(wanted[~same]).all()):
        return np.inf
    scale = max(1.0, float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0)))
    return float(np.max(np.abs(found[~same] - wanted[~same]))) / scale


def require(what: str, found: Sequence[Any], wanted: Sequence[Any], within: float) -> None:
    """Fail with both numbers unless ``found`` equals ``wanted`` within a relative tolerance."""
    assert len(found) == len(wanted), f"{what}: {len(found)} results instead of {len(wanted)}"
    for position, (a, b) in enumerate(zip(found, wanted, strict=True)):
        off = difference(a, b)
        assert off <= within, (
            f"{what}, result {position}: off by {off:.2e}, allowed {within:.2e}\n"
            f"found  {np.asarray(a)}\nwanted {np.asarray(b)}"
        )


@cache
def accepted(name: str) -> tuple[DType, ...]:
    """The element types for which the row takes at least one of its samples."""
    return tuple(dtype for dtype in DTYPES if calls(name, dtype))


def result_type(dtype: Any, shape: tuple[int, ...]) -> TensorType:
    """The type of an array-like with these attributes (jax's included)."""
    return tensor_type(np.dtype(dtype), tuple(shape))
