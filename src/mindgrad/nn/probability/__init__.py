"""Probability distributions and bijectors, with differentiable densities."""

from mindgrad.nn.probability import bijector, bnn_layers, distribution

__all__ = ["bijector", "bnn_layers", "distribution"]
