"""The differentiation engine of mindgrad. It does not import the other packages.

    from mindgrad.core import grad, jit, vmap, numpy as np

Each public name is imported when it is first used. Other packages import single modules of the core, so they
do not pay for the import of its public functions (``docs/core.md``).
"""

from importlib import import_module as _import_module

#: maps each module to the public names that it defines
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
    "Tensor", "cond", "fori_loop", "grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp",
    "laplacian", "linearize", "numpy", "scan", "taylor", "value_and_grad", "vjp", "vmap", "while_loop",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "numpy" or name in _MODULE_OF:
        numpy = _import_module("mindgrad.core.numpy")  # attaches operators such as + to Tensor
        if name == "numpy":
            return numpy
        value = globals()[name] = getattr(_import_module(_MODULE_OF[name]), name)
        return value
    _import_module("mindgrad.core.base.missing_name").missing_name(__name__, __all__, name, depth=2)
