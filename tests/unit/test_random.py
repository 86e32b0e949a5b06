"""Random numbers: known answers, distributions, seeds, the generator's state in programs, gradients."""

import gc
import threading
import weakref

import numpy as np
import pytest
from scipy import stats

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.common import seed
from mindgrad.common.seed import RANDOM_STATE
from mindgrad.functional.compiled import trace
from mindgrad.primitives.random import random_bits, threefry

MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]


@pytest.fixture(autouse=True)
def restored():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, checkpoint_slots=1024)


def arrays(found):
    return [each.asnumpy() for each in (found if isinstance(found, tuple | list) else [found])]


def fits(sample, distribution):
    """The probability that such a sample, or a less typical one, comes from the distribution."""
    return stats.kstest(np.asarray(sample).reshape(-1), distribution.cdf).pvalue


# --- the generator -----------------------------------------------------------------------------------

# kat_vectors of Random123, the implementation of the generator's authors: counter, key, words
KNOWN = [
    ("00000000 " * 4, "00000000 " * 4, "9c6ca96a e17eae66 fc10ecd4 5256a7d8"),
    ("ffffffff " * 4, "ffffffff " * 4, "2a881696 57012287 f6c7446e a16a6732"),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0 082efa98 ec4e6c89",
        "59cd1dbb b8879579 86b5d00c ac8b6d84",
    ),
]


def words(text):
    return np.array([int(word, 16) for word in text.split()], np.uint32)


@pytest.mark.parametrize(("counter", "key", "wanted"), KNOWN)
def test_known_answers(counter, key, wanted):
    assert (threefry(words(key), words(counter)[:, None])[:, 0] == words(wanted)).all()


def test_blocks_beyond_a_tile_are_those_of_their_counters():
    counters = np.zeros((4, 10_000), np.uint32)
    counters[0] = np.arange(10_000)
    key = words(KNOWN[2][1])
    one = threefry(key, counters[:, 9_876:9_877])
    assert (threefry(key, counters)[:, 9_876:9_877] == one).all()


def test_a_draw_is_its_blocks_and_the_count_of_calls_carries():
    state = np.array([1, 2, 3, 4, 2**32 - 1, 6], np.uint32)
    bits, after = random_bits.numpy(state, (2, 5), (0, 0))
    counters = np.zeros((4, 3), np.uint32)
    counters[0] = [0, 1, 2]
    wanted = threefry(state[[0, 1, 4, 5]], counters).reshape(-1)[:10].reshape(2, 5)
    assert (bits == wanted).all()
    assert (after == [1, 2, 3, 4, 0, 7]).all()
    own, _ = random_bits.numpy(state, (10,), (8, 9))
    counters[2:] = [[8], [9]]
    assert (own == threefry(state[[2, 3, 4, 5]], counters).reshape(-1)[:10]).all()


def test_bits_look_random():
    ms.set_seed(0)
    drawn = np.array([ops.drawing.bits("Test", (4096,), (0, 0)).asnumpy() for _ in range(8)])
    share = np.array([(drawn >> np.uint32(k)) & 1 for k in range(32)]).mean((1, 2))
    assert np.abs(share - 0.5).max() < 5 * 0.5 / np.sqrt(drawn.size)
    assert len(np.unique(drawn)) > drawn.size - 10
    assert abs(np.corrcoef(drawn)[np.triu_indices(8, 1)]).max() < 5 / np.sqrt(4096)


# --- seeds -------------------------------------------------------------------------------------------


def test_seeds():
    ms.set_seed(11)
    assert ms.get_seed() == 11
    first, second = ops.rand(4), ops.rand(4)
    numpy_first = np.random.rand()  # noqa: NPY002 - this is what is tested
    assert (first != second).all()
    ms.set_seed(11)
    assert (ops.rand(4) == first).all()
    assert (ops.rand(4) == second).all()
    assert np.random.rand() == numpy_first  # noqa: NPY002
    ms.set_seed(12)
    assert (ops.rand(4) != first).all()
    ms.set_seed(2**40 + 11)
    assert (ops.rand(4) != first).all()
    for wrong, error in [(1.5, TypeError), (True, TypeError), (-1, ValueError), (2**64, ValueError)]:
        with pytest.raises(error, match="seed"):
            ms.set_seed(wrong)


def test_seeds_of_operators():
    def drawn(**seed):
        ms.set_seed(3)
        return ops.rand(4, **seed).asnumpy()

    assert (drawn(seed=5) == drawn(seed=5)).all()
    assert (drawn(seed=5) != drawn(seed=6)).all()
    assert (drawn(seed=5) != drawn()).all()
    assert (drawn(seed=0) == drawn()).all()
    ms.set_seed(3)
    normal = ops.StandardNormal(seed=5)
    assert (normal((4,)) != normal((4,))).all()  # each call has numbers of its own
    ms.set_seed(3)
    one = ops.StandardNormal(seed=5, seed2=1)((4,))
    ms.set_seed(3)
    assert (ops.StandardNormal(seed=5)((4,)) != one).all()
    for wrong, error in [(1.5, TypeError), (-1, ValueError), (2**32, ValueError)]:
        with pytest.raises(error, match="'Rand', the 'seed'"):
            ops.rand(2, seed=wrong)


def test_the_state_can_be_kept():
    ms.manual_seed(6)
    ops.rand(2)
    kept = ms.get_rng_state()
    first = ops.rand(4)
    ms.set_rng_state(kept)
    assert (ops.rand(4) == first).all()
    compiled = ms.jit(lambda: ops.rand(4))
    ms.set_rng_state(kept)
    assert (compiled() == first).all()
    ms.set_rng_state(kept)
    assert (compiled() == first).all()
    assert kept.tolist() == [6, 0, 6, 0, 1, 0]
    for wrong in (Tensor([1, 2]), 5):
        with pytest.raises(TypeError, match="that get_rng_state gave"):
            ms.set_rng_state(wrong)


def test_without_a_seed_operators_with_one_repeat():
    a, b = seed._initial_state(None), seed._initial_state(None)
    assert (a[:2] != b[:2]).any()
    assert (a[2:] == 0).all()


# --- distributions -----------------------------------------------------------------------------------

N = 20_000
CONTINUOUS = {
    "rand": (lambda: ops.rand(N), stats.uniform()),
    "rand64": (lambda: ops.rand(N, dtype=ms.float64), stats.uniform()),
    "uniform": (lambda: ops.uniform((N,), -1.0, Tensor(3.0)), stats.uniform(-1, 4)),
    "randn": (lambda: ops.randn(N), stats.norm()),
    "randn odd": (lambda: ops.randn(N - 1), stats.norm()),
    "randn64": (lambda: ops.randn(N, dtype=ms.float64), stats.norm()),
    "normal": (lambda: ops.normal((N,), 2.0, Tensor(0.5)), stats.norm(2, 0.5)),
    "StandardNormal": (lambda: ops.StandardNormal()((N,)), stats.norm()),
    "UniformReal": (lambda: ops.UniformReal(seed=4)((N,)), stats.uniform()),
    "laplace": (lambda: ops.laplace((N,), 1.0, 2.0), stats.laplace(1, 2)),
    "StandardLaplace": (lambda: ops.StandardLaplace()((N,)), stats.laplace()),
    "gamma 3": (lambda: ops.gamma((N,), 3.0, 2.0), stats.gamma(3, scale=0.5)),
    "gamma 1": (lambda: ops.gamma((N,), 1.0, 1.0), stats.expon()),
    "gamma 0.3": (lambda: ops.Gamma()((N,), Tensor(0.3), Tensor(1.0)), stats.gamma(0.3)),
    "random_gamma": (lambda: ops.random_gamma((N,), Tensor(20.0, ms.float64)), stats.gamma(20)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name):
    draw, distribution = CONTINUOUS[name]
    ms.set_seed(1)
    sample = draw().asnumpy()
    assert fits(sample, distribution) > 1e-3
    error = distribution.std() / np.sqrt(sample.size)
    assert abs(sample.mean() - distribution.mean()) < 4 * error
    assert abs(sample.var() / distribution.var() - 1) < 0.1


def test_the_halves_of_a_normal_draw_are_independent():
    ms.set_seed(1)
    first, second = np.split(ops.randn(N).asnumpy(), 2)
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(N / 2)
    assert abs(np.corrcoef(first**2, second**2)[0, 1]) < 4 / np.sqrt(N / 2)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64], ids=str)
def test_fractions_are_below_one_in_every_type(dtype):
    ms.set_seed(1)
    found = ops.rand(30_000, dtype=dtype)
    assert found.dtype is dtype
    values = found.astype(ms.float64).asnumpy()
    assert 0 <= values.min() < 0.01
    assert 0.99 < values.max() < 1


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [(0, 10, ms.int64), (-3, 4, ms.int32), (-128, 128, ms.int8), (250, 256, ms.uint8)],
)
def test_integers(low, high, dtype):
    ms.set_seed(1)
    found = ops.randint(low, high, (N,), dtype=dtype)
    assert found.dtype is dtype
    counts = np.bincount(found.asnumpy().astype(int) - low, minlength=high - low)
    assert len(counts) == high - low
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(
    ("low", "high"), [(0, 2**32), (-(2**40), 3 * 2**40), (-(2**63), 2**63), (2**63 - 2, 2**63)]
)
def test_integers_of_wide_ranges(low, high):
    ms.set_seed(1)
    values = [int(v) for v in ops.randint(low, high, (4000,)).asnumpy()]
    assert low <= min(values)
    assert max(values) < high
    share = [(v - low) / (high - low) for v in values]
    if high - low > 10:
        assert fits(share, stats.uniform()) > 1e-3
    else:
        assert set(values) == {low, high - 1}


def test_integers_between_tensors():
    ms.set_seed(1)
    low, high = Tensor([0, -5, 7], ms.int32), Tensor([2, 5, 8], ms.int32)
    found = ops.UniformInt()((2000, 3), low, high)
    assert found.dtype is ms.int32
    assert (found.asnumpy().min(0) == [0, -5, 7]).all()
    assert (found.asnumpy().max(0) == [1, 4, 7]).all()
    wide = ops.uniform((2000, 1), Tensor([0, -(2**40)]), Tensor([1, 2**40]), dtype=ms.int64).asnumpy()
    assert (wide[:, 0] == 0).all()
    assert fits(wide[:, 1] / 2**41 + 0.5, stats.uniform()) > 1e-3


def test_permutations():
    ms.set_seed(1)
    found = np.array([ops.randperm(3).asnumpy() for _ in range(1200)])
    _, counts = np.unique(found, axis=0, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-3
    assert (np.sort(ops.randperm(1000, dtype=ms.int32).asnumpy()) == np.arange(1000)).all()
    x = Tensor(np.arange(20.0).reshape(10, 2))
    mixed = ops.shuffle(x).asnumpy()
    assert (mixed != x.asnumpy()).any()
    assert (mixed[np.argsort(mixed[:, 0])] == x.asnumpy()).all()
    weights = Tensor(np.arange(20.0).reshape(10, 2))
    slope = ms.grad(lambda x: ops.RandomShuffle()(x) * weights)(x)
    assert sorted(slope.asnumpy()[:, 0]) == sorted(weights.asnumpy()[:, 0])


def test_categories():
    ms.set_seed(1)
    shares = np.array([[0.0, 1.0, 3.0, 0.0, 4.0], [2.0, 2.0, 2.0, 2.0, 0.0]])
    found = ops.multinomial(Tensor(shares), N)
    assert found.dtype is ms.int32
    assert found.shape == (2, N)
    for row, share in zip(found.asnumpy(), shares, strict=True):
        counts = np.bincount(row, minlength=5)
        possible = share > 0
        assert not counts[~possible].any()
        assert stats.chisquare(counts[possible], N * share[possible] / share.sum()).pvalue > 1e-3
    assert ops.Multinomial(dtype=ms.int64)(Tensor([0.5, 0.5]), 3).dtype is ms.int64
    logits = ops.log(Tensor([[0.2, 0.8]]))
    assert abs(ops.random_categorical(logits, N).mean().item() - 0.8) < 0.02


def test_categories_without_replacement():
    ms.set_seed(1)
    found = np.array([ops.multinomial(Tensor([1.0, 0.0, 2.0, 3.0]), 2, False).asnumpy() for _ in range(2000)])
    assert (found[:, 0] != found[:, 1]).all()
    assert not (found == 1).any()
    first = np.bincount(found[:, 0], minlength=4)[[0, 2, 3]]
    assert stats.chisquare(first, 2000 * np.array([1, 2, 3]) / 6).pvalue > 1e-3
    # P(second = 3 | first = 2) = 3 / 4
    assert abs((found[found[:, 0] == 2][:, 1] == 3).mean() - 0.75) < 0.06


def test_gumbel_softmax():
    ms.set_seed(1)
    shares = np.array([0.1, 0.2, 0.7], np.float32)
    logits = ops.broadcast_to(ops.log(Tensor(shares)), (N, 3))
    hard = ops.gumbel_softmax(logits, hard=True).asnumpy()
    assert np.allclose(np.sort(hard, 1), [0, 0, 1], atol=1e-6)
    assert np.abs(hard.mean(0) - shares).max() < 0.015
    soft = ops.gumbel_softmax(logits, 0.5, dim=0)
    assert np.allclose(soft.asnumpy().sum(0), 1, atol=1e-3)

    def f(x, hard):
        ms.set_seed(3)
        return (ops.gumbel_softmax(x, 0.7, hard) * Tensor([1.0, 2.0, 3.0], ms.float64)).sum()

    x = Tensor(np.log(shares), ms.float64)
    slopes = ms.grad(f)(x, False).asnumpy()
    assert np.allclose(ms.grad(f)(x, True).asnumpy(), slopes)
    steps = 1e-6 * np.eye(3)
    wanted = [(f(x + Tensor(h), False) - f(x - Tensor(h), False)).item() / 2e-6 for h in steps]
    assert np.allclose(slopes, wanted, atol=1e-6)


def test_places_of_a_mask():
    ms.set_seed(1)
    mask = np.zeros((3, 4), bool)
    mask[[0, 1, 2], [3, 1, 0]] = True
    places, chosen = ops.RandomChoiceWithMask(count=5)(Tensor(mask))
    assert (chosen.asnumpy() == [True] * 3 + [False] * 2).all()
    assert sorted(map(tuple, places.asnumpy()[:3])) == [(0, 3), (1, 1), (2, 0)]
    assert not places.asnumpy()[3:].any()
    many, enough = ops.choice_with_mask(Tensor(np.ones(50, bool)), 20)
    assert enough.all()
    assert len(set(many.asnumpy()[:, 0])) == 20


def test_bernoulli():
    ms.set_seed(1)
    shares = Tensor(np.array([0.0, 0.1, 0.5, 1.0], np.float32))
    found = ops.bernoulli(ops.zeros((N, 4), ms.int32), shares)
    assert found.dtype is ms.int32
    means = found.asnumpy().mean(0)
    assert means[0] == 0
    assert means[3] == 1
    assert np.abs(means[1:3] - [0.1, 0.5]).max() < 0.015
    assert abs(ops.bernoulli(ops.zeros(N), 0.25).mean().item() - 0.25) < 0.015
    assert abs(ops.Bernoulli()(ops.zeros(N), 0.25).mean().item() - 0.25) < 0.015


@pytest.mark.parametrize("mean", [0.2, 3.0, 10.0, 40.0, 1e5])
def test_poisson(mean):
    ms.set_seed(1)
    sample = ops.poisson((N,), mean).asnumpy()
    distribution = stats.poisson(mean)
    edges = np.unique(distribution.ppf(np.linspace(0.03, 0.97, 20)))
    counts = np.histogram(sample, [-1, *(edges + 0.5), np.inf])[0]
    shares = np.diff([0, *distribution.cdf(edges), 1])
    assert stats.chisquare(counts, N * shares).pvalue > 1e-3
    assert abs(sample.var() / mean - 1) < 0.05


def test_poisson_of_several_means_and_as_classes():
    ms.set_seed(1)
    means = Tensor([0.0, 2.0, 50.0])
    found = ops.Poisson()((4000, 3), means)
    assert found.dtype is ms.int32
    assert np.allclose(found.asnumpy().mean(0), [0, 2, 50], rtol=0.05)
    assert ops.RandomPoisson(dtype=ms.float16)((2, 4), means).shape == (2, 4, 3)
    assert ms.grad(lambda m: ops.poisson((3,), m))(means).tolist() == [0, 0, 0]


# --- dropout -----------------------------------------------------------------------------------------


def test_dropout_keeps_the_mean_and_its_gradient_is_its_mask():
    ms.set_seed(1)
    x = Tensor(np.random.default_rng(0).uniform(1, 2, N))
    y = ops.dropout(x, 0.3)
    kept = y.asnumpy() != 0
    assert abs(kept.mean() - 0.7) < 0.015
    assert np.allclose(y.asnumpy()[kept], x.asnumpy()[kept] / 0.7)
    ms.set_seed(1)
    slope = ms.grad(lambda x: ops.dropout(x, 0.3))(x).asnumpy()
    assert np.allclose(slope, kept / 0.7)
    assert ops.dropout(x, 0.3, training=False) is x
    assert (ops.dropout(x, 1.0) == 0).all()


def test_dropout_as_a_class_gives_its_mask():
    ms.set_seed(1)
    x = ops.ones(1000)
    y, mask = ops.Dropout(keep_prob=0.8)(x)
    assert mask.dtype is x.dtype
    assert np.allclose(y.asnumpy(), mask.asnumpy() / 0.8)
    ms.set_seed(1)
    again, _ = ops.Dropout(0.8, Seed0=3)(x)
    assert (again != y).any()
    z, kept = ops.Dropout2D(keep_prob=0.5)(ops.ones((20, 3, 2, 2)))
    assert kept.dtype is ms.bool_
    assert kept.shape == z.shape
    assert np.allclose(z.asnumpy(), kept.asnumpy() / 0.5)
    _, kept = ops.Dropout3D(keep_prob=0.5)(ops.ones((20, 3, 2, 2, 2)))
    assert 10 < kept.asnumpy()[:, :, 0, 0, 0].sum() < 50


@pytest.mark.parametrize(
    ("layer", "shape"),
    [(nn.Dropout1d, (40, 3, 5)), (nn.Dropout2d, (40, 3, 2, 2)), (nn.Dropout3d, (40, 3, 2, 2, 2))],
)
def test_channels_are_dropped_together(layer, shape):
    ms.set_seed(1)
    net = layer(p=0.25).set_train()
    found = net(ops.ones(shape)).asnumpy().reshape(40, 3, -1)
    assert (found == found[:, :, :1]).all()
    assert 0.6 < (found != 0).mean() < 0.9
    assert np.allclose(found[found != 0], 4 / 3)
    assert (net.set_train(False)(ops.ones(shape)) == 1).all()
    assert (layer().set_train()(ops.ones(shape[1:])).asnumpy().reshape(3, -1).std(1) == 0).all()


def test_dropout_layers_take_both_generations_of_arguments():
    assert repr(nn.Dropout(0.9)) == "Dropout<keep_prob=0.9>"
    assert repr(nn.Dropout(p=0.25)) == "Dropout<p=0.25>"
    x = ops.ones(10)
    assert nn.Dropout(0.9)(x) is x
    assert (nn.Dropout(keep_prob=1.0).set_train()(x) == 1).all()
    assert (nn.Dropout(p=1.0).set_train()(x) == 0).all()


# --- the state in programs ---------------------------------------------------------------------------


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
        before = ms.cache_info().misses
        calls = [(x, n), (x, n), (-x, n), (x, Tensor(0))]
        results.append([arrays(net(*each)) for each in calls])
        states.append(RANDOM_STATE.asnumpy())
        if mode == ms.GRAPH_MODE:
            assert ms.cache_info().misses - before == 1
    assert (states[0] == states[1]).all()
    for eager, compiled in zip(*results, strict=True):
        for one, two in zip(eager[:3], compiled[:3], strict=True):
            assert (one == two).all()
        assert np.allclose(eager[3], compiled[3], atol=1e-6)
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
        found = [each.item() for each in both(*at)]
        assert np.allclose(found, slopes, rtol=1e-6)
        after = RANDOM_STATE.asnumpy()
        assert after[4] == 8  # drawn once, not again for the gradient
        again = [each.item() for each in both(*at)]
        assert not np.allclose(again, found)
        ms.set_seed(4)
        assert np.isclose(second(*at).item(), curvature, rtol=1e-4)


def test_a_gradient_that_runs_trips_again_sees_their_numbers():
    def walked(x, trips):
        i = Tensor(0)
        while i < trips:
            x = x * (0.5 + ops.rand(3, dtype=ms.float64))
            i = i + 1
        return x.sum()

    x, found = Tensor([1.0, 2.0, 3.0], ms.float64), []
    ms.set_context(checkpoint_slots=4)
    for mode in MODES:
        ms.set_context(mode=mode)
        ms.set_seed(4)
        found.append(ms.grad(walked)(x, Tensor(70)).asnumpy())
        assert RANDOM_STATE.asnumpy()[4] == 70
    assert np.allclose(found[0], found[1], rtol=1e-10)


def test_gamma_has_the_derivative_of_its_rate_and_warns_of_its_order():
    def draw(rate):
        ms.set_seed(4)
        return ops.gamma((5,), 2.0, rate)

    rate = Tensor(np.float64(1.5))
    assert np.allclose(ms.grad(draw)(rate).item(), -draw(rate).sum().item() / 1.5)
    with pytest.warns(UserWarning, match="no derivative with respect to 'alpha'"):
        assert ms.grad(lambda alpha: ops.gamma((5,), alpha, 1.0))(Tensor(2.0)).item() == 0


def test_normal_noise_stays_regular_in_derivatives():
    graph = trace(ms.grad(lambda s: ops.normal((3,), 0.0, s) * s), Tensor(1.0))
    assert "absorb" not in str(graph)


def test_a_compiled_function_cannot_set_the_seed():
    @ms.jit
    def seeded():
        ms.set_seed(1)
        return ops.rand(2)

    with pytest.raises(ms.CompileError, match="seed is set"):
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
    assert np.allclose(ms.jacrev(f)(x).asnumpy(), np.diag(noise))
    assert np.allclose(ms.jacfwd(f)(x).asnumpy(), np.diag(noise))


# --- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.standard_normal((2, -1)),
            ValueError,
            "'StandardNormal', the 'shape' must be at least 0",
        ),
        (lambda: ops.standard_normal((2, 1.5)), TypeError, "'StandardNormal', the 'shape' must be an int"),
        (lambda: ops.normal((2,), 0.0, -1.0), ValueError, "'Normal', the 'stddev' must be at least 0"),
        (lambda: ops.normal((2,), Tensor([1.0, 2.0, 3.0]), 1.0), ValueError, "do not broadcast"),
        (lambda: ops.normal((2,), 1j, 1.0), TypeError, "the 'mean' must be real"),
        (lambda: ops.uniform((2,), 1.0, 1.0), ValueError, "'Uniform', the 'maxval' must be above"),
        (lambda: ops.uniform((2,), 1, 1, dtype=ms.int32), ValueError, "lower bound must be below"),
        (lambda: ops.uniform((2,), 0.5, 1, dtype=ms.int32), TypeError, "'low' must be an int"),
        (lambda: ops.rand(2, dtype=ms.int32), TypeError, "'Rand', the 'dtype' must be a floating-point type"),
        (lambda: ops.randint(0, 300, (2,), dtype=ms.uint8), ValueError, "do not fit the type UInt8"),
        (lambda: ops.randint(5, 5, (2,)), ValueError, "lower bound must be below"),
        (lambda: ops.laplace((2,), 0.0, 0.0), ValueError, "'Laplace', the 'lambda_param' must be above 0"),
        (lambda: ops.gamma((2,), 0.0, 1.0), ValueError, "'Gamma', the 'alpha' must be above 0"),
        (
            lambda: ops.poisson((2,), -1.0),
            ValueError,
            "'Poisson', the 'mean' must be finite and not negative",
        ),
        (lambda: ops.bernoulli(ops.zeros(2), 1.5), ValueError, "'Bernoulli', the 'p' must be from 0 to 1"),
        (lambda: ops.randperm(-1), ValueError, "'Randperm', the 'n' must be at least 0"),
        (lambda: ops.randperm(300, dtype=ms.uint8), ValueError, "do not fit the type"),
        (lambda: ops.shuffle(Tensor(1.0)), ValueError, "at least one axis"),
        (lambda: ops.multinomial(Tensor([-1.0, 2.0]), 1), ValueError, "finite and not negative"),
        (lambda: ops.multinomial(Tensor([0.0, 0.0]), 1), ValueError, "at least 1 probabilities above 0"),
        (lambda: ops.multinomial(Tensor([1.0, 0.0]), 2, False), ValueError, "one per draw without"),
        (lambda: ops.choice_with_mask(Tensor([1.0])), TypeError, "truth values"),
        (lambda: ops.gumbel_softmax(ops.ones(2), 0.0), ValueError, "'tau' must be above 0"),
        (lambda: ops.dropout(ops.ones(2), 1.5), ValueError, r"'p' must be in the range \[0, 1\]"),
        (lambda: ops.dropout(ops.ones(2, ms.int32), 0.5), TypeError, "floating-point"),
        (lambda: ops.dropout(ops.ones(2), 0.5, 1), TypeError, "'training' must be bool"),
        (lambda: ops.Dropout(0.0), ValueError, r"'keep_prob' must be in the range \(0, 1\]"),
        (lambda: ops.Dropout2D()(ops.ones(2)), ValueError, "must have 4 axes"),
        (lambda: nn.Dropout(1.5), ValueError, "'keep_prob'"),
        (lambda: nn.Dropout(p=-0.5), ValueError, "'p'"),
        (lambda: nn.Dropout2d("a"), TypeError, "'p' must be a float"),
        (lambda: ops.dropout1d(ops.ones(2)), ValueError, "2 or 3 axes"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
