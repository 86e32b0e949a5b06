"""Distinguish user code from library code; find the names that bytecode reads.

User code is *converted*: its source is rewritten so that loops and branches on tensors can be traced. Guards
compare the Python state that user code reads. Library code is not converted, and library functions and
classes are constants of compiled functions.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import types
from collections.abc import Iterator
from typing import Any

from mindgrad.core.base._cpython import defines_classes, global_names, import_statements, names_read
from mindgrad.core.base.location import PACKAGE

__all__ = [
    "EMPTY", "NOT_THE_USERS", "NUMERIC", "cached_names", "captured", "cell_content", "defines_classes",
    "functions_in", "global_names", "imported_names", "in_package", "is_cell", "is_constant",
    "is_of_library", "is_read_unseen", "is_users_class", "names_read", "root",
]  # fmt: skip

#: packages whose functions do not accept tensors of mindgrad. They are not converted
NUMERIC = frozenset(
    {
        "IPython", "PIL", "_pytest", "cupy", "cython", "dask", "h5py", "hypothesis", "ipykernel", "jax",
        "jaxlib", "joblib", "llvmlite", "matplotlib", "ml_dtypes", "mpmath", "networkx", "numba", "numpy",
        "opt_einsum", "pandas", "pip", "pluggy", "pytest", "scipy", "setuptools", "skimage", "sklearn",
        "sympy", "tensorflow", "torch", "torchvision", "tqdm", "xarray",
    }
)  # fmt: skip
#: top-level packages that are not user code: mindgrad, Python's standard library, and numeric libraries
NOT_THE_USERS = NUMERIC | {"mindgrad", *sys.stdlib_module_names}
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
#: marks a closure variable that has no value
EMPTY = object()


@functools.lru_cache(maxsize=4096)
def root(module: Any) -> str:
    """Return the top-level package of a module name.

    For example, return ``numpy`` for ``numpy.linalg``.
    """
    return str(module).partition(".")[0]


def cell_content(cell: Any) -> Any:
    """Return the content of a closure cell, or :data:`EMPTY` if it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY


def is_of_library(function: Any) -> bool:
    """Return whether a function belongs to mindgrad or another library."""
    return in_package(function) or root(function.__globals__.get("__name__")) in NOT_THE_USERS


def is_constant(module: types.ModuleType, value: Any) -> bool:
    """Return whether ``value`` is a constant of compiled functions.

    It is a constant if it is a function, class, or module, and ``module``, which contains it, is a library.
    """
    return isinstance(value, _CODE) and root(module.__name__) in NOT_THE_USERS


def captured(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the name and the closure cell of each variable that a function captures.

    The cache of ``functools.singledispatch`` is omitted, because its changes do not affect results.
    """
    is_of_functools = function.__globals__ is vars(functools)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if not (is_of_functools and name == "dispatch_cache"):
            yield name, cell


def in_package(function: Any) -> bool:
    """Return whether mindgrad defines ``function``."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(PACKAGE)


def functions_in(function: Any) -> Iterator[Any]:
    """Yield the user's callables that ``function`` wraps.

    For example, yield ``f`` if ``function`` is ``grad(f)``. If ``function`` is itself a user's callable,
    yield it.
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


def imported_names(function: types.FunctionType) -> Iterator[tuple[types.ModuleType, str]]:
    """Yield ``(module, name)`` for each ``from module import name`` in a function."""
    package = str(function.__globals__.get("__package__") or "")
    for path, names in import_statements(function.__code__):
        try:
            module = sys.modules[importlib.util.resolve_name(path, package)]
        except (ImportError, KeyError):  # a relative import outside a package, or a module not imported yet
            continue
        for name in names:
            yield module, name


# -- classes -------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def is_users_class(kind: Any) -> bool:
    """Return whether a class belongs to user code, not to a library."""
    return root(kind.__module__) not in NOT_THE_USERS


@functools.lru_cache(maxsize=4096)
def is_cell(kind: Any) -> bool:
    """Return whether ``kind`` has the methods of a ``Cell``.

    The test uses method names, so that this module does not import ``Cell``.
    """
    return hasattr(kind, "construct") and hasattr(kind, "parameters_and_names")


@functools.lru_cache(maxsize=4096)
def cached_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the ``functools.cached_property`` attributes of a class."""
    held = [(name, value) for base in kind.__mro__ for name, value in vars(base).items()]
    return tuple(name for name, value in held if isinstance(value, functools.cached_property))


#: special methods that do not require guards to compare all attributes of the instance
_SEEN = frozenset([
    "__init__", "__new__", "__post_init__", "__init_subclass__", "__call__", "__repr__", "__str__", "__del__",
    "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__reduce__", "__reduce_ex__",
    "__getstate__", "__setstate__", "__copy__", "__deepcopy__", "__format__", "__dir__", "__class_getitem__",
])  # fmt: skip


@functools.lru_cache(maxsize=4096)
def is_read_unseen(kind: Any) -> bool:
    """Return whether a user's class has special methods whose reads are not recorded.

    For example, ``len(o)`` calls ``__len__``, which runs unconverted. Therefore, guards compare all
    attributes of instances of such classes.
    """
    return any(
        name.startswith("__") and name.endswith("__") and name not in _SEEN
        for base in kind.__mro__
        if is_users_class(base)
        for name, held in vars(base).items()
        if isinstance(held, types.FunctionType)
    )
