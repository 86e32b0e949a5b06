"""The numbers of GradBench's evaluation ``lstm``: a recurrent network with diagonal weights, float64.

value       The loss of the network on a text. A character is 14 bits. The bits times ``e[0]`` go through the
            layers, and what leaves the last one, times ``e[1]`` plus ``e[2]``, forecasts the next character:
            y less ``log(2 + sum exp y)``. The loss is minus the mean of that character's bits times it.
gradient    Its gradient in the weights and biases of the layers and in e.

A layer has a row of weights and one of biases, 14 numbers for each of four gates: forget, in, out and change,
the first and third for its input, the others for its hidden state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BITS = 14
LAYERS = (2, 4, 6)
CHARACTERS = (1_024, 4_096, 8_192)


class Text(NamedTuple):
    """Weights and biases of the layers, those around them, the first states, and the characters."""

    layers: np.ndarray
    ends: np.ndarray
    state: np.ndarray
    characters: np.ndarray


def lstm(layers: int, characters: int) -> Text:
    """Characters without an order, and weights in (0, 1)."""
    generator = np.random.default_rng(31337)
    return Text(
        generator.random((2 * layers, 4 * BITS)),
        generator.random((3, BITS)),
        generator.random((2 * layers, BITS)),
        generator.integers(0, 2, (characters, BITS)).astype(np.float64),
    )
