"""The index map of a row agrees with what its kernel does: along parallel axes the kernel of some of the rows gives
those rows of the result, with axes in another order it gives the result in another order, and a batch is carried.

Kernels and not derivatives are asked, so that rows of integers and of truth values obey the law too.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.index_map import PARALLEL, WINDOWED, Arrangement, Axes, IndexMap
from mindgrad.core.ir.primitive import REGISTRY, Primitive
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives.samples import draw
from mindgrad.core.transforms.axis_propagation import alignment
from mindgrad.core.transforms.batch import push_batch
from tests.laws.harness import require

WITH_AXES = sorted(name for name, row in REGISTRY.items() if row.axes is not None and not row.effects.unique)
#: operands of rows whose batch joins another axis: of channels, of right-hand sides
JOINED = {"conv": {1}, "solve": {0, 1}, "triangular_solve": {0, 1}}
#: rows that combine what several processes have
BATCHED = sorted(
    name for name, row in REGISTRY.items()
    if row.can_batch and row.jvp and row.kind != "control" and not row.communicates
)  # fmt: skip


def samples(primitive: Primitive) -> list[tuple[list[np.ndarray], dict[str, Any]]]:
    for dtype in ("float64", "complex128", "int32", "bool"):
        calls = []
        for arrays, parameters in draw(primitive, as_dtype(dtype)):
            try:
                primitive.type_rule(*map(type_of, arrays), **parameters)
            except TypeError:
                continue
            calls.append((arrays, parameters))
        if calls:
            return calls
    raise AssertionError(f"no samples of {primitive.name}")


def results(
    primitive: Primitive, arrays: Sequence[np.ndarray], parameters: dict[str, Any]
) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        ys = primitive.numpy(*arrays, **parameters)
    return [np.asarray(y) for y in (ys if primitive.multiple else [ys])]


def sizes_of(axes: IndexMap, arrays: Sequence[Any], ys: Sequence[Any]) -> dict[int, int]:
    """The size of each label; along windowed axes sizes differ."""
    pairs = itertools.chain(zip(axes.operands, arrays, strict=True), zip(axes.results, ys, strict=True))
    return {label: n for labels, x in pairs for label, n in zip(labels, x.shape, strict=True)}


def taken(x: np.ndarray, labels: Sequence[int], label: int, rows: slice) -> np.ndarray:
    """Some ``rows`` of ``x`` along ``label``, if it has it."""
    return x[tuple(rows if each == label else slice(None) for each in labels)]


def rows_are_apart(primitive: Primitive, arrays: list[np.ndarray], parameters: dict[str, Any]) -> None:
    axes = primitive.axes.index_map([x.shape for x in arrays], parameters)
    ys = results(primitive, arrays, parameters)
    assert [len(labels) for labels in axes.results] == [y.ndim for y in ys]
    sizes = sizes_of(axes, arrays, ys)
    for label in sorted({each for labels in axes.operands for each in labels if axes.kind(each) == PARALLEL}):
        for start, stop in ((0, 1), (sizes[label] // 2, sizes[label])):
            if stop - start < 1 or sizes[label] < 2:
                continue
            some = [
                taken(x, labels, label, slice(start, stop))
                for x, labels in zip(arrays, axes.operands, strict=True)
            ]
            new = Arrangement(axes.operands, axes.results, sizes | {label: stop - start}, parameters)
            relabeled = primitive.axes.relabeled(axes, new)
            assert relabeled is not None, f"{primitive.name}: no form for other sizes"
            assert relabeled.results == axes.results
            assert not relabeled.swaps
            wanted = [
                taken(y, labels, label, slice(start, stop))
                for y, labels in zip(ys, axes.results, strict=True)
            ]
            require(
                f"{primitive.name} {parameters}, some of axis {label}",
                results(primitive, some, relabeled.parameters),
                wanted,
                1e-12,
            )


def orders_are_free(primitive: Primitive, arrays: list[np.ndarray], parameters: dict[str, Any]) -> int:
    axes = primitive.axes.index_map([x.shape for x in arrays], parameters)
    ys = results(primitive, arrays, parameters)
    sizes = sizes_of(axes, arrays, ys)
    generator = np.random.default_rng(1)
    count = 0
    for attempt in range(8):
        rank = {label: generator.random() for label in sizes}
        operands = [tuple(sorted(labels, key=rank.__getitem__)) for labels in axes.operands]
        if attempt % 2:  # one operand only
            operands = [operands[0], *axes.operands[1:]]
        hints = [tuple(sorted(labels, key=rank.__getitem__)) for labels in axes.results]
        relabeled = primitive.axes.relabeled(axes, Arrangement(operands, hints, sizes, parameters))
        if relabeled is None:
            continue
        count += 1
        moved = [
            np.transpose(x, [old.index(label) for label in new])
            for x, old, new in zip(arrays, axes.operands, operands, strict=True)
        ]
        made = results(primitive, moved[::-1] if relabeled.swaps else moved, relabeled.parameters)
        back = [
            np.transpose(y, [new.index(label) for label in old])
            for y, new, old in zip(made, relabeled.results, axes.results, strict=True)
        ]
        require(f"{primitive.name} {parameters}, axes as {operands}", back, ys, 1e-12)
    return count


@pytest.mark.parametrize("name", WITH_AXES)
def test_rows_along_parallel_axes_are_apart(name):
    for arrays, parameters in samples(REGISTRY[name]):
        rows_are_apart(REGISTRY[name], arrays, parameters)


@pytest.mark.parametrize("name", WITH_AXES)
def test_axes_stand_in_any_order_that_a_row_accepts(name):
    count = sum(
        orders_are_free(REGISTRY[name], arrays, parameters) for arrays, parameters in samples(REGISTRY[name])
    )
    assert count or name in ("conv", "unstack"), "no order was tried"


@pytest.mark.parametrize("name", BATCHED)
def test_a_batch_is_carried_by_the_rows_that_batch(name):
    primitive = REGISTRY[name]
    for arrays, parameters in samples(primitive):
        if any(0 in x.shape for x in arrays):
            continue
        for which in range(len(arrays)):
            if which in JOINED.get(name, ()):
                continue
            if arrays[which].dtype.kind in "iub" and primitive.kind != "pointwise constant":
                continue  # positions have no derivative
            with building(Builder()) as builder:
                inputs = [
                    builder.input(type_of(np.stack([x] * 7) if k == which else x))
                    for k, x in enumerate(arrays)
                ]
                inner = Builder()
                with building(inner):
                    given = [inner.input(type_of(x)) for x in arrays]
                    ys = primitive(*given, **parameters)
                graph = inner.close(ys if primitive.multiple else [ys])
                at = [0 if k == which else None for k in range(len(arrays))]
                outputs, places = push_batch(graph, inputs, at, 7)
            carried = alignment(builder.equations, inputs[which])
            for y, place in zip(outputs, places, strict=True):
                if y in carried:
                    assert carried[y][0] == place, (
                        f"{name} {parameters}: the batch of operand {which} is lost"
                    )


class _Wrong(Axes):
    """A map that calls the axis of a running sum parallel."""

    def index_map(self, shapes, parameters):
        labels = tuple(range(len(shapes[0])))
        return IndexMap((labels,), (labels,))


def test_a_wrong_map_breaks_the_law(monkeypatch):
    primitive = REGISTRY["cumsum"]
    monkeypatch.setattr(primitive, "axes", _Wrong())
    arrays, parameters = samples(primitive)[0]
    with pytest.raises(AssertionError, match="cumsum"):
        rows_are_apart(primitive, arrays, parameters)


def test_a_kernel_of_one_position_is_parallel():
    shapes = [(2, 3, 7), (4, 3, 1)]
    plain = dict(strides=(1,), padding=((0, 0),), lhs_dilation=(1,), rhs_dilation=(1,), groups=1)
    axes = REGISTRY["conv"].axes
    assert axes.index_map(shapes, plain).through(0, 0, 2) == 2
    assert axes.index_map(shapes, plain | {"strides": (2,)}).kind(3) == WINDOWED
    assert axes.index_map([(2, 3, 7), (4, 3, 2)], plain).through(0, 0, 2) is None
