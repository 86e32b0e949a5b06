"""Stand-ins for packages with which public programs draw, read files and write reports.

A stand-in accepts every call and attribute; a program whose numbers go through one cannot agree with
MindSpore, so only packages stand here on which no number of the measured steps depends; those that draw
points draw them at random.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np

#: of drawing, tables, files, downloads and reports
PACKAGES = frozenset(
    [
        "Ofpp", "acl", "cv2", "download", "filelock", "gensim", "h5py", "imageio", "imgaug", "librosa",
        "lmdb", "matplotlib", "mindinsight", "moxing", "mpl_toolkits", "netCDF4", "numpy_indexed",
        "openpyxl", "pandas", "prettytable", "pycocotools", "pyevtk", "pyvista", "requests", "seaborn",
        "six", "skimage", "sklearn", "soundfile", "tensorboardX", "terminaltables", "tikzplotlib", "vtk",
        "xlrd",
    ]
)  # fmt: skip


def random_points(dimension: int, samples: int | None = None, **_: Any) -> np.ndarray:
    """Points of the unit cube, in place of a Latin hypercube."""
    return np.random.random_sample((samples or dimension, dimension))  # noqa: NPY002 (that of the programs)


class Sampler:
    """Random points in place of a sequence that fills space evenly."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def generate(self, dimensions: Sequence[tuple[float, float]], n_samples: int) -> list[list[float]]:
        """Points of a box."""
        lower, upper = np.transpose(dimensions)
        points = lower + (upper - lower) * random_points(len(dimensions), n_samples)
        return [[float(number) for number in point] for point in points]


#: of the drawing of points: these give numbers
SAMPLING: dict[str, dict[str, Any]] = {
    "pyDOE": {"lhs": random_points},
    "skopt": {"sampler": SimpleNamespace(Hammersly=Sampler, Sobol=Sampler)},
}


class StandIn(ModuleType):
    """A module of any attributes."""

    __path__: Sequence[str] = []
    __version__ = "1.0"

    def __getattr__(self, name: str) -> MagicMock:
        if name.startswith("__"):
            raise AttributeError(name)
        value = MagicMock(name=name)
        setattr(self, name, value)
        return value


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the stand-in of a package."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] in PACKAGES | SAMPLING.keys():
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(SAMPLING.get(module.__name__, {}))


def install() -> None:
    """Makes the stand-ins importable; they come before installed packages, so that nothing is drawn."""
    sys.meta_path.insert(0, Finder())
