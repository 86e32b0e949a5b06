"""``mint.optim``: the optimizers of :mod:`mindgrad.experimental.optim`."""

from mindgrad.experimental.optim import SGD, Adam, AdamW

__all__ = ["SGD", "Adam", "AdamW"]
