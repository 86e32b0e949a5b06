"""The table of conventions through the public API: eager, compiled, and compiled without rewrites.

Each convention is a function of tensors; ``grad`` and ``jvp`` of it, and every second order of the two, give
what the table says in all three modes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir import settings
from tests.laws.harness import difference
from tests.laws.test_conventions import IDS, TABLE, Convention
from tests.programs.evaluated import evaluated

MODES = ("eager", "compiled", "compiled without rewrites")


def directions(points: list[Tensor]) -> list[tuple[Tensor, ...]]:
    """Every unit direction of all inputs together."""
    arrays = []
    for k, point in enumerate(points):
        for unit in np.eye(point.size).reshape(-1, *point.shape):
            arrays.append([unit if k == i else np.zeros(x.shape) for i, x in enumerate(points)])
    return [tuple(map(Tensor, direction)) for direction in arrays]


def derivatives(program: Callable[..., Any], points: list[Tensor]) -> dict[str, Any]:
    """First derivatives by ``grad`` and by ``jvp``, second ones by all orders of the two."""
    places = tuple(range(len(points)))
    units = directions(points)
    indices = [(k, index) for k in places for index in np.ndindex(points[k].shape)]

    def gradient(*xs: Tensor) -> tuple[Tensor, ...]:
        found = ms.grad(program, places)(*xs)
        return found if len(places) > 1 else (found,)  # one place gives no tuple

    def slope(direction: Any) -> Callable[..., Any]:
        return lambda *xs: ms.jvp(program, xs, direction)[1]

    def component(index: Any) -> Callable[..., Any]:
        k, at = index
        return lambda *xs: gradient(*xs)[k][at] if at else gradient(*xs)[k]

    return {
        "grad": gradient(*points),
        "jvp": [slope(unit)(*points) for unit in units],
        "grad of grad": [ms.grad(component(index), places)(*points) for index in indices],
        "grad of jvp": [ms.grad(slope(unit), places)(*points) for unit in units],
        "jvp of grad": [ms.jvp(gradient, tuple(points), unit)[1] for unit in units],
        "jvp of jvp": [[ms.jvp(slope(unit), tuple(points), other)[1] for other in units] for unit in units],
    }


def everything(*points: Any) -> list[dict[str, Any]]:
    return [derivatives(c.program, list(xs)) for c, xs in zip(TABLE, points, strict=True)]


@lru_cache(maxsize=1)
def results() -> dict[str, list[dict[str, np.ndarray]]]:
    """What each mode gives: of compiled ones the whole table is one program, XLA's with the rewrites."""
    points = [[Tensor(np.asarray(x, float)) for x in c.point] for c in TABLE]
    made = {"eager": everything(*points), "compiled": ms.jit(everything)(*points)}
    settings.store("rewrites", False)
    try:
        made["compiled without rewrites"] = evaluated(everything)(*points)
    finally:
        settings.store("rewrites", True)
    return {mode: [{k: _numbers(v) for k, v in row.items()} for row in rows] for mode, rows in made.items()}


def _numbers(result: Any) -> np.ndarray:
    return np.concatenate([t.asnumpy().ravel() for t in flatten(result)[0]])


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of floor and sign
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("index", range(len(TABLE)), ids=IDS)
def test_convention_of_the_api(index, mode):
    convention: Convention = TABLE[index]
    for how, actual in results()[mode][index].items():
        expected = convention.second if " of " in how else convention.first
        if expected is None:
            continue
        off = difference(actual, np.asarray(expected, float).ravel())
        assert off < 1e-12, f"{IDS[index]}, {how}: {actual.tolist()} instead of {expected}"
