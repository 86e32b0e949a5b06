"""The peers' environments: each library in one of its own under ``.bench/``.

jax is measured in the project's own environment, because it is the jax that mindgrad compiles with.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".bench"
PEERS = {
    "torch": ["torch==2.13.0", "numpy"],
    "tensorflow": ["tensorflow-cpu==2.21.0"],
    "mindspore": ["mindspore==2.10.0", "numpy<2"],
    "autograd": ["autograd==1.9.1"],
    "equinox": ["equinox==0.13.8", "jax==0.10.2"],
    "asdex": ["asdex==0.5.1", "jax==0.10.2"],
    "folx": ["folx==0.2.30", "jax==0.10.2"],
    "curvlinops": ["curvlinops-for-pytorch==3.0.1", "torch==2.13.0", "numpy"],
}
GPU_OF_JAX = ["jax[cuda13]==0.10.2"]
OWN = ("mindgrad", "jax", "numpy", "python")


class NoEnvironment(Exception):
    """An environment could not be made; the message says why."""


def python_of(library: str, device: str = "cpu") -> Path:
    """The interpreter that has the library for the device; its environment is made at the first use."""
    if library in OWN:
        return Path(sys.executable)
    name = library if device == "cpu" else f"{library}-{device}"
    python = HOME / name / "bin/python"
    if python.exists() and _imports(python, library):
        return python
    extra = GPU_OF_JAX if device == "gpu" and library in ("equinox", "folx", "asdex") else []
    return make(name, [*PEERS[library], *extra])


def make(name: str, requirements: list[str]) -> Path:
    """A new virtual environment with these requirements.

    ``BENCH_PIP_ARGS`` is added to pip's arguments, for those who want a wheel from elsewhere: the
    default wheel of torch on Linux brings several gigabytes of CUDA that are not used here.
    """
    folder = HOME / name
    if folder.exists():
        shutil.rmtree(folder)
    print(f"making .bench/{name} with {' '.join(requirements)}", file=sys.stderr)
    base = os.environ.get("BENCH_PYTHON", sys.executable)
    python = folder / "bin/python"
    commands = (
        [base, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        + os.environ.get("BENCH_PIP_ARGS", "").split()
        + requirements,
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise NoEnvironment(f"{name}: {' '.join(last)}")
    return python


def source_of(commit: str) -> Path:
    """The folder ``src`` of a commit of this repository, checked out once under ``.bench/``."""
    folder = HOME / "commits" / _git("rev-parse", "--verify", f"{commit}^{{commit}}")
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _git("worktree", "prune")
        _git("worktree", "add", "--detach", str(folder), folder.name)
    return folder / "src"


def described(commit: str) -> str:
    """A commit's short name, date and message."""
    return _git("show", "-s", "--format=%h, %as, %s", commit)


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def _imports(python: Path, module: str) -> bool:
    """Whether that interpreter finds the module (it is not imported: that takes seconds)."""
    question = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([str(python), "-c", question], capture_output=True).returncode == 0
