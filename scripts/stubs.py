"""The types of what is made from tables are written for type checkers and editors.

Tensor's operators and methods: ``src/mindgrad/core/ir/tensor_members.pyi``, a base class of Tensor that is
there for them only. The names of ``mint`` and ``mindgrad.numpy``, from the registry: ``mint/__init__.pyi``,
…. The functions and classes of ``mindgrad.ops``: ``ops/__init__.pyi``. Where each name of ``mindgrad.nn`` is
defined, for mypy does not follow lists of names that are sums: ``nn/__init__.pyi``.

python scripts/stubs.py            writes the files
python scripts/stubs.py --check    exits with 1 if one would be another one
"""

from __future__ import annotations

import builtins
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from mindgrad import mint, nn, numpy, ops
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import define
from mindgrad.ops.methods import METHODS, OPERATORS, PROPERTIES
from mindgrad.ops.operations.base import Operation

SOURCE = Path(__file__).parents[1] / "src" / "mindgrad"

HEAD = '''"""The operators and methods of Tensor, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit. When a program runs,
there is no such module: `mindgrad.core.ir.tensor` names it for type checkers only.
"""

from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.tensor_hooks import HookHandle

#: what stands on the other side of an operator
Operand: TypeAlias = Tensor | _complex | np.ndarray[Any, Any] | np.generic | Sequence[Any]

class TensorMembers:
'''

SURFACE_HEAD = '''"""Names of ``{module}``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""
'''

OPS_HEAD = '''"""Functions and classes of ``mindgrad.ops``, for type checkers and editors.

Written by `scripts/stubs.py` from the names of `mindgrad.ops`; do not edit.
"""

from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.dtype import DType as _DType
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.operations.base import Operation as Operation
'''

LAYERS_HEAD = '''"""Cells and layers, for type checkers and editors.

Written by `scripts/stubs.py` from the names of `mindgrad.nn`; do not edit.
"""

'''

#: operators whose result is no tensor, or that take something else than an operand
SPECIAL = {
    "__array_function__": "self, func: Any, types: Any, args: Any, kwargs: Any) -> Any",
    "__contains__": "self, value: Operand) -> _bool",
    "__divmod__": "self, other: Operand) -> tuple[Tensor, Tensor]",
    "__eq__": "self, other: object) -> Tensor",
    "__ne__": "self, other: object) -> Tensor",
    "__getitem__": "self, index: Any) -> Tensor",
    "__iter__": "self) -> Iterator[Tensor]",
    "__round__": "self, digits: _int | None = None) -> Tensor",
    "__setitem__": "self, index: Any, value: Operand) -> None",
}
UNARY = ("__neg__", "__pos__", "__abs__", "__invert__")
#: methods of which a function in ``ops`` says ``Any``, because it takes lists too
RESULTS = {"clamp": "Tensor", "clip": "Tensor", "flip": "Tensor", "tile": "Tensor", "nonzero": "Tensor"}
#: names that annotations may have; others become ``Any``
KNOWN = {"Any", "Callable", "DType", "HookHandle", "None", "Sequence", "Tensor"}
KNOWN |= {"bool", "complex", "float", "int", "list", "object", "str", "tuple"}
_SHADOWED = ("bool", "complex", "float", "int")
Parameter = inspect.Parameter


def annotation(value: Any, unknown: str) -> str:
    """An annotation as text in which names that Tensor's methods have are those of Python."""
    text = value if isinstance(value, str) else getattr(value, "__name__", "")
    if value is Parameter.empty or set(re.findall(r"[A-Za-z_]\w*", text)) - KNOWN:
        return unknown
    return re.sub(rf"\b({'|'.join(_SHADOWED)})\b", r"_\1", text)


def second_names(function: Callable[..., Any], first: str) -> dict[str, str]:
    """The second names of arguments that decorators have noted, and the parameters that they stand for."""
    names: dict[str, str] = getattr(function, "second_names", {})
    known = inspect.signature(function).parameters
    return {new: old for new, old in names.items() if old in known and new not in known and old != first}


def default(value: Any) -> str:
    """The default of a parameter as text: a literal, or the dots that stub files use."""
    literal = value is None or type(value) in (int, float, str, builtins.bool)
    return repr(value) if literal and repr(value) not in ("inf", "nan") else "..."


def parameters(function: Callable[..., Any]) -> Iterator[str]:
    """The parameters behind the tensor itself."""
    listed = list(inspect.signature(function).parameters.values())
    if listed and listed[0].kind is Parameter.VAR_POSITIONAL:
        listed.insert(0, listed[0].replace(kind=Parameter.POSITIONAL_ONLY, name="self"))
    seconds = second_names(function, listed[0].name)
    has_star = False
    further = [f"{name}: Any = ..." for name in seconds]
    keywords = None
    is_optional = False
    yield "self"
    for p in listed[1:]:
        is_optional = (
            p.default is not Parameter.empty
            or p.name in seconds.values()
            or (is_optional and p.kind is Parameter.POSITIONAL_OR_KEYWORD)
        )
        hint = annotation(p.annotation, "Any")
        if p.kind is Parameter.VAR_POSITIONAL:
            yield f"*{p.name}: {hint}"
            has_star = True
        elif p.kind is Parameter.VAR_KEYWORD:
            keywords = f"**{p.name}: {hint}"
        else:
            if p.kind is Parameter.KEYWORD_ONLY and not has_star:
                yield "*"
                has_star = True
            own = "..." if p.default is Parameter.empty else default(p.default)
            yield f"{p.name}: {hint}" + (f" = {own}" if is_optional else "")
    if further and not keywords:
        if not has_star:
            yield "*"
        yield from further
    if keywords:
        yield keywords


def summary(function: Callable[..., Any]) -> str:
    """The first sentence of the documentation."""
    text = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    text = (
        re.sub(r":(?:func|class|attr):`~?([\w.]+)`", r"`\1`", text)
        .replace("\\", "\\\\")
        .replace('"""', "'''")
    )
    return f'"""{text}"""' if text and not text.endswith('"') else ""


def method(name: str, function: Callable[..., Any]) -> str:
    """A method as a stub, with its first sentence, which editors show."""
    result = RESULTS.get(name) or annotation(inspect.signature(function).return_annotation, "Tensor")
    head = f"    def {name}({', '.join(parameters(function))}) -> {result}:"
    documented = summary(function)
    return f"{head}\n        {documented}" if documented else f"{head} ..."


def operator(name: str) -> str:
    """An operator as a stub."""
    signature = SPECIAL.get(name)
    if signature is None:
        signature = "self) -> Tensor" if name in UNARY else "self, other: Operand) -> Tensor"
    ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    return f"    def {name}({signature}: ...{ignored}"


def text() -> str:
    """The stub file."""
    lines = [operator(name) for name in OPERATORS if name != "__array_ufunc__"]
    for name, function in sorted(PROPERTIES.items()):
        result = annotation(inspect.signature(function).return_annotation, "Any")
        lines += ["    @property", f"    def {name}(self) -> {result}: ..."]
    own = {name for name in vars(Tensor) if name not in METHODS}
    lines += [method(name, function) for name, function in sorted(METHODS.items()) if name not in own]
    lines += ["    @staticmethod", "    def from_numpy(array: np.ndarray[Any, Any]) -> Tensor: ..."]
    return HEAD + "\n".join(lines) + "\n"


def surface(module: ModuleType) -> str:
    """The stub file of a module whose names the registry makes: imports, and the functions that are made."""
    imports, made = set(), []
    for name in sorted(module.__all__):
        value = getattr(module, name)
        home = value.__name__.rpartition(".")[0] if isinstance(value, ModuleType) else _home(value)
        if isinstance(value, (float, int)) or value is None:
            made.append(f"{name}: {type(value).__name__}")
        elif home is None or (home == module.__name__ and not isinstance(value, ModuleType)):
            made.append(function_stub(name, value))
        else:
            own = (
                value.__name__.rpartition(".")[2] if isinstance(value, ModuleType) else _own_name(home, value)
            )
            imports.add(f"from {home} import {own} as {name}")
    names = ["from collections.abc import Callable, Sequence", "from typing import Any", ""]
    lines = [
        SURFACE_HEAD.format(module=module.__name__),
        *names,
        "from mindgrad.core.ir.tensor import Tensor",
    ]
    made.insert(0, "__all__: list[str]\n")
    imports -= {lines[-1]}
    return "\n".join([*lines, *sorted(imports), "", *made]) + "\n"


def _home(value: Any) -> str | None:
    """The module in whose source a name of the value stands; ``None`` for a function that a form defines."""
    code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
    module = getattr(value, "__module__", None) or type(value).__module__
    is_defined = code is not None and "<forms" in code.co_filename
    return module if not is_defined and _own_name(module, value) else None


def _own_name(module: str, value: Any) -> str:
    """The name of a value in a module, "" for none."""
    return next((name for name, other in vars(sys.modules[module]).items() if other is value), "")


def function_stub(name: str, function: Callable[..., Any]) -> str:
    """A function as a stub, with its first sentence."""
    listed = []
    signature = inspect.signature(function)
    has_star = False
    for p in signature.parameters.values():
        if p.kind is Parameter.KEYWORD_ONLY and not has_star:
            listed.append("*")
            has_star = True
        own = "" if p.default is Parameter.empty else f" = {default(p.default)}"
        listed.append(f"{p.name}: {annotation(p.annotation, 'Any').replace('_', '')}{own}")
    result = annotation(signature.return_annotation, "Any").replace("_", "")
    return f"def {name}({', '.join(listed)}) -> {result}:\n    {summary(function) or '...'}"


def layers() -> str:
    """The stub file of ``mindgrad.nn``: an import of each name from the module that defines it."""
    modules = sorted(module.name for module in pkgutil.iter_modules(nn.__path__))
    lines = [f"from mindgrad.nn import {name} as {name}" for name in modules]
    lines.append("from mindgrad.nn import init_parameters as utils")
    for name in sorted(nn.__all__):
        value = getattr(nn, name)
        if not isinstance(value, ModuleType):
            module = value.__module__
            if getattr(sys.modules[module], name, None) is not value:
                module = next(m for m in sorted(sys.modules) if m[:11] == "mindgrad.nn" and m != "mindgrad.nn"
                              and vars(sys.modules[m]).get(name) is value)  # fmt: skip
            lines.append(f"from {module} import {name} as {name}")
    return LAYERS_HEAD + "\n".join(lines) + "\n"


def operators() -> str:
    """The stub file of ``mindgrad.ops``: imports of names that type checkers can follow, and stubs."""
    modules = ("_constants", "auto_generate", "composite", "functional", "operations", "signature")
    imports = {f"from mindgrad.ops import {name} as {name}" for name in modules}
    imports.add("from mindgrad.ops import functional as function")
    made = ["", "__all__: list[str]", ""]
    for name in sorted(set(ops.__all__) - {"Operation", "Tensor", *modules}):
        value = getattr(ops, name)
        is_written = _is_written_out(value)
        if is_written and (value.__name__ == name or isinstance(value, type)):
            imports.add(f"from {value.__module__} import {value.__name__} as {name}")
        elif isinstance(value, type):
            made.append(
                f"class {name}(Operation): ..." if issubclass(value, Operation) else f"{name}: type[Any]"
            )
        else:
            made.append(operator_function(name, value))
    # an operator is called DType too
    names = "\n".join([*sorted(imports), *made])
    return OPS_HEAD + re.sub(r"(: |-> )DType\b", r"\1_DType", names) + "\n"


def _is_written_out(value: Any) -> bool:
    """Whether a class or function stands in the source of its module, and is not made from a table."""
    source = inspect.getsource(sys.modules[value.__module__])
    return re.search(rf"^(class|def) {value.__name__}\b", source, re.MULTILINE) is not None


def operator_function(name: str, function: Callable[..., Any]) -> str:
    """A function of ``mindgrad.ops`` as a stub, with its first sentence and the second names of arguments."""
    signature = inspect.signature(function)
    seconds = second_names(function, "")
    listed, has_star, is_optional = [], False, False
    for p in signature.parameters.values():
        hint = annotation(p.annotation, "Any")
        if p.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            listed.append(f"{'*' if p.kind is Parameter.VAR_POSITIONAL else '**'}{p.name}: {hint}")
            has_star |= p.kind is Parameter.VAR_POSITIONAL
            continue
        if p.kind is Parameter.KEYWORD_ONLY and not has_star:
            listed.append("*")
            has_star = True
        follows = is_optional and p.kind is not Parameter.KEYWORD_ONLY
        is_optional = follows or p.default is not Parameter.empty or p.name in seconds.values()
        own = "..." if p.default is Parameter.empty else default(p.default)
        listed.append(f"{p.name}: {hint}" + (f" = {own}" if is_optional else ""))
    if seconds and not listed[-1].startswith("**"):
        listed += ["*"] * (not has_star) + [f"{second}: Any = ..." for second in seconds]
    # functions that are made from rows have one tensor as result
    is_of_row = inspect.unwrap(function).__code__.co_filename == inspect.getsourcefile(define)
    result = "Tensor" if is_of_row else annotation(signature.return_annotation, "Any")
    return f"def {name}({', '.join(listed)}) -> {result}:\n    {summary(function) or '...'}"


FILES = {
    SOURCE / "ops" / "__init__.pyi": operators,
    SOURCE / "core" / "ir" / "tensor_members.pyi": text,
    SOURCE / "nn" / "__init__.pyi": layers,
    SOURCE / "mint" / "__init__.pyi": partial(surface, mint),
    SOURCE / "mint" / "linalg.pyi": partial(surface, mint.linalg),
    SOURCE / "mint" / "special.pyi": partial(surface, mint.special),
    SOURCE / "mint" / "special.pyi": partial(surface, mint.special),
    SOURCE / "mint" / "nn" / "functional.pyi": partial(surface, mint.nn.functional),
    SOURCE / "numpy" / "__init__.pyi": partial(surface, numpy),
}


def main() -> int:
    different = 0
    for file, write in FILES.items():
        written = write()
        different |= not file.is_file() or file.read_text(encoding="utf-8") != written
        if "--check" not in sys.argv:
            file.write_text(written, encoding="utf-8")
    return int(different) if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
