"""Image transforms for ``Dataset.map``, on NumPy arrays (height, width, channels) and on images of Pillow.

Results on arrays are those of MindSpore 2.10; encoded images and transforms of Pillow's images need the
optional package Pillow. Random transforms draw from the seed of the data set, and take several columns, which
they treat
alike: an image and its mask. What works on boxes and on videos is not here.
"""

from mindgrad.dataset.vision import choices, files, transforms
from mindgrad.dataset.vision import choices as utils
from mindgrad.dataset.vision.files import *  # noqa: F403
from mindgrad.dataset.vision.transforms import *  # noqa: F403

# the modules of MindSpore 1.x define some of the names above anew
from mindgrad.dataset.vision import c_transforms, py_transforms  # isort: skip

__all__ = ["c_transforms", "choices", "files", "py_transforms", "transforms", "utils"]
__all__ += transforms.__all__ + files.__all__
