"""The device of a run: how the library of a contender is told, and the description of the card."""

from __future__ import annotations

import shutil
import subprocess

#: the variable that tells contenders without a variable of their library's own
VARIABLE = "BENCH_DEVICE"
#: the libraries that take part on a GPU; MindSpore 2.10 ends at cards of compute capability 8.0
ON_GPU = ("mindgrad", "jax", "torch", "equinox", "folx", "asdex", "python")
#: contenders that compute with NumPy on the host, whatever the device
ON_HOST = ("numpy", "python")
_PLATFORMS = {"cpu": "cpu", "gpu": "cuda"}
_FACTS = "name,driver_version,memory.total"


def variables(library: str, device: str) -> dict[str, str]:
    """The variables of a contender's process by which its library computes on the device."""
    if library in ON_HOST:
        return {}
    told = {VARIABLE: device}
    if library == "mindgrad":
        # without a card it must fail and not fall back on the CPU
        return told | ({"MINDGRAD_STRICT_DEVICE": "1"} if device == "gpu" else {})
    return told if library == "torch" else told | {"JAX_PLATFORMS": _PLATFORMS[device]}


def card() -> list[tuple[str, str]]:
    """Name and value of each line about the card, as its driver tells them; empty where there is none."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    query = [command, f"--query-gpu={_FACTS}", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode or not done.stdout.strip():
        return []
    name, driver, memory = (part.strip() for part in done.stdout.splitlines()[0].split(","))
    return [("card", name), ("driver", driver), ("memory of the card", memory)]
