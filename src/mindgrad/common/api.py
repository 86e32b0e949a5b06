"""Compilation under MindSpore's name: ``from mindspore.common.api import ms_function``."""

from mindgrad.functional.jit import jit, ms_function

__all__ = ["jit", "ms_function"]
