"""What a program of the corpus is: a function of tensors, its inputs, and what is known of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindgrad import Parameter, Tensor, nn

__all__ = ["PROGRAMS", "Program", "normal", "positive", "program", "spread", "uniform"]

#: every program of the corpus by its name
PROGRAMS: dict[str, Program] = {}

Draw = Callable[[np.random.Generator], np.ndarray]


@dataclass
class Program:
    """A program, as users write them.

    Attributes:
        name: the function's name.
        make: makes the function of tensors; a Cell is made anew for each check.
        draws: one per differentiated input: draws it.
        oracle: the same in ``jax.numpy``: of the inputs, then ``others``; for a Cell the dictionary of
            its Parameters (by name) comes first. Several outputs are a tuple, in order.
        others: further inputs that are not differentiated (indices, masks).
        gradient: if a formula is known, the gradient of the sum of all outputs with NumPy: of the
            inputs and ``others``, one array or a tuple.
        smooth: whether finite differences hold; if not, the reason why stands in ``reason``.
        reason: why there is no oracle, or why the program is not smooth.
        rtol, atol: how closely the oracles agree with the program.
    """

    name: str
    make: Callable[[], Callable[..., Any]]
    draws: Sequence[Draw]
    oracle: Callable[..., Any] | None
    others: Sequence[np.ndarray] = ()
    gradient: Callable[..., Any] | None = None
    smooth: bool = True
    reason: str = ""
    rtol: float = 1e-8
    atol: float = 1e-10

    def __post_init__(self) -> None:
        assert self.name not in PROGRAMS, f"two programs are named {self.name}"
        assert self.reason or (self.oracle and self.smooth), f"{self.name} gives no reason"
        PROGRAMS[self.name] = self

    def inputs(self) -> list[np.ndarray]:
        """The differentiated inputs, the same in every run."""
        generator = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [np.asarray(draw(generator)) for draw in self.draws]

    def parts(self) -> tuple[Callable[..., Any], list[Parameter], list[Tensor]]:
        """The function of the differentiated inputs, its Parameters, and the other inputs."""
        made = self.make()
        weights = made.trainable_params() if isinstance(made, nn.Cell) else []
        return made, weights, [Tensor(each) for each in self.others]


def program(*draws: Any, **known: Any) -> Callable[[Any], Any]:
    """Put a function, or a Cell's class, into the corpus; arguments as those of :class:`Program`."""
    drawn = [draw if callable(draw) else _fixed(draw) for draw in draws]

    def decorate(made: Any) -> Any:
        make = made if isinstance(made, type) else lambda: made
        Program(made.__name__, make, drawn, **known)
        return made

    return decorate


def _fixed(array: Any) -> Draw:
    return lambda _: np.array(array, np.float64)


# -- inputs ----------------------------------------------------------------------------------------


def normal(*shape: int) -> Draw:
    """Normally distributed numbers."""
    return lambda generator: generator.normal(size=shape)


def uniform(low: float, high: float, *shape: int) -> Draw:
    """Numbers between two bounds."""
    return lambda generator: generator.uniform(low, high, shape)


def positive(*shape: int) -> Draw:
    """Numbers well above zero."""
    return uniform(0.5, 2.0, *shape)


def spread(*shape: int) -> Draw:
    """Numbers in random order, none closer than 0.2 to another one or to zero: no ties, no kinks."""

    def draw(generator: np.random.Generator) -> np.ndarray:
        count = int(np.prod(shape))
        steps = np.arange(count) - count // 2
        numbers = 0.4 * steps + np.where(steps < 0, -0.2, 0.2) + generator.uniform(-0.1, 0.1, count)
        return generator.permutation(numbers).reshape(shape)

    return draw
