"""The page docs/speed.md and its figures are drawn from the raw samples in bench/results.

python docs/speed/page.py            writes the page and draws the figures
python docs/speed/page.py --check    exits with 1 if the page would be another one
"""

from __future__ import annotations

import json
import math
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "speed.md"
FIGURES = FOLDER.parent / "figures" / "speed"
RESULTS = FOLDER.parents[1] / "bench" / "results"
LOSSES = FOLDER / "losses.toml"
#: the ratio from which on a row is lost: below, two equal programs differ by as much
LOST = 1.03
#: smaller ratios are drawn, and count in means, as this one: a peer's hours are no merit of a row
LEAST = 0.01
#: contenders that a library's user would not write: shown, and not raced against
SHOWN_ONLY = ("by hand", "implicit", "(again)", "numpy:", "python:", "mindgrad:")
#: contenders in a second process, with what the first left on disk
SECOND = " second"
COLORS = {
    "mindgrad": "tab:blue", "jax": "tab:orange", "torch": "tab:red", "mindspore": "tab:purple",
    "equinox": "tab:olive", "folx": "tab:green", "asdex": "tab:brown", "numpy": "tab:gray",
    "python": "black", "tensorflow": "tab:pink", "autograd": "tab:cyan",
}  # fmt: skip
#: names of the places in losses.toml
PLACES = {"us": "mindgrad", "XLA": "XLA"}
SECTIONS = {
    "Derivatives of derivatives": "t3 kuramoto derivative laplacian* biharmonic hessian-dense rows-*",
    "GradBench loops": "gradbench-descent gradbench-saddle-* gradbench-particle-*",
    "GradBench functions": "gradbench-*-value* gradbench-*-cost*",
    "GradBench derivatives": "gradbench-* gmm-*",
    "Loops": "loop* newton newton-memory rnn",
    "Sparse derivatives": "sparse-* bundle-adjustment",
    # of the training steps the compiled one is compared; how eager mode stands beside it is in docs/eager.md
    "Networks": "t2 train-* layout eager-perceptron eager-lenet eager-resnet eager-gpt eager-lstm",
    "Eager mode": "eager-*",
    "Whole problems": "burgers argon newton-cg",
    "Calls": "t1 cache-hit",
    "First results": "first-* import",
    "Making programs": "*-build trace",
    "Large programs": "size-*",
    "Several processes": "scale-*",
}

HEAD = """# Benchmarks: speed compared with JAX, PyTorch and MindSpore

This page compares the run time of mindgrad with other libraries, task by task. Use it to see for which
problems mindgrad is faster or slower.

| number | meaning |
|---|---|
| ratio | time of mindgrad / time of the fastest peer, in the same rounds of one run (0.5: 2× faster) |
| min – max | the smallest and the largest ratio of all rounds |
| **bold** | mindgrad is slower by more than 3 % |
| level | a ratio from 1 to 1.03, the difference between two equal programs |

- A *peer* is a program that a user of the other library would write. Programs with derivatives written by
  hand are shown in the figures, and are not peers.
- The figures cut off peers whose ratio is above about 8. Ratios below 0.01 are shown, and averaged, as 0.01.
- `bench/README.md` defines the tasks and the rules of fairness. `scripts/bench TASK` repeats a measurement.
- `docs/speed/page.py` writes this page from the raw samples in `bench/results/*.json`. Do not edit the page.

For advice on your program, see [Improve performance](howto/speed.md) and [Performance model](performance.md).

## Summary
"""


@dataclass
class Row:
    """One task at one size: the samples of every contender, and the one of mindgrad that is compared."""

    task: str
    title: str
    size: str
    contenders: dict[str, dict[str, Any]]
    ours: str
    peers: list[str]
    about: dict[str, str]
    goals: list[dict[str, Any]] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The task and its size."""
        return f"{self.task}, {self.size.strip()}" if self.size else self.task

    @property
    def fastest(self) -> str:
        """The peer with the smallest median; the empty text where none took part."""
        return min(self.peers, key=lambda name: median(self.seconds(name).values()), default="")

    def seconds(self, name: str) -> dict[str, float]:
        """Seconds of a call by round."""
        return self.contenders[name]["seconds"]

    def ratios(self, name: str) -> list[float]:
        """A contender's time over the fastest peer's, in the rounds of both."""
        ours, theirs = self.seconds(name), self.seconds(self.fastest)
        return [ours[i] / theirs[i] for i in ours if i in theirs]

    @property
    def ratio(self) -> float:
        return median(self.ratios(self.ours))


def records(folder: Path) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """The last record of each task, with the description of its run."""
    latest: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
    runs = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    for content in sorted(runs, key=lambda run: (run["about"]["date"], run["about"].get("time", ""))):
        if "before" in content["about"]:  # mindgrad beside itself
            continue
        for task in content["tasks"]:
            if not task["goals"] or any(goal["of"] == "time" for goal in task["goals"]):  # else of memory
                latest[task["task"]] = (content["about"], task)
    yield from latest.values()


def rows_of(about: dict[str, str], task: dict[str, Any]) -> list[Row]:
    """A row for each size at which mindgrad and a peer were timed."""
    by_size: dict[str, dict[str, dict[str, Any]]] = {}
    for row in task["rows"]:
        if row.get("seconds") and not row["error"]:
            size = f"{row['at']:,} {task['size']}" if "at" in row else ""
            by_size.setdefault(size, {})[row["name"]] = row
    rows = []
    for (size, contenders), is_second in product(by_size.items(), (False, True)):
        ours = compared(task, [name for name in contenders if name.endswith(SECOND) == is_second])
        peers = [name for name in contenders if is_peer(name, task) and name.endswith(SECOND) == is_second]
        if ours and peers:
            label = f"{size}{SECOND} process" if is_second else size
            rows.append(
                Row(task["task"], task["title"], label, contenders, ours, peers, about, task["goals"])
            )
    return rows


def compared(task: dict[str, Any], contenders: Sequence[str]) -> str:
    """mindgrad's contender: that of the first goal against a peer, else the compiled one."""
    bound = [
        goal["contender"]
        for goal in task["goals"]
        if goal["of"] == "time" and any(not name.startswith("mindgrad:") for name in goal["against"])
    ]
    own = [name for name in contenders if name.startswith("mindgrad:") and name not in task["only_value"]]
    order = [*bound, "mindgrad:graph", *own]
    return next((name for name in order if name in own), "")


def is_peer(name: str, task: dict[str, Any]) -> bool:
    """Whether a contender is raced against."""
    return name not in task["only_value"] and not any(word in name for word in SHOWN_ONLY)


def section_of(task: str) -> str:
    """The section that a task belongs to."""
    for title, patterns in SECTIONS.items():
        if any(fnmatch(task, pattern) for pattern in patterns.split()):
            return title
    raise ValueError(f"{task} belongs to no section of docs/speed/page.py")


def sections(folder: Path) -> dict[str, list[Row]]:
    """The rows of all tasks by section, in the order of the page."""
    content: dict[str, list[Row]] = {title: [] for title in SECTIONS}
    for about, task in records(folder):
        content[section_of(task["task"])] += rows_of(about, task)
    return {title: rows for title, rows in content.items() if rows}


def mean_ratio(rows: Sequence[Row]) -> float:
    """The geometric mean of the rows' ratios."""
    return geometric_mean([max(row.ratio, LEAST) for row in rows])


def time_of(value: float) -> str:
    """Three digits and a unit."""
    unit, size = next((pair for pair in (("s", 1.0), ("ms", 1e-3)) if value >= pair[1]), ("µs", 1e-6))
    scaled = value / size
    return f"{scaled:.{max(0, 2 - math.floor(math.log10(scaled)))}f} {unit}"


def page(content: dict[str, list[Row]], losses: dict[str, dict[str, str]]) -> str:
    """The text of the page."""
    every = [row for rows in content.values() for row in rows]
    won = sum(row.ratio <= 1.0 for row in every)
    level = sum(1.0 < row.ratio <= LOST for row in every)
    mean = mean_ratio(every)
    parts = [
        HEAD,
        f"In {len(every)} measurements, mindgrad is the fastest in {won}, level in {level} "
        f"(a ratio up to {LOST}) and slower in {len(every) - won - level}. "
        f"The geometric mean of the ratios is {mean:.2f}.\n",
        "| section | measurements | fastest or level | geometric mean | slowest |\n|---|--:|--:|--:|---|",
    ]
    for title, rows in content.items():
        worst = max(rows, key=lambda row: row.ratio)
        kept = sum(row.ratio <= LOST for row in rows)
        rate = mean_ratio(rows)
        link = f"[{title}](#{title.lower().replace(' ', '-')})"
        parts.append(f"| {link} | {len(rows)} | {kept} | {rate:.2f} | {worst.label}: {worst.ratio:.2f} |")
    for title, rows in content.items():
        parts += ["", *section(title, rows, losses)]
    parts += ["", "## Machines and versions", "", *machines(every)]
    return "\n".join(parts) + "\n"


def section(title: str, rows: list[Row], losses: dict[str, dict[str, str]]) -> Iterator[str]:
    """A heading, the figure, the table, and where the time of lost rows goes."""
    yield f"## {title}\n\n![Ratios to the fastest peer: {title.lower()}](figures/speed/{slug(title)}.svg)\n"
    yield "| task | computation |\n|---|---|"
    for task, about in {row.task: row.title for row in rows}.items():
        yield f"| `{task}` | {about} |"
    yield ""
    yield "| task | mindgrad | fastest peer | | ratio | min – max |\n|---|--:|---|--:|--:|--:|"
    for row in rows:
        ours, theirs = (time_of(median(row.seconds(name).values())) for name in (row.ours, row.fastest))
        ratios = row.ratios(row.ours)
        shown = f"**{row.ratio:.2f}**" if row.ratio > LOST else f"{row.ratio:.2f}"
        span = f"{min(ratios):.2f} – {max(ratios):.2f}"
        yield f"| {row.label} | {ours} | {row.fastest} | {theirs} | {shown} | {span} |"
    reasons = [(row.label, losses[row.task]) for row in rows if row.ratio > LOST and row.task in losses]
    if reasons:
        yield "\nReasons for the slower tasks:\n"
    for task, entry in {label.split(",")[0]: entry for label, entry in reasons}.items():
        yield f"- `{task}` (in {PLACES[entry['where']]}): {' '.join(entry['why'].split())}"


def machines(rows: list[Row]) -> Iterator[str]:
    """Who measured what, where and with which versions."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        about = row.about
        machine = about.get("card", about["processor"])
        key = (about["date"], machine, about["cores"], about["commit"], about["versions"], about["others"])
        groups.setdefault(key, []).append(row.task)
    for (date, machine, cores, commit, versions, others), tasks in groups.items():
        names = ", ".join(dict.fromkeys(tasks))
        # at these commits, the harness recorded the version of MindSpore that mindgrad reports to programs
        peers = re.sub(r"mindgrad [\d.]+, ", "", versions)
        place = f"{date}, {machine}, {cores} cores, commit {commit}"
        yield f"- {place}, `{peers}`. Load: {others}. Tasks: {names}."


def slug(title: str) -> str:
    """The name of a section's figure."""
    return title.lower().replace(" ", "_")


def draw(title: str, rows: list[Row]) -> None:
    """One line for each row: mindgrad and every peer, as ratios to the fastest peer."""
    import matplotlib.pyplot as plt

    plt.switch_backend("svg")
    plt.rcParams |= {"svg.hashsalt": "mindgrad", "svg.fonttype": "none", "font.size": 8}
    figure, axes = plt.subplots(figsize=(7.5, 0.9 + 0.21 * len(rows)), layout="constrained")
    axes.axvspan(LEAST / 2, 1.0, color="tab:blue", alpha=0.06, lw=0)
    axes.axvline(1.0, color="black", lw=0.8)
    labeled = set()
    for y, row in enumerate(rows):
        for name in sorted(row.contenders, key=lambda name: name == row.ours):
            if not (name == row.ours or is_shown(name)):
                continue
            library, ratios = name.partition(":")[0], [max(x, LEAST) for x in row.ratios(name)]
            if not ratios:
                continue
            label = library if library not in labeled else None
            labeled.add(library)
            main = name == row.ours
            style = {"color": COLORS[library], "marker": "o" if main else "|", "ms": 5 if main else 7}
            middle = median(ratios)
            spread = [[middle - min(ratios)], [max(ratios) - middle]] if main else None
            axes.errorbar(middle, y, xerr=spread, ls="", lw=1, zorder=3 if main else 2, label=label, **style)
    ratios = [max(row.ratio, LEAST) for row in rows]
    axes.set(
        xscale="log",
        ylim=(len(rows) - 0.4, -0.6),
        xlim=(min(0.2, *ratios, 1.0) * 0.8, max(8.0, *ratios) * 1.2),
    )
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_xlabel("time over that of the fastest peer")
    ticks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in ticks if low <= tick <= high], minor=False)
    axes.set_xticklabels([f"{tick:g}" for tick in ticks if low <= tick <= high])
    axes.minorticks_off()
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper right", ncols=6, frameon=False)
    figure.savefig(FIGURES / f"{slug(title)}.svg", metadata={"Date": None})
    plt.close(figure)


def is_shown(name: str) -> bool:
    """Contenders of other libraries, and of their users' hands."""
    return not name.startswith("mindgrad:") and "(again)" not in name


def unexplained(content: dict[str, list[Row]], losses: dict[str, dict[str, str]]) -> list[str]:
    """Lost rows without evidence, and evidence of rows that are lost no more."""
    lost = {row.task for rows in content.values() for row in rows if row.ratio > LOST}
    missing = [
        f"{task} is slower than a peer, and {LOSSES.name} does not say why"
        for task in sorted(lost - set(losses))
    ]
    return missing + [
        f"{LOSSES.name} explains {task}, which is not slower" for task in sorted(set(losses) - lost)
    ]


def main() -> int:
    """Write, or compare."""
    content, losses = sections(RESULTS), tomllib.loads(LOSSES.read_text())
    faults = unexplained(content, losses)
    text = page(content, losses)
    if "--check" in sys.argv[1:]:
        if PAGE.read_text() != text:
            faults.append("docs/speed.md is not what `python docs/speed/page.py` writes")
    else:
        PAGE.write_text(text)
        FIGURES.mkdir(parents=True, exist_ok=True)
        for title, rows in content.items():
            draw(title, rows)
    print("\n".join(faults), file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
