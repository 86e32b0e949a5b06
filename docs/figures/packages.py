"""Draws the packages of `src/mindgrad` from their imports, and writes them into docs/architecture.md.

`python docs/figures/packages.py` reads every import with `ast`; nothing of the package runs. An arrow points
to what is imported; arrows that follow from others are left out of the drawing (transitive reduction).
"""

import ast
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch, Patch

HERE = Path(__file__).parent
PAGE = HERE.parent / "architecture.md"
SOURCE = HERE.parents[1] / "src" / "mindgrad"
BEGIN, END = "<!-- imports, written by docs/figures/packages.py -->\n", "<!-- end of imports -->\n"

#: packages that are drawn as one: MindSpore's names, and the programs above them
SURFACE, INSPECT, PROGRAMS = "ops, nn, api, …", "inspect", "train, dataset, cli"
_ABOVE = {"dataset", "mindrecord", "train", "amp", "cli", "launch", "__init__", "__main__"}
_CORE = [
    "base",
    "placement",
    "ir",
    "primitives",
    "transforms",
    "control",
    "passes",
    "backend",
    "trace",
    "arrays",
    "api",
    "numpy",
    "sparse",
]
_ENGINE = [*[f"core/{part}" for part in _CORE], "_base", "frontend", "distributed", "eager"]

#: colors of the boxes
_COLORS = {
    "core": "#dde8f7",
    "other packages of the engine": "#e3f1e3",
    "MindSpore's names, and tools": "#f5f0e3",
}

Arrows = dict[str, set[str]]


def package_of(parts: tuple[str, ...]) -> str:
    """The package of a module, from the parts of its name below `mindgrad`."""
    first = parts[0] if parts else "__init__"
    if first == "core":
        return f"core/{parts[1]}" if len(parts) > 1 and parts[1] in _CORE else "core/api"
    if first in _ENGINE:
        return first
    return INSPECT if first in ("inspect", "tools") else PROGRAMS if first in _ABOVE else SURFACE


def _part(package: str) -> str:
    """The legend of a package."""
    core, engine, names = _COLORS
    return core if package.startswith("core/") else engine if package in _ENGINE else names


def arrows() -> Arrows:
    """The packages that each package imports."""
    imports: Arrows = defaultdict(set)
    for file in sorted(SOURCE.rglob("*.py")):
        package = package_of(file.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindgrad."):
                other = package_of(tuple(node.module.split(".")[1:]))
                if other != package:
                    imports[package].add(other)
    return imports


def reduced(imports: Arrows) -> Arrows:
    """The arrows that do not follow from others."""

    def reachable(package: str) -> set[str]:
        return {further for next_ in imports[package] for further in {next_, *reachable(next_)}}

    return {
        package: {other for other in others if not any(other in reachable(via) for via in others - {other})}
        for package, others in list(imports.items())
    }


def levels(imports: Arrows) -> dict[str, int]:
    """How many packages stand below each."""
    packages = [*_ENGINE, SURFACE, INSPECT, PROGRAMS]
    level = dict.fromkeys(packages, 0)
    for _ in packages:
        for package in packages:
            level[package] = max([level[other] + 1 for other in imports[package]], default=0)
    return level


def listed(imports: Arrows) -> str:
    """The arrows as a table of Markdown."""
    packages = sorted([*_ENGINE, SURFACE, INSPECT, PROGRAMS], key=levels(imports).__getitem__)
    lines = ["| package | packages that it imports |", "|---|---|"]
    for package in packages:
        below = ", ".join(other for other in packages if other in imports[package]) or "nothing"
        lines.append(f"| {package} | {below} |")
    return "\n".join(lines) + "\n"


def sizes() -> dict[str, int]:
    """Lines of code of each package."""
    lines: dict[str, int] = defaultdict(int)
    for file in SOURCE.rglob("*.py"):
        lines[package_of(file.relative_to(SOURCE).with_suffix("").parts)] += len(
            file.read_text().splitlines()
        )
    return lines


def draw(imports: Arrows) -> None:
    """Write packages.svg: a row for each level, boxes as wide as the package has lines."""
    level, lines = levels(imports), sizes()
    rows: dict[int, list[str]] = defaultdict(list)
    for package, number in level.items():
        rows[number].append(package)
    figure, axes = plt.subplots(figsize=(9, 8.5))
    centers, gap, edge = {}, 0.7, 0.0
    for number, packages in rows.items():
        widths = [1.6 + lines[package] / 12_000 for package in packages]
        left = -(sum(widths) + gap * (len(widths) - 1)) / 2
        edge = max(edge, -left)
        for package, width in zip(packages, widths, strict=True):
            x = left + width / 2
            left += width + gap
            centers[package] = (x, number)
            box = FancyBboxPatch(
                (x - width / 2, number - 0.28), width, 0.56, boxstyle="round,pad=0.02,rounding_size=0.1",
                facecolor=_COLORS[_part(package)], edgecolor="#40587c", zorder=2,
            )  # fmt: skip
            axes.add_patch(box)
            axes.text(
                x, number + 0.09, package, ha="center", va="center", fontsize=10, weight="bold", zorder=3
            )
            size = f"{lines[package]:,} lines"
            axes.text(x, number - 0.17, size, ha="center", va="center", fontsize=7.5, zorder=3)
    for package, others in reduced(imports).items():
        for other in others:
            (x, y), (u, v) = centers[package], centers[other]
            bend = 0.0 if y - v == 1 else 0.25 if x <= u else -0.25
            axes.annotate(
                "", (u, v + 0.31), (x, y - 0.31), zorder=1,
                arrowprops={"arrowstyle": "-|>", "color": "#7c8aa0", "connectionstyle": f"arc3,rad={bend}"},
            )  # fmt: skip
    axes.set_xlim(-edge - 0.2, edge + 0.2)
    handles = [Patch(facecolor=color, edgecolor="#40587c", label=part) for part, color in _COLORS.items()]
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, fontsize=8, frameon=False
    )
    axes.set_ylim(-0.5, max(rows) + 0.5)
    axes.axis("off")
    axes.set_title("Packages of mindgrad: an arrow points to what is imported", fontsize=11)
    figure.savefig(HERE / "packages.svg", bbox_inches="tight", metadata={"Date": None})


def write(imports: Arrows) -> None:
    """Write the table into the page, between its marks."""
    text = PAGE.read_text()
    before, _, after = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + listed(imports) + "\n" + END + after.partition(END)[2])


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "packages"
    imports_of_packages = arrows()
    write(imports_of_packages)
    draw(imports_of_packages)
