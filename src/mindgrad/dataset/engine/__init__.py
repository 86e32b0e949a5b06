"""Datasets, under the module name ``mindspore.dataset.engine``."""

from mindgrad import dataset
from mindgrad.dataset import *  # noqa: F403
from mindgrad.dataset import config, iterators, samplers
from mindgrad.dataset import image_sources as datasets_vision
from mindgrad.dataset import sources as datasets_user_defined
from mindgrad.dataset import text_sources as datasets_text
from mindgrad.dataset.engine import datasets, datasets_standard_format

_MODULES = ("config", "context", "core", "text", "transforms", "vision")

__all__ = [
    "config", "datasets", "datasets_standard_format", "datasets_text", "datasets_user_defined",
    "datasets_vision",
    "iterators", "samplers",
]  # fmt: skip
__all__ += [name for name in dataset.__all__ if name not in _MODULES]
