"""Reachability of tests from changes: which files of tests use what a changed file defines.

    reached = changed ∪ {file : it takes a name that a reached file defines}

An edge leads to the file that *defines* a name, through packages that only pass it on; else every test would be
reached by every layer, for all import ``mindgrad.nn``. Names are followed in the text: ``from m import n``, ``m.n``, and
those in examples of docstrings and Markdown. What a test reaches by strings alone (a program in a subprocess) is
not seen: the whole suite decides.

``python -m tests.reach [BASE]`` prints what differs from BASE (HEAD) and the working tree reaches;
``scripts/test --changed`` runs it.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
EVERYTHING = ["tests", "src/mindgrad", "docs", "README.md"]
#: quick, and about the source as a whole
ALWAYS = ["tests/smoke", "tests/architecture", "tests/golden"]
_KINDS = (ast.Import, ast.ImportFrom, ast.Attribute, ast.Constant)
#: files that every test depends on
COMMON = ("pyproject.toml", "scripts/", ".ci/", "conftest.py", "tests/conftest.py", "tests/numpy_programs.py")


def module_name(path: Path) -> str:
    """The dotted name of a file of ``src`` or ``tests``."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    parts = parts[1:] if parts[0] == "src" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def files() -> dict[str, Path]:
    """The Python files of the package and of its tests, by dotted name."""
    paths = [*(ROOT / "src" / "mindgrad").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    return {module_name(path): path for path in paths}


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, or of the examples in a Markdown file."""
    text = path.read_text(encoding="utf-8")
    return ast.parse(examples(text) if path.suffix == ".md" else text)


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Imports, attributes and texts in a file, and the imports and attributes in the examples of its texts."""
    nodes = [n for n in ast.walk(tree_of(path)) if isinstance(n, _KINDS)]
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    for text in texts if path.suffix == ".py" else ():
        if ">>> " in text:
            nodes += [n for n in ast.walk(ast.parse(examples(text))) if isinstance(n, _KINDS)]
    return tuple(nodes)


def examples(text: str) -> str:
    """The statements of the examples in a text; those that are no Python by purpose left out."""
    statements = []
    for example in doctest.DocTestParser().get_examples(text):
        try:
            ast.parse(example.source)
        except SyntaxError:
            continue
        statements.append(example.source)
    return "".join(statements)


def imports(name: str, path: Path, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str, str]]:
    """Triples of a local name, a module, and the name there (empty: the module itself; ``*``: all)."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield alias.asname or alias.name, module, alias.name


@cache
def imports_of(module: str) -> tuple[tuple[str, str, str], ...]:
    """The imports of a file of this repository."""
    return tuple(imports(module, files()[module], nodes_of(files()[module])))


def is_package(module: str) -> bool:
    """Whether a module passes on what the files below it define."""
    return module in files() and files()[module].name == "__init__.py"


@cache
def definitions(module: str) -> frozenset[str]:
    """The names that the text of a module binds itself, at its top level."""
    names: set[str] = set()
    for node in tree_of(files()[module]).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names |= {
                n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
    return frozenset(names)


@cache
def definer(module: str, name: str) -> str | None:
    """The module that defines what ``module`` has under ``name``; ``None`` if it is not of this repository."""
    written = _written_definer(module, name)
    if written is not None or module not in files() or not module.startswith("mindgrad"):
        return written
    value = getattr(importlib.import_module(module), name, None)  # made, or loaded when it is asked for
    defined = getattr(value, "__module__", None)
    return defined if defined in files() else None


@cache
def _written_definer(module: str, name: str) -> str | None:
    if f"{module}.{name}" in files():
        return f"{module}.{name}"
    if module not in files():
        return None
    if name in definitions(module):
        return module
    for local, source, original in imports_of(module):
        if local == name:
            return definer(source, original) if original else (source if source in files() else None)
        if original == "*" and source != module and (defined := _written_definer(source, name)):
            return defined
    return None


def uses(name: str, path: Path) -> set[str]:
    """The modules that define what a file takes from others."""
    modules: dict[str, str] = {}
    used: set[str] = set()
    for local, module, original in imports(name, path, nodes_of(path)):
        if original == "*":
            used.add(module)
        elif not original:
            modules[local] = local if local == module.partition(".")[0] else module
            if "." in module:  # for what loading it does: a registry that it fills
                used |= {below for below in files() if below == module or below.startswith(f"{module}.")}
        elif (defined := definer(module, original)) is not None:
            is_module = f"{module}.{original}" == defined
            if is_module:
                modules[local] = defined
            if not (is_module and is_package(defined)):
                used.add(defined)
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute) and (defined := _attribute(node, modules)) is not None:
            used.add(defined)
    return used & files().keys() - {name}


def _attribute(node: ast.Attribute, modules: dict[str, str]) -> str | None:
    """The module that defines ``a.b.c``, where ``a`` is a module."""
    names: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.insert(0, inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name) or inner.id not in modules:
        return None
    module = modules[inner.id]
    for name in names:
        if f"{module}.{name}" not in files():
            return definer(module, name)
        module = f"{module}.{name}"
    return None


@cache
def users() -> dict[str, set[Path]]:
    """For each module the files that take something which it defines."""
    known: dict[str, set[Path]] = {name: set() for name in files()}
    documents = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    for name, path in [*files().items(), *(("", document) for document in documents)]:
        for module in uses(name, path):
            known[module].add(path)
    return known


def reached(changed: Iterable[Path]) -> list[str]:
    """The files whose tests or examples use what the ``changed`` files define, and those among them."""
    closure: set[Path] = set()
    pending = [path for path in changed if path.exists() and path.suffix in (".py", ".md")]
    while pending:
        path = pending.pop()
        if path in closure:
            continue
        closure.add(path)
        if path.suffix == ".py" and (name := module_name(path)) in files():
            pending += users()[name]
    return sorted(path.relative_to(ROOT).as_posix() for path in closure if _has_tests(path))


def _has_tests(path: Path) -> bool:
    if path.is_relative_to(ROOT / "tests"):
        return path.name.startswith("test_")
    return ">>> " in path.read_text(encoding="utf-8")


def changes(base: str) -> list[str]:
    """The files that differ between the commit ``base`` and the working tree, new ones included."""
    listed: list[str] = []
    for command in (["diff", "--name-only", base], ["ls-files", "--others", "--exclude-standard"]):
        run = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
        listed += run.stdout.splitlines()
    return listed


def selection(changed: Iterable[str]) -> list[str]:
    """What to give to pytest for these changed files."""
    listed = list(changed)
    if any(name.startswith(COMMON) for name in listed):
        return EVERYTHING
    return [*ALWAYS, *reached(ROOT / name for name in listed)] if listed else []


if __name__ == "__main__":
    sys.stdout.writelines(f"{path}\n" for path in selection(changes(*sys.argv[1:] or ["HEAD"])))
