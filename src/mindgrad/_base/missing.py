"""Missing names of a module raise an error that suggests the nearest name, or the module that has it.

Programs come with the names of a far larger library. A missing one should say at once whether it is
spelled differently, lives elsewhere in this package, or is not there at all.
"""

import importlib
import opcode
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

from mindgrad._base.boundary import enclose, enclose_rooms
from mindgrad._base.foreign_names import MODULES, advice
from mindgrad._base.nearest import nearest

PACKAGE = __name__.partition(".")[0]
_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]
_FROM_LIST = importlib._bootstrap._handle_fromlist.__code__  # type: ignore[attr-defined]
#: how names begin that Python and test runners ask every module for: no misspelled ones
_MACHINERY = ("_", "pytest")
#: from this depth on (``ops.operations.math_ops``) a module also gives names of the package above it
_DIVIDED = 3


def is_own(module: object) -> bool:
    """Whether it is a module of this package; ``sys.modules`` holds ``None`` for a forbidden import."""
    return isinstance(module, ModuleType) and module.__name__.partition(".")[0] == PACKAGE


def public_modules() -> Iterator[ModuleType]:
    """This package and the modules that are its attributes by now: `ops`, `context` and so on."""
    package = sys.modules[PACKAGE]
    yield package
    for name, value in list(vars(package).items()):
        if isinstance(value, ModuleType) and is_own(value) and not name.startswith("_"):
            yield value


def is_divided(name: str) -> bool:
    """Whether the module with this name is a part of a package that MindSpore divides differently."""
    return name.count(".") >= _DIVIDED


def explain_all() -> None:
    """Let every module that programs import from answer for names that it does not have."""
    package = sys.modules[PACKAGE]
    values = [vars(package).get(name) for name in package.__all__]
    _explain({PACKAGE, *[value.__name__ for value in values if isinstance(value, ModuleType)]})


def explain_room(name: str) -> None:
    """Let the loaded module with this name, and those directly below it, answer for missing names."""
    _explain({name})


def _explain(rooms: set[str]) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith(PACKAGE) and is_own(module):
            above = name.rpartition(".")[0]
            if name in rooms or (above in rooms and above != PACKAGE):
                explain_missing_names(module)
    enclose_rooms()


def explain_missing_names(module: ModuleType) -> None:
    """Let the module answer for a name that it does not have with what stands nearest."""
    own: Callable[[str], object] | None = module.__dict__.get("__getattr__")
    if getattr(own, "explains", False):
        return

    def explain(name: str) -> object:
        if own is not None:
            try:
                return own(name)
            except AttributeError as error:
                if error.obj is not module:  # its own mistake, which is not to be hidden
                    raise
        loaded = sys.modules.get(f"{module.__name__}.{name}")
        if loaded is not None:
            return loaded
        caller = sys._getframe(1)
        # `from module import name` asks first, imports a module of this name, and then says what is missing
        if name.startswith(_MACHINERY) or caller.f_code is _FROM_LIST:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        if is_divided(module.__name__):
            above = sys.modules[module.__name__.rpartition(".")[0]]
            if _has(above, name):  # MindSpore divides the package differently
                return vars(above)[name]
        hint = f"{PACKAGE} has no such name"
        elsewhere = [_spelling(each) for each in _all_rooms() if each is not module and _has(each, name)]
        if elsewhere:
            hint = f"write {' or '.join(f'{each}.{name}' for each in elsewhere)}"
        hint += advice(MODULES, name)
        if not elsewhere and name not in MODULES:
            hint += nearest(name, list(getattr(module, "__all__", vars(module))))
        if caller.f_code.co_code[caller.f_lasti] != _IMPORT_FROM:
            raise AttributeError(
                f"module {_spelling(module)!r} has no attribute {name!r}: {hint}", name=name, obj=module
            )
        # `from module import name`, which would turn an AttributeError into a text of its own.
        raise ImportError(
            f"cannot import name {name!r} from {_spelling(module)!r}: {hint}",
            name=_spelling(module),
            path=getattr(module, "__file__", None),
        )

    explain.explains = True  # type: ignore[attr-defined]
    enclose(explain)
    module.__dict__["__getattr__"] = explain


def _all_rooms() -> list[ModuleType]:
    """The public modules, loaded: one that was not used so far may have the name."""
    package = sys.modules[PACKAGE]
    for name in package.__all__:
        getattr(package, name)
    return [each for each in public_modules() if hasattr(each, "__all__")]


def _has(module: ModuleType, name: str) -> bool:
    return name in vars(module) and not is_own(vars(module)[name])


def _spelling(module: ModuleType) -> str:
    """The name under which the program knows the module: that of the finder which gives it another."""
    names = (getattr(finder, "stands_for", None) for finder in sys.meta_path)
    return next((name for name in names if name), PACKAGE) + module.__name__.removeprefix(PACKAGE)
