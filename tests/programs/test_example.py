"""examples/guide.py, the tour that scripts/demo shows, runs and says the same in both modes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindgrad

EXAMPLE = Path(__file__).parents[2] / "examples" / "guide.py"


@pytest.fixture(scope="module")
def tours():
    environment = {**os.environ, "PYTHONPATH": str(Path(mindgrad.__file__).parents[1])}
    found = {}
    for option in ([], ["--eager"]):
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), *option],
            env=environment, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        found["eager" if option else "compiled"] = done.stdout
    return found


def test_the_modes_say_the_same(tours, compare):
    (first, *eager), (second, *compiled) = (tours[mode].splitlines() for mode in ("eager", "compiled"))
    assert first.endswith("eager")
    assert second.endswith("compiled")
    compare("\n".join(eager), "\n".join(compiled))


@pytest.mark.parametrize(
    "line",
    [
        "bills = [[8.75 7.5 ]",
        "d sum / d amounts = [[6.25   3.75   0.9375]",
        "d sum / d prices = [[3.75 3.75]",
        "d sum / d tax = [21.]",
        "d bills[0][1] / d amounts = [[2.5    2.5    0.3125]",
        "d paid / d bill = [0.75]",
        "d2V / dr dh = 2r = [4.]",
        "climb = [-1.  -0.5]",
        "6x v = [6. 6.]",
        "order 4 = [0. 0.]",
    ],
)
def test_what_is_said_is_right(tours, line):
    assert line in tours["eager"]


def test_the_tour_ends_with_what_to_do_next(tours):
    assert "scripts/demo burgers --quick" in tours["eager"].split("Next steps")[1]


def test_the_script_helps():
    script = EXAMPLE.parents[1] / "scripts" / "demo"
    done = subprocess.run(["bash", str(script), "--help"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Runs an example")
    assert "scripts/demo argon --quick" in done.stdout
    assert "first_order" not in done.stdout


def test_the_acceleration_is_the_position_with_the_opposite_sign(tours, compare):
    said = dict(line.strip().split(" = ", 1) for line in tours["compiled"].splitlines() if " = " in line)
    compare(said["position"], "[0.47942555 0.84147096 0.997495  ]")
    compare(said["velocity"], "[0.87758255 0.5403023  0.0707372 ]")
    compare(said["acceleration"], "[-0.47942555 -0.84147096 -0.997495  ]")
