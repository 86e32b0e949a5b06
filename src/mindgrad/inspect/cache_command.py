"""The command ``mindgrad cache``: show or clear the compilation cache on disk."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from mindgrad.core.backend import disk
from mindgrad.core.backend.disk import SIZE_VARIABLE, directory, limit, readable_size, reason_off
from mindgrad.inspect.terminal import print_json, print_table

__all__ = ["cache_facts", "main"]

_EXAMPLE = """examples:
  mindgrad cache           show the cache directory and the number of compiled programs
  mindgrad cache clear     delete them; the next start of a program compiles again

See docs/cache.md for the contents of the cache and its security. The exit status is 0, or 1 if the folder
cannot be read or cleared."""


def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str): the command line after ``cache``.

    Returns:
        The exit status: 0, or 1 if the folder cannot be read or cleared.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = argparse.ArgumentParser(
        "mindgrad cache",
        description="Show or clear the cache of compiled programs on disk.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", nargs="?", default="info", choices=("info", "clear"), help="default: info")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    try:
        return _clear(options.json) if options.action == "clear" else _info(options.json)
    except OSError as error:
        print(f"mindgrad: {error}", file=sys.stderr)
        return 1


def cache_facts() -> dict[str, Any]:
    """Return the folder, content and limits of the compilation cache.

    The result is a dict. Its entry ``"off"`` is the reason why the cache is disabled, or ``""``.

    Raises:
        OSError: If the folder of the cache cannot be read.
    """
    folder, reason = directory(), reason_off()
    content = disk.Entries(0, 0, 0.0) if folder is None else disk.entries(folder)
    return {
        "folder": None if folder is None else str(folder),
        "off": reason,
        "programs": content.number,
        "bytes": content.size,
        "limit_bytes": limit(),
        "limit_programs": disk.MOST,
        "oldest": content.oldest or None,
    }


def _info(as_json: bool) -> int:
    facts = cache_facts()
    if as_json:
        print_json(facts)
        return 0
    if facts["folder"] is None:
        print(f"Compiled programs are not stored on disk: {facts['off']}.")
        return 0
    rows = [
        ("folder", facts["folder"]),
        (
            "programs",
            f"{facts['programs']} (limit {facts['limit_programs']}, enforced when a program is stored)",
        ),
        (
            "size",
            f"{readable_size(facts['bytes'])} of {readable_size(facts['limit_bytes'])} ({SIZE_VARIABLE})",
        ),
    ]
    if facts["oldest"]:
        rows.append(("oldest use", time.strftime("%Y-%m-%d %H:%M", time.localtime(facts["oldest"]))))
    print_table(rows)
    return 0


def _clear(as_json: bool) -> int:
    folder = directory()
    removed = disk.Entries(0, 0, 0.0) if folder is None else disk.clear(folder)
    if as_json:
        print_json({"folder": folder, "removed_programs": removed.number, "removed_bytes": removed.size})
    elif folder is None:
        print(f"Nothing to remove: {reason_off()}.")
    else:
        programs = "program" if removed.number == 1 else "programs"
        print(f"Removed {removed.number} {programs} ({readable_size(removed.size)}) from {folder}.")
    return 0
