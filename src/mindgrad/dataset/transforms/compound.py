"""Compound transforms: chains of functions, and random choices of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.dataset.randomness import generator

__all__ = ["Compose", "RandomApply", "RandomChoice", "RandomOrder"]


def _functions(transforms: Any, name: str) -> list[Callable[..., Any]]:
    if not isinstance(transforms, (list, tuple)) or not transforms or not all(map(callable, transforms)):
        raise TypeError(f"For '{name}', 'transforms' must be a list of functions, but got {transforms!r}.")
    return list(transforms)


def _chained(functions: Sequence[Callable[..., Any]], data: tuple[Any, ...]) -> Any:
    for function in functions:
        result = function(*data)
        data = result if isinstance(result, tuple) else (result,)
    return data if len(data) > 1 else data[0]


class Compose:
    """Transform that applies several functions one after another.

    Args:
        transforms (list or tuple of Callable): functions to apply in order. Each receives the result of the
            previous one.

    >>> from mindgrad.dataset import transforms
    >>> transforms.Compose([abs, lambda x: x + 1])(-3)
    4
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = _functions(transforms, "Compose")

    def __call__(self, *data: Any) -> Any:
        """Return the result of the last function."""
        return _chained(self.transforms, data)


class RandomApply:
    """Transform that applies several functions with a given probability.

    With probability 1 − ``prob``, it returns the data unchanged.

    Args:
        transforms (list or tuple of Callable): functions from arrays to arrays.
        prob (float, optional): probability of applying all functions. Default: ``0.5``.

    Raises:
        ValueError: If ``prob`` is not in the range [0, 1].

    >>> from mindgrad.dataset import transforms
    >>> transforms.RandomApply([abs], prob=1.0)(-3)
    3
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], prob: float = 0.5) -> None:
        self.transforms = _functions(transforms, "RandomApply")
        if not 0 <= prob <= 1:
            raise ValueError(f"For 'RandomApply', 'prob' must be from 0 to 1, but got {prob!r}.")
        self.prob = prob

    def __call__(self, *data: Any) -> Any:
        """Return the result of the last function, or the data."""
        return _chained(self.transforms if generator().random() < self.prob else (), data)


class RandomChoice:
    """Transform that applies one of several functions, chosen at random per sample.

    Args:
        transforms (list or tuple of Callable): functions from arrays to arrays.

    >>> from mindgrad.dataset import transforms
    >>> transforms.RandomChoice([abs])(-3)
    3
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = _functions(transforms, "RandomChoice")

    def __call__(self, *data: Any) -> Any:
        """Return the result of one function."""
        return _chained([self.transforms[generator().integers(len(self.transforms))]], data)


class RandomOrder:
    """Transform that applies several functions in a random order per sample.

    Args:
        transforms (list or tuple of Callable): functions from arrays to arrays.

    >>> from mindgrad.dataset import transforms
    >>> transforms.RandomOrder([abs, abs])(-3)
    3
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = _functions(transforms, "RandomOrder")

    def __call__(self, *data: Any) -> Any:
        """Return the result of the last function."""
        return _chained([self.transforms[i] for i in generator().permutation(len(self.transforms))], data)
