"""Tests run with eager acceleration and the cache on disk as users do, unless a marker says otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir import settings
from tests.tiers import is_compiled

DEFAULT = os.environ.get("MINDGRAD_EAGER", "")


def test_configuration_without_a_marker_is_the_default():
    assert settings.get("eager") == DEFAULT
    assert Path(os.environ["MINDGRAD_CACHE_DIR"]).is_dir()


@pytest.mark.eager("numpy")
def test_eager_marker_numpy_runs_operator_by_operator():
    f = lambda x: ops.sin(x * x).sum()
    for _ in range(20):
        ms.grad(f)(Tensor([1.0, 2.0]))
    assert settings.get("eager") == "numpy"
    assert not is_compiled(f)


@pytest.mark.eager("compiled")
def test_eager_marker_compiled_compiles_repeated_calls():
    gradient = ms.grad(lambda x: ops.sin(x * x).sum())
    for _ in range(20):
        gradient(Tensor([1.0, 2.0]))
    assert is_compiled(gradient)


@pytest.mark.no_disk_cache
def test_no_disk_cache_marker_leaves_no_folder():
    assert os.environ["MINDGRAD_CACHE_DIR"] == ""


PROGRAM = """
import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.backend import disk
print(ms.jit(lambda x: ops.sin(x) * 0.123456789)(Tensor([1.0])).item(), disk.entries(disk.directory()).number)
"""


def test_disk_cache_of_a_run_is_shared_by_the_processes_that_it_starts(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    printed = [
        subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert printed[0].split()[0] == printed[1].split()[0]
    assert int(printed[0].split()[-1]) > 0
