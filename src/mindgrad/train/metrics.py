"""Metrics, under the name that MindSpore 2.x has for them."""

from mindgrad.nn import metrics
from mindgrad.nn.metrics import *  # noqa: F403

__all__ = list(metrics.__all__)
