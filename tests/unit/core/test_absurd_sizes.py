"""Programs of absurd sizes: a clear error at once, or the result."""

import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops

HUGE = 2**40

both_modes = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])


@both_modes
@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.zeros((HUGE,)).sum() + x,
        lambda x: ops.zeros((HUGE, HUGE)).sum() + x,
        lambda x: ops.ones((HUGE,), ms.int32).sum() + x,
        lambda x: ops.full((HUGE,), 1.5),
        lambda x: ops.broadcast_to(x, (HUGE,)).sum(),
        lambda x: ops.tile(x.reshape(1), (HUGE,)).sum(),
        lambda x: (ops.zeros(2**20).reshape(-1, 1) + ops.zeros(2**20)).sum() + x,
        lambda x: ops.arange(HUGE).sum() + x,
        lambda x: ops.eye(2**20).sum() + x,
        lambda x: ops.linspace(0, 1, HUGE).sum() + x,
    ],
)
def test_tensors_beyond_any_memory_are_refused_at_once(run, function):
    with pytest.raises(MemoryError, match=r"1099511627776|1048576, 1048576"):
        run(function)(Tensor(1.0))


def test_the_refusal_names_size_and_line():
    with pytest.raises(
        MemoryError, match=r"type Float32 would need 4 TiB of memory \(line \d+ of .*absurd_s"
    ):
        ops.zeros((HUGE,))


class Nested(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        if inner is None:
            self.weight = Parameter(Tensor([2.0]))

    def construct(self, x):
        return x * self.weight if self.inner is None else self.inner(x)


@pytest.fixture(scope="module")
def nested():
    cell = Nested(None)
    for _ in range(300):
        cell = Nested(cell)
    return cell


@pytest.fixture
def deep_stack():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def test_cells_inside_cells_beyond_pythons_limit(nested):
    for run in (nested, ms.grad(nested)):
        with pytest.raises(RecursionError, match=r"nested more deeply.*sys\.setrecursionlimit"):
            run(Tensor([3.0]))
    ms.set_context(mode=ms.GRAPH_MODE)  # a trace may go deeper
    assert nested(Tensor([3.0])).item() == 6.0
    assert ms.grad(nested)(Tensor([3.0])).item() == 2.0


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_cells_inside_cells_within_the_limit(nested, mode, deep_stack):
    ms.set_context(mode=mode)
    x = Tensor([3.0])
    assert nested(x).item() == 6.0
    np.testing.assert_array_equal(ms.grad(nested)(x).asnumpy(), [2.0])
    (gradient,) = ms.grad(nested, None, nested.trainable_params())(x)
    assert gradient.item() == 3.0
    assert len(list(nested.get_parameters())) == 1
    assert str(nested).count("Nested") == 301
