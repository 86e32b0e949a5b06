"""Datasets under the name of MindSpore: ``from mindspore.dataset.engine import Dataset``."""

from mindgrad.dataset.engine import datasets
from mindgrad.dataset.engine.datasets import *  # noqa: F403

__all__ = ["datasets"]
__all__ += datasets.__all__
