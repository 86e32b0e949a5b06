"""Plain functions that make other gradients in each turn of a loop: hot as a whole, and the same in each tier."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.scope import current_deferral
from mindgrad.ir.tensor import Tensor as CoreTensor
from tests.tiers import eager

SIZE = 12


@pytest.fixture(autouse=True)
def compiled_at_once():
    with eager("deferred"):
        yield
    assert current_deferral() is None
    ms.set_context(mode=ms.PYNATIVE_MODE)


def points(seed=0, rows=5):
    return Tensor(np.random.default_rng(seed).normal(size=(rows, SIZE)).astype(np.float64))


WEIGHT = Tensor(np.random.default_rng(9).normal(size=(SIZE, 6)).astype(np.float64))


def network(x):
    return ops.tanh(ops.matmul(x, WEIGHT)).sum(1, keepdims=True)


def slope_of(function, k):
    return ms.grad(lambda x: ms.grad(function)(x)[:, k])


def made(function=network):
    """A Laplacian of its own, so that no test finds another's tier."""
    source = """
def laplacian(x):
    total = 0
    for k in range(x.shape[1]):
        total += slope_of(function, k)(x)[:, k]
    return total
"""
    scope = {"slope_of": slope_of, "function": function}
    exec(compile(source, "<a user's file>", "exec"), scope)
    return scope["laplacian"]


def expected(x, function=network):
    with eager("numpy"):
        return made(function)(x).asnumpy()


def warm(function, *args, calls=12):
    """Call ``function`` until nothing changes any more."""
    for _ in range(calls):
        function(*args).asnumpy()


def tier(name="laplacian"):
    (line,) = [line for line in ms.cache_info().eager if line.startswith(name + ":")]
    return line


def test_becomes_hot_and_follows_its_inputs():
    laplacian = made()
    warm(laplacian, points())
    assert ": hot: " in tier(), tier()
    for seed in range(3):
        np.testing.assert_allclose(
            laplacian(points(seed)).asnumpy(), expected(points(seed)), rtol=2e-5, atol=1e-5
        )
    assert ": hot: " in tier()


def test_values_are_pending_until_somebody_asks():
    laplacian = made()
    warm(laplacian, points())
    result = laplacian(points(4))
    assert current_deferral() is None
    assert result.shape == (5,)
    assert result.dtype == ms.float64
    later = laplacian(points(5))
    np.testing.assert_allclose(result.asnumpy(), expected(points(4)), rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose((later * 2).asnumpy(), 2 * expected(points(5)), rtol=2e-5, atol=2e-5)


def test_another_thread_reads_the_result():
    laplacian = made()
    warm(laplacian, points())
    result = laplacian(points(6))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(result.asnumpy()))
    thread.start()
    thread.join()
    np.testing.assert_allclose(seen[0], expected(points(6)), rtol=2e-5, atol=1e-5)


def test_threads_at_once():
    laplacian = made()
    warm(laplacian, points())
    results = {}

    def run(seed):
        for _ in range(3):
            results[seed] = laplacian(points(seed)).asnumpy()

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, result in results.items():
        np.testing.assert_allclose(result, expected(points(seed)), rtol=2e-5, atol=1e-5)


def test_values_that_are_kept_elsewhere_are_there():
    terms = []

    def laplacian(x):
        total = 0
        for k in range(SIZE):
            term = slope_of(network, k)(x)[:, k]
            if k % 5 == 0:
                terms.append(term)
            total += term
        return total

    x = points(1)
    with eager("numpy"):
        laplacian(x)
    right = [t.asnumpy() for t in terms]
    terms.clear()
    for _ in range(12):
        terms.clear()
        laplacian(x)
    for ours, theirs in zip(terms, right, strict=True):
        np.testing.assert_allclose(ours.asnumpy(), theirs, rtol=2e-5, atol=1e-5)


def test_python_runs_at_every_call_and_may_branch_on_values():
    lines = []

    def laplacian(x):
        total = 0
        for k in range(SIZE):
            total += slope_of(network, k)(x)[:, k]
            lines.append(k)
        if float(total.sum()) > 0:
            return -total
        return total

    for seed in [*range(10), 3, 4]:
        x = points(seed)
        right = expected(x)
        right = -right if right.sum() > 0 else right
        lines.clear()
        np.testing.assert_allclose(laplacian(x).asnumpy(), right, rtol=2e-5, atol=1e-5)
        assert lines == list(range(SIZE))


def test_returns_earlier_than_predicted():
    def laplacian(x, last):
        total = 0
        for k in range(last):
            total += slope_of(network, k)(x)[:, k]
        return total

    for _ in range(10):
        laplacian(points(), SIZE).asnumpy()
    with eager("numpy"):
        right = laplacian(points(2), SIZE - 2).asnumpy()
    for _ in range(3):
        ours = laplacian(points(2), SIZE - 2)
        assert current_deferral() is None
        np.testing.assert_allclose(ours.asnumpy(), right, rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose(
        laplacian(points(2), SIZE).asnumpy(), expected(points(2)), rtol=2e-5, atol=1e-5
    )


@pytest.mark.parametrize("calls", [4, 7, 12])
def test_raises_in_between(calls):
    partial = []

    def laplacian(x, broken=False):
        total = 0
        for k in range(SIZE):
            total += slope_of(network, k)(x)[:, k]
            if k == 5 and broken:
                partial.append(total)
                raise ArithmeticError("the user's")
        return total

    for _ in range(calls):
        laplacian(points()).asnumpy()
    with pytest.raises(ArithmeticError, match="the user's"):
        laplacian(points(3), broken=True)
    # the exception may still hold the frame; what comes next is not the function's
    assert float(ops.square(Tensor(3.0, ms.float32))) == 9.0
    np.testing.assert_allclose(laplacian(points(3)).asnumpy(), expected(points(3)), rtol=2e-5, atol=1e-5)
    assert np.isfinite(partial[0].asnumpy()).all()


def test_the_exception_is_kept_and_work_goes_on():
    def laplacian(x, broken=False):
        total = 0
        for k in range(SIZE):
            total += slope_of(network, k)(x)[:, k]
            if k == 5 and broken:
                raise ArithmeticError
        return total

    for _ in range(8):
        laplacian(points()).asnumpy()
    kept = None
    try:
        laplacian(points(), broken=True)
    except ArithmeticError as error:
        kept = error
    assert kept is not None
    step = ms.grad(lambda x: ops.square(x).sum())
    for _ in range(6):
        np.testing.assert_allclose(step(points(7)).asnumpy(), 2 * points(7).asnumpy(), rtol=1e-6)
    assert current_deferral() is None


def test_parameters_that_are_written_inside():
    weight = Parameter(Tensor(np.ones(SIZE, np.float64)), name="weight")

    def step(x):
        total = 0
        for k in range(SIZE):
            total += slope_of(lambda y: ops.tanh(y * weight).sum(1, keepdims=True), k)(x)[:, k]
        weight.set_data(weight * 0.9 + total.mean())
        return total

    def run(switch):
        weight.set_data(Tensor(np.ones(SIZE, np.float64)))
        with eager(switch):
            return [step(points(seed)).asnumpy() for seed in range(14)], weight.asnumpy()

    cold, cold_weight = run("numpy")
    hot, hot_weight = run("deferred")
    for ours, theirs in zip(hot, cold, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(hot_weight, cold_weight, rtol=2e-4)


def test_memory_that_numpy_shares_is_read_when_python_reads_it():
    buffer = np.zeros((5, SIZE), np.float64)

    def laplacian(seed):
        total = 0
        for k in range(SIZE):
            buffer[:] = points(seed + k).asnumpy()
            total += slope_of(network, k)(CoreTensor.from_numpy(buffer))[:, k]
        return total

    with eager("numpy"):
        right = laplacian(3).asnumpy()
    for _ in range(14):
        np.testing.assert_allclose(laplacian(3).asnumpy(), right, rtol=2e-5, atol=1e-5)


def test_through_helper_functions_comprehensions_and_generators():
    def second(x, k):
        return slope_of(network, k)(x)[:, k]

    def by_helper(x):
        return sum((second(x, k) for k in range(SIZE)), Tensor(0.0, ms.float64))

    def by_list(x):
        return sum([slope_of(network, k)(x)[:, k] for k in range(SIZE)], Tensor(0.0, ms.float64))

    def by_generator(x):
        def terms():
            for k in range(SIZE):
                yield slope_of(network, k)(x)[:, k]

        return sum(terms(), Tensor(0.0, ms.float64))

    for function in (by_helper, by_list, by_generator):
        for seed in range(16):
            np.testing.assert_allclose(
                function(points(seed)).asnumpy(), expected(points(seed)), rtol=2e-5, atol=1e-5
            )
        name = f"test_through_helper_functions_comprehensions_and_generators.<locals>.{function.__name__}"
        assert ": hot: " in tier(name), ms.cache_info().eager


def test_a_loop_that_hardly_ever_returns_holds_no_memory(monkeypatch):
    from mindgrad.eager import regions

    monkeypatch.setattr(regions, "HOST", HOST._replace(region_events=400))
    alive = []

    def train(steps):
        x = points()
        for k in range(steps):
            gradient = slope_of(network, k % SIZE)(x * float(k))
            alive.append(weakref.ref(gradient))
        return gradient

    for steps in (4, 4, 4, 4, 200):
        train(steps)
    gc.collect()
    assert "before it returned" in tier("test_a_loop_that_hardly_ever_returns_holds_no_memory.<locals>.train")
    assert sum(each() is not None for each in alive) <= 2


def test_frees_what_it_recorded():
    laplacian = made()
    warm(laplacian, points())
    gc.collect()
    gc.disable()
    try:
        inputs = []
        for seed in range(4):
            x = points(seed)
            inputs.append(weakref.ref(x))
            laplacian(x).asnumpy()
            del x
        laplacian(points())
        assert [each() for each in inputs] == [None] * 4
    finally:
        gc.enable()


def test_a_debugger_that_starts_inside():
    laplacian = made()
    warm(laplacian, points())

    def traced(x):
        total = 0
        for k in range(SIZE):
            if k == 4:
                sys._getframe().f_trace = lambda *_: None
            total += slope_of(network, k)(x)[:, k]
        return total

    for seed in range(12):
        np.testing.assert_allclose(
            traced(points(seed)).asnumpy(), expected(points(seed)), rtol=2e-5, atol=1e-5
        )


def test_a_cell_that_is_called_in_the_same_function():
    net = nn.Dense(SIZE, 3)

    def both(x):
        total = net(x).sum()
        for k in range(SIZE):
            total += slope_of(network, k)(x)[:, k].sum()
        return total + net(x).sum()

    with eager("numpy"):
        right = [both(points(seed)).asnumpy() for seed in range(12)]
    for seed in range(12):
        np.testing.assert_allclose(both(points(seed)).asnumpy(), right[seed], rtol=2e-4, atol=1e-4)


def test_errors_are_reported_at_once_at_the_users_line():
    laplacian = made()
    warm(laplacian, points())
    with pytest.raises(ValueError, match="matmul"):
        laplacian(Tensor(np.ones((5, SIZE + 1), np.float32)))
    np.testing.assert_allclose(laplacian(points(1)).asnumpy(), expected(points(1)), rtol=2e-5, atol=1e-5)
