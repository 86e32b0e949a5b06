"""Metrics, under the module name of MindSpore 2.x."""

from mindgrad.nn import metrics
from mindgrad.nn.metrics import *  # noqa: F403

__all__ = list(metrics.__all__)
