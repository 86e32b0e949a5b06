"""The problems of ``scripts/bench curvature``: exact solutions, points, and the table."""

import sys
from pathlib import Path

import numpy as np
import pytest

from mindgrad import Tensor
from tests.tolerances import assert_close

FOLDER = Path(__file__).parents[3] / "bench"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import curvature

    yield curvature
    for name in [
        name for name, module in sys.modules.items() if str(FOLDER) in str(getattr(module, "__file__", ""))
    ]:
        del sys.modules[name]


@pytest.fixture
def problems(bench):
    return sys.modules["curvature_problems"]


def second_differences(u, x, axis, step=1e-4):
    shift = step * np.eye(x.shape[1])[axis]
    return (u(x + shift) - 2 * u(x) + u(x - shift)) / step**2


def test_solutions_satisfy_their_equations(bench, problems):
    for setting in bench.SETTINGS.values():
        columns = setting.dimensions + setting.is_heat
        x = np.random.default_rng(0).uniform(size=(50, columns))
        u = lambda x, setting=setting: problems.solution(setting, x)
        laplacian = sum(second_differences(u, x, axis) for axis in range(setting.is_heat, columns))
        if setting.is_heat:
            shift = 1e-5 * np.eye(columns)[0]
            change = (u(x + shift) - u(x - shift)) / 2e-5
            assert_close(change, laplacian / 4, kind="difference")
        else:
            assert_close(-laplacian, problems.source(setting, x), kind="difference")


@pytest.mark.parametrize("name", ["poisson2d", "heat1d-deep"])
def test_residuals_agree_with_difference_quotients_of_the_network(bench, problems, name):
    setting = bench.SETTINGS[name]
    problem = bench.problem(name, 0)
    equation, misfit = [r.asnumpy() for r in problem.residuals()]
    assert (len(equation), len(misfit)) == (setting.inside, setting.outside)
    generator = np.random.default_rng(0)
    problems.network(2, setting.hidden, generator)
    x = generator.uniform(size=(setting.inside, 2))
    u = lambda x: problem.net(Tensor(x)).asnumpy()[:, 0]
    parts = [second_differences(u, x, axis, 1e-3) for axis in range(2)]
    if setting.is_heat:
        shift = np.array([1e-4, 0.0])
        expected = (u(x + shift) - u(x - shift)) / 2e-4 - parts[1] / 4
    else:
        expected = parts[0] + parts[1] + problems.source(setting, x)
    assert_close(equation * setting.inside**0.5, expected, kind="difference")
    assert 0.1 < problem.error() < 10


def test_table_shows_the_worst_error_of_all_seeds(bench):
    histories = []
    for error in (1e-3, 2e-3):
        history = bench.History()
        history.times, history.errors, history.steps = [1.0, 9.0, 12.0], [1.0, error, 0.1 * error], [0.1] * 7
        histories.append(history)
    rows = bench.table("poisson2d", {"Adam": histories}, 12)
    assert rows[:2] == [
        ["optimizer", "10 s", "12 s", "steps", "ms per step"],
        ["Adam", "2.0e-03", "2.0e-04", "7", "100.0"],
    ]
    assert rows[-1] == ["published: Gauss–Newton, 60 s", "", "9.1e-06", "", ""]
