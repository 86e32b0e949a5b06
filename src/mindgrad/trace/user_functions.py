"""User functions are found behind wrappers of this package and in closures, with the names they read."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from mindgrad._base.location import PACKAGE

__all__ = [
    "EMPTY", "NUMERIC", "captured", "cell_content", "functions_in", "global_names", "imported_names",
    "in_package",
]  # fmt: skip

#: packages whose Python code works on values only
NUMERIC = frozenset(
    {
        "IPython", "PIL", "_pytest", "cupy", "cython", "dask", "h5py", "hypothesis", "ipykernel", "jax",
        "jaxlib", "joblib", "llvmlite", "matplotlib", "ml_dtypes", "mpmath", "networkx", "numba", "numpy",
        "opt_einsum", "pandas", "pip", "pluggy", "pytest", "scipy", "setuptools", "skimage", "sklearn",
        "sympy", "tensorflow", "torch", "torchvision", "tqdm", "xarray",
    }
)  # fmt: skip
#: the content of a closure cell whose variable has no value yet
EMPTY = object()


def cell_content(cell: Any) -> Any:
    """The content of a closure cell, :data:`EMPTY` of one without a value."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY


def captured(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Names and closure cells of the variables that a function captures, without caches of functools."""
    is_of_functools = function.__globals__ is vars(functools)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if not (is_of_functools and name == "dispatch_cache"):  # of functools.singledispatch
            yield name, cell


def in_package(function: Any) -> bool:
    """Whether ``function`` is a function of this package."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(PACKAGE)


def functions_in(function: Any) -> Iterator[Any]:
    """The user's functions (and Cells, and other callables) behind ``function`` of this package.

    They are found in closures; a function of the user's is found as itself.
    """
    waiting, met = [function], set()
    while waiting:
        callee = waiting.pop(0)
        if id(callee) in met:
            continue
        met.add(id(callee))
        if isinstance(callee, functools.partial):
            waiting.append(callee.func)
        elif isinstance(callee, types.MethodType):
            if in_package(callee.__func__):
                yield callee.__self__
            else:
                yield callee
        elif hasattr(type(callee), "compared_by"):
            waiting.extend(getattr(callee, name) for name in type(callee).compared_by)
        elif isinstance(callee, types.FunctionType) and in_package(callee):
            waiting.extend(cell_content(cell) for cell in callee.__closure__ or ())
        elif isinstance(callee, types.FunctionType) or (callable(callee) and hasattr(callee, "construct")):
            yield callee


@functools.lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """The global names that a function and the functions inside it load."""
    names: dict[str, None] = {}
    waiting = [code]
    while waiting:
        inner = waiting.pop()
        for step in dis.get_instructions(inner):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names[step.argval] = None
        waiting.extend(c for c in inner.co_consts if isinstance(c, types.CodeType))
    return tuple(names)


@functools.lru_cache(maxsize=4096)
def imported_names(code: types.CodeType) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Modules and names that a function and the functions inside it read with ``from module import name``.

    A relative import has one dot for each level before the name of the module.
    """
    imports = []
    waiting = [code]
    while waiting:
        inner = waiting.pop()
        steps = [step for step in dis.get_instructions(inner) if step.opname != "EXTENDED_ARG"]
        for level, names, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME" and names.argval:
                imports.append(("." * level.argval + step.argval, names.argval))
        waiting.extend(c for c in inner.co_consts if isinstance(c, types.CodeType))
    return tuple(imports)
