"""Run examples of the documentation in two processes with one cache: the second must load all programs.

    .venv/bin/python scripts/examples_twice.py [pages and modules: by default README.md, docs, src/mindgrad]

The first process fills an empty folder of compiled programs, the second repeats the same examples. The exit
status is 1 if an example fails, or if the second process compiles a program that can be kept on disk.
Operators of eager mode run one by one, because the clock decides which of them are compiled.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", "docs", "src/mindgrad"]

#: runs pytest, and writes the example of each program that is stored
PROCESS = """
import os, sys
import pytest
from mindgrad.core.backend import disk

store, examples = disk._store, []

def noted(*args):
    examples.append(os.environ.get("PYTEST_CURRENT_TEST", "outside of an example"))
    store(*args)

disk._store = noted
status = pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *sys.argv[2:]])
with open(sys.argv[1], "w") as file:
    file.write("\\n".join(examples))
sys.exit(status)
"""


def stored_in_a_process(folder: Path, pages: list[str]) -> list[str]:
    """Run the examples of ``pages``; return the example of each program that was compiled and stored."""
    report = folder / "report"
    environment = {**os.environ, "MINDGRAD_CACHE_DIR": str(folder / "cache"), "MINDGRAD_EAGER": "numpy"}
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, str(report), *pages], cwd=ROOT, env=environment, check=False
    )
    if done.returncode:
        sys.exit(1)
    return report.read_text().splitlines()


def main() -> None:
    """Compare both processes."""
    with tempfile.TemporaryDirectory(prefix="mindgrad-examples-") as folder:
        first, second = (stored_in_a_process(Path(folder), sys.argv[1:] or PAGES) for _ in range(2))
    sys.stdout.write(
        f"compiled and stored: {len(first)} programs in the first process, {len(second)} in the second\n"
    )
    if not first:
        sys.exit("no example has stored a program: the cache was not used")
    if second:
        sys.exit("the second process compiled again:\n  " + "\n  ".join(second))


if __name__ == "__main__":
    main()
