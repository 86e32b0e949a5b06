"""Functions for ``Dataset.map``: conversion of element types, one-hot vectors, chains.

MindSpore's transformations of images and text are not here; any function from arrays to arrays serves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.core.dtype import as_dtype
from mindgrad.dataset.rows import array_of

__all__ = ["Compose", "Concatenate", "Duplicate", "OneHot", "TypeCast"]

transforms = sys.modules[__name__]  # where MindSpore has them: dataset.transforms.transforms


class TypeCast:
    """Converts to an element type.

    Args:
        output_type: the element type: ``mindgrad.float32``, or a NumPy type.

    >>> import mindgrad as ms
    >>> from mindgrad.dataset import transforms
    >>> transforms.TypeCast(ms.float32)([1, 2])
    array([1., 2.], dtype=float32)
    """

    def __init__(self, output_type: Any) -> None:
        self.output_type = as_dtype(output_type)

    def __call__(self, data: Any) -> np.ndarray:
        array = array_of(data, "For 'TypeCast', the data")
        return array.astype(self.output_type.numpy)


class Compose:
    """Several functions one after the other.

    Args:
        transforms: the functions; each takes what the one before gave.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Compose([abs, lambda x: x + 1])(-3)
    4
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        if not isinstance(transforms, (list, tuple)) or not transforms or not all(map(callable, transforms)):
            raise TypeError(
                f"For 'Compose', 'transforms' must be a list of functions, but got {transforms!r}."
            )
        self.transforms = list(transforms)

    def __call__(self, *data: Any) -> Any:
        for each in self.transforms:
            found = each(*data)
            data = found if isinstance(found, tuple) else (found,)
        return data if len(data) > 1 else data[0]


class OneHot:
    """Classes as vectors with a one at the class, zeros elsewhere.

    Args:
        num_classes: the length of the vectors.
        smoothing_rate: how much of the one is spread evenly over all classes.

    Raises:
        ValueError: a class is negative or not below ``num_classes``, or ``smoothing_rate`` not from 0 to 1.

    >>> from mindgrad.dataset import transforms
    >>> transforms.OneHot(3)(1)
    array([0, 1, 0])
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        if not 0 <= smoothing_rate <= 1:
            raise ValueError(f"For 'OneHot', 'smoothing_rate' must be from 0 to 1, but got {smoothing_rate}.")
        self.num_classes = num_classes
        self.smoothing_rate = smoothing_rate

    def __call__(self, label: Any) -> np.ndarray:
        classes = array_of(label, "For 'OneHot', the label")
        if classes.dtype.kind not in "iu" or classes.ndim > 1 or (classes.ndim and classes.shape != (1,)):
            raise TypeError(f"For 'OneHot', the label must be one integer, but got {label!r}.")
        number = int(classes.reshape(()))
        if not 0 <= number < self.num_classes:
            raise ValueError(
                f"For 'OneHot', the label must be from 0 to below {self.num_classes}, but got {number}."
            )
        vector = np.zeros(self.num_classes, classes.dtype)
        vector[number] = 1
        if not self.smoothing_rate:
            return vector
        return vector * (1 - self.smoothing_rate) + self.smoothing_rate / self.num_classes


class Concatenate:
    """Several columns joined to one.

    Args:
        axis: along which axis.
        prepend: an array to begin with.
        append: an array to end with.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Concatenate(append=[9])([1, 2], [3])
    array([1, 2, 3, 9])
    """

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        self.axis = axis
        self._before = [] if prepend is None else [array_of(prepend, "For 'Concatenate', 'prepend'")]
        self._behind = [] if append is None else [array_of(append, "For 'Concatenate', 'append'")]

    def __call__(self, *data: Any) -> np.ndarray:
        columns = [array_of(each, "For 'Concatenate', the data") for each in data]
        return np.concatenate([*self._before, *columns, *self._behind], self.axis)


class Duplicate:
    """One column as two.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Duplicate()(3)
    (3, 3)
    """

    def __call__(self, data: Any) -> tuple[Any, Any]:
        return data, data
