"""Steps of the benchmark's programs on some processes are those of one; layers divided over two processes.

``python -m mindgrad launch --workers 2 equality.py burgers argon …``: prints what was compared.
"""

import html
import importlib
import json
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()

sys.path[:0] = [str(Path(__file__).parents[3])]

import benchmark_steps  # noqa: E402

import tests.devices.programs as layers  # noqa: E402

layers.DEVICES = SIZE

average = ops.AllReduce("avg")


def part(x):
    """This rank's rows."""
    rows = len(x) // SIZE
    return x[RANK * rows : (RANK + 1) * rows]


def reducer(parameters):
    return nn.DistributedGradReducer(parameters, mean=True)


class Layers:
    """``nn`` with batch statistics of all ranks."""

    BatchNorm2d = nn.SyncBatchNorm

    def __getattr__(self, name):
        return getattr(nn, name)


def steps(name):
    """Losses and gradients of a program."""
    whole = benchmark_steps.results(name)
    benchmark_steps.mindspore_training.nn = Layers()
    try:
        losses, gradients = benchmark_steps.results(name, reducer, part, SIZE)
    finally:
        benchmark_steps.mindspore_training.nn = nn
    losses = [float(average(Tensor(np.float32(loss)))) for loss in losses]
    benchmark_steps.agree((losses, gradients), whole, name)


def explained():
    """``explain`` counts the messages of a step, in each of its forms."""
    step, batch = benchmark_steps.program("burgers", reducer, SIZE)
    explanation = ms.explain(step, compiled=True)(*[Tensor(part(x)) for x in batch])
    layers_ = benchmark_steps.problems.burgers_training().layers
    size = 4 * sum(x.size for layer in layers_ for x in layer)
    assert explanation.compilations[1].collectives == {"all-reduce": (1, size)}, explanation.compilations
    # without rewrites a message for each Parameter, or as XLA joins them; as many bytes
    assert explanation.compilations[0].collectives["all-reduce"][1] == size
    assert "XLA: bytes of all-reduce" in str(explanation)
    assert "XLA: bytes of all-reduce" in html.unescape(explanation._repr_html_())
    assert f'"all-reduce": [1, {size}]' in json.dumps(json.loads(explanation.json()))


def divided_layers():
    """A perceptron and an attention block, divided over the processes, in every derivative."""
    from tests.devices.test_tensor_parallel import NETS, derivatives, leaves

    for name, (make, shape) in NETS.items():
        x, v = Tensor(layers.normal(*shape)), Tensor(layers.normal(*shape, seed=9))
        alone = {key: leaves(f(*args)) for key, (f, args) in derivatives(make(), x, v).items()}
        with layers.divided(full_batch=True):
            net = make()
            for key, (function, arguments) in derivatives(net, x, v).items():
                function = ms.jit(function)
                for own, expected in zip(leaves(function(*arguments)), alone[key], strict=True):
                    agree_in_slices(own, expected.asnumpy(), f"{name}, {key}")
                assert f"num_partitions={SIZE}" in layers.texts(function)[0], (name, key)
            for parameter in net.trainable_params():
                (own,) = parameter._array.addressable_shards
                assert own.data.size * SIZE == parameter.size


def agree_in_slices(own, expected, text):
    """The slices that this process has of a tensor are those of one device."""
    scale = max(1.0, float(np.abs(expected).max()))
    for shard in own._array.addressable_shards:
        np.testing.assert_allclose(
            np.asarray(shard.data), expected[shard.index], rtol=2e-5, atol=2e-5 * scale, err_msg=text
        )


def refused():
    """A divided program with a collective of ``ops`` in it."""
    with layers.divided(full_batch=True):
        both = ms.jit(lambda x: ops.AllReduce()(x * 2))
        with pytest.raises(RuntimeError, match="also contains collectives of processes"):
            both(Tensor(layers.normal(4, 4)))


def module_checks(name):
    """The checks of another program, for which no processes have to start."""
    for check in importlib.import_module(name).CHECKS:
        check()


CHECKS = {"explained": explained, "layers": divided_layers, "refused": refused}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        if name in benchmark_steps.NAMES:
            steps(name)
        elif name in CHECKS:
            CHECKS[name]()
        else:
            module_checks(name)
        print(name, flush=True)
