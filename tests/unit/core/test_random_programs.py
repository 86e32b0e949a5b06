"""The state of the random number generator in programs: eager and compiled, in branches, loops, gradients."""

import gc
import threading
import weakref

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.common.seed import RANDOM_STATE
from mindgrad.core.primitives.random import random_bits
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close

MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]


@pytest.fixture(autouse=True)
def restored():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, checkpoint_slots=1024)


def arrays(found):
    return [each.asnumpy() for each in (found if isinstance(found, tuple | list) else [found])]


class Everything(nn.Cell):
    """Draws before, in and behind a branch and loops."""

    def construct(self, x, n):
        a = ops.rand(3) + x
        if x.sum() > 0:
            a = a + ops.rand(3)
            whole = ops.randint(0, 100, (3,))
        else:
            whole = ops.randint(0, 50, (3,))
        i = Tensor(0)
        while i < n:
            a = a + ops.dropout(x, 0.5)  # exact, as all that is added here
            if i % 2 == 0:
                whole = whole + ops.randint(0, 10, (3,))
            i = i + 1
        for _ in range(2):
            a = a + ops.bernoulli(x, 0.5)
        return a, whole, ops.randperm(7), ops.randn(3)


def test_compiled_is_eager_in_branches_and_loops_without_compiling_again():
    x, n = Tensor([1.0, 2.0, 3.0]), Tensor(3)
    net, results, states = Everything(), [], []
    for mode in MODES:
        ms.set_context(mode=mode)
        ms.set_seed(5)
        before = ms.cache_info(net).misses
        calls = [(x, n), (x, n), (-x, n), (x, Tensor(0))]
        results.append([arrays(net(*each)) for each in calls])
        states.append(RANDOM_STATE.asnumpy())
        if mode == ms.GRAPH_MODE:
            assert ms.cache_info(net).misses - before == 1
    assert (states[0] == states[1]).all()
    for eager, compiled in zip(*results, strict=True):
        for one, two in zip(eager[:3], compiled[:3], strict=True):
            assert (one == two).all()
        assert_close(eager[3], compiled[3], kind="program", each=True, scale=0.1)
    assert (results[1][0][2] != results[1][1][2]).any()
    assert (results[1][0][0] != results[1][1][0]).any()


def test_a_compiled_function_and_eager_operators_share_one_sequence():
    draw = ms.jit(lambda: ops.randint(0, 1000, (4,)))
    ms.set_seed(2)
    eager = [ops.randint(0, 1000, (4,)).asnumpy() for _ in range(3)]
    ms.set_seed(2)
    mixed = [draw().asnumpy(), ops.randint(0, 1000, (4,)).asnumpy(), draw().asnumpy()]
    assert (np.array(eager) == np.array(mixed)).all()


def noisy(mean, width):
    z = ops.normal((4,), mean, width)
    i = Tensor(0)
    while i < 3:
        z = z * ops.normal((4,), mean, 0.5) + ops.uniform((4,), -width, width)
        i = i + 1
    return (z * z).sum() + ops.laplace((4,), mean, width).sum()


def test_gradients_pass_through_noise_and_see_the_same_numbers():
    at = [Tensor(np.float64(0.7)), Tensor(np.float64(1.3))]

    def value(*where):
        ms.set_seed(4)
        return noisy(*[Tensor(np.float64(v)) for v in where]).item()

    h = 1e-5
    slopes = [
        (value(0.7 + h, 1.3) - value(0.7 - h, 1.3)) / (2 * h),
        (value(0.7, 1.3 + h) - value(0.7, 1.3 - h)) / (2 * h),
    ]
    h = 1e-4
    curvature = (value(0.7 + h, 1.3) - 2 * value(0.7, 1.3) + value(0.7 - h, 1.3)) / h**2

    def both(mean, width):
        return ms.grad(noisy, (0, 1))(mean, width)

    def second(mean, width):
        return ms.grad(ms.grad(noisy))(mean, width)

    for mode in MODES:
        ms.set_context(mode=mode)
        ms.set_seed(4)
        actual = [each.item() for each in both(*at)]
        assert_close(actual, slopes, kind="iteration")
        after = RANDOM_STATE.asnumpy()
        assert after[4] == 8  # drawn once, not again for the gradient
        again = [each.item() for each in both(*at)]
        assert not np.allclose(again, actual)
        ms.set_seed(4)
        assert_close(second(*at), curvature, kind="difference")


def test_a_gradient_that_runs_iterations_again_sees_their_numbers():
    def walked(x, iterations):
        i = Tensor(0)
        while i < iterations:
            x = x * (0.5 + ops.rand(3, dtype=ms.float64))
            i = i + 1
        return x.sum()

    x, actual = Tensor([1.0, 2.0, 3.0], ms.float64), []
    ms.set_context(checkpoint_slots=4)
    for mode in MODES:
        ms.set_context(mode=mode)
        ms.set_seed(4)
        actual.append(ms.grad(walked)(x, Tensor(70)).asnumpy())
        assert RANDOM_STATE.asnumpy()[4] == 70
    assert_close(actual[0], actual[1], kind="program")


def test_gamma_has_the_derivative_of_its_rate_and_warns_of_its_order():
    def draw(rate):
        ms.set_seed(4)
        return ops.gamma((5,), 2.0, rate)

    rate = Tensor(np.float64(1.5))
    assert_close(ms.grad(draw)(rate), -draw(rate).sum().item() / 1.5, kind="program")
    with pytest.warns(UserWarning, match="no derivative with respect to 'alpha'"):
        assert ms.grad(lambda alpha: ops.gamma((5,), alpha, 1.0))(Tensor(2.0)).item() == 0


def test_normal_noise_stays_regular_in_derivatives():
    graph = trace(ms.grad(lambda s: ops.normal((3,), 0.0, s) * s), Tensor(1.0))
    assert "masked_multiply" not in str(graph)


def test_a_compiled_function_cannot_set_the_seed():
    @ms.jit
    def seeded():
        ms.set_seed(1)
        return ops.rand(2)

    with pytest.raises(ms.CompileError, match="seed would be set once"):
        seeded()


def test_a_net_that_draws_is_freed_with_its_programs():
    class Noisy(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = ms.Parameter(ops.ones(2), name="weight")

        def construct(self, x):
            return x * self.weight + ops.rand(2)

    ms.set_context(mode=ms.GRAPH_MODE)
    net = Noisy()
    ms.grad(net, None, net.trainable_params())(ops.ones(2))
    gone = weakref.ref(net.weight)
    del net
    gc.collect()
    assert gone() is None


def test_threads_draw_different_numbers():
    compiled = ms.jit(lambda: ops.randint(0, 2**62, (2,)))
    compiled()
    seen = []

    def draw(function):
        for _ in range(40):
            seen.extend(function().tolist())

    eager = [lambda: ops.randint(0, 2**62, (2,))] * 3
    threads = [threading.Thread(target=draw, args=(each,)) for each in [*eager, compiled, compiled]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == len(set(seen)) == 400


def test_each_state_of_a_batch_has_bits_of_its_own():
    states = np.array([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6, 6]], np.uint32)
    bits, after = random_bits.numpy(states, (4,), (0, 0))
    for k in range(2):
        one, two = random_bits.numpy(states[k], (4,), (0, 0))
        assert (bits[k] == one).all()
        assert (after[k] == two).all()
    assert (bits[0] != bits[1]).all()


def test_jacobians_see_the_same_noise_in_all_directions():
    def f(x):
        ms.set_seed(9)
        return x * ops.randn(3)

    ms.set_seed(9)
    noise = ops.randn(3).asnumpy()
    x = ops.ones(3)
    assert_close(ms.jacrev(f)(x), np.diag(noise), kind="program", each=True)
    assert_close(ms.jacfwd(f)(x), np.diag(noise), kind="program", each=True)
