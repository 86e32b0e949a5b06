"""Twenty steps of training give the losses that MindSpore 2.10 gives, eager and compiled."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mindgrad as ms
from tests.tolerances import assert_close

FOLDER = Path(__file__).parent / "training"
LOSSES = json.loads((FOLDER / "losses.json").read_text())
MODES = {"eager": ms.PYNATIVE_MODE, "compiled": ms.GRAPH_MODE}


@pytest.fixture(scope="module")
def programs(standing_in):
    """The programs, as they are: they import mindspore."""
    with standing_in():
        spec = importlib.util.spec_from_file_location("training_programs", FOLDER / "programs.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module.PROGRAMS


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_mindspore(programs, name, mode):
    before = ms.get_context("mode")
    ms.set_context(mode=MODES[mode])
    try:
        actual = programs[name]()
    finally:
        ms.set_context(mode=before)
    # Float32 in another order of sums; MindSpore's tanh is exact to 2e-6 only
    assert_close(actual, LOSSES[name], "program", each=True, dtype=np.float32)
