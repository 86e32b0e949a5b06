"""Rewrites for the caches of one CPU leave programs alone whose rows are divided: they would gather them."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.rewriting import watching
from mindgrad.inspect.collectives import Collective, collectives_of, totals
from tests.devices.programs import agree, counts, divided, normal, texts
from tests.unit.rewrite_checks import with_costs

WEIGHTS = [Tensor(normal(*shape, seed=k) / 2) for k, shape in enumerate([(2, 8), (8,), (8, 8), (8, 1)])]
POINTS = Tensor(normal(2048, 2))


def net(x, first, bias, second, last):
    return ops.matmul(ops.tanh(ops.matmul(ops.tanh(ops.matmul(x, first) + bias), second)), last)


def nested(x, *weights):
    slope = ms.grad(lambda x: net(x, *weights).sum())
    return ((slope(x)[:, :1] + ms.grad(lambda x: slope(x)[:, 0].sum())(x)[:, 1:]) ** 2).mean()


def collapsed(x, *weights):
    return (ms.laplacian(lambda x: net(x, *weights))(x) ** 2).mean()


def summed(x, *weights):
    return ops.matmul(net(x, *weights).T, x).sum() + (x.reshape(64, 32, 2).sum(0) ** 2).sum()


@pytest.fixture
def small(monkeypatch):
    """Sizes at which small programs are worth tiles, blocks and tiles of directions."""
    with_costs(monkeypatch, whole_bytes=1 << 18, tile_bytes=1 << 17, tiled_products=1)
    with_costs(monkeypatch, stack_tile_bytes=2 * 3 * 8 * 8, stack_tiles=2, stack_width=2)
    with_costs(monkeypatch, direction_tile_bytes=2048 * 8 * 4, direction_tiles=1)


@pytest.mark.parametrize("loss", [nested, collapsed, summed])
def test_no_rewrite_gathers_rows(loss, small):
    gradient = ms.value_and_grad(loss, (1, 2, 3, 4))
    with watching() as alone:
        value, slopes = ms.jit(gradient)(POINTS, *WEIGHTS)
    assert set(alone) & {"tiles", "blocks", "halves", "batch axis last"}, alone
    strategy = ((8, 1), *[(1,) * len(w.shape) for w in WEIGHTS])
    with divided("data_parallel", device_num=8, dataset_strategy=strategy), watching() as fired:
        run = ms.jit(gradient)
        result, found = run(POINTS, *WEIGHTS)
        agree([result, *found], [value, *slopes], "long program")
        assert not set(fired) & {"tiles", "blocks", "halves", "batch axis last"}, fired
        assert set(counts(run)) == {"all-reduce"}, counts(run)
        assert "[2048," not in texts(run)[0]
        assert sum(size for _, size in totals(texts(run)[0]).values()) < 8 * sum(w.nbytes for w in WEIGHTS)


def test_explain_counts_what_is_sent():
    with divided("data_parallel", device_num=8):
        explained = ms.explain(lambda x, w: ((x @ w) ** 2).sum(0), compiled=True)(
            Tensor(normal(16, 4)), Tensor(normal(4, 2))
        )
    assert explained.compilations[1].collectives == {"all-reduce": (1, 8)}
    assert "XLA: bytes of all-reduce" in str(explained)
    assert '"all-reduce": [1, 8]' in " ".join(explained.json().split()).replace("[ 1, 8 ]", "[1, 8]")


def test_collectives_in_loops_are_counted_as_often_as_they_run():
    with divided("data_parallel", device_num=8):
        total = ops.ReduceSum().shard(((8, 1),), ((),))

        @ms.jit
        def run(x):
            for _ in range(5):
                x = x * ops.cos(total(x))
            return x

        run(Tensor(normal(8, 4)))
        assert counts(run)["all-reduce"] == 5
    text = texts(run)[0]
    assert all(isinstance(c, Collective) and c.bytes == 4 for c in collectives_of(text))


def test_the_parts_of_an_array_that_is_gathered_are_seen():
    with divided():
        run = ms.jit(
            lambda x: ops.Sort().shard(((1, 1),))(
                ops.Mul().shard(((8, 1), (8, 1)))(x, x),
            )[0]
        )
        x = normal(8, 16)
        agree([run(Tensor(x))], [np.sort(x * x)])
        sent = totals(texts(run)[0])
        assert sent["all-gather"] == (1, 8 * 16 * 4)
