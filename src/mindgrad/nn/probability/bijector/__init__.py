"""Bijectors: invertible functions with their inverses and logarithms of slopes."""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.nn.probability.bijector.bijector import Bijector, Invert
from mindgrad.nn.probability.bijector.maps import Exp, GumbelCDF, PowerTransform, ScalarAffine, Softplus

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]

_explain_package(__name__)
