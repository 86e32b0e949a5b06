"""Distinguish user code from library code, and find the names that bytecode reads.

User code is *converted*: its source is rewritten so that loops and branches on tensors can be traced. Guards
compare the Python state that it reads. Library code is not converted, and its functions and classes are
constants of compiled functions.
"""

from __future__ import annotations

import dis
import functools
import importlib.util
import sys
import types
from collections.abc import Iterator
from typing import Any

from mindgrad._base.location import PACKAGE

__all__ = [
    "EMPTY", "NOT_THE_USERS", "NUMERIC", "cached_names", "captured", "cell_content", "defines_classes",
    "functions_in", "global_names", "imported_names", "in_package", "is_cell", "is_constant",
    "is_of_library", "is_read_unseen", "is_users_class", "names_read", "root",
]  # fmt: skip

#: packages whose functions are not converted, because they do not work on tensors of mindgrad
NUMERIC = frozenset(
    {
        "IPython", "PIL", "_pytest", "cupy", "cython", "dask", "h5py", "hypothesis", "ipykernel", "jax",
        "jaxlib", "joblib", "llvmlite", "matplotlib", "ml_dtypes", "mpmath", "networkx", "numba", "numpy",
        "opt_einsum", "pandas", "pip", "pluggy", "pytest", "scipy", "setuptools", "skimage", "sklearn",
        "sympy", "tensorflow", "torch", "torchvision", "tqdm", "xarray",
    }
)  # fmt: skip
#: top-level packages that are not user code, including mindgrad and Python's standard library
NOT_THE_USERS = NUMERIC | {"mindgrad", *sys.stdlib_module_names}
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
#: represents the content of a closure cell whose variable has no value
EMPTY = object()


@functools.lru_cache(maxsize=4096)
def root(module: Any) -> str:
    """Return the top-level package of a module name: ``numpy`` for ``numpy.linalg``."""
    return str(module).partition(".")[0]


def cell_content(cell: Any) -> Any:
    """Return the content of a closure cell, or :data:`EMPTY`."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY


def is_of_library(function: Any) -> bool:
    """Return whether a function belongs to mindgrad or another library."""
    return in_package(function) or root(function.__globals__.get("__name__")) in NOT_THE_USERS


def is_constant(module: types.ModuleType, value: Any) -> bool:
    """Return whether an attribute of a module is a function or class of a library."""
    return isinstance(value, _CODE) and root(module.__name__) in NOT_THE_USERS


def captured(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield name and closure cell of each captured variable.

    The cache of ``functools.singledispatch`` is omitted, because its changes do not matter.
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
    """Yield the user's callables that a mindgrad function wraps.

    For example, yield ``f`` if ``function`` is ``grad(f)``. A user's callable yields itself.
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
    """Return the global variables that a function and its nested functions read."""
    steps = (step for inner in _codes(code) for step in dis.get_instructions(inner))
    return tuple({step.argval: None for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")})


@functools.lru_cache(maxsize=4096)
def names_read(code: types.CodeType) -> frozenset[str]:
    """Return the global variables and attribute names that bytecode reads.

    The bytecode of nested functions is included.
    """
    steps = (step for inner in _codes(code) for step in dis.get_instructions(inner))
    kinds = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
    return frozenset(step.argval for step in steps if step.opname in kinds)


@functools.lru_cache(maxsize=4096)
def defines_classes(code: types.CodeType) -> bool:
    """Return whether a function or nested function contains a ``class`` statement."""
    return any(s.opname == "LOAD_BUILD_CLASS" for inner in _codes(code) for s in dis.get_instructions(inner))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and the code objects of all nested functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def imported_names(function: types.FunctionType) -> Iterator[tuple[types.ModuleType, str]]:
    """Yield ``(module, name)`` for each ``from module import name`` in a function."""
    package = str(function.__globals__.get("__package__") or "")
    for path, names in _imports(function.__code__):
        try:
            module = sys.modules[importlib.util.resolve_name(path, package)]
        except (ImportError, KeyError):  # a relative import outside a package, or a module not imported yet
            continue
        for name in names:
            yield module, name


@functools.lru_cache(maxsize=4096)
def _imports(code: types.CodeType) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return ``(module name, imported names)`` for each ``from`` import.

    A relative module name begins with dots.
    """
    imports = []
    for inner in _codes(code):
        steps = [step for step in dis.get_instructions(inner) if step.opname != "EXTENDED_ARG"]
        for level, names, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME" and names.argval:
                imports.append(("." * level.argval + step.argval, names.argval))
    return tuple(imports)


# -- classes -------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def is_users_class(kind: Any) -> bool:
    """Return whether a class belongs to user code, and not to a library."""
    return root(kind.__module__) not in NOT_THE_USERS


@functools.lru_cache(maxsize=4096)
def is_cell(kind: Any) -> bool:
    """Return whether a class is a subclass of ``Cell``, by its methods."""
    return hasattr(kind, "construct") and hasattr(kind, "parameters_and_names")


@functools.lru_cache(maxsize=4096)
def cached_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the ``functools.cached_property`` attributes of a class."""
    held = [(name, value) for base in kind.__mro__ for name, value in vars(base).items()]
    return tuple(name for name, value in held if isinstance(value, functools.cached_property))


#: special methods for which guards do not need to compare all attributes of the instance
_SEEN = frozenset([
    "__init__", "__new__", "__post_init__", "__init_subclass__", "__call__", "__repr__", "__str__", "__del__",
    "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__reduce__", "__reduce_ex__",
    "__getstate__", "__setstate__", "__copy__", "__deepcopy__", "__format__", "__dir__", "__class_getitem__",
])  # fmt: skip


@functools.lru_cache(maxsize=4096)
def is_read_unseen(kind: Any) -> bool:
    """Return whether a user class has special methods whose reads are not recorded.

    For example, ``len(o)`` calls ``__len__``, which runs unconverted. Therefore, guards compare all
    attributes of the instances.
    """
    return any(
        name.startswith("__") and name.endswith("__") and name not in _SEEN
        for base in kind.__mro__
        if is_users_class(base)
        for name, held in vars(base).items()
        if isinstance(held, types.FunctionType)
    )
