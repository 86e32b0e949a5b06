"""Distributions and bijectors: densities and samples that are differentiated as any other function."""

from mindgrad.nn.probability import bijector, bnn_layers, distribution

__all__ = ["bijector", "bnn_layers", "distribution"]
