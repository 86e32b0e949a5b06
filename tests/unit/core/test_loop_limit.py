"""The limit below which XLA's CPU compiler makes one function of a loop is raised, where nobody else has set it."""

import os
import subprocess
import sys

import pytest

from mindgrad.core.backend import jax_import
from tests.instruction_set import with_instruction_set

LIMIT = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=65536"
MINE = "--xla_backend_extra_options=xla_llvm_dot_tiling_factor=8"


@pytest.mark.parametrize(
    ("flags", "after"),
    [
        (None, LIMIT),
        ("", LIMIT),
        ("--xla_cpu_enable_fast_math=false", f"--xla_cpu_enable_fast_math=false {LIMIT}"),
        (MINE, MINE),
        ("/a/file/of/flags", "/a/file/of/flags"),
    ],
)
def test_flags_of_the_user_stay(monkeypatch, flags, after):
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    monkeypatch.setenv("XLA_FLAGS", flags or "")
    if flags is None:
        monkeypatch.delenv("XLA_FLAGS")
    jax_import._raise_loop_limit()
    assert os.environ["XLA_FLAGS"] == after


def test_a_process_that_has_jax_stays_as_it_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", sys)
    monkeypatch.setenv("XLA_FLAGS", "")
    jax_import._raise_loop_limit()
    assert not os.environ["XLA_FLAGS"]


PROGRAM = """
import numpy as np
from mindgrad import Tensor
from mindgrad.core.backend.xla import lower_ahead
from mindgrad.frontend.programs.compiled import trace
def f(x):
    while x.sum() > 1.0:
        x = x * 0.5
    return x
text = lower_ahead(trace(f, Tensor(np.ones(300)))).compile().as_text()
assert text.count('xla_cpu_small_call="true"') == 1, text
"""


def test_a_loop_over_some_hundred_numbers_is_one_function():
    environment = os.environ | {"XLA_FLAGS": with_instruction_set()}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr
