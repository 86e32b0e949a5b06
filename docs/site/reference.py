"""The pages of the reference, made from the public names, so that none is missing.

A page collects names by the modules that define them. What no page collects stands on the page "Further names" of its
module. Each object is described once; its other names are rows of a table that lead there.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import keyword
import re
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from mindgrad.ops.registry import CLASSES, surface_forms

#: the public modules, in the order in which an object is looked for
MODULES = [
    "mindgrad", "mindgrad.tools", "mindgrad.tools.profile", "mindgrad.tools.cost", "mindgrad.nn", "mindgrad.train",
    "mindgrad.amp", "mindgrad.ops", "mindgrad.numpy", "mindgrad.common.initializer", "mindgrad.nn.probability.distribution",
    "mindgrad.nn.probability.bijector", "mindgrad.nn.probability.bnn_layers", "mindgrad.dataset", "mindgrad.dataset.vision",
    "mindgrad.dataset.vision.c_transforms", "mindgrad.dataset.vision.py_transforms", "mindgrad.dataset.transforms",
    "mindgrad.dataset.text", "mindgrad.dataset.config", "mindgrad.mindrecord", "mindgrad.mint", "mindgrad.mint.linalg",
    "mindgrad.mint.nn", "mindgrad.mint.nn.functional", "mindgrad.experimental.optim",
    "mindgrad.experimental.optim.lr_scheduler", "mindgrad.scipy.linalg", "mindgrad.scipy.fft", "mindgrad.scipy.ops",
    "mindgrad.scipy.optimize", "mindgrad.scipy.sparse", "mindgrad.scipy.sparse.linalg", "mindgrad.communication",
    "mindgrad.boost", "mindgrad.hal", "mindgrad.runtime", "mindgrad.device_context.cpu", "mindgrad.device_context.gpu",
    "mindgrad.device_context.ascend", "mindgrad.device_context.cpu_tuning", "mindgrad.parallel", "mindgrad.parallel.nn",
    "mindgrad.profiler", "mindgrad.log", "mindgrad.curvature",
]  # fmt: skip


class Page(NamedTuple):
    """A page: its file, its title, the public module, and the modules that define its names (none: all)."""

    file: str
    title: str
    module: str
    sources: str = ""


PAGES = [
    Page("derivatives", "Derivatives", "mindgrad", "api.gradient api.jvp api.vjp api.jacobian api.hessian trace.custom api.custom"),
    Page("series", "Taylor series and Laplacians", "mindgrad", "api.taylor api.laplacian"),
    Page("solvers", "Solvers with implicit derivatives", "mindgrad", "solvers"),
    Page("compiling", "Compiling, batching, memory", "mindgrad", "api.jit api.vmap api.recompute execution ir.mutable errors"),
    Page("tensor", "Tensor", "mindgrad", "core.ir.tensor"),
    Page("parameters", "Parameters and special tensors", "mindgrad", "common.parameter common.tensor common.sparse_tensor ops.storage ops.introspection"),
    Page("types", "Element types", "mindgrad", "core.ir.dtype common.dtype"),
    Page("random", "Seeds and generators", "mindgrad", "common.seed common.generator"),
    Page("context", "Settings and devices", "mindgrad", "context builtins hal backend cli common.installation parallel profiler"),
    Page("tools", "Tools: explain, check, measure", "mindgrad.tools"),
    Page("nn-cells", "Cells and containers", "mindgrad.nn", "nn.cell nn.container nn.grad nn.graph_cell nn.init_parameters nn.wrap"),
    Page("nn-layers", "Layers", "mindgrad.nn", "nn.layer.basic nn.layer.combined nn.layer.conv nn.layer.dropout nn.layer.embedding nn.layer.image nn.layer.linear nn.layer.math nn.layer.padding nn.layer.pooling nn.sparse nn.layer.image_quality"),
    Page("nn-activations", "Activations and normalization", "mindgrad.nn", "nn.layer.activation nn.layer.normalization"),
    Page("nn-sequences", "Recurrent layers, attention, transformers", "mindgrad.nn", "nn.layer.attention nn.layer.rnn_cells nn.layer.rnns nn.layer.transformer"),
    Page("nn-losses", "Losses", "mindgrad.nn", "nn.loss"),
    Page("nn-optimizers", "Optimizers", "mindgrad.nn", "nn.optim"),
    Page("nn-rates", "Learning rates", "mindgrad.nn", "nn.dynamic_lr nn.learning_rate_schedule"),
    Page("nn-metrics", "Metrics", "mindgrad.nn", "nn.metrics"),
    Page("train", "Model, files, training", "mindgrad.train", "train.model train.loading train.serialization train.data_sink train.dataset_helper"),
    Page("train-callbacks", "Callbacks", "mindgrad.train", "train.callback"),
    Page("train-precision", "Mixed precision", "mindgrad.train", "train.amp train.loss_scale_manager builtins"),
    Page("ops-arithmetic", "Arithmetic and comparison", "mindgrad.ops", "ops.arithmetic ops.comparison ops.rounding ops.signs ops.divisors ops.nearest_numbers ops.complexes ops.conversion ops.clipping"),
    Page("ops-functions", "Elementary and special functions", "mindgrad.ops", "ops.math ops.special ops.incomplete ops.exponential"),
    Page("ops-reductions", "Reductions, statistics, sorting", "mindgrad.ops", "ops.reduction ops.statistics ops.extremes ops.quantiles ops.cumulative ops.ordering ops.histograms ops.segments"),
    Page("ops-shapes", "Creating and arranging tensors", "mindgrad.ops", "ops.creation ops.layout ops.movement ops.joining ops.repeating ops.padding ops.shuffling ops.tensor_members ops.matrices ops.matrix_bands ops.diagonals ops.im2col ops.window_functions"),
    Page("ops-indexing", "Indexing and scattering", "mindgrad.ops", "ops.indexing ops.slices ops.scattering ops.assigning ops.sequences ops.storage ops.introspection"),
    Page("ops-linear-algebra", "Products and linear algebra", "mindgrad.ops", "ops.contraction ops.affine ops.linalg ops.factorization ops.lu_factors ops.vectors"),
    Page("ops-fourier", "Fourier transforms", "mindgrad.ops", "ops.fourier ops.spectrograms"),
    Page("ops-networks", "Functions of neural networks", "mindgrad.ops", "ops.activation ops.rectifiers ops.convolution ops.pooling ops.unpooling ops.normalization ops.dropping ops.losses ops.likelihoods ops.classification ops.alignments ops.resizing ops.grid_sampling ops.boxes ops.updates"),
    Page("ops-random", "Random numbers", "mindgrad.ops", "ops.random ops.sampling ops.rejection_samplers ops.candidates"),
    Page("ops-derivatives", "Derivatives and control", "mindgrad.ops", "api trace ops.estimators ops.flow ops.composite ops.tuples ops.collectives ops.functional"),
    Page("ops-sparse", "Sparse tensors", "mindgrad.ops", "ops.sparse ops.sparse_values common.sparse_tensor"),
    Page("operations-math", "Operator classes: mathematics", "mindgrad.ops", "ops.operations.math_ops ops.operations.special_ops ops.operations.linalg_ops ops.operations.random_ops"),
    Page("operations-arrays", "Operator classes: arrays", "mindgrad.ops", "ops.operations.array_ops ops.operations.part_ops ops.operations.sparse_ops ops.operations.box_ops"),
    Page("operations-networks", "Operator classes: networks", "mindgrad.ops", "ops.operations.nn_ops ops.operations.layer_ops ops.operations.loss_ops ops.operations.alignment_ops ops.operations.update_ops"),
    Page("operations-others", "Operator classes: others", "mindgrad.ops", "ops.operations"),
    Page("numpy-arrays", "numpy: arrays", "mindgrad.numpy", "numpy.creating numpy.arranging numpy.concatenation numpy.choosing numpy.grids numpy.margins"),
    Page("numpy-constants", "numpy: constants and types", "mindgrad.numpy", "builtins core.ir.dtype"),
    Page("numpy-mathematics", "numpy: mathematics", "mindgrad.numpy", "numpy"),
    Page("dataset", "Datasets", "mindgrad.dataset", "dataset"),
]  # fmt: skip

#: the pages of what the registry makes, by the pages of the functions; the last for all others
FORM_PAGES = {
    CLASSES: {
        "operations-math": [
            "ops-arithmetic", "ops-functions", "ops-reductions", "ops-linear-algebra", "ops-fourier", "ops-random",
            "operations-math",
        ],
        "operations-arrays": ["ops-shapes", "ops-indexing", "ops-sparse", "operations-arrays"],
        "operations-networks": ["ops-networks", "operations-networks"],
        "operations-others": [],
    },
    "numpy": {"numpy-arrays": ["ops-shapes", "ops-indexing"], "numpy-mathematics": []},
}  # fmt: skip


class Entry(NamedTuple):
    """A public name and what it stands for."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def source(self) -> str:
        """The module that defines it, without the package."""
        own = getattr(self.value, "__module__", None) or type(self.value).__module__
        return own.removeprefix("mindgrad").removeprefix(".") or "errors"

    @property
    def identity(self) -> Any:
        """Equal for two names of one object; constants are themselves under each name."""
        return id(self.value) if callable(self.value) or isinstance(self.value, tuple | list) else self.path


class Reference(NamedTuple):
    """The file, title and names of a page, and the names of objects that other names describe."""

    file: str
    title: str
    module: str
    described: list[Entry]
    further: list[tuple[Entry, Entry]]


def entries(module: str) -> list[Entry]:
    """The public names of a module, without the modules among them."""
    package = importlib.import_module(module)
    names = getattr(package, "__all__", None) or [
        name for name, value in vars(package).items() if not name.startswith("_") and defines(package, value)
    ]
    values = [Entry(module, name, getattr(package, name)) for name in names]
    return [entry for entry in values if not isinstance(entry.value, ModuleType)]


def defines(package: ModuleType, value: Any) -> bool:
    """Whether a value of a module without ``__all__`` is one that it gives its users."""
    return callable(value) and getattr(value, "__module__", "").startswith(package.__name__)


def page_of(entry: Entry) -> tuple[str, str]:
    """File and title of the page of a name."""
    path, owner = {"mindgrad.ops": (CLASSES, CLASSES), "mindgrad.numpy": ("numpy", "numpy")}.get(
        entry.module, ("", None)
    )
    form = surface_forms(path).get(entry.name)
    if form is not None and entry.source == owner:
        function = page_of(Entry("mindgrad.ops", form.function.__name__, form.function))[0]
        file = next(own for own, pages in FORM_PAGES[path].items() if function in pages or not pages)
        return file, next(page.title for page in PAGES if page.file == file)
    for page in PAGES:
        if page.module == entry.module and any(
            entry.source == source or entry.source.startswith(source + ".") or not source
            for source in page.sources.split() or [""]
        ):
            return page.file, page.title
    short = entry.module.removeprefix("mindgrad.")
    if any(page.module == entry.module for page in PAGES):
        return f"{short.replace('.', '-')}-further", f"Further names of {short}"
    return short.replace(".", "-"), short


def references() -> list[Reference]:
    """The pages, in their order; each object stands on the first page, by the table, that has a name of it."""
    order = {page.file: position for position, page in enumerate(PAGES)}
    placed = [(page_of(entry), entry) for module in MODULES for entry in entries(module)]
    placed.sort(key=lambda item: order.get(item[0][0], len(order)))
    pages: dict[str, Reference] = {}
    first: dict[Any, Entry] = {}
    for (file, title), entry in placed:
        page = pages.setdefault(file, Reference(file, title, entry.module, [], []))
        original = first.setdefault(entry.identity, entry)
        if original is entry:
            page.described.append(entry)
        else:
            page.further.append((entry, original))
    return list(pages.values())


def text_of(page: Reference) -> str:
    """The Markdown of a page, for mkdocstrings."""
    lines = [
        "---",
        f"search: {{boost: {boost(page)}}}",
        "---",
        "",
        f"# {page.title}",
        "",
        f"Names of `{page.module}`.",
        "",
    ]
    for entry in sorted(page.described, key=lambda entry: (entry.name.lower(), entry.name)):
        lines += [f"::: {entry.path}", ""]
    if page.further:
        lines += [
            "## Further names of objects that are described elsewhere",
            "",
            "| name | the same as |",
            "|---|---|",
        ]
        lines += [f"| `{entry.path}` | [`{other.path}`][{other.path}] |" for entry, other in page.further]
    return "\n".join(lines) + "\n"


def boost(page: Reference) -> float:
    """The weight of a page in the search: who types ``grad`` looks for that of ``mindgrad``, not for its relatives."""
    if page.module in ("mindgrad", "mindgrad.tools") and page.file not in ("tensor", "mindgrad-further"):
        return 4
    return 0.5 if page.file.startswith("operations") or page.module.startswith("mindgrad.mint") else 1


def stubs(pages: list[Reference], folder: Path) -> None:
    """Write the described objects as a package of signatures and docstrings, which mkdocstrings reads.

    Most operators are made by tables and decorators, so that a reader of the source finds no ``def`` of theirs.
    """
    modules: dict[str, list[str]] = {module: [] for module in MODULES}
    targets = targets_of(pages)
    for page in pages:
        for entry in page.described:
            modules[entry.module].append(stub(entry.name, entry.value, ""))
    for module in modules:
        target = folder.joinpath(*module.split("."))
        for parent in [target, *target.parents]:
            if parent == folder:
                break
            parent.mkdir(parents=True, exist_ok=True)
            (parent / "__init__.py").touch()
    for module, texts in modules.items():
        text = linked("\n".join(["from typing import Any", *texts, ""]), targets)
        ast.parse(text)
        folder.joinpath(*module.split("."), "__init__.py").write_text(text)


def targets_of(pages: list[Reference]) -> dict[str, str]:
    """The paths of the described objects by all paths under which docstrings refer to them."""
    targets: dict[str, str] = {}
    for page in pages:
        for entry in page.described:
            targets[entry.path] = entry.path
            if isinstance(entry.value, type):
                targets |= {
                    f"{entry.path}.{key}": f"{entry.path}.{key}"
                    for key, member in vars(entry.value).items()
                    if not key.startswith("_") and is_described(member)
                }
        targets |= {entry.path: original.path for entry, original in page.further}
    return targets


def linked(text: str, targets: dict[str, str]) -> str:
    """A text whose references lead to described objects; a reference to any other name is code.

    >>> linked("[`a.b`][] and [`c`][]", {"a.b": "a.b"})
    '[`a.b`][a.b] and `c`'
    """

    def link(reference: re.Match[str]) -> str:
        target = targets.get(reference[1])
        return f"`{reference[1]}`" if target is None else f"[`{reference[1]}`][{target}]"

    return re.sub(r"\[`([\w.]+)`\]\[\]", link, text)


def stub(name: str, value: Any, indent: str) -> str:
    """One function, class or constant."""
    inner = indent + "    "
    is_inherited = isinstance(value, type) and "__doc__" not in vars(value)
    own = "" if is_inherited else getattr(value, "__doc__", "")
    doc = markdown(inspect.cleandoc(str(own or "")))
    if isinstance(value, type):
        members = [
            stub(key, member, inner)
            for key, member in vars(value).items()
            if not key.startswith("_") and not keyword.iskeyword(key) and is_described(member)
        ]
        start = [f"{inner}def __init__{signature(value, method=True)}: ..."]
        return "\n".join([f"{indent}class {name}:", f"{inner}{doc!r}", *start, *members])
    if isinstance(value, property):
        return f"{indent}@property\n{indent}def {name}(self):\n{inner}{doc!r}"
    if callable(value) and hasattr(value, "__name__"):
        return f"{indent}def {name}{signature(value, method=bool(indent))}:\n{inner}{doc!r}"
    # a constant, whose docstring is that of its type
    doc = "" if value.__doc__ == type(value).__doc__ else doc
    shown = repr(value) if isinstance(value, bool | int | float | str) and value == value else "..."
    shown = "..." if shown in ("inf", "-inf") else shown
    return f"{indent}{name}: Any = {shown}\n{indent}{doc or f'A constant: {value!r:.300}'!r}"


def markdown(doc: str) -> str:
    """A docstring with its examples in fences, references of Sphinx as links, and results as paragraphs.

    A reader of Google's style takes what stands before a colon in a result for its type; here it is a sentence.
    """
    doc = re.sub(r"^(Returns|See Also):\n((?:(?: .*)?(?:\n|\Z))+?)(?=\S|\Z)", paragraph, doc, flags=re.M)
    doc = re.sub(r"^(=+(?: +=+)+)\n((?:.+\n)+?)\1\n((?:.+\n)+?)\1$", table, doc, flags=re.M)
    doc = re.sub(r"^Inputs:\n((?: .*(?:\n|\Z))+)", inputs, doc, flags=re.M)
    doc = re.sub(r"^    (\**\w+(?:, \**\w+)+)( \(.*?\))?:((?:.*)(?:\n     +\S.*)*)", divided, doc, flags=re.M)
    doc = re.sub(r":(?:func|class|meth|mod|data|attr|exc):`~?([^`]+)`", r"[`\1`][]", doc)
    fence = r"(?:^|(?<=\n))>>> .*?(?=\n\n(?!>>>)|\Z)"
    return re.sub(fence, lambda block: f"```pycon\n{block[0]}\n```", doc, flags=re.S)


def table(block: re.Match[str]) -> str:
    """A simple table of reStructuredText as one of Markdown."""
    starts = [column.start() for column in re.finditer("=+", block[1])]
    ends = [*starts[1:], None]

    def row(line: str) -> str:
        cells = (line[start:end].strip() for start, end in zip(starts, ends, strict=True))
        return f"| {' | '.join(cells)} |"

    lines = [row(line) for line in (block[2] + block[3]).splitlines()]
    return "\n".join([lines[0], f"|{'---|' * len(starts)}", *lines[1:]])


def paragraph(section: re.Match[str]) -> str:
    """The section of a result, or of related names, as text."""
    return f"**{section[1].capitalize()}:** {inspect.cleandoc(section[2]).strip()}\n\n"


def inputs(section: re.Match[str]) -> str:
    """The section of the inputs of a call as a list."""
    entries = re.split(r"\n(?=    \S)", section[1].rstrip())
    lines = [
        re.sub(r"^(\**\w+(?:, \**\w+)*)(?: \((.*?)\))?:", named, " ".join(entry.split())) for entry in entries
    ]
    return "**Inputs:**\n\n" + "\n".join(f"- {line}" for line in lines) + "\n"


def named(entry: re.Match[str]) -> str:
    return f"**{entry[1]}**" + (f" (*{entry[2]}*):" if entry[2] else ":")


def divided(entry: re.Match[str]) -> str:
    """An entry for each of the names that one entry describes."""
    return "\n".join(f"    {name}{entry[2] or ''}:{entry[3]}" for name in entry[1].split(", "))


def is_described(member: Any) -> bool:
    return isinstance(member, property) or (inspect.isfunction(member) and bool(member.__doc__))


def signature(value: Any, *, method: bool) -> str:
    """The parameters of a callable, as text that Python can parse."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return "(self, *args, **kwargs)" if method else "(*args, **kwargs)"
    if method and (not parameters or parameters[0].name != "self"):
        parameters.insert(0, inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD))
        if any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in parameters):
            parameters[0] = parameters[0].replace(kind=inspect.Parameter.POSITIONAL_ONLY)
    parts: list[str] = []
    kinds = [p.kind for p in parameters]
    for position, p in enumerate(parameters):
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        if (
            p.kind is p.KEYWORD_ONLY
            and p.VAR_POSITIONAL not in kinds
            and p.KEYWORD_ONLY not in kinds[:position]
        ):
            parts.append("*")
        note = annotation(p.annotation)
        default = "" if p.default is p.empty else f" = {constant(p.default)}"
        parts.append(f"{star}{p.name}{note}{default}")
        if p.kind is p.POSITIONAL_ONLY and kinds[position + 1 : position + 2] != [p.POSITIONAL_ONLY]:
            parts.append("/")
    return f"({', '.join(parts)})"


def annotation(hint: Any) -> str:
    """An annotation, where it says more than ``Any``."""
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    if hint is inspect.Parameter.empty or "Any" in text or "<" in text or not parses(text):
        return ""
    return f": {text}"


def constant(value: Any) -> str:
    text = repr(value)
    return text if parses(text) and len(text) < 60 and "object at" not in text else "..."


def parses(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
