"""Training: the Model and its callbacks, mixed precision, files of Parameters."""

from mindgrad.train import serialization
from mindgrad.train.serialization import *  # noqa: F403

__all__ = list(dict.fromkeys(serialization.__all__))
