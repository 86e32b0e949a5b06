"""Check during a job that all ranks call compiled functions in the same order.

``communication.agreement`` compares the collectives of a function once, before its first call. It does not
detect that one rank calls a different function than other ranks at a later time. The ranks would then wait
for each other forever, or add unrelated arrays. Therefore, each rank records its calls for each group: their
number, a hash of their sequence, and the most recent calls. A thread publishes the record and compares it
with the record of the previous member of each group, the *neighbor* of the rank. If the records of all
neighbors are equal, the records of all members are equal. A difference is any of these conditions:

- After the same number of calls over a group, the hashes differ.
- One rank is ahead in one group and the other rank is ahead in another group. Then the two ranks call
  functions in different orders.
- One rank waits for agreement on a function, and the other rank has already called a different function or
  waits for agreement on a different function.

The first two conditions do not depend on the times at which the records were written. The third condition may
hold for a moment in a correct program, so it is reported only if two successive records show it.
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

#: for each group, a rank stores the hashes after this many most recent calls, to compare them with the record
#: of a slower rank
_KEPT = 4096
#: for each group, a published record contains the functions of this many most recent calls, for error
#: messages
_NAMED = 32
_MASK = 2**63 - 1
_FACTOR = 6364136223846793005

#: advice at the end of messages about ranks that called different collectives
ORDER = "Every rank must run the same collectives in the same order"

Ranks = tuple[int, ...]


class Calls(NamedTuple):
    """The calls of functions that communicate over one group of processes.

    Attributes:
        times: number of calls.
        hash: hash of the sequence of calls.
        latest: identifiers of the functions of the most recent calls, in the order of the calls.
    """

    times: int = 0
    hash: int = 0
    latest: Sequence[int] = ()


class Record(NamedTuple):
    """The calls of functions with collectives by one rank, as sent to other ranks.

    Attributes:
        serial: number of the record.
        groups: maps each group to the calls over this group.
        titles: maps the identifiers of functions to their descriptions.
        awaited: group and function for which the rank has waited for agreement since the previous record, or
            ``None``.
    """

    serial: int
    groups: dict[Ranks, Calls]
    titles: dict[int, str]
    awaited: tuple[Ranks, int] | None

    def encoded(self) -> bytes:
        """Encode the record as JSON."""
        groups = [[list(ranks), *calls] for ranks, calls in self.groups.items()]
        return json.dumps([self.serial, groups, list(self.titles.items()), self.awaited]).encode()

    @classmethod
    def decoded(cls, content: bytes) -> Record:
        """Decode a record from JSON."""
        serial, groups, titles, awaited = json.loads(content)
        calls = {tuple(ranks): Calls(*parts) for ranks, *parts in groups}
        return cls(serial, calls, dict(titles), None if awaited is None else (tuple(awaited[0]), awaited[1]))

    def title(self, number: int) -> str:
        """Return the description of the function whose identifier is ``number``."""
        return self.titles.get(number, "another program")


def number_of(texts: Sequence[str]) -> int:
    """Compute an identifier of a compiled function that is equal on all ranks.

    Args:
        texts (list or tuple of str): descriptions of the collectives that the function calls over a group.
    """
    digest = hashlib.sha256(json.dumps(list(texts)).encode()).digest()
    return int.from_bytes(digest[:7], "big")


class CallOrder:
    """Records the calls of this rank, and compares them with the calls of other ranks.

    Args:
        store (Store): store of the job.
        name (str, optional): name of this session, which must be equal on all ranks. Default: ``"calls"``.
    """

    def __init__(self, store: Store, name: str = "calls") -> None:
        self._store, self._name = store, name
        self._lock = threading.Lock()  # protects the recorded calls
        self._comparing = threading.RLock()  # reentrant, because a signal handler may end the job
        self._history: dict[Ranks, deque[tuple[int, int, int]]] = {}
        self._titles: dict[int, str] = {}
        self._awaited: tuple[Ranks, int] | None = None
        self._awaited_before: tuple[Ranks, int] | None = None
        self._serial = 0
        self._published: tuple[object, ...] = ()
        self._suspicions: dict[int, tuple[str, int]] = {}

    def noting(self, programs: Sequence[tuple[Ranks, int, str]]) -> Callable[[], None]:
        """Return a function that records one call of a compiled function.

        Args:
            programs (list or tuple of tuple): one tuple for each group over which the function communicates:
                the ranks of the group's members, the identifier of the function, and the description of the
                function.
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
        """A ``with`` block that records that this rank waits for agreement on a function.

        Args:
            ranks (tuple of int): the group over which the function communicates.
            number (int): identifier of the function.
            title (str): description of the function.
        """
        self._titles[number] = title
        self._awaited = (tuple(sorted(ranks)), number)
        try:
            yield
        finally:
            self._awaited = None

    def publish(self) -> Record:
        """Write the record of this rank to the store if the record has changed; return it."""
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
        """Publish the record of this rank, and compare it with records of its neighbors.

        Returns:
            The first difference, as the end of a sentence that begins with this rank, or an empty string.
        """
        with self._comparing:
            return self._compared()

    def _compared(self) -> str:
        own = self._publish()
        with self._lock:
            histories = {ranks: list(history) for ranks, history in self._history.items()}
        for other in self._neighbors():
            with suppress(RuntimeError):  # the other rank has not published a record, or the job failed
                record = Record.decoded(self._store.get(self._key(other), 0.0))
                text = difference(own, record, histories, self._store.rank, other)
                if not text:
                    text = self._lasting(_passed(own, record, self._store.rank, other), other, record.serial)
                if text:
                    return text
        return ""

    def _lasting(self, text: str, other: int, serial: int) -> str:
        """Return ``text`` if an older record of rank ``other`` has led to the same text.

        Otherwise, return an empty string, because the difference may disappear.
        """
        before = self._suspicions.get(other)
        self._suspicions[other] = (text, serial)
        return text if before is not None and before[0] == text and before[1] != serial else ""

    def _neighbors(self) -> list[int]:
        rank = self._store.rank
        groups = [*self._history, *([self._awaited[0]] if self._awaited else [])]
        members = [ranks for ranks in groups if rank in ranks and len(ranks) > 1]
        return sorted({ranks[ranks.index(rank) - 1] for ranks in members})

    def _key(self, rank: int) -> str:
        return f"{self._name} of rank {rank}"


def difference(
    own: Record, other: Record, histories: dict[Ranks, list[tuple[int, int, int]]], rank: int, other_rank: int
) -> str:
    """Describe the first difference between the calls of two ranks.

    Args:
        own, other (Record): records of the two ranks.
        histories (dict): most recent calls of the first rank, by group. Each call is a tuple of the number of
            calls so far, the hash, and the function.
        rank, other_rank (int): the two ranks.

    Returns:
        The end of a sentence that begins with the first rank, or an empty string if there is no difference.
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
        f"called a different program from rank {other_rank}: call {count} over {_named(ranks)} was {mine}, "
        f"but "
        f"{theirs} on rank {other_rank}. {ORDER}. Code that only one rank runs (if rank == 0: …) must not "
        "communicate"
    )


def _passed(own: Record, other: Record, rank: int, other_rank: int) -> str:
    """Describe a wait for agreement that cannot end, or return an empty string.

    A wait cannot end if one rank waits for agreement on a function, and the other rank has called a different
    function or waits for agreement on a different function.
    """
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
                continue  # both ranks have just confirmed that they call this function
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
