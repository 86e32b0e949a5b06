"""The site of the documentation: navigation, languages, public names only, and a reference without gaps.

Nothing here needs mkdocs; ``scripts/docs`` builds the site and checks what was built.
"""

import ast
import functools
import importlib
import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SETTINGS = (ROOT / "mkdocs.yml").read_text()
#: documents for maintainers and contributors, which are read in the repository
NOT_ON_SITE = set(
    re.findall(r"^  (\S+\.md)$", SETTINGS.partition("exclude_docs: |")[2].partition("strict:")[0], re.M)
)
PAGES = sorted(
    page
    for path in DOCS.rglob("*.md")
    if ".zh." not in path.name and (page := path.relative_to(DOCS).as_posix()) not in NOT_ON_SITE
)
CHINESE = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.zh.md"))
#: documents about the inside of the house; all others are for users
INSIDE = {
    "architecture.md",
    "core.md",
    "first_call.md",
    "how_it_works.md",
    "eager_engine.md",
    "howto/add_operator.md",
    "howto/add_rewrite.md",
    "howto/add_transform.md",
}
#: the packages that are no public modules
PACKAGES = {"_base", "api", "core", "distributed", "eager", "frontend", "inspect", "solvers"}
MOST_BYTES_OF_A_PICTURE = 150_000


def navigation():
    """The pages of the English and of the Chinese navigation of mkdocs.yml."""
    plugins, english = SETTINGS.split("\nnav:\n")
    chinese = plugins.partition("          nav:")[2].partition("  - mkdocstrings:")[0]
    return [re.findall(r"^ *- (?:[^\n]*: )?([\w/]+\.md)$", part, re.M) for part in (english, chinese)]


@pytest.mark.parametrize("language", [0, 1], ids=["english", "chinese"])
def test_every_page_is_in_the_navigation_once(language):
    pages = navigation()[language]
    others = [page for page in PAGES if not page.startswith("decisions/")]  # which docs/site/hooks.py enters
    assert sorted(pages) == others, "enter the page into both navigations of mkdocs.yml"


#: words that a reader types into a search, which stand in the title or the first paragraph of the page
SEARCH_WORDS = {
    "index.md": ["automatic differentiation", "autodiff", "gradient", "Jacobian", "Hessian", "Laplacian", "higher-order"],
    "installation.md": ["install", "NVIDIA GPU", "mindgrad doctor"],
    "quickstart.md": ["automatic differentiation", "gradients", "network", "compile"],
    "gradients.md": ["automatic differentiation", "autodiff", "forward mode", "reverse mode", "backpropagation"],
    "sharp_bits.md": ["pitfalls", "automatic differentiation", "compiled functions"],
    "faq.md": ["FAQ", "troubleshooting", "NaN", "zero gradients", "recompilation", "out of memory"],
    "is_it_for_me.md": ["limitations", "JAX", "PyTorch", "MindSpore"],
    "performance.md": ["performance", "eager", "compiled", "recompilation", "cache"],
    "eager.md": ["eager mode", "PYNATIVE_MODE"],
    "graph_mode.md": ["graph mode", "jit", "XLA", "pure functions", "control flow"],
    "supported_python.md": ["Python", "compiled functions", "CompileError", "out-of-range indices"],
    "mode_choice.md": ["higher-order derivatives", "forward mode", "reverse mode", "Taylor", "Laplacian"],
    "implicit.md": ["implicit differentiation", "ODE", "root", "minimum", "linear system"],
    "sparse.md": ["sparse", "Jacobian", "Hessian", "csr_array"],
    "conventions.md": ["nondifferentiable", "kinks", "NaN"],
    "checking.md": ["check a gradient", "finite differences"],
    "source.md": ["export", "code generation", "source"],
    "explain.md": ["compiled", "rewrites"],
    "errors.md": ["error messages", "warnings"],
    "arrays.md": ["interoperability", "NumPy", "JAX", "PyTorch", "pandas", "DLPack"],
    "cache.md": ["compilation cache", "disk"],
    "commands.md": ["command line", "environment variables"],
    "training.md": ["learning-rate schedules", "parameter groups", "checkpoint"],
    "scale.md": ["distributed training", "data-parallel", "processes"],
    "distributed_jobs.md": ["distributed training", "security", "fails"],
    "sharding.md": ["shard", "tensor parallelism", "devices"],
    "coverage.md": ["MindSpore API coverage"],
    "speed.md": ["benchmarks", "JAX", "PyTorch"],
    "terms.md": ["glossary", "automatic differentiation"],
    "gallery.md": ["examples"],
    "howto/control_flow.md": ["control flow", "if", "while", "for", "compiled functions", "loops"],
    "howto/find_nans.md": ["NaN", "infinity", "debug_nans"],
    "howto/gpu.md": ["GPU", "NVIDIA", "CUDA"],
    "howto/jacobians.md": ["Jacobian", "Hessian", "JVP", "VJP", "HVP"],
    "howto/memory.md": ["gradient checkpointing", "rematerialization", "memory", "backpropagation"],
    "howto/mixed_precision.md": ["mixed precision", "float16", "bfloat16", "scale the loss"],
    "howto/own_derivative.md": ["custom derivative", "custom VJP", "bprop"],
    "howto/pde_residuals.md": ["PDE", "partial differential equation", "Laplacian", "PINN"],
    "howto/per_sample_gradients.md": ["per-sample gradients", "per-example gradients"],
    "howto/random_numbers.md": ["random numbers", "seeds", "reproducible"],
    "howto/scipy_optimizers.md": ["SciPy", "minimize", "gradient"],
    "howto/second_order.md": ["second-order", "Gauss–Newton", "Levenberg–Marquardt", "K-FAC", "natural gradient", "L-BFGS"],
    "howto/shapes.md": ["dynamic shapes", "recompilation"],
    "howto/speed.md": ["performance", "faster"],
}  # fmt: skip


@pytest.mark.parametrize("page", SEARCH_WORDS)
def test_title_and_first_paragraph_have_search_words(page):
    head = "\n".join((DOCS / page).read_text().split("\n\n")[:2]).lower()
    head = " ".join(head.split())
    words = [" ".join(word.lower().split()) for word in SEARCH_WORDS[page]]
    assert [word for word in words if word not in head] == []


def test_user_pages_have_search_words():
    others = {
        "accuracy.md",
        "api_by_task.md",
        "differences.md",
        "glossary.md",
        "scale_cost.md",
        "style.md",
        *INSIDE,
    }
    folders = ("coming_from/", "decisions/", "tutorials/")
    users = {page for page in PAGES if not page.startswith(folders)} - others
    assert users == set(SEARCH_WORDS)


@pytest.mark.parametrize("page", SEARCH_WORDS)
def test_pages_for_users_do_not_refer_to_decisions(page):
    assert "decisions/" not in (DOCS / page).read_text()


def redirects():
    """The old addresses of mkdocs.yml, and the pages that replace them."""
    return dict(re.findall(r"^    (\S+\.md): (\S+\.md)$", SETTINGS, re.M))


def test_redirects_lead_from_removed_pages_to_existing_ones():
    assert redirects()
    assert not [old for old in redirects() if old in PAGES]
    assert not [new for new in redirects().values() if new not in PAGES]


def blocks(page):
    return re.findall(r"^```.*?^```$", (DOCS / page).read_text(), re.S | re.M)


def python_blocks(page):
    return [block for block in blocks(page) if block.startswith("```python")]


@pytest.mark.parametrize("page", CHINESE)
def test_a_page_in_chinese_has_the_program_of_the_english_one(page):
    english = page.replace(".zh.md", ".md")
    assert python_blocks(page) == python_blocks(english)


def parts(page):
    """The numbers of headings, list items, rows of tables and paragraphs of a page."""
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.S | re.M)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text) if block.strip()]
    counts = [len(re.findall(start, text, re.M)) for start in (r"^#", r"^ *(?:[-*]|\d+\.) ", r"^\|")]
    return [*counts, sum(not re.match(r"#|\||[-*] |\d+\. |!\[", block) for block in blocks)]


@pytest.mark.parametrize("page", CHINESE)
def test_a_page_in_chinese_has_the_parts_of_the_english_one(page):
    assert parts(page) == parts(page.replace(".zh.md", ".md"))


def test_first_page_quickstart_guide_and_tutorials_are_in_chinese():
    pages = {
        "index.md",
        "installation.md",
        "faq.md",
        "quickstart.md",
        "gradients.md",
        *(p for p in PAGES if p.startswith("tutorials/")),
    }
    assert pages <= {page.replace(".zh.md", ".md") for page in CHINESE}


def internal_imports(text):
    names = re.findall(r"(?:from|import) +mindgrad\.(\w+)", text)
    names += re.findall(r"\b(?:mindgrad|ms)\.(\w+)\.", text)
    names += [
        name for line in re.findall(r"from mindgrad import (.*)", text) for name in re.findall(r"\w+", line)
    ]
    return sorted(PACKAGES & set(names))


def test_user_pages_import_public_modules_only():
    faults = {page: internal_imports("\n".join(blocks(page))) for page in PAGES if page not in INSIDE}
    assert not {page: names for page, names in faults.items() if names and not page.startswith("decisions/")}


@pytest.mark.parametrize(
    "text",
    [
        "from mindgrad.core.ir.graph import Graph",
        "import mindgrad.frontend",
        "from mindgrad import ops, core",
        "ms.core.backend.xla.x",
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


def missing_names(text):
    """The names of mindgrad in code of a page that do not exist."""
    owners = {"ms": ms, "ops": ops, "nn": nn}
    names = set(re.findall(r"\b(?:ms|ops|nn)(?:\.[A-Za-z_]\w*)+", " ".join(re.findall(r"`[^`\n]+`", text))))
    return sorted(name for name in names if not exists(owners[name.split(".")[0]], name.split(".")[1:]))


def exists(value, attributes):
    return functools.reduce(lambda owner, name: getattr(owner, name, None), attributes, value) is not None


@pytest.mark.parametrize(
    "page", ["api_by_task.md", "terms.md", "faq.md", "performance.md", "is_it_for_me.md"]
)
def test_pages_name_existing_functions(page):
    assert missing_names((DOCS / page).read_text()) == []


def test_missing_name_is_found():
    assert missing_names("`ms.grad(f)`, `ops.no_such_operator`") == ["ops.no_such_operator"]


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


@pytest.fixture
def hooks(reference, monkeypatch):
    """The hooks of mkdocs, without mkdocs."""
    modules = {
        name: ModuleType(name) for name in ("mkdocs.plugins", "mkdocs.structure.files", "pymdownx.slugs")
    }
    modules["mkdocs.plugins"].event_priority = lambda _: lambda function: function
    modules["mkdocs.structure.files"].File = modules["pymdownx.slugs"].slugify = None
    for name, module in {**modules, "reference": reference}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "path", [str(DOCS / "site"), *sys.path])
    return program("hooks")


def test_hooks_make_the_folder_that_mkdocstrings_reads(hooks, monkeypatch, tmp_path):
    monkeypatch.setattr(hooks, "ROOT", tmp_path)
    hooks.on_startup(command="build", dirty=False)
    (named,) = re.findall(r"^ *paths: \[(.*)\]$", SETTINGS, re.M)
    assert (tmp_path / named).is_dir()
    assert hooks.signatures() == tmp_path / named


def test_documents_of_the_root_link_from_docs(hooks, monkeypatch, tmp_path):
    monkeypatch.setattr(hooks, "ROOT", tmp_path)
    (tmp_path / "A.md").write_text("[a](docs/b.md#c) [d](bench/d.md) [e](https://e.org) `[x](docs/y.md)`")
    assert hooks.root_document("A.md") == "[a](b.md#c) [d](../bench/d.md) [e](https://e.org) `[x](docs/y.md)`"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# T\n\nUse `ms.grad` and\n[vmap](a.md).\n\nMore.", "Use ms.grad and vmap."),
        ("# T\n\n```\ncode\n```\n", ""),
        ("# T\n\n" + "long words " * 50, "long words " * 14 + "…"),
    ],
)
def test_description_is_the_first_paragraph(hooks, text, expected):
    assert hooks.description(text) == expected
    assert len(expected) <= hooks.LONGEST_DESCRIPTION


def test_user_pages_have_descriptions(hooks):
    pages = [page for page in PAGES if not page.startswith("decisions/")]
    assert [page for page in pages if not hooks.description((DOCS / page).read_text())] == []


def test_redirect_leads_to_new_page(hooks, tmp_path):
    config = SimpleNamespace(site_dir=str(tmp_path), extra={"redirects": {"a/old.md": "b/new.md"}})
    hooks.on_post_build(config=config)
    assert '<a href="../../b/new/">' in (tmp_path / "a" / "old" / "index.html").read_text()
    for folder in ("", "zh"):
        (tmp_path / folder / "b" / "new").mkdir(parents=True)
        (tmp_path / folder / "b" / "new" / "index.html").write_text("")
    assert program("check").dead_links(tmp_path) == []


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
    assert "| one position | gradient |\\n| several positions |" in text
    assert "**Returns:** " in reference.stub("hessian", ms.hessian, "")
    assert reference.markdown("A.\n\nReturns:\n    B: c\n    d.\n\nRaises:\n    E: f.") == (
        "A.\n\n**Returns:** B: c\nd.\n\nRaises:\n    E: f."
    )
    doc = "A.\n\nInputs:\n    x, y (Tensor): b.\n\nSee Also:\n    :func:`mindgrad.grad`, :func:`no.name`"
    text = reference.markdown(doc)
    assert "- **x, y** (*Tensor*): b." in text
    shown = reference.linked(text, {"mindgrad.grad": "mindgrad.grad"})
    assert shown.endswith("[`mindgrad.grad`][mindgrad.grad], `no.name`\n\n")
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


def test_checker_reports_a_wrong_first_result(tmp_path):
    check = program("check")
    node = tmp_path / "node"
    node.write_text('#!/bin/sh\nshift 2\nfor term; do echo \'["faq/", ""]\'; done\n')
    node.chmod(0o700)
    faults = check.wrong_first_results(tmp_path, str(node))
    right = [terms for terms in check.FIRST_RESULTS.values() if "faq/" in terms]
    assert len(faults) == len(check.FIRST_RESULTS) - len(right)
    assert "search for 'installation' finds 'faq/' first, not 'installation/'" in faults


def test_first_results_are_pages():
    terms = program("check").FIRST_RESULTS.values()
    names = {location.removesuffix("/") or "index" for expected in terms for location in expected}
    pages = [f"{name.removeprefix('zh/')}{'.zh' if name.startswith('zh/') else ''}.md" for name in names]
    assert [page for page in pages if not (DOCS / page).exists()] == []
