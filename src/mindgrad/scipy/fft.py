"""Cosine transforms, as in ``mindspore.scipy.fft``."""

from mindgrad.ops.cosines import dct, dctn, idct, idctn

__all__ = ["dct", "dctn", "idct", "idctn"]
