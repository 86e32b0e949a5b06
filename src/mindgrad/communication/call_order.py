"""The order of calls is the same on all ranks, which compare it while they run.

Agreement (``communication.agreement``) makes programs equal, once. It does not see that one rank calls
another program than the others do at that time: they would wait for each other without end, or add up arrays
that do not belong together. So each rank keeps a record of its calls, by group: how many there were, a hash
of all of them in order, and the latest ones. A thread publishes the record and compares it with that of the
previous member of each group: if all neighbors are equal, all members are. Three things are differences:

- the hashes of so many calls over a group are not the same;
- of two groups one rank is ahead in one, and the other rank in the other: they call in different orders;
- a rank waits for agreement on a program, and another one has gone past it, or waits for another agreement.

The first two do not depend on when the records were written; the last one counts when it is seen twice.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from mindgrad.communication.board import and_joined
from mindgrad.communication.store import Store

__all__ = ["ORDER", "CallOrder", "Calls", "Record", "difference", "number_of"]

#: calls over a group whose hashes are kept, to be compared with the record of a rank that is behind
_KEPT = 4096
#: the latest calls over a group that a record names
_NAMED = 32
_MASK = 2**63 - 1
_FACTOR = 6364136223846793005

#: advice
ORDER = "Every rank must run the same collectives in the same order"

Ranks = tuple[int, ...]


class Calls(NamedTuple):
    """The calls over a group.

    Attributes:
        times: how many there were.
        hash: of all of them, in order.
        latest: the numbers of the programs of the latest ones, the last one last.
    """

    times: int = 0
    hash: int = 0
    latest: Sequence[int] = ()


class Record(NamedTuple):
    """The calls of a rank.

    Attributes:
        serial: the number of the record.
        groups: the calls over each group.
        titles: the programs that they name, in words.
        awaited: the group and the program that the rank waits to agree upon, if it has waited for a while.
    """

    serial: int
    groups: dict[Ranks, Calls]
    titles: dict[int, str]
    awaited: tuple[Ranks, int] | None

    def encoded(self) -> bytes:
        """The record as bytes."""
        groups = [[list(ranks), *calls] for ranks, calls in self.groups.items()]
        return json.dumps([self.serial, groups, list(self.titles.items()), self.awaited]).encode()

    @classmethod
    def decoded(cls, content: bytes) -> Record:
        """The record whose bytes these are."""
        serial, groups, titles, awaited = json.loads(content)
        calls = {tuple(ranks): Calls(*parts) for ranks, *parts in groups}
        return cls(serial, calls, dict(titles), None if awaited is None else (tuple(awaited[0]), awaited[1]))

    def title(self, number: int) -> str:
        """A program in words."""
        return self.titles.get(number, "another program")


def number_of(texts: Sequence[str]) -> int:
    """The number of a program, by which it is known on all ranks.

    Args:
        texts (list or tuple of str): what it sends over a group.
    """
    digest = hashlib.sha256(json.dumps(list(texts)).encode()).digest()
    return int.from_bytes(digest[:7], "big")


class CallOrder:
    """The record of this rank's calls, and its comparison with those of other ranks.

    Args:
        store (Store): the store of the job.
        name (str, optional): a name that is this session's on all ranks. Default: ``"calls"``.
    """

    def __init__(self, store: Store, name: str = "calls") -> None:
        self._store, self._name = store, name
        self._lock = threading.Lock()  # of the calls
        self._comparing = threading.RLock()  # a signal may end the job while it is held
        self._history: dict[Ranks, deque[tuple[int, int, int]]] = {}
        self._titles: dict[int, str] = {}
        self._awaited: tuple[Ranks, int] | None = None
        self._awaited_before: tuple[Ranks, int] | None = None
        self._serial = 0
        self._published: tuple[object, ...] = ()
        self._suspicions: dict[int, tuple[str, int]] = {}

    def noting(self, programs: Sequence[tuple[Ranks, int, str]]) -> Callable[[], None]:
        """A function that notes a call of a program.

        Args:
            programs (list or tuple of tuple of Ranks): for each group over which it sends, the members, its
                number and its words.
        """
        entries = []
        for ranks, number, title in programs:
            key = tuple(sorted(ranks))
            self._titles[number] = title
            entries.append((self._history.setdefault(key, deque(maxlen=_KEPT)), number))
        lock = self._lock

        def note() -> None:
            with lock:
                for history, number in entries:
                    count, hash_, _ = history[-1] if history else (0, 0, 0)
                    history.append((count + 1, (hash_ * _FACTOR + number + 1) & _MASK, number))

        return note

    @contextmanager
    def awaiting(self, ranks: Ranks, number: int, title: str) -> Iterator[None]:
        """Note that this rank waits until the others come to a program."""
        self._titles[number] = title
        self._awaited = (tuple(sorted(ranks)), number)
        try:
            yield
        finally:
            self._awaited = None

    def publish(self) -> Record:
        """Write the record of this rank to the store, if it has changed."""
        with self._comparing:
            return self._publish()

    def _publish(self) -> Record:
        with self._lock:
            histories = {ranks: list(history) for ranks, history in self._history.items() if history}
        awaited = self._awaited if self._awaited is self._awaited_before else None
        self._awaited_before = self._awaited
        groups = {
            ranks: Calls(history[-1][0], history[-1][1], [number for *_, number in history[-_NAMED:]])
            for ranks, history in histories.items()
        }
        numbers = {number for calls in groups.values() for number in calls.latest}
        if awaited is not None:
            numbers.add(awaited[1])
        self._serial += 1
        record = Record(self._serial, groups, {x: self._titles[x] for x in numbers}, awaited)
        if awaited is not None or record[1:] != self._published:
            self._store.set(self._key(self._store.rank), record.encoded())
            self._published = record[1:]
        return record._replace(titles=self._titles)

    def compared(self) -> str:
        """The first difference from a neighbor, as a predicate of this rank; empty if there is none."""
        with self._comparing:
            return self._compared()

    def _compared(self) -> str:
        own = self._publish()
        with self._lock:
            histories = {ranks: list(history) for ranks, history in self._history.items()}
        for other in self._neighbours():
            with suppress(RuntimeError):  # it has not published anything, or the job has failed
                record = Record.decoded(self._store.get(self._key(other), 0.0))
                text = difference(own, record, histories, self._store.rank, other)
                if not text:
                    text = self._lasting(_passed(own, record, self._store.rank, other), other, record.serial)
                if text:
                    return text
        return ""

    def _lasting(self, text: str, other: int, serial: int) -> str:
        """``text`` if it was said of an older record of that rank, too."""
        before = self._suspicions.get(other)
        self._suspicions[other] = (text, serial)
        return text if before is not None and before[0] == text and before[1] != serial else ""

    def _neighbours(self) -> list[int]:
        rank = self._store.rank
        groups = [*self._history, *([self._awaited[0]] if self._awaited else [])]
        members = [ranks for ranks in groups if rank in ranks and len(ranks) > 1]
        return sorted({ranks[ranks.index(rank) - 1] for ranks in members})

    def _key(self, rank: int) -> str:
        return f"{self._name} of rank {rank}"


def difference(
    own: Record, other: Record, histories: dict[Ranks, list[tuple[int, int, int]]], rank: int, other_rank: int
) -> str:
    """The calls in which two ranks differ, as a predicate of the first one; empty if they do not.

    Args:
        own, other (Record): their records.
        histories (dict): of each group the latest calls of the first rank: their counts, hashes and programs.
        rank, other_rank (int): the ranks.
    """
    shared = [ranks for ranks in {**own.groups, **other.groups} if rank in ranks and other_rank in ranks]
    for ranks in shared:
        calls, history = other.groups.get(ranks, Calls()), histories.get(ranks, [])
        hashes = {count: hash_ for count, hash_, _ in history}
        if calls.times in hashes and hashes[calls.times] != calls.hash:
            return _differing(own, other, calls, history, (ranks, other_rank))
    counts = {ranks: (own.groups.get(ranks, Calls()), other.groups.get(ranks, Calls())) for ranks in shared}
    ahead = [ranks for ranks, (one, two) in counts.items() if one.times > two.times]
    behind = [ranks for ranks, (one, two) in counts.items() if one.times < two.times]
    if ahead and behind:
        mine, theirs = counts[ahead[0]][0], counts[behind[0]][1]
        return (
            f"called {own.title(mine.latest[-1])} over {_named(ahead[0])} before it came to "
            f"{other.title(theirs.latest[-1])} over {_named(behind[0])}, which rank {other_rank} called "
            f"first. {ORDER}"
        )
    return ""


def _differing(
    own: Record, other: Record, calls: Calls, history: list[tuple[int, int, int]], where: tuple[Ranks, int]
) -> str:
    ranks, other_rank = where
    numbers = {count: number for count, _, number in history}
    first = calls.times - len(calls.latest) + 1
    for count, number in enumerate(calls.latest, first):
        if count in numbers and numbers[count] != number:
            theirs, mine = other.title(number), own.title(numbers[count])
            break
    else:
        count, theirs, mine = calls.times, "another program", "one"
    return (
        f"called another program than rank {other_rank}: call {count} over {_named(ranks)} was {mine}, but "
        f"{theirs} on rank {other_rank}. {ORDER}. Code that only one rank runs (if rank == 0: …) must not "
        "communicate"
    )


def _passed(own: Record, other: Record, rank: int, other_rank: int) -> str:
    """The program that one of two ranks waits for, while the other has gone past it, or waits elsewhere."""
    for waiting, passing, names in ((own, other, (rank, other_rank)), (other, own, (other_rank, rank))):
        if waiting.awaited is None or names[1] not in waiting.awaited[0]:
            continue
        (ranks, number), elsewhere = waiting.awaited, passing.awaited
        text = f"{waiting.title(number)} over {_named(ranks)}"
        passed = [
            group for group, calls in passing.groups.items()
            if {*names} <= {*group} and calls.times > waiting.groups.get(group, Calls()).times
        ]  # fmt: skip
        if passed:
            calls, times = passing.groups[passed[0]], waiting.groups.get(passed[0], Calls()).times
            called = calls.latest[max(times - calls.times, -len(calls.latest))]
            if passed[0] == ranks and called == number:
                continue  # they have just agreed
            told = f"has called {passing.title(called)} over {_named(passed[0])}"
        elif elsewhere is not None and elsewhere != waiting.awaited and names[0] in elsewhere[0]:
            told = f"waits in {passing.title(elsewhere[1])} over {_named(elsewhere[0])}"
        else:
            continue
        subject = f"waits in {text}, where rank {other_rank} {told}"
        if names[0] != rank:
            subject = f"{told}, where rank {other_rank} waits in {text}"
        return f"{subject}. {ORDER}"
    return ""


def _named(ranks: Sequence[int]) -> str:
    return f"ranks {and_joined(ranks)}"
