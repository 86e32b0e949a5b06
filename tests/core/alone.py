"""Load ``mindgrad.core`` without the other packages of mindgrad, and without JAX."""

import sys
import types
from importlib.abc import MetaPathFinder
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "mindgrad"
FORBIDDEN = ("jax", "jaxlib", "torch", "mindspore")


class _Forbidding(MetaPathFinder):
    """An import hook that raises an error for packages above the core."""

    def find_spec(self, name, path=None, target=None):
        above = name.startswith("mindgrad.") and not f"{name}.".startswith("mindgrad.core.")
        if above or name.partition(".")[0] in FORBIDDEN:
            raise ImportError(f"the core imports {name}", name=name)


def forbid_the_rest() -> None:
    """Replace ``mindgrad`` by an empty package that contains only its core."""
    package = types.ModuleType("mindgrad")
    package.__path__ = [str(SOURCE)]
    sys.modules["mindgrad"] = package
    sys.meta_path.insert(0, _Forbidding())
