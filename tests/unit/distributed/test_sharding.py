"""Programs divided among eight devices: tests/devices, in a process of its own that sees eight."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.timeout(600)
def test_with_eight_devices():
    """One process runs all files, because each process imports jax and starts eight devices."""
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=8"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    finished = subprocess.run(
        [*command, "tests/devices"],
        cwd=ROOT, env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout[-4000:] + finished.stderr[-1000:]
    assert " skipped" not in finished.stdout, finished.stdout[-4000:]
