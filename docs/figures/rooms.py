"""Draws the rooms of `src/mindgrad` from their imports, and writes them into docs/architecture.md.

`python docs/figures/rooms.py` reads every import with `ast`; nothing of the package runs. An arrow points to
what is imported; arrows that follow from others are left out of the drawing (transitive reduction).
"""

import ast
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

HERE = Path(__file__).parent
PAGE = HERE.parent / "architecture.md"
SOURCE = HERE.parents[1] / "src" / "mindgrad"
BEGIN, END = "<!-- imports, written by docs/figures/rooms.py -->\n", "<!-- end of imports -->\n"

#: rooms that are drawn as one: MindSpore's surface, and what stands above it
SURFACE, PROGRAMS = "ops, nn, numpy, mint, …", "train, dataset, tools, cli"
_ABOVE = {"dataset", "mindrecord", "train", "amp", "tools", "cli", "__init__", "__main__"}
_ENGINE = [
    "_base", "ir", "rows", "transforms", "control", "optimize", "trace", "backend", "execution", "sparse",
    "eager", "api", "solvers",
]  # fmt: skip

Arrows = dict[str, set[str]]


def room_of(parts: tuple[str, ...]) -> str:
    """The room of a module, from the parts of its name below `mindgrad`."""
    first = parts[0] if parts else "__init__"
    return first if first in _ENGINE else PROGRAMS if first in _ABOVE else SURFACE


def arrows() -> Arrows:
    """The rooms that each room imports."""
    imports: Arrows = defaultdict(set)
    for file in sorted(SOURCE.rglob("*.py")):
        room = room_of(file.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindgrad."):
                other = room_of(tuple(node.module.split(".")[1:]))
                if other != room and room != PROGRAMS:
                    imports[room].add(other)
                elif other != room:
                    imports[PROGRAMS].add(other)
    return imports


def reduced(imports: Arrows) -> Arrows:
    """The arrows that do not follow from others."""

    def reachable(room: str) -> set[str]:
        return {further for next_ in imports[room] for further in {next_, *reachable(next_)}}

    return {
        room: {other for other in others if not any(other in reachable(via) for via in others - {other})}
        for room, others in list(imports.items())
    }


def levels(imports: Arrows) -> dict[str, int]:
    """How many rooms stand below each."""
    rooms = [*_ENGINE, SURFACE, PROGRAMS]
    level = dict.fromkeys(rooms, 0)
    for _ in rooms:
        for room in rooms:
            level[room] = max([level[other] + 1 for other in imports[room]], default=0)
    return level


def listed(imports: Arrows) -> str:
    """The arrows as a table of Markdown."""
    rooms = sorted([*_ENGINE, SURFACE, PROGRAMS], key=levels(imports).__getitem__)
    lines = ["| package | imports |", "|---|---|"]
    for room in rooms:
        below = ", ".join(other for other in rooms if other in imports[room]) or "nothing"
        lines.append(f"| {room} | {below} |")
    return "\n".join(lines) + "\n"


def sizes() -> dict[str, int]:
    """Lines of code of each room."""
    lines: dict[str, int] = defaultdict(int)
    for file in SOURCE.rglob("*.py"):
        lines[room_of(file.relative_to(SOURCE).with_suffix("").parts)] += len(file.read_text().splitlines())
    return lines


def draw(imports: Arrows) -> None:
    """Write rooms.svg: a row for each level, boxes as wide as the room has lines."""
    level, lines = levels(imports), sizes()
    rows: dict[int, list[str]] = defaultdict(list)
    for room, number in level.items():
        rows[number].append(room)
    figure, axes = plt.subplots(figsize=(9, 8.5))
    centres = {}
    for number, rooms in rows.items():
        for position, room in enumerate(rooms):
            width = 1.5 + lines[room] / 12_000
            x = (position - (len(rooms) - 1) / 2) * 3.4
            centres[room] = (x, number)
            box = FancyBboxPatch(
                (x - width / 2, number - 0.28), width, 0.56, boxstyle="round,pad=0.02,rounding_size=0.1",
                facecolor="#e8eef7" if room in _ENGINE else "#f5f0e3", edgecolor="#40587c", zorder=2,
            )  # fmt: skip
            axes.add_patch(box)
            axes.text(x, number + 0.09, room, ha="center", va="center", fontsize=10, weight="bold", zorder=3)
            size = f"{lines[room]:,} lines"
            axes.text(x, number - 0.17, size, ha="center", va="center", fontsize=7.5, zorder=3)
    for room, others in reduced(imports).items():
        for other in others:
            (x, y), (u, v) = centres[room], centres[other]
            bend = 0.0 if y - v == 1 else 0.25 if x <= u else -0.25
            axes.annotate(
                "", (u, v + 0.31), (x, y - 0.31), zorder=1,
                arrowprops={"arrowstyle": "-|>", "color": "#7c8aa0", "connectionstyle": f"arc3,rad={bend}"},
            )  # fmt: skip
    axes.set_xlim(-4.5, 4.5)
    axes.set_ylim(-0.5, max(rows) + 0.5)
    axes.axis("off")
    axes.set_title("Rooms of mindgrad: an arrow points to what is imported", fontsize=11)
    figure.savefig(HERE / "rooms.svg", bbox_inches="tight", metadata={"Date": None})


def write(imports: Arrows) -> None:
    """Write the table into the page, between its marks."""
    text = PAGE.read_text()
    before, _, after = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + listed(imports) + "\n" + END + after.partition(END)[2])


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "rooms"
    imports_of_rooms = arrows()
    write(imports_of_rooms)
    draw(imports_of_rooms)
