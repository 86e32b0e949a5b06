"""Programs of deferred calls that start before their Python has run: taken only on the very operands of the call."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.eager.speculation import Speculation
from tests.tiers import eager

pytestmark = pytest.mark.xla


@pytest.fixture(autouse=True)
def deferred():
    """The Python of functions runs at each call."""
    with eager("deferred"):
        yield


@pytest.fixture
def runs(monkeypatch):
    """What became of the programs that were started early: True where the call took the results."""
    outcomes = []
    results_for, in_vain = Speculation.results_for, Speculation.was_in_vain

    def counted(self, segment, leaves):
        results = results_for(self, segment, leaves)
        if results is not None:
            outcomes.append(True)
        return results

    def missed(self):
        outcomes.append(False)
        in_vain(self)

    monkeypatch.setattr(Speculation, "results_for", counted)
    monkeypatch.setattr(Speculation, "was_in_vain", missed)
    return outcomes


def numbers(seed, size=8):
    return Tensor(np.random.default_rng(seed).normal(size=size).astype(np.float32))


def slope_and_expected(function):
    """A gradient function, and the same computed operator by operator."""
    gradient = ms.grad(function)

    def expected(x):
        with eager("numpy"):
            return ms.grad(lambda x: function(x))(x).asnumpy()

    return gradient, expected


def checked(gradient, expected, x):
    np.testing.assert_allclose(gradient(x).asnumpy(), expected(x), rtol=2e-5, atol=1e-6)


def test_arguments_and_parameters_are_followed(runs):
    weight = Parameter(numbers(1), name="weight")
    gradient, expected = slope_and_expected(lambda x: (ops.sin(x * weight) * weight).sum())
    for seed in range(5):
        checked(gradient, expected, numbers(seed))
    assert runs, "the program was never started early"
    runs.clear()
    for seed in range(4):
        weight.set_data(numbers(seed + 10))
        checked(gradient, expected, numbers(seed))
    assert runs == [True] * 4


def test_an_array_that_is_another_each_time_ends_it(runs):
    box = [numbers(0)]
    gradient, expected = slope_and_expected(lambda x: (ops.sin(x) * box[0]).sum())
    for seed in range(8):
        box[0] = numbers(seed)
        checked(gradient, expected, numbers(seed))
    assert runs == [False] * 2
    box[0] = kept = numbers(20)
    for seed in range(3):
        checked(gradient, expected, numbers(seed))
    assert box[0] is kept


def test_a_parameter_that_the_call_itself_replaces_before_it_is_read(runs):
    weight = Parameter(numbers(1), name="weight")
    number = iter(range(100))
    values = [numbers(seed) for seed in range(100)]

    def function(x):
        weight.set_data(values[next(number)])
        return (ops.sin(x) * weight).sum()

    gradient = ms.grad(function)
    x = numbers(7)
    for turn in range(8):
        np.testing.assert_allclose(
            gradient(x).asnumpy(), np.cos(x.asnumpy()) * values[turn].asnumpy(), rtol=2e-5, atol=1e-6
        )


def test_a_call_that_raises_or_goes_another_way(runs):
    weight = Parameter(numbers(1), name="weight")
    way = ["plain"]

    def function(x):
        y = ops.sin(x * weight)
        if way[0] == "raise":
            raise KeyError("of the user")
        return (y * y).sum() if way[0] == "square" else y.sum()

    gradient, expected = slope_and_expected(function)
    for seed in range(5):
        checked(gradient, expected, numbers(seed))
    runs.clear()
    way[0] = "raise"
    with pytest.raises(KeyError, match="of the user"):
        gradient(numbers(0))
    assert not runs, "an error of the user says nothing about operands"
    way[0] = "square"
    checked(gradient, expected, numbers(1))
    way[0] = "plain"
    for seed in range(3):
        checked(gradient, expected, numbers(seed))
    assert runs[-1] is True


def test_arrays_that_numpy_may_write_into_are_read_when_the_call_reads_them(runs):
    array = np.ones(64, np.float32)
    gradient = ms.grad(lambda x: (ops.sin(x) * Tensor.from_numpy(array)).sum())
    x = numbers(3, 64)
    for factor in range(6):
        array[...] = factor
        np.testing.assert_allclose(gradient(x).asnumpy(), factor * np.cos(x.asnumpy()), rtol=2e-5, atol=1e-6)


def test_a_program_that_cannot_be_started_is_the_business_of_the_call(monkeypatch):
    gradient, expected = slope_and_expected(lambda x: ops.tanh(x).sum())
    for seed in range(4):
        checked(gradient, expected, numbers(seed))
    attempts = []

    def fails(array, type_):
        attempts.append(array)
        raise RuntimeError("no memory")

    monkeypatch.setattr("mindgrad.eager.speculation.program_operand", fails)
    for seed in range(3):
        checked(gradient, expected, numbers(seed))
    assert len(attempts) == 1
