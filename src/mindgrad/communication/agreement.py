"""Agreement on programs: ranks compare what their programs send before they wait for each other.

A collective that one rank calls and another does not is a wait without end. So before a program with
collectives first runs, the ranks of each of its groups exchange the list of the collectives over that
group, in order; of a program that XLA divides among the devices of all, the types of its inputs. Where the
lists differ every rank raises an error that names the first difference. A list that the group has agreed
upon once is not exchanged again, so that ranks may compile a program anew, for a shorter batch say, while
others run the one that they have.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from mindgrad.communication.store import Store
from mindgrad.ir.graph import Equation, Graph

__all__ = ["AGREEMENT_SECONDS", "Agreement", "collectives_of"]

#: seconds that a rank waits until the others have come to the same program
AGREEMENT_SECONDS = 300.0

#: a collective in words, and the line that it belongs to
Described = tuple[str, str]


class Agreement:
    """Comparison of this rank's programs with those of the others, and the lists that they agreed upon.

    Args:
        store: the store of the job.
        timeout: seconds that a rank waits for the others.
    """

    def __init__(self, store: Store, timeout: float = AGREEMENT_SECONDS) -> None:
        self._store, self._timeout = store, timeout
        self._agreed: set[tuple[tuple[int, ...], tuple[str, ...]]] = set()

    def __call__(self, graph: Graph) -> None:
        """Compare a program with those of the other ranks.

        Raises:
            RuntimeError: the collectives are not the same, or a rank did not come, or has ended.
        """
        by_group: dict[tuple[int, ...], list[Described]] = {}
        for ranks, described in collectives_of(graph):
            by_group.setdefault(ranks, []).append(described)
        if not by_group:
            by_group[tuple(range(self._store.size))] = [_divided(graph)]
        for ranks in sorted(by_group):  # in one order on all ranks: nobody waits for two at a time
            self._agree(ranks, by_group[ranks])

    def _agree(self, ranks: tuple[int, ...], described: list[Described]) -> None:
        key = (ranks, tuple([text for text, _ in described]))
        if key in self._agreed:
            return
        name = f"the program of ranks {', '.join(map(str, ranks))}"
        try:
            parts = self._store.exchange(name, json.dumps(described).encode(), ranks, self._timeout)
        except RuntimeError as error:
            text, line = described[0]
            raise RuntimeError(
                f"rank {self._store.rank} has a program of {_counted(len(described))}, first {text}{line}, "
                f"to which the others have none: {error} Every rank must run the same collectives in the "
                f"same order."
            ) from None
        lists = [[tuple(each) for each in json.loads(part)] for part in parts]
        for rank, other in zip(ranks[1:], lists[1:], strict=True):
            _compare(ranks[0], lists[0], rank, other)
        self._agreed.add(key)


def _counted(count: int) -> str:
    return "one collective" if count == 1 else f"{count} collectives"


def _compare(rank: int, listed: Sequence[Any], other_rank: int, other: Sequence[Any]) -> None:
    for position in range(max(len(listed), len(other))):
        texts = [
            f"{side[position][0]}{side[position][1]}" if position < len(side) else "nothing more"
            for side in (listed, other)
        ]
        if position >= min(len(listed), len(other)) or listed[position][0] != other[position][0]:
            raise RuntimeError(
                f"the programs of ranks {rank} and {other_rank} differ: collective {position + 1} is "
                f"{texts[0]} on rank {rank}, but {texts[1]} on rank {other_rank}. Every rank must run the "
                f"same collectives, of tensors of the same types, in the same order; what only one rank "
                f"computes (if rank == 0: …) must not communicate."
            )


def collectives_of(graph: Graph) -> Iterator[tuple[tuple[int, ...], Described]]:
    """The collectives of a program in order, with their ranks; those of loops and branches inside."""
    for equation in graph.equations:
        if equation.primitive.communicates:
            parameters = dict(equation.parameters)
            ranks = parameters.pop("ranks")
            if equation.primitive.name != "rank_mask":  # which sends nothing
                yield ranks, (_text(equation, parameters), _line(equation))
        elif equation.primitive.kind == "control":
            for name, value in equation.parameters.items():
                if isinstance(value, Graph):
                    for ranks, (text, line) in collectives_of(value):
                        yield ranks, (f"{text} in the {name} of {equation.primitive.name}", line)


def _divided(graph: Graph) -> Described:
    types = ", ".join([repr(x.type) for x in graph.inputs])
    line = next(filter(None, map(_line, graph.equations)), "")
    return f"what a division among devices needs, of {len(graph.equations)} operators on ({types})", line


def _text(equation: Equation, parameters: dict[str, Any]) -> str:
    options = "".join([f", {name}={value}" for name, value in parameters.items()])
    return f"{equation.primitive.name}({equation.inputs[0].type!r}{options})"


def _line(equation: Equation) -> str:
    if equation.source is None:
        return ""
    file, line = equation.source
    return f" at {os.path.basename(file)}:{line}"
