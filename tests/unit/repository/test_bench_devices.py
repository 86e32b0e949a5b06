"""The benchmark tells each library the device, and asks the driver for the card."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[3] / "bench" / "devices.py"


@pytest.fixture(scope="module")
def devices():
    spec = importlib.util.spec_from_file_location("bench_devices", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_library_is_told_the_device_in_its_way(devices):
    assert devices.variables("jax", "gpu")["JAX_PLATFORMS"] == "cuda"
    assert devices.variables("jax", "cpu")["JAX_PLATFORMS"] == "cpu"
    assert devices.variables("torch", "gpu") == {"BENCH_DEVICE": "gpu"}
    # mindgrad imports jax itself; without a card it is to fail and not to be timed on the CPU
    assert devices.variables("mindgrad", "gpu") == {"BENCH_DEVICE": "gpu", "MINDGRAD_STRICT_DEVICE": "1"}
    assert devices.variables("numpy", "gpu") == {}


def test_the_card_is_that_of_the_driver(devices, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert devices.card() == []
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\necho 'NVIDIA H100, 580.1, 81559 MiB'\n")
    driver.chmod(0o755)
    assert devices.card() == [
        ("card", "NVIDIA H100"), ("driver", "580.1"), ("memory of the card", "81559 MiB"),
    ]  # fmt: skip
    driver.write_text("#!/bin/sh\nexit 9\n")
    assert devices.card() == []
