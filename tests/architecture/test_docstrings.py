"""Docstrings name existing modules and every argument, and have no measurements of one machine."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import mindgrad
from tests.architecture.test_exports import MODULES

SOURCE = Path(__file__).parents[2] / "src" / "mindgrad"
#: packages whose modules docstrings name as ``package.module``
PACKAGES = {
    "_base", "api", "backend", "base", "control", "core", "curvature", "distributed", "eager", "frontend", "ir", "passes", "primitives",
    "programs", "solvers", "sparse", "trace", "transforms",
}  # fmt: skip
#: a time, a rate or a size that one machine gave: these are recorded in docs/decisions
MEASUREMENT = re.compile(r"\d\s?(ms|µs|us|ns|GB/s|MB/s|GFLOP/s|CPU s)\b|\d(\.\d+)? times (faster|slower)")


def docstrings(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node, docstring


def missing_references(docstring: str) -> list[str]:
    """Find ``package.module`` and ``package/module.py`` in double backticks without such a module."""
    dotted = re.findall(r"``([a-z_]+)\.([a-z_]+)[^`]*``", docstring)
    paths = re.findall(r"``([a-z_]+)/([a-z_]+)\.py``", docstring)
    return [
        f"{package}.{module}"
        for package, module in dotted + paths
        if package in PACKAGES and not (exists(package, module) or exists(f"core/{package}", module))
    ]


def exists(package: str, module: str) -> bool:
    if (SOURCE / package / f"{module}.py").exists() or (SOURCE / package / module).is_dir():
        return True
    initial = SOURCE / package / "__init__.py"
    return initial.exists() and re.search(rf"\b{module}\b", initial.read_text()) is not None


def faults_of_docstrings(tree: ast.Module) -> list[str]:
    faults = []
    for node, docstring in docstrings(tree):
        where = f"{getattr(node, 'lineno', 1)}: '{docstring.splitlines()[0][:60]}'"
        faults += [
            f"{where} refers to '{name}', which does not exist" for name in missing_references(docstring)
        ]
        if isinstance(node, ast.Module) and (measurement := MEASUREMENT.search(docstring)):
            faults.append(f"{where} has a measurement ({measurement[0]}): record it in docs/decisions")
    return faults


def test_docstrings_refer_to_modules_and_have_no_measurements():
    faults = [
        f"{path.relative_to(SOURCE).as_posix()}:{fault}"
        for path in sorted(SOURCE.rglob("*.py"))
        for fault in faults_of_docstrings(ast.parse(path.read_text()))
    ]
    assert not faults, "\n".join(["", *faults])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('"""Loops are unrolled.\n\nIt took 17.4 ms.\n"""', "measurement"),
        ('"""Loops are as in ``control.iterations``."""', "does not exist"),
        ('"""Loops are as in ``passes/halves.py``."""', "does not exist"),
    ],
)
def test_fault_of_a_docstring_is_found(text, fault):
    assert any(fault in message for message in faults_of_docstrings(ast.parse(text)))


def test_good_docstring_has_no_fault():
    text = '"""Loop tiling runs a batch in tiles (``passes.batch_region``), up to 30 MB each."""'
    assert faults_of_docstrings(ast.parse(text)) == []


def undescribed(function: object) -> list[str]:
    """The parameters that the section Args of a docstring does not name; none if there is no such section."""
    arguments = (inspect.getdoc(function) or "").partition("\nArgs:\n")[2]
    arguments = re.split(r"\n(?=\S)", arguments)[0]
    try:
        parameters = inspect.signature(function).parameters.values() if arguments else ()  # type: ignore[arg-type]
    except ValueError:  # a type of NumPy
        return []
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [x.name for x in parameters if x.kind not in variadic and x.name != "self"]
    return [name for name in names if not re.search(rf"\b{name}\b", arguments)]


# ruff's D417 reads the source, where a docstring may take over arguments from another one (_base/shared_docs.py)
@pytest.mark.parametrize("module", MODULES)
def test_public_docstrings_describe_every_argument(module):
    package = importlib.import_module(module)
    things = {name: getattr(package, name) for name in package.__all__}
    faults = {name: undescribed(thing) for name, thing in things.items() if callable(thing)}
    assert {name: names for name, names in faults.items() if names} == {}


def test_undescribed_argument_is_found():
    def function(x, y, z, **others):
        """Add.

        Args:
            x, y: numbers.

        Returns:
            The sum z.
        """

    assert undescribed(function) == ["z"]
    assert undescribed(mindgrad.grad) == []
