"""Datasets of NumPy arrays, Python generators, and files.

- Sources: :class:`GeneratorDataset`, :class:`NumpySlicesDataset`, images (:class:`MnistDataset`,
  :class:`Cifar10Dataset`, :class:`ImageFolderDataset`, ...), lines (:class:`TextFileDataset`,
  :class:`CSVDataset`), :class:`TFRecordDataset`, and :class:`MindDataset`.
- Methods of :class:`Dataset` are steps: ``batch``, ``map``, ``filter``, ``shuffle``, ``repeat``, ``take``,
  ``skip``, ``zip``, ``concat``, ``split``, ``project``, ``rename``.
- Functions for ``map`` are in ``transforms``, ``vision``, and ``text``.

Files must exist; mindgrad does not download them.
"""

from mindgrad import context
from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.dataset import (
    caching,
    config,
    core,
    image_sources,
    minddataset,
    pipeline,
    samplers,
    sources,
    steps,
    text,
    text_sources,
    transforms,
    vision,
)
from mindgrad.dataset.caching import *  # noqa: F403
from mindgrad.dataset.config import get_seed, set_seed
from mindgrad.dataset.file_samplers import Shuffle
from mindgrad.dataset.image_sources import *  # noqa: F403
from mindgrad.dataset.iterators import DictIterator, TupleIterator
from mindgrad.dataset.minddataset import *  # noqa: F403
from mindgrad.dataset.pipeline import *  # noqa: F403
from mindgrad.dataset.rows import BatchInfo
from mindgrad.dataset.samplers import *  # noqa: F403
from mindgrad.dataset.schema import Schema
from mindgrad.dataset.sources import *  # noqa: F403
from mindgrad.dataset.steps import *  # noqa: F403
from mindgrad.dataset.text_sources import *  # noqa: F403
from mindgrad.dataset.tfrecord import TFRecordDataset

__all__ = [
    "BatchInfo", "DictIterator", "Schema", "Shuffle", "TFRecordDataset", "TupleIterator", "config",
    "context", "core",
    "get_seed", "set_seed", "text", "transforms", "vision",
]  # fmt: skip
for _part in (pipeline, samplers, sources, steps, caching, image_sources, text_sources, minddataset):
    __all__ = list(dict.fromkeys(__all__ + _part.__all__))

_explain_package(__name__)
