"""Cells of public documents: the Python examples of a notebook or page, run in order in one process.

A cell that cannot run anywhere but at its author's is told apart by rule: by what its source asks for, or by
the error in which it ends.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import linecache
import re
import signal
import sys
import traceback
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import mindspore  # noqa: F401 (before the documents' own folder is the current one)
import samples

LIMIT = 60  # seconds for a cell
#: Documents, below a checkout of MindSpore's documentation.
DOCUMENTS = {
    "tutorials/source_zh_cn": """
        beginner/tensor beginner/model beginner/autograd beginner/dataset beginner/train beginner/quick_start
        beginner/save_load beginner/accelerate_with_static_graph beginner/mixed_precision
        custom_program/hook_program custom_program/operation/op_custom_prim
        custom_program/operation/op_custom_adv
        compile/statements compile/static_graph_expert_programming compile/python_builtin_functions
        dataset/cache dataset/record dataset/eager dataset/python_objects dataset/augment dataset/optimize
        dataset/sampler nlp/sentiment_analysis nlp/sequence_labeling orange_pi/dev_start generative/gan
        generative/dcgan generative/diffusion cv/vit cv/resnet50 cv/transfer_learning cv/ssd cv/fcn8s""",
    "tutorials/source_en": "compile/static_graph debug/pynative model_migration/model_migration",
    "docs/mindspore/source_en": """
        features/compile/graph_construction features/compile/graph_optimization design/programming_paradigm
        faq/network_compilation faq/implement_problem faq/data_processing""",
}

#: What a cell's source asks for that is not there; the first that fits says why it does not count.
SOURCES = {
    "device": r"""device_target\s*=\s*["'](?:Ascend|GPU)|set_device\(|mindspore\.communication"""
    r"""|communication import|\bTBE\b|Ascend|\.so["']|\bakg\b|\.aot|func_type""",
    "package": r"mindformers|import torch|\bcv2\b|msgpack|pycocotools|\bsix\b|\brequests\b",
    "network": r"model_zoo|urlopen",
    "shell": r"^\s*[!]|\bdocker\b|cache_admin|os\.(?:popen|system)",
}
FENCED = re.compile(r"^( *)```python\n(.*?)^ *```", re.M | re.S)
OUTPUT = re.compile(r"(?:\s|(?!```)[^\n]*\n){0,12}?\s*```(?:text|out)?\n(.*?)```", re.S)
MAGIC = re.compile(r"^\s*[!%]")
FILE_ERRORS = re.compile(r"does not exist|there is no f|No such file|not exist|is not a valid|No valid data")


class Late(BaseException):
    """A cell took longer than its limit."""


def paths() -> list[str]:
    """The documents, relative to the checkout."""
    found = []
    for folder, names in DOCUMENTS.items():
        ending = ".ipynb" if folder.endswith("zh_cn") else ".md"
        found += [f"{folder}/{name}{ending}" for name in names.split()]
    return found


def cells(path: Path) -> Iterator[tuple[str, str]]:
    """The Python cells of a document: the source, and the output that stands behind it."""
    text = path.read_text()
    if path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "code":
                outputs = cell.get("outputs", [])
                yield "".join(cell["source"]), "".join(json.dumps(output) for output in outputs)
        return
    for match in FENCED.finditer(text):
        indent = match.group(1)
        lines = [line.removeprefix(indent) for line in match.group(2).splitlines()]
        output = OUTPUT.match(text[match.end() :])
        yield "\n".join(lines), output.group(1) if output else ""


def bound(tree: ast.AST) -> set[str]:
    """The names that a cell binds for the cells behind it."""
    names: set[str] = set()
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.comprehension):
            nodes += ast.iter_child_nodes(node)
    return names


def absent_package(error: BaseException) -> bool:
    """Whether an error is that of a package which is not installed, other than MindSpore."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    return (
        isinstance(error, ModuleNotFoundError) and name not in ("", "mindspore") and find_spec(name) is None
    )


class Document:
    """The cells of a document and the names that they leave to the next.

    Attributes:
        names: the globals of the document, those of the main module.
        available: the names that cells which count bind.
        lost: the names that only cells which do not count bind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        main = sys.modules["__main__"] = ModuleType("__main__")  # MindSpore looks names up in the module
        self.names = vars(main)
        self.available: set[str] = set()
        self.lost: set[str] = set()
        self.left_out_before = False

    def run(self, number: int, source: str, output: str) -> dict[str, Any]:
        """Runs one cell; its status is ``ok``, ``error``, or the reason why it does not count."""
        code = "\n".join(line for line in source.splitlines() if not MAGIC.match(line))
        if not code.strip():
            return {"status": "shell"}
        try:
            tree = ast.parse(code)
            compile(tree, "<cell>", "exec")
        except SyntaxError:
            return {"status": "fragment"}
        names = bound(tree)
        status, why = self._status(number, code, tree, output, source)
        if status in ("ok", "error"):
            self.available |= names
        else:
            self.left_out_before = True
            self.lost |= names - self.available
        return {"status": status, "why": why}

    def _status(self, number: int, code: str, tree: ast.Module, output: str, source: str) -> tuple[str, str]:
        for reason, pattern in SOURCES.items():
            if re.search(pattern, source, re.M):
                return reason, ""
        name = f"<cell {self.path.name} {number}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        signal.alarm(LIMIT)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(tree, name, "exec"), self.names)
        except Late:
            return "error", f"not done in {LIMIT} s"
        except (Exception, SystemExit) as error:
            return self._reason(error, output), f"{type(error).__name__}: {str(error)[:400]}"
        finally:
            signal.alarm(0)
        return "ok", ""

    def _reason(self, error: BaseException, output: str) -> str:
        """The status of a cell that ends in an error."""
        frames = traceback.extract_tb(error.__traceback__)
        if isinstance(error, NameError) and frames[-1].filename.startswith("<cell"):
            name = error.name or str(error).split("'")[1]
            if name in self.lost and name not in self.available:
                return "needs a cell that does not count"
            if name not in self.available and not hasattr(builtins, name) and name not in self.names:
                return "fragment"
        if absent_package(error):
            return "package"
        if isinstance(error, ConnectionError):
            return "network"
        text = str(error)
        if isinstance(error, FileNotFoundError | OSError | ValueError | RuntimeError) and FILE_ERRORS.search(
            text
        ):
            return "needs a cell that does not count" if self.left_out_before else "files"
        if "Traceback" in output or type(error).__name__ in output or "Error" in output:
            return "ok"  # the document shows an error there
        return "error"


def late(*_: Any) -> None:
    raise Late


def run(checkouts: Path, name: str, mode: int) -> dict[str, Any]:
    """Runs a document.

    Returns:
        ``cells``: the ``status`` of each, and ``why`` it is none of ``ok``.
    """
    samples.install()
    signal.signal(signal.SIGALRM, late)
    path = checkouts / "docs" / name
    document = Document(path)
    sys.path.insert(0, ".")
    return {"cells": [document.run(number, *cell) for number, cell in enumerate(cells(path))]}
