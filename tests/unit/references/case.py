"""A layer, what to apply it to, and what it has to be in PyTorch: needs NumPy alone.

``tests/unit/references/make_references.py`` computes the right-hand sides where PyTorch is installed;
``tests/unit/nn/test_layers_against_references.py`` compares the layers with what it wrote.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

REFERENCES = "pytorch.npz"


def normal(*shape: int, salt: str = "") -> np.ndarray:
    """Normal numbers that are the same everywhere: NumPy keeps the streams of RandomState as they are."""
    return np.random.RandomState(zlib.crc32(f"{shape}{salt}".encode())).normal(size=shape)


def within(*shape: int, salt: str = "") -> np.ndarray:
    """Numbers between 0 and 1."""
    return 1 / (1 + np.exp(-normal(*shape, salt=salt)))


def shares(*shape: int, salt: str = "") -> np.ndarray:
    """Positive numbers whose sum along the second axis is 1."""
    e = np.exp(normal(*shape, salt=salt))
    return e / e.sum(1, keepdims=True)


def whole(*numbers: Any) -> np.ndarray:
    """Integers."""
    return np.array(numbers, np.int32)


@dataclass(frozen=True)
class Case:
    """One row.

    Args:
        made: the expression that makes the layer, with ``nn``, ``ops`` and ``Tensor``.
        inputs: the arrays it is applied to; those of Float64 are differentiated, but for ``fixed`` places.
        theirs: the same from PyTorch: a function of ``f`` (torch.nn.functional), ``t`` (torch), the inputs,
            and of a dict of weights where there are any.
        weights: the shape of each Parameter that is trained, by name.
        fixed: the places of inputs that are not differentiated.
        takes: what the layer is called with, as an expression of its inputs ``x``.
        compiled: whether the compiled program is compared, too.
        note: more of the name, where two rows make the same layer.
    """

    made: str
    inputs: tuple[np.ndarray, ...]
    theirs: Callable[..., Any]
    weights: dict[str, tuple[int, ...]] = field(default_factory=dict)
    fixed: tuple[int, ...] = ()
    takes: str = "*x"
    compiled: bool = False
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.made} {self.note or ' '.join(str(x.shape).replace(' ', '') for x in self.inputs)}"

    @property
    def layer(self) -> str:
        return self.made.removeprefix("nn.").partition("(")[0]

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(i for i, x in enumerate(self.inputs) if x.dtype == np.float64 and i not in self.fixed)

    def weight_values(self) -> dict[str, np.ndarray]:
        return {name: 0.6 * normal(*shape, salt=name) for name, shape in self.weights.items()}


def mask(shape: tuple[int, ...]) -> np.ndarray:
    """What an output is weighted with: the objective is Σ mask · (y + y²/2)."""
    return np.cos(1 + 1.7 * np.arange(int(np.prod(shape)))).reshape(shape)


def direction(shape: tuple[int, ...], place: int) -> np.ndarray:
    """Along what the gradient is differentiated again."""
    return np.sin(2 + 1.3 * np.arange(int(np.prod(shape))) + place).reshape(shape)
