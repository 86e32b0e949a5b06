"""Programs of collectives on several ranks: for each row one, and its evaluation by the definition.

All ranks run one graph, in step: every equation on each rank's arrays, and a collective, by its definition
(``distributed.collectives.combined``), on the arrays of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.graph import Graph, Variable
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.elementwise import sin, tanh
from mindgrad.distributed.collectives import combined

#: the number of ranks, and the shape of the array of each
SIZE = 4
SHAPE = (4, 8)
RANKS = tuple(range(SIZE))

CASES: dict[str, dict[str, Any]] = {
    "all_reduce": {},
    "all_gather": {"axis": 1},
    "reduce_scatter": {"axis": 0},
    "all_to_all": {"split_axis": 1, "concat_axis": 0},
    "permute": {"pairs": ((0, 1), (1, 2), (3, 0))},
    "rank_mask": {"root": 2},
    "all_max": {},
}


def program(name: str, dtype: DType) -> Graph:
    """tanh(collective(sin x)) for ``x`` of every rank."""
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type(dtype, SHAPE))
        joined = REGISTRY[name](sin(x), **CASES[name], ranks=RANKS)
        return builder.close([tanh(joined)])


def evaluate_ranks(graph: Graph, inputs: Sequence[Sequence[Any]]) -> list[list[np.ndarray]]:
    """The outputs of ``graph`` on every rank, for each rank's ``inputs``."""
    values: list[dict[Variable, Any]] = [
        {v: np.asarray(array) for v, array in zip(graph.inputs, arrays, strict=True)} for arrays in inputs
    ]
    with np.errstate(all="ignore"):
        for equation in graph.equations:
            primitive, parameters = equation.primitive, equation.parameters
            operands = [
                [held[x] if type(x) is Variable else x.array() for x in equation.inputs] for held in values
            ]
            if primitive.communicates:
                assert parameters["ranks"] == tuple(range(len(inputs)))
                results = combined(primitive.name, [arrays[0] for arrays in operands], **parameters)
            else:
                results = [primitive.numpy(*arrays, **parameters) for arrays in operands]
            for held, result in zip(values, results, strict=True):
                outputs = result if primitive.multiple else (result,)
                held.update(zip(equation.outputs, outputs, strict=True))
    return [
        [np.asarray(held[y]) if type(y) is Variable else np.array(y.array()) for y in graph.outputs]
        for held in values
    ]


def draw(shape: tuple[int, ...], seed: int, dtype: Any = np.float64) -> list[np.ndarray]:
    """An array for each rank."""
    generator = np.random.default_rng(seed)
    return [generator.uniform(-1.0, 1.0, shape).astype(dtype) for _ in RANKS]
