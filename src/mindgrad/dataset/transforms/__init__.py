"""Transforms for ``Dataset.map``: type conversion, one-hot vectors, masks, chains.

Transforms of images are in :mod:`mindgrad.dataset.vision`, transforms of text in
:mod:`mindgrad.dataset.text`. ``Dataset.map`` also accepts any function from arrays to arrays.
"""

from mindgrad.dataset.transforms import transforms
from mindgrad.dataset.transforms import transforms as c_transforms
from mindgrad.dataset.transforms import transforms as py_transforms
from mindgrad.dataset.transforms.compound import *  # noqa: F403
from mindgrad.dataset.transforms.transforms import *  # noqa: F403

__all__ = ["c_transforms", "py_transforms", "transforms"]
__all__ += transforms.__all__
