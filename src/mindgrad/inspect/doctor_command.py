"""The command ``mindgrad doctor``: check an installation, and suggest fixes."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mindgrad._base.environment import PREFIX, VARIABLES, mistakes
from mindgrad.common.installation import run_check
from mindgrad.core.backend.device import device_count, device_kind, select_device
from mindgrad.core.backend.disk import DIRECTORY_VARIABLE, SIZE_VARIABLE, readable_size
from mindgrad.inspect.cache_command import cache_facts
from mindgrad.inspect.terminal import print_json, print_lines, print_table, print_title

__all__ = ["Finding", "findings", "main", "probe"]

_EXAMPLE = """examples:
  mindgrad doctor           print a table, and the fix for each problem
  mindgrad doctor --json    print JSON, for scripts and bug reports

The exit status is 0, or 1 if there is a problem."""
_REQUIRED = ("numpy", "scipy", "ml_dtypes", "safetensors", "jax", "jaxlib")
#: optional package -> its purpose
_OPTIONAL = {
    "rich": "colors and progress bars on a terminal",
    "matplotlib": "figures",
    "pillow": "image files in datasets",
    "IPython": "notebooks",
}
#: the machine has an NVIDIA GPU if one of these files exists
_NVIDIA = ("/proc/driver/nvidia/version", "/dev/nvidia0", "/dev/nvidiactl")
_SECONDS = 300
_PROBE = "from mindgrad.inspect.doctor_command import probe; probe()"


class Finding(NamedTuple):
    """The result of one check.

    Attributes:
        topic: title of the table that contains the check.
        name: name of the checked package, device, or setting.
        value: version of the package, description of the device, or value of the setting.
        state: ``"ok"``, ``"note"`` or ``"problem"``.
        advice: how to fix the problem, or ``""``.
    """

    topic: str
    name: str
    value: str
    state: str = "ok"
    advice: str = ""


def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str): arguments of the command line after ``doctor``.

    Returns:
        The exit status: 0, or 1 if a check found a problem.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = argparse.ArgumentParser(
        "mindgrad doctor",
        description="Check versions, devices, the compile cache and settings, and show how to fix problems.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    listed = list(findings())
    problems = [finding for finding in listed if finding.state == "problem"]
    if options.json:
        print_json({"problems": len(problems), "findings": [finding._asdict() for finding in listed]})
        return 1 if problems else 0
    for topic in dict.fromkeys(finding.topic for finding in listed):
        print_title(topic)
        print_table([(f.name, f.state, f.value) for f in listed if f.topic == topic])
        print()
    for finding in listed:
        if finding.advice:
            print_title(f"{finding.state}: {finding.name}: {finding.value}")
            print_lines([finding.advice])
    print_title(f"{len(problems)} problem{'s' * (len(problems) != 1)}" if problems else "no problems")
    return 1 if problems else 0


def findings() -> Iterator[Finding]:
    """Run all checks in the order of the output."""
    yield from _versions()
    yield from _devices()
    yield from _cache()
    yield from _settings()


def probe() -> None:
    """Test a gradient, and print the devices as JSON.

    The command runs this function in a separate process, because XLA aborts the process if it does not know
    an option.
    """
    devices = []
    for target in ("CPU", "GPU"):
        for number in range(device_count(target)):
            devices.append((f"{target} {number}", device_kind(target, number)))
    if device_count("GPU"):
        select_device("GPU")
    run_check()
    print(json.dumps(devices))


def _versions() -> Iterator[Finding]:
    topic = "versions"
    package: Any = sys.modules["mindgrad"]
    yield Finding(topic, "mindgrad", f"{package._OWN_VERSION} in {Path(package.__file__).parent}")
    yield Finding(topic, "python", f"{platform.python_version()}, {platform.platform()}")
    bounds_of = _requirements()
    for name in _REQUIRED:
        version = _version_of(name)
        if version is None:
            advice = (
                f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(name + bounds_of.get(name, ''))}"
            )
            yield Finding(topic, name, "not installed", "problem", advice)
        elif not _satisfies(version, bounds_of.get(name, "")):
            advice = f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(name + bounds_of[name])}"
            yield Finding(topic, name, f"{version}, but {bounds_of[name]} is needed", "problem", advice)
        else:
            yield Finding(topic, name, version)
    jax, jaxlib = _version_of("jax"), _version_of("jaxlib")
    if jax and jaxlib and jax.split(".")[:2] != jaxlib.split(".")[:2]:
        advice = f"{shlex.quote(sys.executable)} -m pip install jax=={jax} jaxlib=={jax}"
        yield Finding(topic, "jax and jaxlib", f"{jax} and {jaxlib} are not compatible", "problem", advice)
    for name, purpose in _OPTIONAL.items():
        version = _version_of(name)
        yield Finding(
            topic, name, version or f"not installed; optional: {purpose}", "ok" if version else "note"
        )
    mindspore = _version_of("mindspore")
    if mindspore:
        yield Finding(
            topic, "mindspore", f"{mindspore}, which `mindgrad run` and install() do not change", "note"
        )


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _requirements() -> dict[str, str]:
    """Return the versions that mindgrad requires of each dependency.

    The keys are the names of the dependencies. The values are bounds such as ``>=0.10,<0.12``. The result is
    empty if mindgrad is not installed.
    """
    try:
        lines = importlib.metadata.requires("mindgrad") or []
    except importlib.metadata.PackageNotFoundError:  # a source checkout that is not installed
        lines = []
    bounds_of = {}
    for line in lines:
        requirement, _, marker = line.partition(";")
        if "extra" not in marker:
            name = requirement.strip()
            end = next((k for k, letter in enumerate(name) if letter in "<>=!~ ["), len(name))
            bounds_of[name[:end].replace("-", "_")] = name[end:].strip()
    return bounds_of


def _satisfies(version: str, bounds: str) -> bool:
    """Check a version against bounds such as ``>=0.10,<0.12``. Other bounds are ignored."""
    for bound in filter(None, bounds.split(",")):
        limit = _numbers(bound.lstrip("<>= "))
        if bound.startswith(">=") and _numbers(version) < limit:
            return False
        if bound.startswith("<") and not bound.startswith("<=") and _numbers(version) >= limit:
            return False
    return True


def _numbers(version: str) -> list[int]:
    digits = ("".join(letter for letter in part if letter.isdigit()) for part in version.split("."))
    return [int(part) for part in digits if part]


def _devices() -> Iterator[Finding]:
    topic = "devices"
    yield Finding(topic, "processor", f"{os.cpu_count()} cores, {platform.machine()}")
    try:
        run = subprocess.run(
            [sys.executable, "-c", _PROBE], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        output, errors, status = run.stdout, run.stderr, run.returncode
    except subprocess.TimeoutExpired:
        advice = "Another process may hold the device; nvidia-smi shows which."
        yield Finding(topic, "jax", f"no answer within {_SECONDS} seconds", "problem", advice)
        return
    if status:
        last = [line for line in errors.splitlines() if line.strip()][-1:] or [f"exit status {status}"]
        advice = "Check XLA_FLAGS and the JAX_* variables (below), or reinstall jax and jaxlib."
        if "Unknown flag" in errors:
            last = [
                line[line.index("Unknown flag") :] for line in errors.splitlines() if "Unknown flag" in line
            ]
            advice = "unset XLA_FLAGS, or remove the flag that this version of XLA does not support"
        yield Finding(topic, "jax", last[0][-200:], "problem", advice)
        return
    devices = json.loads(output.splitlines()[-1])
    for name, kind in devices:
        yield Finding(topic, name, kind)
    has_gpu = any(name.startswith("GPU") for name, _ in devices)
    if not has_gpu and any(os.path.exists(file) for file in _NVIDIA):
        advice = f"{shlex.quote(sys.executable)} -m pip install 'mindgrad[gpu]'"
        yield Finding(topic, "GPU", "JAX does not find the NVIDIA GPU of this machine", "problem", advice)
    yield Finding(topic, "gradient self-test", "passed (eager, compiled)")


def _cache() -> Iterator[Finding]:
    topic = "compiled programs on disk"
    try:
        facts = cache_facts()
    except OSError as error:
        yield Finding(topic, "folder", str(error), "problem", f"set {DIRECTORY_VARIABLE} to another folder")
        return
    if facts["folder"] is not None:
        folder = Path(facts["folder"])
        while not folder.exists():
            folder = folder.parent
        if not os.access(folder, os.W_OK):
            advice = f"set {DIRECTORY_VARIABLE} to a folder that you can write to"
            yield Finding(topic, "folder", f"{folder} cannot be written", "problem", advice)
            return
        yield Finding(topic, "folder", facts["folder"])
        size = f"{readable_size(facts['bytes'])} of {readable_size(facts['limit_bytes'])}"
        yield Finding(topic, "size", f"{facts['programs']} programs, {size}")
    elif any(name in facts["off"] for name in (DIRECTORY_VARIABLE, SIZE_VARIABLE)):
        yield Finding(topic, "cache", f"disabled: {facts['off']}", "note")
    else:
        advice = f"set {DIRECTORY_VARIABLE} to a folder that you own; without it, every start compiles again"
        yield Finding(topic, "cache", f"disabled: {facts['off']}", "problem", advice)


def _settings() -> Iterator[Finding]:
    topic = "environment"
    wrong = mistakes(os.environ)
    for name, value in sorted(os.environ.items()):
        if name in wrong:
            yield Finding(topic, name, wrong[name], "problem", f"unset {name}, or correct it")
        elif name.startswith(PREFIX):
            yield Finding(topic, name, f"{value!r}: {VARIABLES[name].meaning}", "note")
        elif name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS") or name.startswith("JAX_"):
            yield Finding(topic, name, repr(value), "note")
    if not any(name.startswith((PREFIX, "JAX_", "XLA_FLAGS")) for name in os.environ):
        yield Finding(topic, "variables", "none of MINDGRAD_*, JAX_* and XLA_FLAGS is set")
