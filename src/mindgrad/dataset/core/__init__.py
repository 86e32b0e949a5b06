"""Settings of datasets under the name of MindSpore: ``import mindspore.dataset.core.config``."""

from mindgrad.dataset import config

__all__ = ["config"]
