"""Holds the arrows between the packages of src/mindgrad, and what belongs to one package only.

A package may import from packages further left in ORDER; packages of one group may import each other. The
packages of the core stand left of all others, so the core imports nothing from outside. Imports and names are read with `ast`; only the last test runs the parents.
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "mindgrad"
ORDER = [
    {"core.base", "core.placement"}, {"core.ir"}, {"core.primitives"}, {"core.transforms"}, {"core.control"},
    {"core.passes"}, {"core.backend"}, {"core.trace"}, {"core.arrays"}, {"core.numpy"}, {"core.api"}, {"core.sparse"},
    {"core"},
    {"_base"}, {"distributed"}, {"frontend"}, {"frontend.programs"}, {"eager"}, {"api"}, {"solvers"},
    {"ops", "nn", "common", "curvature", "context", "communication", "numpy", "log", "parallel", "_checkparam", "_c_expression", "scipy", "version", "mint", "experimental", "boost", "device_context", "hal", "profiler", "runtime", "_extends"},
    {"dataset", "mindrecord"}, {"train", "amp"},
    {"inspect.emit"},
    {"inspect", "launch"},
    {"tools"},
    {"cli", "__init__", "__main__"},
]  # fmt: skip
RANK = {package: rank for rank, group in enumerate(ORDER) for package in group}
ENGINE = {package for group in ORDER[:20] for package in group}
#: packages whose parts are ranked one by one
DIVIDED = {"core", "frontend", "inspect"}


# The two packages that load a part of themselves when it is first asked for (docs/decisions/0010-import.md),
# and what finds modules for a living; everybody else's imports stand at the top of the file.
# SciPy serves few programs; matplotlib, of a plot, is optional, and takes longer to load than the check whose result is drawn.
MAY_IMPORT_LATER = {
    "__init__.py",
    "ops/__init__.py",
    "cli.py",
    "_base/progress.py",
    "core/__init__.py",
    "core/ir/primitive.py",  # a lookup by name completes the registry
    "core/base/scipy_modules.py",
    "inspect/gradient_check.py",
    "inspect/draw.py",
    "inspect/explanation.py",
}
# Where a program is traced: by one door, by the outermost trace, as a recording, and from recorded events.
TRACERS = {
    "core/trace/closed_program.py", "frontend/tracing.py", "core/trace/record.py", "api/recompute.py", "eager/segments.py",
}  # fmt: skip
MOST_LINES_OF_FUNCTION = 60  # without its docstring
MOST_PARAMETERS = 8  # by position, of a function of the engine; the surface has MindSpore's signatures
#: attributes of variables, equations and graphs, assigned where these are emitted
IMMUTABLE = {"made_by", "primitive", "equations"}
MOST_LINES = 430  # without docstrings; above that, a file holds more than one idea
DERIVATIVES = {
    "grad", "value_and_grad", "jvp", "vjp", "jacfwd", "jacrev", "jacobian", "hessian", "linearize",
    "linear_transpose", "custom_jvp", "custom_vjp", "custom_gradient", "checkpoint", "remat", "jet",
}  # fmt: skip


def imported(node: ast.AST, parents: list[str]) -> list[str]:
    """The full dotted names that an import statement, or a call that imports, asks for."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            above = parents[: len(parents) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            return [f"{start}.{alias.name}" for alias in node.names]
        case ast.Call(args=[ast.Constant(value=str(name)), *_]):
            if re.search(r"\b_?(import_module|__import__)$", ast.unparse(node.func)):
                return [name]
    return []


def package_of(parts: list[str]) -> str:
    """The package of a module, from the parts of its name below `mindgrad`."""
    inner = ".".join(parts[:2])
    return inner if parts[0] in DIVIDED and inner in RANK else parts[0]


def faults(path: str, text: str) -> list[str]:
    """What `text`, as the file `path` (relative to src/mindgrad), does against the rules."""
    parts = path.removesuffix(".py").split("/")
    package, parents, tree = package_of(parts), ["mindgrad", *parts[:-1]], ast.parse(text)
    found = [] if package in RANK else [f"{path}: package '{package}' has no place in ORDER"]
    if code_lines(text, tree) > MOST_LINES:
        found.append(f"{path}: more than {MOST_LINES} lines without docstrings; split it by idea")
    lazy = {
        inner
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        here = f"{path}:{getattr(node, 'lineno', 0)}"
        for name in imported(node, parents):
            top, _, rest = name.partition(".")
            if top == "mindgrad":
                target = package_of(rest.split("."))
                target = target if target in RANK else "__init__"
                if RANK[target] > RANK.get(package, 0):
                    found.append(f"{here}: {package} may not import {target}")
            if top == "jaxlib" or (top == "jax" and re.search(r"\._|\.interpreters\b", name)):
                found.append(f"{here}: {name} is not public API of jax")
            if top == "jax" and package != "core.backend":
                found.append(f"{here}: jax is imported outside backend")
            if top == "jax" and DERIVATIVES & set(name.split(".")):
                found.append(f"{here}: {name} is jax's own differentiation")
            own = top == "jax" or name.startswith("mindgrad.core.backend")
            later = path in MAY_IMPORT_LATER and isinstance(node, ast.Call)
            if node in lazy and not later and not (package == "core.backend" and own):
                found.append(f"{here}: import of {name} inside a function")
        if node in lazy and isinstance(node, ast.Call) and not imported(node, parents):
            computed = re.search(r"\b_?(import_module|__import__)$", ast.unparse(node.func))
            if computed and path not in MAY_IMPORT_LATER and package != "core.backend":
                found.append(f"{here}: a computed import inside a function")
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith("GraphScope")
            and path not in TRACERS
        ):
            found.append(f"{here}: a program is traced by trace.closed_program.trace")
        if isinstance(node, ast.FunctionDef) and lines_of(node) > MOST_LINES_OF_FUNCTION:
            found.append(
                f"{here}: '{node.name}' has more than {MOST_LINES_OF_FUNCTION} lines; split it by idea"
            )
        if isinstance(node, ast.FunctionDef) and package in ENGINE and positional(node) > MOST_PARAMETERS:
            found.append(f"{here}: '{node.name}' has more than {MOST_PARAMETERS} parameters by position")
        if is_assigned_elsewhere(node) and path != "core/ir/build.py":
            found.append(f"{here}: {ast.unparse(node)} is assigned after it was emitted")
        if isinstance(node, ast.Attribute) and re.search(r"\b_?jax\b", ast.unparse(node.value)):
            if node.attr in DERIVATIVES:
                found.append(f"{here}: jax.{node.attr} is jax's own differentiation")
            if node.attr in {"_src", "interpreters"}:
                found.append(f"{here}: {node.attr} is not public API of jax")
    return found


def positional(function: ast.FunctionDef) -> int:
    """How many arguments a function takes by position, besides ``self``."""
    names = [x.arg for x in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_assigned_elsewhere(node: ast.AST) -> bool:
    """Whether an attribute of the intermediate representation is assigned, other than an object's own."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr in IMMUTABLE
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) != "self"
    )


def code_lines(text: str, tree: ast.Module) -> int:
    """Count the lines of a file without its docstrings, which types and examples make long."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    owners = [node for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)]
    return len(text.splitlines()) - sum(node.body[0].end_lineno - node.body[0].lineno + 1 for node in owners)


def lines_of(function: ast.FunctionDef) -> int:
    """How many lines a function has besides its docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return lines
    return lines - (function.body[0].end_lineno - function.body[0].lineno + 1)


def test_source_keeps_the_rules():
    files = sorted(SOURCE.rglob("*.py"))
    assert files, f"no source below {SOURCE}"
    found = [
        fault for file in files for fault in faults(file.relative_to(SOURCE).as_posix(), file.read_text())
    ]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("core/ir/graph.py", "from mindgrad.ops import add", "core.ir may not import ops"),
        ("core/ir/graph.py", "from ...ops import add", "core.ir may not import ops"),
        ("core/ir/graph.py", "from ... import nn", "core.ir may not import nn"),
        ("core/ir/graph.py", "import mindgrad", "core.ir may not import __init__"),
        ("core/ir/graph.py", "from mindgrad.core.backend import xla", "may not import core.backend"),
        ("core/backend/xla.py", "from ..trace import record", "may not import core.trace"),
        ("core/ir/graph.py", "import jax.numpy as jnp", "outside backend"),
        ("core/ir/graph.py", "import_module('jax')", "outside backend"),
        ("core/ir/graph.py", "importlib.import_module('mindgrad.nn')", "core.ir may not import nn"),
        ("core/backend/xla.py", "from jax._src import core", "not public"),
        ("core/backend/xla.py", "import jaxlib", "not public"),
        ("core/backend/xla.py", "self.jax._src.core", "not public"),
        ("core/backend/xla.py", "from jax import vjp", "jax's own differentiation"),
        ("core/backend/xla.py", "jax().value_and_grad(f)", "jax's own differentiation"),
        ("core/backend/xla.py", "def f():\n    import numpy", "inside a function"),
        ("nn/cell.py", "def f():\n    from ..ops import add", "inside a function"),
        ("nn/__init__.py", "def f(n):\n    return import_module(n)", "inside a function"),
        ("__init__.py", "def f():\n    from mindgrad import nn", "inside a function"),
        ("ops/__init__.py", "def f():\n    _import_module('mindgrad.train')", "ops may not import train"),
        ("solvers/ode.py", "scope = GraphScope()", "closed_program"),
        ("nn/cell.py", "def f():\n" + "    x = 1\n" * 60, "'f' has more than"),
        ("core/transforms/forward.py", "y.made_by = equation", "y.made_by is assigned"),
        ("api/vjp.py", "def f(a, b, c, d, e, f, g, h, i):\n    return a", "8 parameters"),
        ("utils.py", "", "no place"),
        ("core/ir/graph.py", "\n" * (MOST_LINES + 1), "lines"),
    ],
)
def test_a_fault_is_seen(path, text, fault):
    assert any(fault in message for message in faults(path, text))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core/backend/xla.py", "def compiler():\n    import jax\n    return jax.jit"),
        ("ops/math.py", "from ..core.primitives import elementwise\nfrom ..common import api"),
        (
            "core/transforms/reverse.py",
            "from .forward import jvp\nfrom mindgrad.core.ir.graph import Graph",
        ),
        ("core/transforms/reverse.py", "forward.jvp(graph)"),
        ("api/vjp.py", "class A:\n    def f(self, a, b, c, d, e, f, g, h, *, i):\n        self.outputs = a"),
        ("__init__.py", "def __getattr__(name):\n    return _import_module(f'mindgrad.{name}')"),
    ],
)
def test_what_is_allowed_is_not_called_a_fault(path, text):
    assert faults(path, text) == []


@pytest.mark.parametrize(
    "work",
    [
        "",
        "mindgrad.context.set_context(mode=mindgrad.context.PYNATIVE_MODE, device_target='CPU')\n"
        "mindgrad.ops.grad(lambda x: x * x)(mindgrad.Tensor([3.0]))",
    ],
    ids=["import", "eager"],
)
def test_jax_is_not_imported_before_it_is_needed(work):
    program = f"import sys, mindgrad\n{work}\nassert 'jax' not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
