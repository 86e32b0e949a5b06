"""Where the time from the start of a process to the first result goes, in seconds of processor time.

python bench/first_phases.py               a table of all programs, mindgrad and jax, without a cache
python bench/first_phases.py gpt ode       of some
python bench/first_phases.py --second gpt  with the programs of an earlier process on disk
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "contenders")]
STEPS = ("import", "import jax", "trace", "transform", "lower", "key", "load", "compile", "store", "run")
_seconds: defaultdict[str, float] = defaultdict(float)
_open: list[float] = []


def timed(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, whose own time, without that of timed functions inside, counts for a step."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        begin = time.process_time()
        _open.append(0.0)
        try:
            return function(*arguments, **keywords)
        finally:
            whole, inside = time.process_time() - begin, _open.pop()
            _seconds[step] += whole - inside
            if _open:
                _open[-1] += whole

    return run


def of_mindgrad(program: str) -> None:
    """Run a program of ours with its steps timed."""
    timed("import", __import__)("mindgrad")
    from mindgrad.core.backend import disk, executable, jax_import, xla
    from mindgrad.frontend.programs import program as programs

    replaced = {
        programs: {"trace_of": "trace", "before_compilation": "transform", "compile_ahead": "lower"},
        disk: {"_key": "key", "_load": "load", "_store": "store", "compiled_with": "compile"},
        executable: {"compiled_with": "compile"},
        xla: {"jax_module": "import jax"},
    }
    if hasattr(jax_import, "prepare_import"):
        timed("import jax", jax_import.prepare_import)()
    for module, names in replaced.items():
        for name, step in names.items():
            setattr(module, name, timed(step, getattr(module, name)))
    programs.Program.call = timed("run", programs.Program.call)  # type: ignore[method-assign]
    import mindgrad_start

    mindgrad_start.arrays(mindgrad_start.PROGRAMS[program]())


def of_jax(program: str) -> None:
    """Run a program of jax's; tracing and the first run are what is left."""
    timed("import", __import__)("jax")
    import jax
    import jax_start

    jax.block_until_ready(jax_start.PROGRAMS[program]())


def row(library: str, program: str, environment: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", library, program]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(programs: list[str], is_second: bool) -> None:
    print("".join(f"{name:>11}" for name in ("program", "library", *STEPS, "rest", "all")))
    for program in programs:
        with tempfile.TemporaryDirectory(prefix="bench-phases-") as folder:
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
            environment["MINDGRAD_CACHE_DIR"] = folder if is_second else ""
            if is_second:
                row("mindgrad", program, environment)
            for library in ("mindgrad", "jax"):
                seconds = row(library, program, environment)
                whole = seconds.pop("all")
                cells = [seconds.get(step, 0.0) for step in STEPS]
                cells += [whole - sum(cells), whole]
                print(f"{program:>11}{library:>11}" + "".join(f"{cell:11.3f}" for cell in cells), flush=True)


def main() -> None:
    from start_problems import PROGRAMS

    arguments = sys.argv[1:]
    if arguments[:1] == ["--one"]:
        {"mindgrad": of_mindgrad, "jax": of_jax}[arguments[1]](arguments[2])
        print(json.dumps({**_seconds, "all": time.process_time()}), flush=True)
        os._exit(0)
    is_second = "--second" in arguments
    table([name for name in arguments if name != "--second"] or list(PROGRAMS), is_second)


if __name__ == "__main__":
    main()
