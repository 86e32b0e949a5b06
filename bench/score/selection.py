"""Selection of the tests that count: those marked for a CPU, without the inside of MindSpore's own engine.

Test files are only read here, never imported: a file that cannot be imported still says how many tests are
lost. Tests that turn out to be outdated when they run (`outdated.py`) are a group of their own, told beside
the score.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: Marks of tests for a CPU: as decorators of pytest until 2.x, as arguments of ``arg_mark`` from 2.4 on.
CPU_MARKS = frozenset(
    {"platform_x86_cpu", "platform_x86_cpu_training", "platform_arm_cpu", "platform_cpu", "cpu_linux"}
)
#: Marks of tests on several devices, or on none: a dry run only compiles for a cluster.
OTHER_MARKS = frozenset({"allcards", "env_single", "dryrun", "dryrun_only"})

SUITES = ("cpu", "gradient")
#: Folders of the gradient suite: first and higher derivatives, mutable inputs, hooks. Its tests count
#: whatever platform they are marked for: what a derivative is does not depend on the device.
GRADIENT = re.compile(r"^tests/st/.*(gradient|high_grad|hook|tensor_hook|mutable)/")

#: Names of MindSpore's compiled part that programs use too; every other one belongs to its engine.
PROGRAM_NAMES = frozenset({"security", "MetaTensor", "Tensor", "TensorPy", "typing"})

# Folders below tests/ whose subject is no program: the reason, and the folder's name.
FOLDERS = {
    "dumps of intermediate results": {"dump", "debugger", "dfx"},
    "several devices": {
        "parallel", "auto_parallel", "cpu_data_parallel", "data_parallel", "nccl", "hcom", "lccl", "msrun",
        "ps", "fl", "graceful_exit", "high_availability", "uce",
    },
    "files of MindSpore's compiler cache": {"frontend_compile_cache"},
    "files of exported graphs (MINDIR)": {"export_and_load"},
    "MindSpore Lite": {"lite"},
    "MindSpore's fused kernels": {"graph_kernel", "fusion"},
    "bytecode of MindSpore's second compiler": {"pi_jit"},
}  # fmt: skip
# Modules whose import makes a file one about the engine.
MODULES = {
    "kernels of MindSpore's derivatives (_grad_ops)": re.compile(r"(^|\.)_grad_ops($|\.)"),
    "kernels of quantization (_quant_ops)": re.compile(r"(^|\.)_quant_ops($|\.)|(^|\.)compression($|\.)"),
    "MindSpore Lite": re.compile(r"^mindspore_lite|^mindspore\.lite($|\.)"),
    "MindSpore's compiled part": re.compile(r"^mindspore\._c_dataengine|^mindspore\._c_expression\.(?!\*)"),
    "MindSpore's fused kernels": re.compile(r"(^|\.)_akg($|\.)|^mindspore\.graph_kernel"),
}
# Words of the text that say the same.
WORDS = {
    "files of exported graphs (MINDIR)": re.compile(r"""MINDIR|\.mindir|load_mindir"""),
    "dumps of intermediate results": re.compile(
        r"MINDSPORE_DUMP_CONFIG|MS_DIAGNOSTIC_DATA_PATH|enable_dump|set_dump\(|save_graphs_path|save_graph_ir|"
        r"MS_DEV_SAVE_GRAPHS|MS_DEV_DUMP"
    ),
    "several devices": re.compile(
        r"from mindspore\.communication(\.management)? import .*\binit\b|mpirun|msrun"
    ),
    "kernels that the test writes for MindSpore's kernel compilers": re.compile(
        r"custom_info_register|ops\.Custom\(|import .*\bCustom\b|CustomOpBuilder|CustomRegOp"
    ),
    "operators that the test declares for kernels of MindSpore's": re.compile(
        r"^class \w+\((\w+\.)?Primitive(WithInfer|WithCheck)?\)", re.M
    ),
    "data sets that are not part of the checkout": re.compile(r"/home/workspace/mindspore_(dataset|ckpt)"),
}


@dataclass
class Source:
    """One test file.

    Attributes:
        path: below the checkout, with ``/``.
        left_out: why none of its tests counts; empty where they do.
        tests: the names of its tests for a CPU (``Class::test`` in a class), and in how many variants
            ``parametrize`` runs each, as far as the text says it.
    """

    path: str
    left_out: str = ""
    tests: dict[str, int] = field(default_factory=dict)


def sources(checkout: Path, suite: str, paths: list[str]) -> list[Source]:
    """The test files of a checkout that have tests of the suite, in order.

    Args:
        checkout: the folder that holds ``tests``.
        suite: one of `SUITES`.
        paths: files and folders below the checkout; all of ``tests`` where the list is empty.

    Raises:
        FileNotFoundError: a path that is not there.
    """
    files = set()
    for path in paths or ["tests"]:
        root = checkout / path
        if not root.exists():
            raise FileNotFoundError(f"{root} is not there: a checkout of MindSpore holds its tests in tests/")
        files.update(root.rglob("test_*.py") if root.is_dir() else [root])
    names = sorted(file.relative_to(checkout).as_posix() for file in files)
    read = [source_of(checkout, name, suite) for name in names if suite == "cpu" or GRADIENT.search(name)]
    return [source for source in read if source.tests]


def source_of(checkout: Path, path: str, suite: str) -> Source:
    """A file of the checkout, read."""
    source = Source(path)
    text = (checkout / path).read_text(errors="replace")
    marks = marks_of(suite)
    if not any(mark in text for mark in marks):
        return source
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return source
    source.tests = dict(_tests(tree, marks))
    source.left_out = _reason(source.path, text, tree)
    return source


def _reason(path: str, text: str, tree: ast.Module) -> str:
    parts = set(path.split("/")[:-1])
    for reason, folders in FOLDERS.items():
        if parts & folders:
            return reason
    imports = set(_imports(tree))
    for reason, module in MODULES.items():
        if any(module.search(name) for name in imports):
            return reason
    return next((reason for reason, words in WORDS.items() if words.search(text)), "")


def _imports(tree: ast.Module) -> Iterator[str]:
    """The dotted names that a file imports, wherever it does, and those of `_c_expression` that it reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for alias in node.names:
                if not (node.module.endswith("._c_expression") and alias.name in PROGRAM_NAMES):
                    yield f"{node.module}.{alias.name}"


def _tests(tree: ast.Module, counting: frozenset[str]) -> Iterator[tuple[str, int]]:
    """The tests that count, of functions and classes, and their variants."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            tests = [(f"{node.name}::", inner, node.decorator_list) for inner in node.body]
        else:
            tests = [("", node, [])]
        for prefix, test, decorators in tests:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test"):
                every = [*test.decorator_list, *decorators]
                if counts(set().union(*map(_words, every)), counting):
                    yield prefix + test.name, _variants(every)


def marks_of(suite: str) -> frozenset[str]:
    """The marks of which a test of the suite has one; the empty text stands for any test."""
    return CPU_MARKS if suite == "cpu" else frozenset({""})


def counts(marks: set[str], counting: frozenset[str]) -> bool:
    """Whether a test with these marks is one for a single device that its authors run."""
    return bool({*marks, ""} & counting) and not marks & OTHER_MARKS and "skip" not in marks


def _words(decorator: ast.expr) -> set[str]:
    """The attributes and texts in a decorator: ``platform_x86_cpu``, or ``cpu_linux`` in ``arg_mark(…)``."""
    words = {node.attr for node in ast.walk(decorator) if isinstance(node, ast.Attribute)}
    return words | {str(node.value) for node in ast.walk(decorator) if isinstance(node, ast.Constant)}


def _variants(decorators: list[ast.expr]) -> int:
    number = 1
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("mark.parametrize"):
            values = decorator.args[1] if len(decorator.args) > 1 else None
            if isinstance(values, ast.List | ast.Tuple):
                number *= max(1, len(values.elts))
    return number
