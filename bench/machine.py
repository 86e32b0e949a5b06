"""The machine and the moment: what a figure is worth without them is nothing."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def processor() -> str:
    """The processor's name."""
    try:
        match_ = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        match_ = None
    return match_.group(1).strip() if match_ else platform.processor() or platform.machine()


def slug(name: str) -> str:
    """``<date>-<processor or card>`` in letters a file name may have."""
    words = re.sub(r"\(.*?\)|CPU|Processor|@.*", "", name)
    return f"{date.today()}-" + re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def busy() -> tuple[float, float]:
    """Seconds its cores have worked since the machine started, and seconds taken from it."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    except OSError:
        return 0.0, 0.0
    ticks = os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, interrupt, soft, stolen = fields[:8]
    return (user + nice + system + interrupt + soft) / ticks, stolen / ticks


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def description() -> list[tuple[str, str]]:
    """Name and value of each line."""
    lines = [("date", str(date.today())), ("time", f"{datetime.now(UTC):%H:%M} UTC")]
    lines += [("processor", processor()), ("cores", str(cores()))]
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        lines.append(("memory", f"{memory / 2**30:.0f} GiB"))
    except (ValueError, OSError):
        pass
    lines.append(("system", f"{platform.system()} {platform.release()} {platform.machine()}"))
    lines.append(("commit", _commit()))
    return lines


def _commit() -> str:
    """The commit that was measured, and whether files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "none"
