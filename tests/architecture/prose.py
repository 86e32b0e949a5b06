"""Count the patterns of unclear English in every file, and compare the counts with their limits.

Usage, from the root of the repository::

    python -m tests.architecture.prose              # hits per 1,000 words by kind of text, and the worst files
    python -m tests.architecture.prose FILE…        # every hit in these files or folders, with the advice
    python -m tests.architecture.prose --write      # lower the limits to the present counts

``prose_limits.json`` has the limit of each file that exceeds ``RATE``, and a limit may only fall. Any other file
may have ``RATE`` hits per 1,000 words, as the best projects have.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from tests.architecture.prose_patterns import FORM, hits
from tests.architecture.prose_text import KINDS, ROOT, count_words, files, mask, passages

RATE = 1.0  # hits per 1,000 words
LIMITS = Path(__file__).with_name("prose_limits.json")
_COMMAND = "python -m tests.architecture.prose"


class FileProse:
    """The words and the hits of one file.

    Attributes:
        name (str): path relative to the root of the repository.
        words (Counter): number of words by kind of text.
        hits (list): pairs of a kind and a ``Hit``, in the order of lines.
    """

    def __init__(self, file: Path) -> None:
        self.name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else str(file)
        self.words: Counter[str] = Counter()
        found = passages(file)
        for passage in found:
            self.words[passage.kind] += count_words(mask(passage.text))
        self.hits = sorted(hits(found), key=lambda pair: pair[1].line)

    @property
    def count(self) -> int:
        return len(self.hits)

    @property
    def allowed(self) -> int:
        """The number of hits that a file without a recorded limit may have."""
        return int(self.words.total() * RATE / 1000)

    def listing(self) -> list[str]:
        """Describe each hit: place, pattern, advice and sentence."""
        return [
            f"{self.name}:{hit.line}: {hit.name} ({hit.match.strip()}): {hit.advice}\n    {hit.sentence}"
            for _, hit in self.hits
        ]


def read_limits() -> dict[str, int]:
    """Read the limits by file; without the file, there are none."""
    return json.loads(LIMITS.read_text()) if LIMITS.exists() else {}


def faults(prose: list[FileProse], limits: dict[str, int]) -> list[str]:
    """Describe each file with more or fewer hits than its limit, and each limit of a missing file."""
    messages = []
    for file in prose:
        limit = max(limits.get(file.name, 0), file.allowed)
        if file.count > limit:
            messages += file.listing()
            messages.append(
                f"{file.name}: {file.count} hits, but its limit is {limit}. Rewrite these sentences."
            )
        elif file.count < limits.get(file.name, 0):
            messages.append(
                f"{file.name}: {file.count} hits, fewer than its limit {limit}: run {_COMMAND} --write"
            )
    missing = limits.keys() - {file.name for file in prose}
    return messages + [f"{name}: the file is gone: run {_COMMAND} --write" for name in sorted(missing)]


def lowered(prose: list[FileProse], limits: dict[str, int]) -> tuple[dict[str, int], list[str]]:
    """Lower the limits to the present counts.

    A file that was moved keeps its hits: new files may have as many hits as the limits of the missing files add up to.

    Args:
        prose (list): the files as they are.
        limits (dict): the recorded limits by file; empty at the first time.

    Returns:
        tuple: the new limits by file, and messages about files that may not have as many hits.
    """
    moved = sum(limits[name] for name in limits.keys() - {file.name for file in prose})
    new, messages = {}, []
    for file in prose:
        if file.count <= file.allowed:
            continue
        limit = limits.get(file.name, file.allowed)
        if not limits or file.count <= limit:
            new[file.name] = file.count
        elif file.name not in limits and file.count <= moved:
            new[file.name] = file.count
            moved -= file.count
        else:
            messages += file.listing()
            messages.append(f"{file.name}: {file.count} hits, but its limit is {limit}, which may not rise")
            new |= {file.name: limits[file.name]} if file.name in limits else {}
    return new, messages


def table(prose: list[FileProse], worst: int = 25) -> str:
    """Tabulate hits per 1,000 words by kind of text, then by pattern, then the files with most hits."""
    words: Counter[str] = Counter()
    names: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for file in prose:
        words += file.words
        for kind, hit in file.hits:
            names[kind][hit.name] += 1
    groups = [(kind, names[kind], words[kind]) for kind in KINDS]
    groups.append(("all", sum(names.values(), Counter()), words.total()))
    lines = [f"{'':<12}{'words':>9}{'hits':>7}{'per 1,000':>11}{'phrases':>9}{'form':>7}"]
    for kind, found, count in groups:
        form = sum(found[name] for name in FORM)
        rates = _rate(found.total(), count), _rate(found.total() - form, count), _rate(form, count)
        lines.append(f"{kind:<12}{count:>9,}{found.total():>7,}{rates[0]:>11}{rates[1]:>9}{rates[2]:>7}")
    lines += ["", f"{'pattern':<26}" + "".join(f"{kind:>12}" for kind in KINDS)]
    for name, _ in groups[-1][1].most_common():
        lines.append(f"{name:<26}" + "".join(f"{names[kind][name]:>12,}" for kind in KINDS))
    lines += ["", f"{'worst files':<62}{'words':>7}{'hits':>6}{'per 1,000':>11}"]
    for file in sorted(prose, key=lambda file: -file.count)[:worst]:
        total = file.words.total()
        lines.append(f"{file.name:<62}{total:>7,}{file.count:>6}{_rate(file.count, total):>11}")
    return "\n".join(lines)


def _rate(count: int, words: int) -> str:
    return f"{1000 * count / max(words, 1):.1f}"


def selected(paths: list[str]) -> list[Path]:
    """The files to search: those that are named, and those in named folders."""
    chosen = []
    for path in map(Path, paths):
        chosen += (
            [file for file in files() if file.is_relative_to(path.resolve())]
            if path.is_dir()
            else [path.resolve()]
        )
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(prog=_COMMAND, description="Find unclear English (docs/style.md).")
    parser.add_argument("paths", nargs="*", help="files or folders whose hits are listed")
    parser.add_argument("--write", action="store_true", help="lower the limits to the present counts")
    arguments = parser.parse_args()
    if arguments.paths:
        prose = [FileProse(file) for file in selected(arguments.paths)]
        print(*(line for file in prose for line in file.listing()), sep="\n")
        hits_found, words = sum(file.count for file in prose), sum(file.words.total() for file in prose)
        print(f"{hits_found} hits in {words:,} words: {_rate(hits_found, words)} per 1,000")
        return 0
    prose = [FileProse(file) for file in files()]
    if not arguments.write:
        print(table(prose))
        return 0
    new, messages = lowered(prose, read_limits())
    LIMITS.write_text(json.dumps(new, indent=0, sort_keys=True) + "\n")
    print(*messages, f"{len(new)} files have a limit, {sum(new.values()):,} hits in all", sep="\n")
    return 1 if messages else 0


if __name__ == "__main__":
    raise SystemExit(main())
