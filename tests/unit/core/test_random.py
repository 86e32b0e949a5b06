"""Random numbers: known answers, seeds, distributions, errors."""

import numpy as np
import pytest
import scipy

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.common import seed
from mindgrad.core.primitives.random import random_bits, threefry
from tests.tolerances import assert_close


def fits(sample, distribution):
    """The probability that such a sample, or a less typical one, comes from the distribution."""
    return scipy.stats.kstest(np.asarray(sample).reshape(-1), distribution.cdf).pvalue


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


def test_what_follows_a_seed_stays_the_same():
    """Programs are repeated years later: the sequence of a seed is part of the interface."""
    ms.set_seed(1)
    first, second = ops.rand(4).asnumpy(), ops.rand(4).asnumpy()
    assert first.tolist() == [0.7223705053329468, 0.06703507900238037, 0.12676328420639038, 0.967292308807373]
    block = threefry(words("1 0 1 0"), np.zeros((4, 1), np.uint32))[:, 0]
    assert (second == (block >> np.uint32(8)) / np.float32(2**24)).all()


def test_bits_look_random():
    ms.set_seed(0)
    drawn = np.array([ops.rng_bits.bits("Test", (4096,), (0, 0)).asnumpy() for _ in range(8)])
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
        with pytest.raises(TypeError, match="that get_rng_state returned"):
            ms.set_rng_state(wrong)


def test_without_a_seed_operators_with_one_repeat():
    a, b = seed.initial_state(None), seed.initial_state(None)
    assert (a[:2] != b[:2]).any()
    assert (a[2:] == 0).all()


# --- distributions -----------------------------------------------------------------------------------

N = 20_000
CONTINUOUS = {
    "rand": (lambda: ops.rand(N), lambda: scipy.stats.uniform()),
    "rand64": (lambda: ops.rand(N, dtype=ms.float64), lambda: scipy.stats.uniform()),
    "uniform": (lambda: ops.uniform((N,), -1.0, Tensor(3.0)), lambda: scipy.stats.uniform(-1, 4)),
    "randn": (lambda: ops.randn(N), lambda: scipy.stats.norm()),
    "randn odd": (lambda: ops.randn(N - 1), lambda: scipy.stats.norm()),
    "randn64": (lambda: ops.randn(N, dtype=ms.float64), lambda: scipy.stats.norm()),
    "normal": (lambda: ops.normal((N,), 2.0, Tensor(0.5)), lambda: scipy.stats.norm(2, 0.5)),
    "StandardNormal": (lambda: ops.StandardNormal()((N,)), lambda: scipy.stats.norm()),
    "UniformReal": (lambda: ops.UniformReal(seed=4)((N,)), lambda: scipy.stats.uniform()),
    "laplace": (lambda: ops.laplace((N,), 1.0, 2.0), lambda: scipy.stats.laplace(1, 2)),
    "StandardLaplace": (lambda: ops.StandardLaplace()((N,)), lambda: scipy.stats.laplace()),
    "gamma 3": (lambda: ops.gamma((N,), 3.0, 2.0), lambda: scipy.stats.gamma(3, scale=0.5)),
    "gamma 1": (lambda: ops.gamma((N,), 1.0, 1.0), lambda: scipy.stats.expon()),
    "gamma 0.3": (lambda: ops.Gamma()((N,), Tensor(0.3), Tensor(1.0)), lambda: scipy.stats.gamma(0.3)),
    "random_gamma": (lambda: ops.random_gamma((N,), Tensor(20.0, ms.float64)), lambda: scipy.stats.gamma(20)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name):
    draw, make = CONTINUOUS[name]
    distribution = make()
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
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


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
        assert fits(share, scipy.stats.uniform()) > 1e-3
    else:
        assert set(values) == {low, high - 1}


def test_integers_between_tensors():
    ms.set_seed(1)
    low, high = Tensor([0, -5, 7], ms.int32), Tensor([2, 5, 8], ms.int32)
    actual = ops.UniformInt()((2000, 3), low, high)
    assert actual.dtype is ms.int32
    assert (actual.asnumpy().min(0) == [0, -5, 7]).all()
    assert (actual.asnumpy().max(0) == [1, 4, 7]).all()
    wide = ops.uniform((2000, 1), Tensor([0, -(2**40)]), Tensor([1, 2**40]), dtype=ms.int64).asnumpy()
    assert (wide[:, 0] == 0).all()
    assert fits(wide[:, 1] / 2**41 + 0.5, scipy.stats.uniform()) > 1e-3


def test_permutations():
    ms.set_seed(1)
    found = np.array([ops.randperm(3).asnumpy() for _ in range(1200)])
    _, counts = np.unique(found, axis=0, return_counts=True)
    assert len(counts) == 6
    assert scipy.stats.chisquare(counts).pvalue > 1e-3
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
    actual = ops.multinomial(Tensor(shares), N)
    assert actual.dtype is ms.int32
    assert actual.shape == (2, N)
    for row, share in zip(actual.asnumpy(), shares, strict=True):
        counts = np.bincount(row, minlength=5)
        possible = share > 0
        assert not counts[~possible].any()
        assert scipy.stats.chisquare(counts[possible], N * share[possible] / share.sum()).pvalue > 1e-3
    assert ops.Multinomial(dtype=ms.int64)(Tensor([0.5, 0.5]), 3).dtype is ms.int64
    logits = ops.log(Tensor([[0.2, 0.8]]))
    assert abs(ops.random_categorical(logits, N).mean().item() - 0.8) < 0.02


def test_categories_without_replacement():
    ms.set_seed(1)
    actual = np.array(
        [ops.multinomial(Tensor([1.0, 0.0, 2.0, 3.0]), 2, False).asnumpy() for _ in range(2000)]
    )
    assert (actual[:, 0] != actual[:, 1]).all()
    assert not (actual == 1).any()
    first = np.bincount(actual[:, 0], minlength=4)[[0, 2, 3]]
    assert scipy.stats.chisquare(first, 2000 * np.array([1, 2, 3]) / 6).pvalue > 1e-3
    # P(second = 3 | first = 2) = 3 / 4
    assert abs((actual[actual[:, 0] == 2][:, 1] == 3).mean() - 0.75) < 0.06


def test_gumbel_softmax():
    ms.set_seed(1)
    shares = np.array([0.1, 0.2, 0.7], np.float32)
    logits = ops.broadcast_to(ops.log(Tensor(shares)), (N, 3))
    hard = ops.gumbel_softmax(logits, hard=True).asnumpy()
    assert_close(np.sort(hard, 1), np.broadcast_to([0, 0, 1], hard.shape), kind="program")
    assert np.abs(hard.mean(0) - shares).max() < 0.015
    soft = ops.gumbel_softmax(logits, 0.5, dim=0)
    assert_close(soft.asnumpy().sum(0), 1, kind="contraction", length=N)

    def f(x, hard):
        ms.set_seed(3)
        return (ops.gumbel_softmax(x, 0.7, hard) * Tensor([1.0, 2.0, 3.0], ms.float64)).sum()

    x = Tensor(np.log(shares), ms.float64)
    slopes = ms.grad(f)(x, False).asnumpy()
    assert_close(ms.grad(f)(x, True), slopes, kind="program")
    steps = 1e-6 * np.eye(3)
    wanted = [(f(x + Tensor(h), False) - f(x - Tensor(h), False)).item() / 2e-6 for h in steps]
    assert_close(slopes, wanted, kind="iteration", scale=1)


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
    distribution = scipy.stats.poisson(mean)
    edges = np.unique(distribution.ppf(np.linspace(0.03, 0.97, 20)))
    counts = np.histogram(sample, [-1, *(edges + 0.5), np.inf])[0]
    shares = np.diff([0, *distribution.cdf(edges), 1])
    assert scipy.stats.chisquare(counts, N * shares).pvalue > 1e-3
    assert abs(sample.var() / mean - 1) < 0.05


def test_poisson_of_several_means_and_as_classes():
    ms.set_seed(1)
    means = Tensor([0.0, 2.0, 50.0])
    found = ops.Poisson()((4000, 3), means)
    assert found.dtype is ms.int32
    assert np.allclose(found.asnumpy().mean(0), [0, 2, 50], rtol=0.05)
    assert ops.RandomPoisson(dtype=ms.float16)((2, 4), means).shape == (2, 4, 3)
    with pytest.warns(ms.ZeroGradientWarning):
        assert ms.grad(lambda m: ops.poisson((3,), m))(means).tolist() == [0, 0, 0]


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
        (lambda: ops.uniform((2,), 1.0, 1.0), ValueError, "'Uniform', the 'maxval' must be greater than"),
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
        (lambda: ops.multinomial(Tensor([-1.0, 2.0]), 1), ValueError, "finite and not negative"),
        (lambda: ops.multinomial(Tensor([0.0, 0.0]), 1), ValueError, "at least 1 probabilities above 0"),
        (lambda: ops.multinomial(Tensor([1.0, 0.0]), 2, False), ValueError, "one per draw without"),
        (lambda: ops.choice_with_mask(Tensor([1.0])), TypeError, "must contain Booleans"),
        (lambda: ops.gumbel_softmax(ops.ones(2), 0.0), ValueError, "'tau' must be above 0"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_number_shuffled_is_itself():
    assert float(ops.shuffle(Tensor(1.5))) == 1.5
