"""Cosine transforms have SciPy's names: ``from mindspore.scipy.fft import dct``."""

from mindgrad.ops.cosines import dct, dctn, idct, idctn

__all__ = ["dct", "dctn", "idct", "idctn"]
