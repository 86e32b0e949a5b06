"""Datasets, under the module name ``mindspore.dataset.engine.datasets``."""

from mindgrad.dataset import image_sources, minddataset, pipeline, sources, steps, text_sources
from mindgrad.dataset.file_samplers import Shuffle
from mindgrad.dataset.image_sources import *  # noqa: F403
from mindgrad.dataset.minddataset import *  # noqa: F403
from mindgrad.dataset.pipeline import *  # noqa: F403
from mindgrad.dataset.schema import Schema
from mindgrad.dataset.sources import *  # noqa: F403
from mindgrad.dataset.steps import *  # noqa: F403
from mindgrad.dataset.text_sources import *  # noqa: F403
from mindgrad.dataset.tfrecord import TFRecordDataset

__all__ = ["Schema", "Shuffle", "TFRecordDataset"]
for _part in (pipeline, sources, steps, image_sources, text_sources, minddataset):
    __all__ = list(dict.fromkeys(__all__ + _part.__all__))


def _set_training_dataset(dataset: object) -> None:
    """Do nothing. Training code of other libraries calls this function."""
