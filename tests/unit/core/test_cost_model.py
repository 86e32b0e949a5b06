"""The cost model of data-parallel steps: its limits, and the tables of docs/scale_cost.md."""

import importlib
import sys
from pathlib import Path

import pytest

from tests.tolerances import assert_close

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def cost_model():
    folder = str(ROOT / "bench")
    sys.path.insert(0, folder)
    before = set(sys.modules)
    try:
        yield importlib.import_module("cost_model")
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before:
            if folder in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


def test_the_document_has_the_numbers_of_the_model(cost_model):
    document = (ROOT / "docs" / "scale_cost.md").read_text()
    assert cost_model.table() in document


def test_two_devices_send_half_of_the_bytes_twice(cost_model):
    network = cost_model.Network(latency=1e-3, bandwidth=1e6)
    assert_close(cost_model.ring(2, 1e6, network), 2e-3 + 1.0, kind="program")
    assert_close(cost_model.tree(2, 1e6, network), 2e-3 + 2.0, kind="program")


def test_bytes_of_the_ring_stay_below_twice_the_gradient(cost_model):
    without_latency = cost_model.Network(latency=0.0, bandwidth=1.0)
    times = [cost_model.ring(n, 1.0, without_latency) for n in (2, 8, 64, 1_000_000)]
    assert times == sorted(times)
    assert times[-1] == pytest.approx(2.0, rel=1e-5)


def test_a_fit_returns_the_network_that_made_the_times(cost_model):
    network = cost_model.Network(latency=2e-5, bandwidth=3e9)
    times = [(size, cost_model.ring(4, size, network)) for size in (0, 1 << 20, 1 << 24)]
    assert_close(cost_model.fitted(4, times), network, kind="program")


def test_overlap_hides_all_messages_but_the_last(cost_model):
    network = cost_model.Network(latency=0.0, bandwidth=1e9)
    step = cost_model.Step("large", parameters=4 * cost_model.BUCKET // 4, seconds=10.0)
    alone = cost_model.exposed(step, 8, network, cost_model.ring, overlaps=False)
    hidden = cost_model.exposed(step, 8, network, cost_model.ring, overlaps=True)
    assert_close(hidden, alone / 4, kind="program")
    assert cost_model.efficiency(step, hidden) > cost_model.efficiency(step, alone)


def test_what_cannot_be_hidden_is_exposed(cost_model):
    slow = cost_model.Network(latency=0.0, bandwidth=1e6)
    step = cost_model.Step("large", parameters=4 * cost_model.BUCKET // 4, seconds=1e-6)
    alone = cost_model.exposed(step, 8, slow, cost_model.ring, overlaps=False)
    assert cost_model.exposed(step, 8, slow, cost_model.ring, overlaps=True) == pytest.approx(alone, rel=1e-6)
