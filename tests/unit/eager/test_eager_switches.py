"""Tests of what turns the tiers of eager mode off."""

import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir import settings


@pytest.fixture
def at_once():
    """Calls that are recorded twice are compiled at once."""
    before = settings.get("eager")
    settings.store("eager", "compiled")
    yield
    settings.store("eager", before)
    ms.set_context(pynative_synchronize=False)


def tiers(function):
    return [line.partition(": ")[2].partition(":")[0] for line in ms.cache_info(function).eager]


def test_synchronized_calls_run_operator_by_operator(at_once):
    def f(x):
        return (ops.sin(x) * x).sum()

    gradient, x = ms.grad(f), Tensor([1.0, 2.0])
    ms.set_context(pynative_synchronize=True)
    expected = gradient(x).asnumpy()
    for _ in range(4):
        assert (gradient(x).asnumpy() == expected).all()
    assert tiers(f) == []
    ms.set_context(pynative_synchronize=False)
    for _ in range(4):
        gradient(x)
    assert tiers(f) == ["compiled"]
    ms.set_context(pynative_synchronize=True)
    assert (gradient(x).asnumpy() == expected).all()
    assert "4 calls" in ms.cache_info(f).eager[0]
