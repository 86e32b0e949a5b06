"""The differentiation engine. It imports nothing from the other packages of mindgrad.

    from mindgrad.core import grad, jit, vmap, numpy as np

The names below are imported when they are first used, because the upper packages import modules of the core,
but not its public functions (``docs/core.md``).
"""

from importlib import import_module as _import_module

#: module -> public names
_NAMES = {
    "mindgrad.core.api.grad": ("grad", "value_and_grad"),
    "mindgrad.core.api.hessian": ("hessian", "hvp"),
    "mindgrad.core.api.jacobian": ("jacfwd", "jacobian", "jacrev"),
    "mindgrad.core.api.jit": ("jit",),
    "mindgrad.core.api.laplacian": ("laplacian",),
    "mindgrad.core.api.taylor": ("taylor",),
    "mindgrad.core.api.vjp": ("jvp", "linearize", "vjp"),
    "mindgrad.core.api.vmap": ("vmap",),
    "mindgrad.core.ir.tensor": ("Tensor",),
    "mindgrad.core.trace.loops": ("cond", "fori_loop", "scan", "while_loop"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Tensor",
    "cond",
    "fori_loop",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "laplacian",
    "linearize",
    "numpy",
    "scan",
    "taylor",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]


def __getattr__(name: str) -> object:
    if name == "numpy" or name in _MODULE_OF:
        numpy = _import_module("mindgrad.core.numpy")  # tensors get their operators
        if name == "numpy":
            return numpy
        value = globals()[name] = getattr(_import_module(_MODULE_OF[name]), name)
        return value
    raise AttributeError(f"module 'mindgrad.core' has no attribute {name!r}")
