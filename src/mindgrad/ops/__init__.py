"""Operators on tensors, as functions and as classes, under MindSpore's names.

Functions: ``ops.matmul(x, y)`` (``mindgrad.ops.functional``). Classes: ``ops.MatMul()(x, y)``
(``mindgrad.ops.operations``). Derivatives: ``ops.GradOperation``, ``ops.grad``, ``ops.jvp``, ``ops.vjp``.
"""

import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from mindgrad.ops import composite, functional
from mindgrad.ops import functional as function  # noqa: F401 - its name in MindSpore 2.x
from mindgrad.ops import methods as _methods  # noqa: F401 - attaches the methods of Tensor
from mindgrad.ops.composite import *  # noqa: F403
from mindgrad.ops.functional import *  # noqa: F403
from mindgrad.ops.registry import Form as _Form
from mindgrad.ops.registry import surface as _surface

if _TYPE_CHECKING:
    from mindgrad.ops import operations as operations


def _install(forms: list[_Form]) -> None:
    """Add functions that no module of ``functional`` exports, e.g. of user operators."""
    for form in forms:
        vars(functional)[form.name] = globals()[form.name] = form.function
    functional.__all__.extend(form.name for form in forms)


_surface("ops", _install)


# The operator classes are created when one of them is first used (docs/decisions/0010-import.md), so a type
# checker does not see them. This ``__getattr__`` makes type checkers accept any name.
def __getattr__(name: str) -> _Any:
    if name in ("_constants", "auto_generate", "signature"):
        return _import_module(f"mindgrad.ops.{name}")
    if name == "__all__" or not name.startswith("_"):
        _load_classes()
        if name in globals():
            return globals()[name]
    module = _sys.modules[__name__]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=module)


def __dir__() -> list[str]:
    _load_classes()
    return sorted(globals())


def _load_classes() -> None:
    operations = _import_module("mindgrad.ops.operations")
    names = list(dict.fromkeys([*composite.__all__, *functional.__all__, *operations.__all__]))
    globals().update({name: getattr(operations, name) for name in operations.__all__}, __all__=names)


def _generated(name: str) -> _Any:
    """Return a function of ``mint`` by its generated name, such as ``max_ext``.

    The lookup is at the first access, because ``mint`` is imported after ``ops``.
    """
    if name.endswith("_ext"):
        names = vars(_import_module("mindgrad.ops.auto_generate"))
        if name in names:
            return names[name]
    raise AttributeError(
        f"module {functional.__name__!r} has no attribute {name!r}", name=name, obj=functional
    )


vars(functional)["__getattr__"] = _generated
