"""Steps of the benchmark's programs on eight devices of one process are those of one device."""

import importlib.util
import sys
from pathlib import Path

import pytest

from mindgrad import Tensor, cli
from tests.devices.programs import counts, divided
from tests.process_state import process_stays

FILE = Path(__file__).parents[1] / "programs" / "parallel" / "benchmark_steps.py"


@pytest.fixture(scope="module")
def benchmark_steps():
    """The programs, for which ``import mindspore`` means mindgrad."""
    path = list(sys.path)
    with process_stays():
        cli.install()
        spec = importlib.util.spec_from_file_location("benchmark_steps", FILE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    sys.path[:] = path


@pytest.mark.parametrize("name", ["burgers", "argon", "resnet", "gpt"])
def test_a_divided_batch_gives_the_losses_and_gradients_of_one_device(benchmark_steps, name):
    whole = benchmark_steps.results(name)
    with divided("data_parallel", device_num=8):
        benchmark_steps.agree(benchmark_steps.results(name), whole, name)


def test_the_gradients_of_points_are_sent_once(benchmark_steps):
    with divided("data_parallel", device_num=8):
        step, batch = benchmark_steps.program("burgers")
        step(*[Tensor(x) for x in batch])
        assert set(counts(step)) == {"all-reduce"}
