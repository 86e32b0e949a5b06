"""Augmentation policies, which apply randomly chosen transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.dataset.randomness import generator
from mindgrad.dataset.vision.arguments import choice, color, probability, transform_list, whole_number
from mindgrad.dataset.vision.choices import Inter
from mindgrad.dataset.vision.color import AutoContrast, Equalize, Invert, Posterize, Solarize, enhanced
from mindgrad.dataset.vision.plane import affine, rotated
from mindgrad.dataset.vision.transform import ImageTransform, height_width

__all__ = ["RandAugment", "RandomSelectSubpolicy", "TrivialAugmentWide", "UniformAugment"]


class UniformAugment:
    """Transform that applies random transforms, each with probability ½.

    The transforms are chosen without repetition.

    Args:
        transforms (list or tuple of Callable): transforms to choose from.
        num_ops (int, optional): number of transforms to choose for each image. Default: ``2``.

    Raises:
        ValueError: If ``transforms`` has fewer than ``num_ops`` elements.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.UniformAugment([vision.HorizontalFlip()], 1)(np.array([[1, 1]]))
    array([[1, 1]])
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], num_ops: int = 2) -> None:
        self.transforms = transform_list(transforms, "UniformAugment")
        self.number = whole_number(num_ops, "UniformAugment", "num_ops", 1)
        if self.number > len(self.transforms):
            raise ValueError(
                f"For 'UniformAugment', 'num_ops' is {self.number}, but there are {len(self.transforms)} "
                f"transforms."
            )

    def __call__(self, image: Any) -> Any:
        """Select transforms at random, and apply each to ``image`` with probability ½."""
        draw = generator()
        for i in draw.permutation(len(self.transforms))[: self.number]:
            if draw.random() < 0.5:
                image = self.transforms[i](image)
        return image


class RandomSelectSubpolicy:
    """Transform that applies one of several lists of pairs (transform, probability).

    Args:
        policy (list or tuple of list or tuple of tuple of Callable): lists of pairs (transform, probability),
            one of which is chosen for each image.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandomSelectSubpolicy([[(vision.HorizontalFlip(), 1.0)]])(np.array([[1, 2]]))
    array([[2, 1]])
    """

    def __init__(self, policy: Sequence[Sequence[tuple[Callable[..., Any], float]]]) -> None:
        if not isinstance(policy, (list, tuple)) or not policy:
            raise TypeError(
                f"For 'RandomSelectSubpolicy', 'policy' must be a list of lists, but got {policy!r}."
            )
        self.policy = [
            [
                (transform, probability(prob, "RandomSelectSubpolicy", "policy"))
                for transform, prob in subpolicy
            ]
            for subpolicy in policy
        ]

    def __call__(self, image: Any) -> Any:
        """Select a list at random, and apply its transforms with their probabilities."""
        draw = generator()
        for transform, prob in self.policy[draw.integers(len(self.policy))]:
            if draw.random() < prob:
                image = transform(image)
        return image


#: transform -> largest magnitude in RandAugment and in TrivialAugmentWide; 0 for a transform without
#: magnitude
_MAGNITUDES = {
    "Identity": (0.0, 0.0), "ShearX": (0.3, 0.99), "ShearY": (0.3, 0.99), "TranslateX": (150 / 331, 32.0),
    "TranslateY": (150 / 331, 32.0), "Rotate": (30.0, 135.0), "Brightness": (0.9, 0.99), "Color": (0.9, 0.99),
    "Contrast": (0.9, 0.99), "Sharpness": (0.9, 0.99), "Posterize": (4.0, 6.0), "Solarize": (255.0, 255.0),
    "AutoContrast": (0.0, 0.0), "Equalize": (0.0, 0.0),
}  # fmt: skip


def _augmented(image: Any, kind: str, magnitude: float, interpolation: Inter, fill: tuple[int, ...]) -> Any:
    """Apply the transform ``kind`` with a given magnitude."""
    if kind.startswith(("Shear", "Translate")):
        degrees = float(np.degrees(np.arctan(magnitude)))
        along_x = kind.endswith("X")
        move = (magnitude, 0.0) if along_x else (0.0, magnitude)
        shear = (degrees, 0.0) if along_x else (0.0, degrees)
        if kind.startswith("Shear"):
            return affine(image, 0.0, (0.0, 0.0), 1.0, shear, interpolation, fill)
        return affine(image, 0.0, move, 1.0, (0.0, 0.0), interpolation, fill)
    if kind == "Rotate":
        return rotated(image, magnitude, interpolation, fill=fill)
    if kind in ("Brightness", "Color", "Contrast", "Sharpness"):
        return enhanced(image, kind, 1 + magnitude)
    if kind == "Posterize":
        return Posterize(8 - round(magnitude))(image)
    if kind == "Solarize":
        return Solarize((255 - magnitude, 255))(image)
    fixed = {"AutoContrast": AutoContrast, "Equalize": Equalize, "Invert": Invert}
    return fixed[kind]()(image) if kind in fixed else image


class RandAugment(ImageTransform):
    """Transform that applies random transforms of one magnitude (Cubuk et al., 2020).

    Args:
        num_ops (int, optional): number of transforms to apply. Default: ``2``.
        magnitude (int, optional): magnitude of all transforms, at least 0 and less than
            ``num_magnitude_bins``. Default: ``9``.
        num_magnitude_bins (int, optional): number of levels into which the range of magnitudes is divided.
            Default: ``31``.
        interpolation (Inter, optional): interpolation method. Default: ``Inter.NEAREST``.
        fill_value (int or list or tuple of int, optional): value of uncovered pixels: a gray level, or (red,
            green, blue). Default: ``0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.RandAugment()(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    takes_one = True

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: int | Sequence[int] = 0,
    ) -> None:
        self.number = whole_number(num_ops, "RandAugment", "num_ops", 0)
        self.bins = whole_number(num_magnitude_bins, "RandAugment", "num_magnitude_bins", 2)
        self.magnitude = whole_number(magnitude, "RandAugment", "magnitude", 0)
        if self.magnitude >= self.bins:
            raise ValueError(
                f"For 'RandAugment', 'magnitude' must be below 'num_magnitude_bins', {self.bins}, but got "
                f"{magnitude!r}."
            )
        self.interpolation = choice(interpolation, Inter, "RandAugment", "interpolation")
        self.fill = color(fill_value, "RandAugment")

    def parameters(self, image: Any) -> tuple[list[tuple[str, float]]]:
        """Return the transforms and their magnitudes."""
        draw = generator()
        height, width = height_width(image)
        changes = []
        for kind in draw.choice(list(_MAGNITUDES), self.number).tolist():
            size = _MAGNITUDES[kind][0] * self.magnitude / (self.bins - 1)
            if kind.startswith("Translate"):
                size *= width if kind.endswith("X") else height
            signed = kind not in ("Posterize", "Solarize") and draw.random() < 0.5
            changes.append((kind, -size if signed else size))
        return (changes,)

    def array(self, image: Any, changes: list[tuple[str, float]]) -> Any:
        """Apply ``changes``, pairs of the name of a transform and its magnitude."""
        for kind, magnitude in changes:
            image = _augmented(image, kind, magnitude, self.interpolation, self.fill)
        return image

    pillow = array


class TrivialAugmentWide(RandAugment):
    """Transform that applies one random transform (Müller and Hutter, 2021).

    Its magnitude is random.

    Args:
        num_magnitude_bins (int, optional): number of levels into which the range of magnitudes is divided.
            Default: ``31``.
        interpolation (Inter, optional): interpolation method. Default: ``Inter.NEAREST``.
        fill_value (int or list or tuple of int, optional): value of uncovered pixels: a gray level, or (red,
            green, blue). Default: ``0``.

    >>> import numpy as np
    >>> from mindgrad.dataset import vision
    >>> vision.TrivialAugmentWide()(np.zeros((9, 7, 3), np.uint8)).shape
    (9, 7, 3)
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: int | Sequence[int] = 0,
    ) -> None:
        super().__init__(1, 0, num_magnitude_bins, interpolation, fill_value)

    def parameters(self, image: Any) -> tuple[list[tuple[str, float]]]:
        """Return the transform and its magnitude."""
        draw = generator()
        kind = str(draw.choice(list(_MAGNITUDES)))
        size = _MAGNITUDES[kind][1] * float(draw.integers(self.bins)) / (self.bins - 1)
        signed = kind not in ("Posterize", "Solarize") and draw.random() < 0.5
        return ([(kind, -size if signed else size)],)
