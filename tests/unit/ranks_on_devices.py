"""Programs of several ranks on as many virtual devices of one process, compared with their definition.

Run as a program by ``test_process_mesh.py``: how many devices there are is fixed when jax starts.
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"

import re
from typing import Any

import numpy as np

import mindgrad as ms
from mindgrad import nn
from mindgrad.communication.groups import World, enter_world
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.xla import compile_ahead
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import bfloat16, bool_, float32, float64, int32
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.transforms.reverse import reverse
from mindgrad.distributed import process_mesh
from mindgrad.distributed.collectives import (
    all_gather,
    all_max,
    all_reduce,
    all_to_all,
    combined,
    reduce_scatter,
)
from mindgrad.frontend.programs.compiled import trace
from tests.laws.rank_programs import CASES, RANKS, SHAPE, SIZE, draw, evaluate_ranks, program
from tests.tolerances import assert_close


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


def groups_of_any_size() -> None:
    """Three of four ranks, in another order: what XLA has for groups of one size only, in values and cotangents."""
    members = 2, 0, 3
    builder = Builder()
    with building(builder):
        x, mask = builder.input(tensor_type(float32, (3, 6))), builder.input(tensor_type(bool_, (2,)))
        ys = [
            all_reduce(x, ranks=members), all_max(x, ranks=members), all_gather(x, axis=1, ranks=members),
            reduce_scatter(x, axis=1, ranks=members), all_to_all(x, split_axis=1, concat_axis=0, ranks=members),
            all_to_all(x, split_axis=0, concat_axis=0, ranks=members), all_gather(mask, axis=0, ranks=members),
        ]  # fmt: skip
        graph = builder.close(ys)
    xs = draw((3, 6), 1, np.float32)
    masks = [x[0, :2] > 0 for x in xs]
    executable = compile_ahead(graph)
    results = executable.run([xs, masks], [], executable.extra)
    for equation, parts in zip(graph.outputs, results, strict=True):
        operation = equation.made_by
        operands = masks if operation.inputs[0] is graph.inputs[1] else xs
        expected = combined(
            operation.primitive.name, [operands[rank] for rank in members], **operation.parameters
        )
        for rank, value in zip(members, expected, strict=True):
            assert_close(parts[rank], value, what=f"{operation}, {rank}")


def order_of_collectives() -> None:
    """Two collectives that do not depend on each other stay in the order of the program."""
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type(float32, (64,)))
        graph = builder.close([all_max(x, ranks=RANKS), all_reduce(reduce_sum(x, axes=(0,)), ranks=RANKS)])
    text = compile_ahead(graph).compiled.as_text()
    lines = [line for line in text.splitlines() if re.search(r"= .* all-reduce\(", line)]
    assert len(lines) == 2, text
    assert ["f32[64]" in line for line in lines] == [True, False], lines
    compare(graph, [[x] for x in draw((64,), 5, np.float32)], 1e-5)


def one_message_of_all_gradients() -> None:
    """A data-parallel step sends the bytes of the gradients once, on however many ranks, at equal memory."""
    memory = []
    for size in (2, 8):
        process_mesh.use_devices(jax_module().devices()[:size])
        enter_world(World(0, ("here",) * size))
        net = nn.SequentialCell(nn.Dense(20, 64), nn.Tanh(), nn.Dense(64, 64), nn.Tanh(), nn.Dense(64, 1))
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)
        loss = nn.WithLossCell(net, nn.MSELoss())
        gradient = ms.value_and_grad(loss, None, optimizer.parameters)

        def step(x: Any, y: Any, gradient: Any = gradient, run: Any = (optimizer, reducer)) -> Any:
            value, gradients = gradient(x, y)
            run[0](run[1](gradients))
            return value

        x, y = (ms.Tensor(np.ones(shape, np.float32)) for shape in ((32, 20), (32, 1)))
        compiled = compile_ahead(trace(step, x, y)).compiled
        messages = re.findall(r"= (\S+) all-reduce\(", compiled.as_text())
        elements = sum(p.size for p in optimizer.parameters)
        assert [message.split("{")[0] for message in messages] == [f"f32[{elements}]"], messages
        memory.append(str(compiled.memory_analysis()))
    assert memory[0] == memory[1], memory
    enter_world(None)


def main() -> None:
    jax = jax_module()
    process_mesh.use_devices(jax.devices()[:SIZE])
    checks = [values, derivatives, numbers_and_integers, groups, groups_of_any_size, order_of_collectives]
    checks.append(one_message_of_all_gradients)  # on devices of its own
    for check in checks:
        check()
        print(check.__name__, flush=True)


if __name__ == "__main__":
    main()
