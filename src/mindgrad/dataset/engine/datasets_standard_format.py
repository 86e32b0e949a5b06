"""Datasets of file formats: ``mindspore.dataset.engine.datasets_standard_format``."""

from mindgrad.dataset.minddataset import MindDataset
from mindgrad.dataset.text_sources import CSVDataset
from mindgrad.dataset.tfrecord import TFRecordDataset

__all__ = ["CSVDataset", "MindDataset", "TFRecordDataset"]
