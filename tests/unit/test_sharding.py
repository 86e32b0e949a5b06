"""Programs divided among eight devices: tests/devices, in processes of their own that see eight."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path.name for path in (ROOT / "tests" / "devices").glob("test_*.py"))


@pytest.mark.parametrize("file", FILES)
def test_with_eight_devices(file):
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=8"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    finished = subprocess.run(
        [*command, f"tests/devices/{file}"],
        cwd=ROOT, env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout[-4000:] + finished.stderr[-1000:]
