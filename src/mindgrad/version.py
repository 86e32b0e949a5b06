"""The version: ``from mindspore.version import __version__``."""

import sys


def __getattr__(name: str) -> str:
    if name == "__version__":
        return sys.modules["mindgrad"].__version__
    module = sys.modules[__name__]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=module)
