"""Compilation under MindSpore's name: ``from mindspore.common.api import ms_function``."""

from mindgrad.functional.jit import JitConfig, jit, jit_class, lazy_inline, ms_function

__all__ = ["JitConfig", "jit", "jit_class", "lazy_inline", "ms_function"]
