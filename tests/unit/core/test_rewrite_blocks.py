"""Blocks: stacks for a few rows at a time give what all rows give, and only where that pays."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import ops
from mindgrad.core.ir import settings
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.rewriting import watching
from mindgrad.frontend.programs.compiled import trace
from mindgrad.inspect import profile
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import with_and_without, with_costs

#: where sums over the rows are made, there must be many of them
ROWS, MANY, D, H = 12, 600, 3, 8


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape) * 0.5


WEIGHTS = [ms.Tensor(draw(*shape, seed=k)) for k, shape in enumerate([(D, H), (H,), (H, H), (H, 1)])]
POINTS, T = ms.Tensor(draw(MANY, D)), ms.Tensor(draw(MANY, 1, seed=1))
X = POINTS[:ROWS]


def net(x, first, bias, second, last, t=T):
    """Also of data beside the rows, which does not move."""
    hidden = ops.tanh(ops.matmul(x, first) + bias + t[: x.shape[0]])
    return ops.matmul(ops.concat((ops.sin(ops.matmul(hidden, second)), hidden), -1)[:, : last.shape[0]], last)


def laplacian(x, *weights):
    return ms.laplacian(net)(x, *weights)


def residual(x, *weights):
    return ops.square(laplacian(x, *weights) - net(x, *weights)[:, 0]).mean()


@pytest.fixture
def small(monkeypatch):
    """Sizes at which a small program is worth its blocks: of two rows."""
    stack = 2 * D * H * 8
    with_costs(monkeypatch, stack_tile_bytes=stack, stack_tiles=2, stack_width=2)
    with_costs(monkeypatch, direction_tile_bytes=stack, direction_tiles=2)


def both(function, *inputs):
    """How often blocks were made; values with and without rewrites must agree."""
    return with_and_without(function, *inputs)[0]["blocks"]


def loops(function, *inputs):
    """The numbers of iterations of the loops of a program."""
    return [e.parameters["length"] for e in trace(function, *inputs).equations if e.primitive.name == "scan"]


def test_a_laplacian(small):
    assert loops(laplacian, X, *WEIGHTS) == [ROWS // 2]
    assert both(laplacian, X, *WEIGHTS) == 1


def test_its_gradient_in_the_weights_and_the_points(small):
    gradient = ms.value_and_grad(residual, tuple(range(5)))
    assert both(gradient, POINTS, *WEIGHTS) == 1
    (iterations,) = loops(gradient, POINTS, *WEIGHTS)
    assert costs().fewest_tiles <= iterations < MANY // 2, "blocks are not smaller than the sums"


def test_its_second_derivative(small):
    slope = ms.grad(lambda first: (laplacian(POINTS, first, *WEIGHTS[1:]) ** 2).mean())
    assert both(ms.grad(lambda first: (slope(first) * first).sum()), WEIGHTS[0]) == 1


def test_coefficients_of_every_row(small):
    a = ms.Tensor(draw(ROWS, D, D))
    assert both(lambda x, a: ms.second_order(net)(x, *WEIGHTS, a), X, a) == 1


def test_a_prime_number_of_rows_goes_one_by_one(small):
    assert loops(laplacian, X[:11], *WEIGHTS) == [11]
    assert both(laplacian, X[:11], *WEIGHTS) == 1


def test_data_from_a_loop(small):
    """As samples of a Markov chain are."""

    def walked(x, *weights):
        while (x * x).sum() < 100.0:
            x = x * 1.1
        return laplacian(x, *weights)

    assert both(walked, X, *WEIGHTS) == 1


def test_in_the_body_of_a_loop(small):
    def descended(x, *weights):
        while (x * x).sum() < 100.0:
            x = x * 1.5 + 0.01 * laplacian(x, *weights).expand_dims(1)
        return x

    assert both(descended, X, *WEIGHTS) == 1


def test_behind_a_mean_the_stacks_are_made_anew(small):
    """The gradient of a deviation waits for the mean, and for the mean square of what is left."""

    def deviation(x, *weights):
        local = laplacian(x, *weights)
        return ops.sqrt(ops.square(local - local.mean()).mean())

    assert both(deviation, X, *WEIGHTS) == 1
    gradient = ms.grad(deviation, (1, 4))
    assert both(gradient, POINTS, *WEIGHTS) == 1
    assert len(loops(gradient, POINTS, *WEIGHTS)) == 2


def test_few_products_go_in_large_blocks_where_memory_would_be_fresh(monkeypatch):
    with_costs(monkeypatch, lone_stack_tile_bytes=costs().stack_tile_bytes)
    centers = ms.Tensor(draw(64, 1, D))
    triangles = ms.Tensor(draw(64, D, D, seed=1))

    def mixture(x, centers, triangles):
        scaled = ops.matmul(triangles, ops.expand_dims(ops.expand_dims(x, 1) - centers[:, 0], -1))
        return ops.logsumexp(-ops.square(scaled[..., 0]).sum(-1), 1).sum()

    points = ms.Tensor(draw(2 * MANY, D, seed=2))
    gradient = ms.grad(lambda *given: mixture(points, *given), (0, 1))
    assert both(gradient, centers, triangles) == 0
    with_costs(monkeypatch, stack_tiles=2)
    with_costs(monkeypatch, whole_bytes=2 * 64 * points.nbytes)
    assert both(gradient, centers, triangles) == 1
    (iterations,) = loops(gradient, centers, triangles)
    assert 2 <= iterations <= 8
    prime = ms.Tensor(draw(1201, D, seed=2))
    assert both(ms.grad(lambda *given: mixture(prime, *given), (0, 1)), centers, triangles) == 0
    with_costs(monkeypatch, whole_bytes=4 * 64 * points.nbytes)
    assert both(gradient, centers, triangles) == 0


def test_functions_whose_rows_are_not_known_to_stay_apart(small):
    places = ms.Tensor(np.arange(ROWS)[::-1].copy())
    gathered = lambda x, *weights: ops.gather(ops.gather(net(x, *weights), places, 0), places, 0)
    program = lambda x, *weights: ms.laplacian(gathered)(x, *weights)
    assert both(program, X, *WEIGHTS) == 0
    assert loops(program, X, *WEIGHTS), "the directions go in tiles"


def test_not_where_it_does_not_pay():
    assert both(laplacian, X, *WEIGHTS) == 0
    assert loops(laplacian, X, *WEIGHTS) == []


def test_not_off_the_cpu_nor_eagerly(small):
    before = settings.get("device_target")
    settings.store("device_target", "GPU")
    try:
        with watching() as fired:
            trace(laplacian, X, *WEIGHTS)
    finally:
        settings.store("device_target", before)
    assert not fired["blocks"]
    with watching() as fired:
        eager = laplacian(X, *WEIGHTS)
    assert not fired["blocks"]
    assert_close(eager, ms.jit(laplacian)(X, *WEIGHTS), kind="program")


def test_the_memory_is_that_of_a_block():
    """At the size for which blocks are made, with no constant changed."""
    rows, d, h = 128, 32, 256
    weights = [ms.Tensor(draw(*s).astype(np.float32)) for s in [(d, h), (h,), (h, h), (h, 1)]]
    x, t = ms.Tensor(draw(rows, d).astype(np.float32)), ms.Tensor(draw(rows, 1).astype(np.float32))
    function = lambda x, *weights: ms.laplacian(lambda x: net(x, *weights, t=t))(x)
    stack = rows * d * h * 4
    assert stack >= costs().stack_tiles * costs().stack_tile_bytes
    used = profile.measure(function, x, *weights, compile=True).temporary_bytes
    assert used < stack / 4
