"""Errors for missing names of a module, with suggestions.

Ported programs use names of larger libraries. If mindgrad does not have a name in a module, the error
suggests a similar name, another module of mindgrad that has the name, or a replacement.
"""

import importlib
import opcode
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

from mindgrad._base.boundary import enclose, enclose_packages
from mindgrad._base.foreign_names import MODULES, advice
from mindgrad._base.nearest import nearest

PACKAGE = __name__.partition(".")[0]
_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]
_FROM_LIST = importlib._bootstrap._handle_fromlist.__code__  # type: ignore[attr-defined]
#: prefixes of names that Python and test runners look up in every module, which are not spelling mistakes
_MACHINERY = ("_", "pytest")
#: smallest number of dots in the full name of a module that also has the names of its package, because
#: MindSpore divides the package into different modules. An example is ``mindgrad.ops.operations.math_ops``
_DIVIDED = 3


def is_own(module: object) -> bool:
    """Check whether an entry of ``sys.modules`` is a module of mindgrad.

    The entry of a forbidden import is ``None``.
    """
    return isinstance(module, ModuleType) and module.__name__.partition(".")[0] == PACKAGE


def public_modules() -> Iterator[ModuleType]:
    """Yield this package and its loaded public modules, such as `ops`."""
    package = sys.modules[PACKAGE]
    yield package
    for name, value in list(vars(package).items()):
        if isinstance(value, ModuleType) and is_own(value) and not name.startswith("_"):
            yield value


def is_divided(name: str) -> bool:
    """Check whether the package of a module is divided differently in MindSpore.

    See ``_DIVIDED``.
    """
    return name.count(".") >= _DIVIDED


def explain_all() -> None:
    """Install errors with suggestions in all public modules."""
    package = sys.modules[PACKAGE]
    values = [vars(package).get(name) for name in package.__all__]
    _explain({PACKAGE, *[value.__name__ for value in values if isinstance(value, ModuleType)]})


def explain_package(name: str) -> None:
    """Install errors with suggestions in a loaded module and in its submodules."""
    _explain({name})


def _explain(packages: set[str]) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith(PACKAGE) and is_own(module):
            above = name.rpartition(".")[0]
            if name in packages or (above in packages and above != PACKAGE):
                explain_missing_names(module)
    enclose_packages()


def explain_missing_names(module: ModuleType) -> None:
    """Define ``__getattr__`` of a module, which raises the error for a missing name."""
    own: Callable[[str], object] | None = module.__dict__.get("__getattr__")
    if getattr(own, "explains", False):
        return

    def explain(name: str) -> object:
        if own is not None:
            try:
                return own(name)
            except AttributeError as error:
                if error.obj is not module:  # the error comes from code that `__getattr__` calls
                    raise
        loaded = sys.modules.get(f"{module.__name__}.{name}")
        if loaded is not None:
            return loaded
        caller = sys._getframe(1)
        # `from module import name` first looks up the name, then imports a submodule of this name, and looks
        # up the name again: only the last lookup must raise an error with suggestions
        if name.startswith(_MACHINERY) or caller.f_code is _FROM_LIST:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        if is_divided(module.__name__):
            above = sys.modules[module.__name__.rpartition(".")[0]]
            if _has(above, name):
                return vars(above)[name]
        hint = f"{PACKAGE} has no such name"
        elsewhere = [_spelling(each) for each in _all_packages() if each is not module and _has(each, name)]
        if elsewhere:
            hint = f"write {' or '.join(f'{each}.{name}' for each in elsewhere)}"
        hint += advice(MODULES, name)
        if not elsewhere and name not in MODULES:
            hint += nearest(name, list(getattr(module, "__all__", vars(module))))
        if caller.f_code.co_code[caller.f_lasti] != _IMPORT_FROM:
            raise AttributeError(
                f"module {_spelling(module)!r} has no attribute {name!r}: {hint}", name=name, obj=module
            )
        # in `from module import name`, Python would replace the message of an AttributeError
        raise ImportError(
            f"cannot import name {name!r} from {_spelling(module)!r}: {hint}",
            name=_spelling(module),
            path=getattr(module, "__file__", None),
        )

    explain.explains = True  # type: ignore[attr-defined]
    enclose(explain)
    module.__dict__["__getattr__"] = explain


def _all_packages() -> list[ModuleType]:
    """Load and return all public modules, because any of them may have the name."""
    package = sys.modules[PACKAGE]
    for name in package.__all__:
        getattr(package, name)
    return [each for each in public_modules() if hasattr(each, "__all__")]


def _has(module: ModuleType, name: str) -> bool:
    return name in vars(module) and not is_own(vars(module)[name])


def _spelling(module: ModuleType) -> str:
    """Return the name of a module as the user's program writes it.

    After ``mindgrad.install``, the name begins with ``mindspore``.
    """
    names = (getattr(finder, "stands_for", None) for finder in sys.meta_path)
    return next((name for name in names if name), PACKAGE) + module.__name__.removeprefix(PACKAGE)
