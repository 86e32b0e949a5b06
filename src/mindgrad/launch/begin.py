"""Start of a worker: end the worker when its launcher ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from mindgrad._base.environment import LAUNCHER

__all__ = ["tie"]

_PR_SET_PDEATHSIG = 1


def tie() -> None:
    """Let the kernel kill this process when its launcher ends, for any reason.

    The function has no effect in a process without a launcher. Only Linux supports this.

    Raises:
        SystemExit: If the launcher has ended already.
    """
    launcher = os.environ.pop(LAUNCHER, "")  # remove the variable, so that child processes are not tied
    if not launcher:
        return
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(launcher):
        raise SystemExit("mindgrad: the launcher of this process has ended.")
