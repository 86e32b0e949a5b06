"""The state of the process that a program changes, for tests and examples that must leave it as it was."""

import contextlib
import sys
from collections.abc import Iterator

import mindgrad as ms

__all__ = ["process_stays"]


@contextlib.contextmanager
def process_stays() -> Iterator[None]:
    """Restore mode, search for NaN, recursion limit, version and what `import mindspore` means."""
    finders, mode, version = list(sys.meta_path), ms.get_context("mode"), ms.__version__
    debug_nans = ms.get_context("debug_nans")
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.meta_path[:] = finders
        for name in [name for name in sys.modules if name.partition(".")[0] == "mindspore"]:
            del sys.modules[name]
        ms.set_context(mode=mode, debug_nans=debug_nans)
        ms.__version__ = version
        sys.setrecursionlimit(limit)
