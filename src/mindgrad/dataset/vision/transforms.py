"""Image transforms, under the module name ``mindspore.dataset.vision.transforms``."""

from mindgrad.dataset.vision import (
    choices,
    color,
    color_spaces,
    conversion,
    crops,
    geometry,
    mixing,
    policies,
    random_color,
    random_geometry,
)
from mindgrad.dataset.vision.choices import *  # noqa: F403
from mindgrad.dataset.vision.color import *  # noqa: F403
from mindgrad.dataset.vision.color_spaces import *  # noqa: F403
from mindgrad.dataset.vision.conversion import *  # noqa: F403
from mindgrad.dataset.vision.crops import *  # noqa: F403
from mindgrad.dataset.vision.geometry import *  # noqa: F403
from mindgrad.dataset.vision.mixing import *  # noqa: F403
from mindgrad.dataset.vision.policies import *  # noqa: F403
from mindgrad.dataset.vision.random_color import *  # noqa: F403
from mindgrad.dataset.vision.random_geometry import *  # noqa: F403

__all__ = [
    name
    for module in (
        choices,
        color,
        color_spaces,
        conversion,
        crops,
        geometry,
        mixing,
        policies,
        random_color,
        random_geometry,
    )
    for name in module.__all__
    if name[0].isupper()
]
