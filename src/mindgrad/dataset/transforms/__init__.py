"""Functions for ``Dataset.map``: element types, one-hot vectors, masks, chains and random choices.

Those for images are in :mod:`mindgrad.dataset.vision`, those for text in :mod:`mindgrad.dataset.text`; any
function from arrays to arrays serves.
"""

from mindgrad.dataset.transforms import transforms
from mindgrad.dataset.transforms import transforms as c_transforms
from mindgrad.dataset.transforms import transforms as py_transforms
from mindgrad.dataset.transforms.compound import *  # noqa: F403
from mindgrad.dataset.transforms.transforms import *  # noqa: F403

__all__ = ["c_transforms", "py_transforms", "transforms"]
__all__ += transforms.__all__
