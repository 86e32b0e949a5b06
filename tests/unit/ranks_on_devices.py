"""Programs of several ranks on as many virtual devices of one process, compared with their definition.

Run as a program by ``test_process_mesh.py``: how many devices there are is fixed when jax starts.
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import re
from typing import Any

import numpy as np

from mindgrad.backend import process_mesh
from mindgrad.backend.jax_import import jax_module
from mindgrad.backend.xla import compile_ahead
from mindgrad.ir.build import Builder, building
from mindgrad.ir.dtype import bfloat16, float32, float64, int32
from mindgrad.ir.graph import Graph
from mindgrad.ir.types import tensor_type
from mindgrad.rows.collectives import all_max, all_reduce
from mindgrad.rows.reduction import reduce_sum
from mindgrad.transforms.reverse import reverse
from tests.laws.rank_programs import CASES, RANKS, SHAPE, SIZE, draw, evaluate_ranks, program


def compare(graph: Graph, inputs: list[list[np.ndarray]], tolerance: float) -> None:
    """XLA's results on every rank are those of the definition."""
    executable = compile_ahead(graph)
    results = executable.run([list(parts) for parts in zip(*inputs, strict=True)], [], executable.extra)
    expected = evaluate_ranks(graph, inputs)
    for position, parts in enumerate(results):
        for rank in range(SIZE):
            one = np.asarray(parts[rank], np.float64)
            other = np.asarray(expected[rank][position], np.float64)
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance, err_msg=f"{graph}, {rank}")


def values() -> None:
    """Every collective, in one program."""
    for dtype, tolerance in ((float32, 1e-5), (bfloat16, 3e-2)):
        graphs = [program(name, dtype) for name in sorted(CASES)]
        builder = Builder()
        with building(builder):
            xs = [builder.input(graph.inputs[0].type) for graph in graphs]
            ys = [builder.inline(graph, [x])[0] for graph, x in zip(graphs, xs, strict=True)]
            graph = builder.close(ys)
        drawn = [draw(SHAPE, seed, dtype.numpy) for seed in range(len(graphs))]
        compare(graph, [list(arrays) for arrays in zip(*drawn, strict=True)], tolerance)


def derivatives() -> None:
    """Every collective with its cotangents, and the cotangents of these."""
    for name in sorted(CASES):
        again = reverse(reverse(program(name, float64), [0]), [0, 1])
        drawn = [draw(v.shape, seed) for seed, v in enumerate(again.inputs)]
        compare(again, [list(arrays) for arrays in zip(*drawn, strict=True)], 1e-12)


def numbers_and_integers() -> None:
    """Arrays without axes differ from rank to rank like any others; integers are exact."""
    builder = Builder()
    with building(builder):
        x, k = builder.input(tensor_type(float32, ())), builder.input(tensor_type(int32, (3,)))
        graph = builder.close([all_reduce(x * x, ranks=RANKS), x + x, all_max(k, ranks=RANKS)])
    xs = [np.float32(rank + 1) for rank in RANKS]
    compare(graph, [[x, np.arange(3, dtype=np.int32) * (rank - 1)] for rank, x in enumerate(xs)], 1e-6)


def groups() -> None:
    """Collectives over some of the ranks: each rank compiles a program of its own groups."""
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type(float32, (4,)))
        graph = builder.close([all_reduce(x, ranks=(0, 1))])
    executable = compile_ahead(graph)
    (parts,) = executable.run([[np.full(4, rank, np.float32) for rank in RANKS]], [], executable.extra)
    assert [float(part[0]) for part in parts] == [1.0, 1.0, 5.0, 5.0], parts


def order_of_collectives() -> None:
    """Two collectives that do not depend on each other stay in the order of the program."""
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type(float32, (64,)))
        graph = builder.close([all_max(x, ranks=RANKS), all_reduce(reduce_sum(x, axes=(0,)), ranks=RANKS)])
    text = compile_ahead(graph).run.compiled.as_text()
    lines = [line for line in text.splitlines() if re.search(r"= .* all-reduce\(", line)]
    assert len(lines) == 2, text
    assert ["f32[64]" in line for line in lines] == [True, False], lines
    compare(graph, [[x] for x in draw((64,), 5, np.float32)], 1e-5)


def main() -> None:
    jax = jax_module()
    process_mesh.use_devices(jax.devices()[:SIZE])
    checks: list[Any] = [values, derivatives, numbers_and_integers, groups, order_of_collectives]
    for check in checks:
        check()
        print(check.__name__, flush=True)


if __name__ == "__main__":
    main()
