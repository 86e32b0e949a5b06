"""Number and size of the collectives of a compiled program, read from XLA's HLO.

For example, this line is an all-reduce of 256 bytes::

    %all-reduce.1 = f32[4,16]{1,0} all-reduce(%dot), replica_groups=…
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Collective", "collectives_of", "totals"]

_KINDS = (
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all", "collective-permute",
    "collective-broadcast",
)  # fmt: skip
_RESULT = re.compile(
    rf"= (\(.*?\)|\S+) ({'|'.join(sorted(_KINDS, key=len, reverse=True))})(-start)?\((.*)", re.ASCII
)
_ARRAY = re.compile(r"\b([a-z]+)(\d+)?(?:e\w+)?\[([\d,]*)\]")
_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) .*\{$")
_CALLED = re.compile(
    r"(?:body|to_apply|calls|true_computation|false_computation|branch_computations)=\{?(%?[\w.\-, %]+)\}?"
)
_ITERATIONS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


class Collective(NamedTuple):
    """A collective of a compiled program.

    Attributes:
        kind: XLA's name of the operation, such as ``all-reduce``, ``all-gather``, ``reduce-scatter``,
            ``all-to-all``, or ``collective-permute``.
        bytes: number of bytes of the result on one device. For ``reduce-scatter``, the number of bytes of the
            operand, which is larger.
        times: number of executions of the collective in one run of the program. A loop of unknown length
            counts as one iteration.
    """

    kind: str
    bytes: int
    times: int


def collectives_of(text: str) -> list[Collective]:
    r"""List the collectives of a program in the order of its HLO text.

    Args:
        text (str): HLO of a compiled program, the result of ``compiled.as_text()`` in JAX.

    >>> collectives_of("ENTRY %main () -> f32[8] {\n  %r = f32[8]{0} all-reduce(%x), to_apply=%add\n}")
    [Collective(kind='all-reduce', bytes=32, times=1)]
    """
    computations, entry = _computations(text)
    times = _times(computations, entry)
    collectives = []
    for name, lines in computations.items():
        for line in lines:
            match = _RESULT.search(line)
            if match is not None and times[name]:
                collectives.append(Collective(match[2], _bytes(match), times[name]))
    return collectives


def totals(text: str) -> dict[str, tuple[int, int]]:
    r"""Count the collectives of each kind and their bytes in one run of a program.

    >>> totals("ENTRY %main () -> f32[8] {\n  %r = f32[8]{0} all-reduce(%x), to_apply=%add\n}")
    {'all-reduce': (1, 32)}
    """
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for collective in collectives_of(text):
        counts[collective.kind] += collective.times
        sizes[collective.kind] += collective.times * collective.bytes
    return {kind: (counts[kind], sizes[kind]) for kind in counts}


def _computations(text: str) -> tuple[dict[str, list[str]], str]:
    """Split the HLO into computations: the lines by name, and the name of the entry."""
    computations: dict[str, list[str]] = {}
    lines: list[str] = []
    entry = ""
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None and not line.startswith("HloModule"):
            lines = computations[head[2]] = []
            entry = head[2] if head[1] else entry
        else:
            lines.append(line)
    return computations, entry


def _times(computations: dict[str, list[str]], entry: str) -> Counter[str]:
    """Count how often one run of the program runs each computation."""
    times: Counter[str] = Counter()

    def visit(name: str, count: int) -> None:
        times[name] += count
        for called, iterations in _calls(computations.get(name, ())):
            if called in computations:
                visit(called, count * iterations)

    visit(entry, 1)
    return times


def _calls(lines: object) -> Iterator[tuple[str, int]]:
    for line in lines:  # type: ignore[attr-defined]
        iterations = _ITERATIONS.search(line)
        for match in _CALLED.finditer(line):
            for name in match[1].split(","):
                yield name.strip().lstrip("%"), int(iterations[1]) if iterations and " while(" in line else 1


def _bytes(match: re.Match[str]) -> int:
    # The result of an asynchronous start is a tuple that also contains the operands, so count only its
    # largest array. For a reduce-scatter, count the operands, because they are larger than the result.
    sizes = [_size(array) for array in _ARRAY.finditer(match[1])]
    operands = [_size(array) for array in _ARRAY.finditer(match[4].split("),")[0])]
    if match[3] and match[1].startswith("("):
        return max(sizes, default=0)
    if match[2] == "reduce-scatter":
        groups = re.search(r"replica_groups=\[\d+,(\d+)\]", match[4])
        first = re.search(r"replica_groups=\{\{([\d,]+)\}", match[4])
        size = int(groups[1]) if groups else len(first[1].split(",")) if first else 1
        return max(sum(operands), size * sum(sizes))
    return sum(sizes)


def _size(array: re.Match[str]) -> int:
    bits = int(array[2] or 8)
    return math.prod(int(n) for n in array[3].split(",") if n) * bits // 8
