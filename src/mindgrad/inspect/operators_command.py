"""The command ``mindgrad ops``: kernels, rules, dtypes and names of an operator."""

from __future__ import annotations

import argparse
import ast
import difflib
import functools
import inspect
import re
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import mindgrad.mint as mint
import mindgrad.nn as nn
import mindgrad.numpy as numpy
import mindgrad.ops as ops
from mindgrad.core.ir.primitive import REGISTRY, Primitive
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.kinds import ACCEPTS
from mindgrad.inspect.rule_text import cotangent_rule, tangent_rule
from mindgrad.inspect.terminal import filled, print_json, print_lines, print_table, print_title

__all__ = ["describe", "main", "nearest_operators", "public_names"]

_EXAMPLE = """examples:
  mindgrad ops                 list all operators by kind
  mindgrad ops tanh            show one operator with its rules
  mindgrad ops "Tensor.sum"    show the operators that a public name applies
  mindgrad ops tanh --json     print JSON, for scripts

The exit status is 0, or 1 if no operator or public name matches."""
_PUBLIC: dict[str, Any] = {"ops": ops, "mint": mint, "numpy": numpy, "nn": nn}
#: kind of an operator -> description of its derivative
_KINDS = {
    "constant": "zero derivative",
    "pointwise constant": "elementwise, zero derivative",
    "linear": "linear in its operands",
    "pointwise linear": "elementwise, linear in its operands",
    "multilinear": "linear in each of its operands",
    "pointwise multilinear": "elementwise, linear in each of its operands",
    "elementwise": "elementwise, differentiated by its partial derivatives",
    "general": "differentiated by a forward rule, which reverse mode transposes",
    "control": "control flow, differentiated by the rules of the functions that it runs",
}
#: maximum number of public functions that the output names. If there are more, it gives the number of the
#: others
_SHOWN = 24
_TAINT = {
    "starts": "derivatives can be infinite; an exact zero times infinity is 0, and any other zero times "
    "infinity is NaN",
    "passes": "infinite if the input is infinite",
    "stops": "none",
}


def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Args:
        arguments (list or tuple of str): arguments of the command line after ``ops``.

    Returns:
        The exit status: 0, or 1 for an unknown name.

    Raises:
        SystemExit: If the command line is wrong (status 2) or contains ``--help`` (status 0).
    """
    parser = argparse.ArgumentParser(
        "mindgrad ops",
        description="Show an operator: kernels, derivatives, batching, nondifferentiable points, and public "
        "names.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "name", nargs="?", help="an operator (tanh) or a public name (ops.tanh); default: list all operators"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    if options.name is None:
        _list(options.json)
        return 0
    rows = _rows_of(options.name)
    if not rows:
        print(f"mindgrad ops: {_unknown(options.name)}", file=sys.stderr)
        return 1
    described = [describe(row) for row in rows]
    if options.json:
        print_json(described[0] if len(described) == 1 else described)
        return 0
    for number, row in enumerate(described):
        if number:
            print()
        _show(row)
    return 0


def describe(primitive: Primitive) -> dict[str, Any]:
    """Collect all facts about an operator as strings and lists of strings.

    >>> from mindgrad.core.ir.primitive import REGISTRY
    >>> described = describe(REGISTRY["tanh"])
    >>> described["tangent"], described["cotangents"]
    (['dy = sech_squared(x) * dx'], ['cotangent of x = sech_squared(x) * ct'])
    >>> described["names"][:4]
    ['Tensor.tanh', 'mint.tanh', 'numpy.tanh', 'ops.tanh']
    """
    source, location = _definition(primitive.name)
    return {
        "name": primitive.name,
        "kind": primitive.kind,
        "meaning": _KINDS[primitive.kind],
        "location": location,
        "source": source,
        "kernels": {"numpy": _kernel(primitive.numpy), "xla": _kernel(primitive.xla)},
        "types": _element_types(primitive),
        "tangent": tangent_rule(primitive),
        "cotangents": cotangent_rule(primitive),
        "batching": _batching(primitive),
        "infinities": _TAINT[primitive.taint]
        if isinstance(primitive.taint, str)
        else "depends on the operands",
        "conventions": conventions(primitive.name),
        "names": public_names().get(primitive.name, []),
    }


def nearest_operators(name: str) -> list[str]:
    """List operators and public functions with a spelling similar to ``name``.

    >>> nearest_operators("tahn"), nearest_operators("foo")
    (['tan', 'tanh', 'atan'], [])
    >>> nearest_operators("cosinus")
    ['cos']
    """
    module, _, short = name.lower().rpartition(".")
    module = f"{module.rpartition('.')[2] or 'ops'}."
    public = sorted((path for path, _ in _public_functions()), key=lambda path: not path.startswith(module))
    # maps the last part of a name, in lower case, to the full name of an operator or public function
    spellings: dict[str, str] = {}
    for full in [*REGISTRY, *public]:
        spellings.setdefault(full.rpartition(".")[2].lower(), full)
    # leave out names whose length differs much from the misspelled name, because difflib finds 'floor' for
    # 'foo'
    similar = [key for key in spellings if abs(len(key) - len(short)) <= max(1, len(short) // 4)]
    near = difflib.get_close_matches(short, similar, 3, 0.75)
    if not near:  # the name may be an abbreviation of an operator's name, or vice versa
        begins = [key for key in spellings if len(key) > 2 and short.startswith(key)]
        continues = [key for key in spellings if len(short) > 2 and key.startswith(short)]
        near = [*sorted(begins, key=len, reverse=True), *sorted(continues, key=len)][:3]
    return [spellings[key] for key in near]


def _unknown(name: str) -> str:
    """Describe a name that belongs to no operator, with a next step."""
    path = re.sub(r"^(mindgrad|mindspore|ms)\.", "", name)
    package = sys.modules[__name__.partition(".")[0]]
    for full_path in (path, f"ops.{path}"):
        value: Any = package
        for attribute in full_path.split("."):
            value = getattr(value, attribute, None)
        if value is not None:
            documentation = f"python -m pydoc mindgrad.{full_path}"
            return f"no operator is listed for {name!r}. Show its documentation: {documentation}"
    near = nearest_operators(name)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return f"there is no operator or public name {name!r}{hint}. List all operators: mindgrad ops"


def _rows_of(name: str) -> list[Primitive]:
    if name in REGISTRY:
        return [REGISTRY[name]]
    name = re.sub(r"^(mindgrad|mindspore|ms)\.", "", name)
    if "." not in name:
        name = f"ops.{name}"
    rows = [row for row, names in public_names().items() if name in names]
    own = name.rpartition(".")[2].lower()
    return [REGISTRY[row] for row in sorted(rows, key=lambda row: own not in row)]


# --- properties of an operator ------------------------------------------------------------------------


def _definition(name: str) -> tuple[list[str], str]:
    """Find the source lines that define an operator, and ``file:line``.

    There are no lines if a table defines several operators.
    """
    root = Path(inspect.getfile(Primitive)).parents[2]
    mention = ""
    for package in ("core/primitives", "core/control", "distributed"):
        for path in sorted((root / package).glob("*.py")):
            text = path.read_text(encoding="utf-8")
            if f'"{name}"' not in text:
                continue
            line = text[: text.index(f'"{name}"')].count("\n") + 1
            mention = mention or f"{path}:{line}"
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.Call)
                    and node.args
                    and isinstance(node.func, (ast.Name, ast.Attribute))
                ):
                    first = node.args[0]
                    maker = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                    is_row = maker in _MAKERS and isinstance(first, ast.Constant) and first.value == name
                    if is_row and node.end_lineno is not None:
                        lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
                        return lines, f"{path}:{node.lineno}"
    return [], mention


#: functions that create primitives
_MAKERS = ("Primitive", "constant", "elementwise", "general", "linear", "multilinear", "pointwise_constant",
           "pointwise_linear")  # fmt: skip


def _kernel(kernel: Any) -> str:
    if isinstance(kernel, str):
        return f"jax.lax.{kernel}"
    if isinstance(kernel, functools.partial):
        kernel = kernel.func
    name = str(getattr(kernel, "__qualname__", None) or getattr(kernel, "__name__", repr(kernel)))
    module = getattr(kernel, "__module__", None) or ("numpy" if type(kernel).__name__ == "ufunc" else "")
    if "<lambda>" in name:
        return "defined inline"
    return f"{module}.{name}" if module else name


def _element_types(primitive: Primitive) -> str:
    if primitive.samples is None:
        return "the types of the functions that it runs"
    accepts = (
        {primitive.samples[2]}
        if isinstance(primitive.samples, tuple)
        else {case.accepts for case in primitive.samples}
    )
    kinds = {kind for name in accepts for kind in ACCEPTS[name]}
    return ", ".join(kind for kind in ("bool", "int", "uint", "float", "complex") if kind in kinds)


def _batching(primitive: Primitive) -> str:
    if primitive.batch is not None:
        return "a separate rule"
    return (
        "native (an extra leading axis)"
        if primitive.axes
        else "no batching rule: vmap runs the operator once per element"
    )


@functools.lru_cache(maxsize=1)
def _convention_table() -> list[list[str]]:
    """Read the table of docs/conventions.md.

    A row has an expression, a point, the first and the second derivative, and a reason.
    """
    root = Path(inspect.getfile(Primitive)).parents[2]
    for path in (root / "conventions.md", root.parents[1] / "docs" / "conventions.md"):
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            cells = [
                [c.strip().strip("`") for c in line.strip("|").split(" | ")]
                for line in lines
                if line[:2] == "| "
            ]
            return [row for row in cells if len(row) == 5 and row[0] != "expression"]
    return []


def conventions(name: str) -> list[list[str]]:
    """Return the documented derivatives of an operator at nondifferentiable points.

    Each entry has an expression, a point, the first and the second derivative, and a reason.
    """
    row = REGISTRY[name]
    pattern = rf"(?<![\w.]){re.escape(name.removeprefix('reduce_'))}\("
    if row.symbol is not None and row.taint != "passes":
        pattern += rf"| {re.escape(row.symbol)} "
    return [row for row in _convention_table() if re.search(pattern, row[0])]


@functools.lru_cache(maxsize=1)
def public_names() -> dict[str, list[str]]:
    """List the public functions, methods and classes that apply each operator."""
    names: dict[str, set[str]] = {row: set() for row in REGISTRY}
    for path, function in _public_functions():
        for row in _applied(function):
            names[row].add(path)
    for path, thing in _public_functions():
        if isinstance(thing, type):  # class names are in CamelCase
            row = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", path.rpartition(".")[2]).lower()
            if row in names and path.startswith(("ops.", "nn.")):
                names[row].add(path)
    return {
        row: sorted(paths, key=lambda n: (n.rpartition(".")[2] != row, n)) for row, paths in names.items()
    }


def _public_functions() -> Iterator[tuple[str, Any]]:
    for package, module in _PUBLIC.items():
        for name in module.__all__:
            yield f"{package}.{name}", getattr(module, name)
    for name in dir(Tensor):
        if not name.startswith("_"):
            yield f"Tensor.{name}", inspect.getattr_static(Tensor, name)


def _applied(function: Any, depth: int = 3) -> set[str]:
    """Find the operators that a function refers to in its code or closure.

    If there are none, search the functions that it calls, up to ``depth`` levels.
    """
    if isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function) if callable(function) else function
    if not isinstance(function, types.FunctionType):
        return set()
    values = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    named = function.__code__.co_names
    for name in named:
        value = function.__globals__.get(name)
        values.append(value)
        if isinstance(value, types.ModuleType) and value.__name__.startswith("mindgrad."):
            values += [vars(value).get(attribute) for attribute in named]
    rows = {value.name for value in values if isinstance(value, Primitive)}
    if rows or not depth:
        return rows
    public = _public_operators()
    helpers = [v for v in values if isinstance(v, types.FunctionType)]
    helpers = [h for h in helpers if h.__module__ == function.__module__ or h in public]
    return {row for helper in helpers for row in _applied(helper, depth - 1)}


@functools.lru_cache(maxsize=1)
def _public_operators() -> set[Any]:
    return {
        function for name in ops.__all__ if isinstance(function := getattr(ops, name), types.FunctionType)
    }


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


# --- printed and JSON output --------------------------------------------------------------------------


def _list(as_json: bool) -> None:
    kinds: dict[str, list[str]] = {}
    for primitive in REGISTRY.values():
        kinds.setdefault(primitive.kind, []).append(primitive.name)
    if as_json:
        print_json(kinds)
        return
    for number, (kind, names) in enumerate(sorted(kinds.items())):
        if number:
            print()
        print_title(f"{kind} ({len(names)}): {_KINDS[kind]}")
        print_lines(filled(sorted(names)))
    print(f"\n{len(REGISTRY)} operators; `mindgrad ops tanh` shows one of them.")


def _show(row: dict[str, Any]) -> None:
    print_title(f"{row['name']}: {row['meaning']}")
    facts = [
        ("NumPy kernel", row["kernels"]["numpy"]),
        ("XLA kernel", row["kernels"]["xla"]),
        ("element types", row["types"]),
        ("batching", row["batching"]),
        ("infinities", row["infinities"]),
        ("defined in", row["location"]),
    ]
    print_table([fact for fact in facts if fact[1]])
    if row["tangent"]:
        _section("forward mode: tangent dy for tangents dx", row["tangent"])
    if row["cotangents"]:
        _section("reverse mode: cotangents of the inputs for the cotangent ct of y", row["cotangents"])
    if row["conventions"]:
        print()
        print_title("nondifferentiable points")
        header = ("expression", "at", "first derivative", "second", "why")
        print_table(row["conventions"], header)
    if row["source"]:
        _section("definition", row["source"])
    alike = [name for name in row["names"] if _short(name) == _short(row["name"])]
    others = [name for name in row["names"] if name not in alike]
    if alike:
        _section("public names", filled(alike))
    if others:
        more = len(others) - _SHOWN
        rest = [f"… and {more} more (--json has all)"] if more > 0 else []
        _section("also applied by", filled([*others[:_SHOWN], *rest]))


def _short(name: str) -> str:
    return name.rpartition(".")[2].lower().replace("_", "").removeprefix("reduce")


def _section(title: str, lines: Sequence[str]) -> None:
    print()
    print_title(title)
    print_lines(lines)
