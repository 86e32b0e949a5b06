"""The core stands alone: it imports nothing from outside, and does not know the packages above it.

Numbers in this file are limits that may only fall.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from tests.architecture.test_arrows import code_lines

SOURCE = Path(__file__).parents[2] / "src" / "mindgrad"
CORE = sorted((SOURCE / "core").rglob("*.py"))
#: lines of the core without docstrings, and with them; the goal of 35,000 with them is not reached
MOST_LINES, MOST_LINES_WITH_DOCSTRINGS = 33_160, 41_690
#: objects with one state for each thread, and module-level caches of the core
MOST_THREAD_LOCALS, MOST_CACHES = 3, 10
#: containers that are filled after the import, but are no caches
REGISTRIES = {
    "backend/custom_calls.py: _prepared": "custom calls whose libraries are loaded",
    "backend/device.py: _announced": "messages that were shown",
    "backend/device.py: _host_calls": "numbers of calls, which decide where an operator runs",
    "backend/disk.py: _refused": "folders that cannot be used",
    "backend/disk.py: _warned": "warnings that were issued",
    "backend/disk.py: _written": "numbers of bytes",
    "backend/jax_import.py: stopped_by_forks": "executables that must not run in a fork",
    "backend/observers.py: OBSERVERS": "functions that packages above the core register",
    "backend/options.py: _unknown": "options that jaxlib has refused",
    "backend/xla.py: _used": "devices on which functions have run",
    "base/location.py: _registries": "warnings that were issued",
    "base/refusal.py: hints": "texts that packages above the core register",
    "base/refusal.py: _explanations": "functions that packages above the core register",
    "base/tree.py: _LEAVES": "types that are no containers",
    "base/waiting.py: _abandoned": "jobs of threads",
    "base/waiting.py: _idle": "threads",
    "ir/constant_arguments.py: _MARKED": "marks of tensors, by weak references",
    "ir/graph.py: APPLY": "rules that other modules register",
    "ir/graph.py: _NO_GRAPHS": "an empty constant",
    "ir/kernels.py: _FREE": "contexts that wait for their next use",
    "ir/memo.py: _graphs": "weak references to graphs, so that equal graphs are one",
    "ir/rewriting.py: REWRITES": "rules that other modules register",
    "ir/tensor.py: _marked": "tensors that were printed while they were traced",
    "primitives/exact_zeros.py: OF_CONTROL": "rules that other modules register",
    "primitives/movement_fusion.py: PARTS": "rules that other modules register",
    "primitives/roots.py: ROOTS": "rules that other modules register",
    "primitives/roots.py: VIEWS": "primitives that other modules register",
}
#: words of the packages above, and the number of files of the core whose names, comments, or docstrings use them
WORDS = {
    r"\bParameters?\b|\bCells?\b": 1,  # the public class Tensor refers to both
    r"GRAPH_MODE|PYNATIVE_MODE|is_graph_mode": 0,
}
#: static import closure of the module that defines reverse mode for Python functions: files, lines
MOST_FILES_OF_PULLBACK, MOST_LINES_OF_PULLBACK = 52, 9_390


def prose_and_names(file: Path) -> str:
    """The names, comments, and docstrings of a file; messages for users are left out."""
    text = file.read_text()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    words = [token.string for token in tokens if token.type in (tokenize.NAME, tokenize.COMMENT)]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    return "\n".join([*words, *[ast.get_docstring(node) or "" for node in nodes]])


@pytest.mark.parametrize(("pattern", "most"), WORDS.items())
def test_core_does_not_mention_upper_packages(pattern, most):
    files = [
        path.relative_to(SOURCE).as_posix() for path in CORE if re.search(pattern, prose_and_names(path))
    ]
    assert len(files) <= most, files


def test_a_word_in_a_comment_and_in_a_docstring_is_found(tmp_path):
    file = tmp_path / "a.py"
    file.write_text('"""A Cell."""\n\n\ndef f():\n    """A Parameter."""\n    x = "GRAPH_MODE"  # a mode\n')
    text = prose_and_names(file)
    assert all(word in text for word in ("Cell", "Parameter", "a mode"))
    assert "GRAPH_MODE" not in text


def test_core_is_below_its_number_of_lines():
    texts = [path.read_text() for path in CORE]
    assert sum(code_lines(text, ast.parse(text)) for text in texts) <= MOST_LINES
    assert sum(len(text.splitlines()) for text in texts) <= MOST_LINES_WITH_DOCSTRINGS


def test_core_has_few_thread_locals_and_caches():
    texts = [path.read_text() for path in CORE]
    thread_locals = sum(len(re.findall(r"\(threading\.local\):", text)) for text in texts)
    assert thread_locals <= MOST_THREAD_LOCALS
    caches = [cache for file in CORE for cache in caches_of(file)]
    assert not REGISTRIES.keys() - set(caches), "remove what no longer exists from REGISTRIES"
    found = [cache for cache in caches if cache not in REGISTRIES]
    assert len(found) <= MOST_CACHES, found


def caches_of(file: Path) -> list[str]:
    """The cached functions of a file, and its global containers that are empty at the import."""
    place = file.relative_to(SOURCE / "core").as_posix() if SOURCE in file.parents else file.name
    module = ast.parse(file.read_text())
    functions = [
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
        and any(re.search(r"\b(lru_)?cache\b", ast.unparse(decorator)) for decorator in node.decorator_list)
    ]
    empty = r"\{\}|\[\]|(dict|set|list|OrderedDict|Weak\w+)(\[.*\])?\(\)|defaultdict\(.*\)"
    containers = [
        ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        for node in module.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and node.value is not None
        and re.fullmatch(empty, ast.unparse(node.value))
    ]
    return [f"{place}: {name}" for name in functions + containers]


def test_caches_of_every_form_are_found(tmp_path):
    file = tmp_path / "a.py"
    file.write_text(
        "@functools.lru_cache(maxsize=1)\ndef f(): ...\n\n@cache\ndef g(): ...\n\n_known = {}\n_seen: set[int] = set()\n"
    )
    assert caches_of(file) == ["a.py: f", "a.py: g", "a.py: _known", "a.py: _seen"]


def imports(file: Path) -> set[Path]:
    """The modules of mindgrad that a file imports, without the packages that contain them."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindgrad"):
            folder = SOURCE.parent / Path(*node.module.split("."))
            for alias in node.names:
                inner = folder / f"{alias.name}.py"
                found.add(inner if inner.exists() else folder.with_suffix(".py"))
    return {path for path in found if path.exists()}


def closure(start: Path) -> set[Path]:
    reached, waiting = set(), [start]
    while waiting:
        file = waiting.pop()
        if file not in reached:
            reached.add(file)
            waiting.extend(imports(file))
    return reached


def test_no_import_leaves_the_core():
    outside = {
        f"{file.relative_to(SOURCE)}: {other.relative_to(SOURCE)}"
        for file in CORE
        for other in imports(file)
        if SOURCE / "core" not in other.parents
    }
    assert not outside


def test_reverse_mode_imports_few_files():
    files = closure(SOURCE / "core" / "api" / "pullback.py")
    lines = sum(len(file.read_text().splitlines()) for file in files)
    assert len(files) <= MOST_FILES_OF_PULLBACK
    assert lines <= MOST_LINES_OF_PULLBACK


#: largest share of annotated parameters in the core whose annotation contains ``Any``
MOST_ANY = 0.04


def _names_of_any(modules: list[ast.Module]) -> set[str]:
    """Return ``Any`` and the aliases of types that contain it, except the arrays and dtypes of NumPy."""
    names = {"Any"}
    aliases = {
        ast.unparse(node.target): node.value
        for module in modules
        for node in module.body
        if isinstance(node, ast.AnnAssign) and node.value is not None and "TypeAlias" in ast.unparse(node)
    }
    while True:
        found = {
            name
            for name, value in aliases.items()
            if "np." not in ast.unparse(value) and names & set(re.findall(r"\w+", ast.unparse(value)))
        }
        if found <= names:
            return names
        names |= found


def _annotations_of_parameters(module: ast.Module) -> list[ast.expr]:
    arguments = [node.args for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    return [
        parameter.annotation
        for each in arguments
        for parameter in [*each.posonlyargs, *each.args, each.vararg, *each.kwonlyargs, each.kwarg]
        if parameter is not None and parameter.annotation is not None
    ]


def test_share_of_any_in_parameters_is_within_limit():
    modules = [ast.parse(path.read_text()) for path in CORE]
    names = _names_of_any(modules)
    used = [
        names & {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
        for module in modules
        for annotation in _annotations_of_parameters(module)
    ]
    share = sum(map(bool, used)) / len(used)
    assert share <= MOST_ANY, f"{share:.1%} of {len(used)} annotated parameters of the core are Any"
    assert share > MOST_ANY - 0.01, f"the share has fallen to {share:.1%}: lower MOST_ANY to keep it there"


def test_aliases_of_any_count_as_any():
    module = ast.parse("A: TypeAlias = Any\nB: TypeAlias = 'dict[str, A]'\nC: TypeAlias = int")
    assert _names_of_any([module]) == {"Any", "A", "B"}


#: largest number of parameters of a function in the core, with ``self``, and the functions with more
MOST_PARAMETERS = 8
WITH_MORE_PARAMETERS = {"Primitive.__init__": "a declaration of an operator names its rules by keyword"}


def parameters_of(module: ast.Module) -> dict[str, int]:
    """The number of parameters of each function and method, by the names of class and function."""
    counts = {}
    for owner in ast.walk(module):
        for node in ast.iter_child_nodes(owner):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{owner.name}.{node.name}" if isinstance(owner, ast.ClassDef) else node.name
                listed = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                counts[name] = max(counts.get(name, 0), len(listed))
    return counts


def test_no_function_has_many_parameters():
    long = {
        name
        for path in CORE
        for name, count in parameters_of(ast.parse(path.read_text())).items()
        if count > MOST_PARAMETERS
    }
    assert long == WITH_MORE_PARAMETERS.keys()


def test_parameters_of_every_kind_count():
    module = ast.parse(
        "class A:\n    def f(self, a, /, b, *, c): ...\n\ndef g(*xs, **ys):\n    def h(x): ...\n"
    )
    assert parameters_of(module) == {"A.f": 4, "g": 0, "h": 1}
