"""Distributions with densities, probabilities, moments, divergences, and samples."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.nn.probability.distribution.discrete import Bernoulli, Categorical, Geometric, Poisson
from mindgrad.nn.probability.distribution.distribution import Distribution
from mindgrad.nn.probability.distribution.heavy_tailed import Cauchy, HalfNormal, Laplace, StudentT
from mindgrad.nn.probability.distribution.location import Gumbel, Logistic, LogNormal, Normal, Uniform
from mindgrad.nn.probability.distribution.positive import Beta, Exponential, Gamma
from mindgrad.nn.probability.distribution.transformed import TransformedDistribution

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Cauchy", "Distribution", "Exponential", "Gamma", "Geometric",
    "Gumbel", "HalfNormal", "Laplace", "LogNormal", "Logistic", "Normal", "Poisson", "StudentT",
    "TransformedDistribution", "Uniform",
]  # fmt: skip

_explain_package(__name__)
