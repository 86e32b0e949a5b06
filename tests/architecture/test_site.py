"""The site of the documentation: navigation, languages, public names only, and a reference without gaps.

Nothing here needs mkdocs; ``scripts/docs`` builds the site and checks what was built.
"""

import ast
import importlib
import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if ".zh." not in path.name)
CHINESE = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.zh.md"))
#: documents about the inside of the house; all others are for users
INSIDE = {"architecture.md", "walk.md", "heart.md", "eager_engine.md", "howto/add_operator.md"}
#: the rooms that are no public modules
ROOMS = {
    "_base", "api", "backend", "control", "eager", "execution", "ir", "optimize", "rows", "solvers", "sparse", "trace",
    "transforms",
}  # fmt: skip
MOST_BYTES_OF_A_PICTURE = 150_000


def navigation():
    """The pages of the English and of the Chinese navigation of mkdocs.yml."""
    text = (ROOT / "mkdocs.yml").read_text()
    plugins, english = text.split("\nnav:\n")
    chinese = plugins.partition("          nav:")[2].partition("  - mkdocstrings:")[0]
    return [re.findall(r"^ *- (?:[^\n]*: )?([\w/]+\.md)$", part, re.M) for part in (english, chinese)]


@pytest.mark.parametrize("language", [0, 1], ids=["english", "chinese"])
def test_every_page_is_in_the_navigation_once(language):
    pages = navigation()[language]
    others = [page for page in PAGES if not page.startswith("decisions/")]  # which docs/site/hooks.py enters
    assert sorted(pages) == others, "enter the page into both navigations of mkdocs.yml"


def blocks(page):
    return re.findall(r"^```.*?^```$", (DOCS / page).read_text(), re.S | re.M)


def python_blocks(page):
    return [block for block in blocks(page) if block.startswith("```python")]


@pytest.mark.parametrize("page", CHINESE)
def test_a_page_in_chinese_has_the_program_of_the_english_one(page):
    english = page.replace(".zh.md", ".md")
    assert python_blocks(page) == python_blocks(english)


def test_first_page_quickstart_guide_and_tutorials_are_in_chinese():
    pages = {"index.md", "quickstart.md", "gradients.md", *(p for p in PAGES if p.startswith("tutorials/"))}
    assert pages <= {page.replace(".zh.md", ".md") for page in CHINESE}


def internal_imports(text):
    names = re.findall(r"(?:from|import) +mindgrad\.(\w+)", text)
    names += re.findall(r"\b(?:mindgrad|ms)\.(\w+)\.", text)
    names += [
        name for line in re.findall(r"from mindgrad import (.*)", text) for name in re.findall(r"\w+", line)
    ]
    return sorted(ROOMS & set(names))


def test_user_pages_import_public_modules_only():
    faults = {page: internal_imports("\n".join(blocks(page))) for page in PAGES if page not in INSIDE}
    assert not {page: names for page, names in faults.items() if names and not page.startswith("decisions/")}


@pytest.mark.parametrize(
    "text",
    [
        "from mindgrad.ir.graph import Graph",
        "import mindgrad.trace",
        "from mindgrad import ops, ir",
        "ms.backend.xla.x",
    ],
)
def test_an_internal_import_is_seen(text):
    assert internal_imports(text)


def test_pictures_are_small():
    pictures = [path for kind in ("svg", "png", "jpg") for path in DOCS.rglob(f"*.{kind}")]
    assert pictures
    assert not [path.name for path in pictures if path.stat().st_size > MOST_BYTES_OF_A_PICTURE]


def ours(page):
    """The names of mindgrad in the tables of a page: those of the last column."""
    rows = re.findall(r"^\|.*\|$", (DOCS / page).read_text(), re.M)
    last = [re.split(r"(?<!\\)\|", row)[-2] for row in rows]
    return sorted({name for cell in last for name in re.findall(r"\b(?:ms|ops|nn|net|x)(?:\.\w+)+", cell)})


@pytest.mark.parametrize(("page", "fewest"), [("mindspore", 20), ("jax", 35), ("pytorch", 50)])
def test_equivalents_exist(page, fewest):
    names = ours(f"coming_from/{page}.md")
    assert len(names) >= fewest
    owners = {"ms": ms, "ops": ops, "nn": nn, "net": nn.Dense(1, 1), "x": Tensor([1.0])}
    missing = []
    for name in names:
        owner, *attributes = name.split(".")
        value = owners[owner]
        for attribute in attributes:
            value = getattr(value, attribute, None)
        if value is None:
            missing.append(name)
    assert missing == []


def program(name):
    """A program of docs/site as a module."""
    specification = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference():
    return program("reference")


def test_the_reference_has_every_public_name_once(reference, tmp_path):
    pages = reference.references()
    files = [page.file for page in pages]
    assert len(files) == len(set(files))
    described = [entry.path for page in pages for entry in page.described]
    others = [entry.path for page in pages for entry, _ in page.further]
    public = [entry.path for module in reference.MODULES for entry in reference.entries(module)]
    assert sorted(described + others) == sorted(public)
    assert {"mindgrad.grad", "mindgrad.ops.matmul", "mindgrad.nn.Dense", "mindgrad.tools.explain"} <= set(
        public
    )
    assert {original.path for page in pages for _, original in page.further} <= set(described)
    reference.stubs(pages, tmp_path)  # which parses what it writes
    texts = {page.file: reference.text_of(page) for page in pages}
    assert "::: mindgrad.laplacian" in texts["series"]
    assert (
        "| `mindgrad.ops.laplacian` | [`mindgrad.laplacian`][mindgrad.laplacian] |"
        in texts["ops-derivatives"]
    )


def definitions(file):
    """The names that a reader of the source of a module finds: definitions and plain assignments."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


def test_signatures_define_every_object_of_the_reference(reference, tmp_path):
    pages = reference.references()
    reference.stubs(pages, tmp_path)
    named = [path for page in pages for path in re.findall(r"^::: (.*)$", reference.text_of(page), re.M)]
    found = {
        f"{module}.{name}"
        for module in reference.MODULES
        for name in definitions(tmp_path.joinpath(*module.split("."), "__init__.py"))
    }
    assert len(named) > 2000
    assert set(named) - found == set()


def test_hooks_make_the_folder_that_mkdocstrings_reads(reference, monkeypatch, tmp_path):
    modules = {
        name: ModuleType(name) for name in ("mkdocs.plugins", "mkdocs.structure.files", "pymdownx.slugs")
    }
    modules["mkdocs.plugins"].event_priority = lambda _: lambda function: function
    modules["mkdocs.structure.files"].File = modules["pymdownx.slugs"].slugify = None
    for name, module in {**modules, "reference": reference}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "path", [str(DOCS / "site"), *sys.path])
    hooks = program("hooks")
    monkeypatch.setattr(hooks, "ROOT", tmp_path)
    hooks.on_startup(command="build", dirty=False)
    (named,) = re.findall(r"^ *paths: \[(.*)\]$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert (tmp_path / named).is_dir()
    assert hooks.signatures() == tmp_path / named


def modules_below(names):
    """The modules that modules export, and those that these export."""
    modules = {}
    waiting = [importlib.import_module(name) for name in names]
    while waiting:
        module = waiting.pop()
        if module.__name__ not in modules:
            modules[module.__name__] = module
            values = [getattr(module, name) for name in getattr(module, "__all__", ())]
            waiting += [x for x in values if isinstance(x, ModuleType) and x.__name__.startswith("mindgrad.")]
    return modules


def test_the_reference_has_the_modules_that_modules_export(reference):
    described = {id(entry.value) for page in reference.references() for entry in page.described}
    missing = {
        f"{name}.{entry.name}"
        for name, module in modules_below(reference.MODULES).items()
        if name not in reference.MODULES and hasattr(module, "__all__")
        for entry in reference.entries(name)
        if callable(entry.value) and id(entry.value) not in described
    }
    # what modules of MindSpore's names share with each other
    inside = ("mindgrad.common.seed.", "mindgrad.mindrecord.filereader.")
    assert sorted(name for name in missing if not name.startswith(inside)) == []


def test_signatures_and_docstrings_are_those_of_the_objects(reference):
    text = reference.stub("grad", ms.grad, "")
    assert text.startswith("def grad(fn, grad_position: int | tuple[int, ...] | None = 0, weights = None")
    assert "```pycon\\n>>> import mindgrad as ms" in text
    assert "**Returns:** Callable: takes" in reference.stub("hessian", ms.hessian, "")
    assert reference.markdown("A.\n\nReturns:\n    B: c\n    d.\n\nRaises:\n    E: f.") == (
        "A.\n\n**Returns:** B: c\nd.\n\nRaises:\n    E: f."
    )
    assert "| one position | gradient |\\n| several positions |" in text
    assert "def asnumpy(self" in reference.stub("Tensor", Tensor, "")
    assert reference.stub("pi", 3.5, "").startswith("pi: Any = 3.5")
    assert "class Parameter:" in reference.stub("Parameter", Parameter, "")


def test_the_checker_of_the_built_site_sees_what_is_missing(tmp_path):
    check = program("check")
    (tmp_path / "search").mkdir()
    (tmp_path / "zh").mkdir()
    entry = {"location": "gradients/#first", "title": "First order", "text": "ops.GradOperation"}
    (tmp_path / "search" / "search_index.json").write_text(json.dumps({"docs": [entry]}))
    (tmp_path / "zh" / "index.html").write_text(
        '<h1 id="梯度">梯度</h1><a href="../#there">x</a><a href="https://x.y">x</a>'
    )
    (tmp_path / "index.html").write_text(
        '<h1 id="there">x</h1><a href="zh/#%E6%A2%AF%E5%BA%A6">x</a><a href="/zh/">x</a>'
        '<a href="gone/">x</a><img src="gone.png"><a href="zh/#gone">x</a><script src="https://x.y/z.js"></script>'
    )
    assert check.dead_links(tmp_path) == [
        "index.html: gone.png leads nowhere", "index.html: gone/ leads nowhere", "index.html: zh/#gone has no such place",
    ]  # fmt: skip
    assert check.third_parties(tmp_path) == ["index.html: something is loaded from another host"]
    unknown = check.unknown_searches(tmp_path)
    assert len(unknown) == len(check.SEARCHES) + len(check.SEARCHES_IN_CHINESE) - 1
    assert not any("GradOperation" in fault for fault in unknown)
