"""Image transforms for ``Dataset.map``, on NumPy arrays and on PIL images.

Arrays have the shape (height, width, channels), and results on arrays agree with MindSpore 2.10. Image files
and PIL images require the optional package Pillow. Random transforms use the seed of the dataset. They accept
several columns, such as an image and its mask, and treat them in the same way. Transforms of bounding boxes
and videos are not supported.
"""

from mindgrad.dataset.vision import choices, files, transforms
from mindgrad.dataset.vision import choices as utils
from mindgrad.dataset.vision.files import *  # noqa: F403
from mindgrad.dataset.vision.transforms import *  # noqa: F403

# import last: these modules of MindSpore 1.x redefine some of the names above
from mindgrad.dataset.vision import c_transforms, py_transforms  # isort: skip

__all__ = ["c_transforms", "choices", "files", "py_transforms", "transforms", "utils"]
__all__ += transforms.__all__ + files.__all__
