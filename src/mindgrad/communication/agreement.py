"""Check that all ranks run functions with the same collectives.

A collective that only some ranks call never ends. Therefore, before a compiled function with collectives runs
for the first time, the ranks of each of its groups exchange the ordered list of their collectives over this
group. If XLA partitions the function over the devices of all ranks, the ranks exchange the input types and
operators instead. If the lists differ, every rank raises an error that names the first difference.

A group exchanges each list only once. Therefore, a rank may compile a function again, for example for a
shorter batch, while other ranks run a version that they have already compiled. This module does not check
that ranks call their functions in the same order. ``communication.call_order`` checks this.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mindgrad.communication.call_order import ORDER, CallOrder, number_of
from mindgrad.communication.store import Store
from mindgrad.core.ir.graph import Equation, Graph, all_equations

__all__ = ["AGREEMENT_SECONDS", "Agreement", "collectives_of"]

#: maximum number of seconds that a rank waits for the other ranks of its group before the first call of a
#: function. After this time, the rank raises an error
AGREEMENT_SECONDS = 300.0

#: description of a collective or operator, and the source line that called it
Described = tuple[str, str]
#: beginning of the description of a function that is compiled for several devices
_DIVIDED = "a divided program of"


class Agreement:
    """Comparison of the collectives of this rank with the collectives of other ranks.

    A list that was equal on all ranks of a group is stored, and is not compared again.

    Args:
        store (Store): store through which the ranks of the job exchange values.
        order (CallOrder): record of this rank's calls of compiled functions.
        timeout (float, optional): maximum number of seconds that this rank waits for the lists of the other
            ranks. Default: ``AGREEMENT_SECONDS``.
    """

    def __init__(self, store: Store, order: CallOrder, timeout: float = AGREEMENT_SECONDS) -> None:
        self._store, self._order, self._timeout = store, order, timeout
        self._agreed: set[tuple[tuple[int, ...], tuple[str, ...]]] = set()

    def __call__(self, graph: Graph) -> None:
        """Compare the collectives of ``graph`` on all ranks of their groups.

        Raises:
            RuntimeError: If the collectives differ, or if another rank did not arrive in time or has ended.
        """
        by_group = self._by_group(graph)
        # all ranks must process the groups in the same order. Otherwise, two ranks could wait for each other
        # forever
        for ranks in sorted(by_group, key=lambda ranks: (sorted(ranks), ranks)):
            self._agree(ranks, by_group[ranks])

    def noting(self, graph: Graph) -> Callable[[], None]:
        """Return a function that records one call of ``graph`` each time it is called.

        ``graph`` must have been compared on all ranks before.
        """
        programs = [
            (ranks, number_of([text for text, _ in described]), _named(described))
            for ranks, described in self._by_group(graph).items()
        ]
        return self._order.noting(programs)

    def _by_group(self, graph: Graph) -> dict[tuple[int, ...], list[Described]]:
        by_group: dict[tuple[int, ...], list[Described]] = {}
        for ranks, described in collectives_of(graph):
            by_group.setdefault(ranks, []).append(described)
        if not by_group:
            by_group[tuple(range(self._store.size))] = _divided(graph)
        return by_group

    def _agree(self, ranks: tuple[int, ...], described: list[Described]) -> None:
        texts = [text for text, _ in described]
        key = (ranks, tuple(texts))
        if key in self._agreed:
            return
        members = tuple(sorted(ranks))
        name = f"the program of ranks {', '.join(map(str, members))}"
        content = json.dumps([list(ranks), described]).encode()
        try:
            with self._order.awaiting(ranks, number_of(texts), _named(described)):
                parts = self._store.exchange(name, content, members, self._timeout)
        except RuntimeError as error:
            told = str(error)
            if ORDER not in told:
                told += f" {ORDER}."
            raise RuntimeError(
                f"rank {self._store.rank} is about to run {_named(described)}, but the other ranks are not: "
                f"{told}"
            ) from None
        orders, lists = zip(*[json.loads(part) for part in parts], strict=True)
        for rank, order, other in zip(members[1:], orders[1:], lists[1:], strict=True):
            if order != orders[0]:
                raise RuntimeError(
                    f"the members of a group are {orders[0]} on rank {members[0]}, but {order} on rank "
                    f"{rank}: all ranks must pass them to create_group in the same order."
                )
            _compare(members[0], lists[0], rank, other)
        self._agreed.add(key)


def _named(described: Sequence[Described]) -> str:
    text, line = described[0]
    if len(described) == 1 or text.startswith(_DIVIDED):
        return f"{text}{line}"
    return f"a program of {len(described)} collectives, first {text}{line}"


def _compare(rank: int, listed: Sequence[Any], other_rank: int, other: Sequence[Any]) -> None:
    for position in range(max(len(listed), len(other))):
        texts = [
            f"{side[position][0]}{side[position][1]}" if position < len(side) else "nothing more"
            for side in (listed, other)
        ]
        if position >= min(len(listed), len(other)) or listed[position][0] != other[position][0]:
            raise RuntimeError(
                f"the programs of ranks {rank} and {other_rank} differ: {_numbered(listed, position)} is "
                f"{texts[0]} on rank {rank}, but {texts[1]} on rank {other_rank}. Every rank must run the "
                "same collectives, of tensors of the same types, in the same order. Code that only one "
                "rank runs (if rank == 0: …) must not communicate."
            )


def _numbered(listed: Sequence[Any], position: int) -> str:
    if not listed[0][0].startswith(_DIVIDED):
        return f"collective {position + 1}"
    return f"operator {position}" if position else "one"


def collectives_of(graph: Graph) -> Iterator[tuple[tuple[int, ...], Described]]:
    """Yield the ranks and the description of each collective, in program order.

    Collectives in the bodies of loops and in branches are included.
    """
    for equation in graph.equations:
        if equation.primitive.communicates:
            parameters = dict(equation.parameters)
            ranks = parameters.pop("ranks")
            if equation.primitive.sends:
                yield ranks, (_text(equation, parameters), _line(equation))
        elif equation.primitive.kind == "control":
            for name, inner in equation.graphs.items():
                for ranks, (text, line) in collectives_of(inner):
                    yield ranks, (f"{text} in the {name} of {equation.primitive.name}", line)


def _divided(graph: Graph) -> list[Described]:
    """Describe the inputs and operators of a graph that XLA divides among ranks."""
    types = ", ".join([repr(x.type) for x in graph.inputs])
    line = next(filter(None, map(_line, graph.equations)), "")
    begin = f"{_DIVIDED} {len(graph.equations)} operators on ({types})", line
    return [begin, *_operators(graph)]


def _operators(graph: Graph) -> Iterator[Described]:
    for equation in all_equations(graph.equations):
        types = ", ".join([repr(x.type) for x in equation.inputs])
        yield f"{equation.primitive.name}({types})", _line(equation)


def _text(equation: Equation, parameters: dict[str, Any]) -> str:
    options = "".join([f", {name}={value}" for name, value in parameters.items()])
    return f"{equation.primitive.name}({equation.inputs[0].type!r}{options})"


def _line(equation: Equation) -> str:
    if equation.source is None:
        return ""
    file, line = equation.source
    return f" at {os.path.basename(file)}:{line}"
