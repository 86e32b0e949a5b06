"""The beginning of a worker ties its life to that of its launcher."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from mindgrad._base.environment import LAUNCHER

__all__ = ["tie"]

_PR_SET_PDEATHSIG = 1


def tie() -> None:
    """Let the kernel end this process when its launcher ends, however that ends; where there is one.

    Raises:
        SystemExit: If the launcher has ended already.
    """
    launcher = os.environ.pop(LAUNCHER, "")  # a process that this one starts has no launcher
    if not launcher:
        return
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(launcher):
        raise SystemExit("mindgrad: the launcher of this process has ended.")
