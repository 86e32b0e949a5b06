"""Settings of datasets, under the module name ``mindspore.dataset.core``."""

from mindgrad.dataset import config

__all__ = ["config"]
