"""Datasets under the name of MindSpore: ``from mindspore.dataset.engine.datasets import Dataset``."""

from mindgrad.dataset import pipeline, sources
from mindgrad.dataset.pipeline import *  # noqa: F403
from mindgrad.dataset.sources import *  # noqa: F403

__all__ = list(dict.fromkeys(pipeline.__all__ + sources.__all__))
