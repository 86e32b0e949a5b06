"""Datasets from NumPy arrays and Python generators.

Sources (:class:`GeneratorDataset`, :class:`NumpySlicesDataset`) and, as methods of every
:class:`Dataset`, steps: ``batch``, ``map``, ``filter``, ``shuffle``, ``repeat``, ``take``, ``skip``, ``zip``,
``concat``, ``split``, ``project``, ``rename``. Readers of files of images, text and MindRecord are not here:
read such files with their own library in a source for :class:`GeneratorDataset`.
"""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.dataset import config, pipeline, samplers, sources, transforms, vision
from mindgrad.dataset.config import get_seed, set_seed
from mindgrad.dataset.iterators import DictIterator, TupleIterator
from mindgrad.dataset.pipeline import *  # noqa: F403
from mindgrad.dataset.rows import BatchInfo
from mindgrad.dataset.samplers import *  # noqa: F403
from mindgrad.dataset.sources import *  # noqa: F403

__all__ = [
    "BatchInfo",
    "DictIterator",
    "TupleIterator",
    "config",
    "get_seed",
    "set_seed",
    "transforms",
    "vision",
]
__all__ = list(dict.fromkeys(__all__ + pipeline.__all__ + samplers.__all__ + sources.__all__))

_explain_room(__name__)
