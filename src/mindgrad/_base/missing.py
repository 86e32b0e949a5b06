"""Errors for missing names of a module, with suggestions.

Ported programs use names of larger libraries. If a module of mindgrad does not have such a name, the error
suggests a similar name, another module of mindgrad that has the name, or a replacement.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from mindgrad._base.foreign_names import MODULES, advice
from mindgrad.core.base.nearest import nearest

PACKAGE = __name__.partition(".")[0]
#: prefixes of names that Python and test runners look up in every module. A missing name with such a prefix
#: is not a spelling mistake, so the error makes no suggestion
_MACHINERY = ("_", "pytest")
#: MindSpore divides some packages, such as ``ops.operations``, into different modules than mindgrad.
#: Therefore, all names of such a package are available in each of its modules. The packages are recognized by
#: this minimum number of dots in the full name of a module, such as ``mindgrad.ops.operations.math_ops``
_DIVIDED = 3


def is_own(module: object) -> bool:
    """Return whether an entry of ``sys.modules`` is a module of mindgrad.

    For an import that is forbidden, the entry is ``None``.
    """
    return isinstance(module, ModuleType) and module.__name__.partition(".")[0] == PACKAGE


def public_modules() -> Iterator[ModuleType]:
    """Yield this package, and its public modules that are loaded, such as `ops`."""
    package = sys.modules[PACKAGE]
    yield package
    for name, value in list(vars(package).items()):
        if isinstance(value, ModuleType) and is_own(value) and not name.startswith("_"):
            yield value


def is_divided(name: str) -> bool:
    """Return whether MindSpore divides the package of the module ``name`` differently.

    The constant ``_DIVIDED`` defines these packages.
    """
    return name.count(".") >= _DIVIDED


def explain_all() -> None:
    """Make reading a missing name of a public module raise an error with suggestions."""
    package = sys.modules[PACKAGE]
    values = [vars(package).get(name) for name in package.__all__]
    _explain({PACKAGE, *[value.__name__ for value in values if isinstance(value, ModuleType)]})
    sys.meta_path.append(_MissingNames())


def explain_package(name: str) -> None:
    """Make a loaded module and its submodules suggest replacements for missing names."""
    _explain({name})


def _explain(packages: set[str]) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith(PACKAGE) and is_own(module):
            above = name.rpartition(".")[0]
            if name in packages or (above in packages and above != PACKAGE):
                explain_missing_names(module)


def explain_missing_names(module: ModuleType) -> None:
    """Make reading a missing name of ``module`` raise an error with suggestions.

    This function defines ``__getattr__`` in the module.
    """
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
        if name.startswith(_MACHINERY):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        if is_divided(module.__name__):
            above = sys.modules[module.__name__.rpartition(".")[0]]
            if _has(above, name):
                return vars(above)[name]
        _latest.missing = (module, name)
        raise AttributeError(_NoAttribute(module, name), name=name, obj=module)

    explain.explains = True  # type: ignore[attr-defined]
    module.__dict__["__getattr__"] = explain


class _NoAttribute:
    """The error message for a missing attribute, computed only if the message is read.

    ``hasattr`` and ``from package import submodule`` look up missing names without reading the message, so
    they do not wait for the computation of the message.
    """

    def __init__(self, module: ModuleType, name: str) -> None:
        self.module, self.name = module, name

    def __str__(self) -> str:
        hint = _hint(self.module, self.name)
        return f"module {_spelling(self.module)!r} has no attribute {self.name!r}: {hint}"

    __repr__ = __str__

    def __reduce__(self) -> Any:
        return str, (str(self),)


def _hint(module: ModuleType, name: str) -> str:
    hint = f"{PACKAGE} has no such name"
    elsewhere = [_spelling(each) for each in _all_packages() if each is not module and _has(each, name)]
    if elsewhere:
        hint = f"write {' or '.join(f'{each}.{name}' for each in elsewhere)}"
    hint += advice(MODULES, name)
    if not elsewhere and name not in MODULES:
        hint += nearest(name, list(getattr(module, "__all__", vars(module))))
    return hint


class _Latest(threading.local):
    #: the module and the missing name of the last failed lookup on this thread
    missing: tuple[ModuleType, str] | None = None


_latest = _Latest()


class _MissingNames:
    """Import finder that explains a missing name in ``from package import name``.

    The import statement looks up the name, and then imports a submodule with this name. It discards the
    message of the failed lookup, but passes on an ``ImportError`` that a finder raises. A module that is not
    a package has no submodules, so Python's message remains for its missing names.
    """

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        missing, _latest.missing = _latest.missing, None
        if missing is not None and fullname == f"{missing[0].__name__}.{missing[1]}":
            module, name = missing
            raise ImportError(
                f"cannot import name {name!r} from {_spelling(module)!r}: {_hint(module, name)}",
                name=_spelling(module),
                path=getattr(module, "__file__", None),
            )


def _all_packages() -> list[ModuleType]:
    """Load and return all public modules, which are searched for a missing name."""
    package = sys.modules[PACKAGE]
    for name in package.__all__:
        getattr(package, name)
    return [each for each in public_modules() if hasattr(each, "__all__")]


def _has(module: ModuleType, name: str) -> bool:
    return name in vars(module) and not is_own(vars(module)[name])


def _spelling(module: ModuleType) -> str:
    """Return the name of a module as the user's program writes it.

    After a call of ``mindgrad.install``, this name begins with ``mindspore``.
    """
    names = (getattr(finder, "stands_for", None) for finder in sys.meta_path)
    return next((name for name in names if name), PACKAGE) + module.__name__.removeprefix(PACKAGE)
