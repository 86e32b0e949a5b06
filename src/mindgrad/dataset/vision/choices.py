"""Enumerations for arguments of image transforms: interpolation, padding, layouts."""

from enum import IntEnum, StrEnum

__all__ = [
    "AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "ImageReadMode", "Inter", "SliceMode",
]  # fmt: skip


class Inter(IntEnum):
    """Interpolation methods; ``LINEAR`` is ``BILINEAR``, and ``CUBIC`` is ``BICUBIC``."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class Border(StrEnum):
    """Padding modes: constant, edge, or reflection with or without the edge."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ImageBatchFormat(IntEnum):
    """Orders of the axes of a batch of images."""

    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """Channels of an image that is read: unchanged, gray, or RGB."""

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(IntEnum):
    """Modes for an image whose size is not a multiple of the grid: pad or drop."""

    PAD = 0
    DROP = 1


class ConvertMode(IntEnum):
    """Color space conversions of :class:`~mindgrad.dataset.vision.ConvertColor`."""

    COLOR_BGR2BGRA = COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


class AutoAugmentPolicy(StrEnum):
    """Names of the datasets for which ``AutoAugment`` policies were found."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"
