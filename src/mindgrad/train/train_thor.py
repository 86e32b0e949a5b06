"""Functions of the optimizer THOR, which raise ``NotImplementedError``."""

from mindgrad._base.absent import absent

_INSTEAD = "Use another optimizer, or a second-order method with mindgrad.hvp or mindgrad.ggnvp."

ConvertModelUtils = absent(__name__, "ConvertModelUtils", "builds a Model for the THOR optimizer", _INSTEAD)
ConvertNetUtils = absent(__name__, "ConvertNetUtils", "replaces layers for the THOR optimizer", _INSTEAD)

__all__ = ["ConvertModelUtils", "ConvertNetUtils"]
