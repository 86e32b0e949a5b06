"""A forward run that precedes the gradient of the same call is undone, so that its state changes once.

    loss = net(x)                          a run of net
    gradients = grad(net, weights)(x)      the same run, differentiated

Programs for MindSpore write both, and there both are one run: running means are updated once, and random
numbers are drawn once. Here the gradient runs the net again, so the state updates of the first run are undone
before. This holds for Cells whose ``set_grad()`` was called, as training steps do, and only if the arguments
and the updated state are unchanged.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindgrad.ir.scope import as_it_is, identity, innermost
from mindgrad.ir.tensor import Tensor
from mindgrad.trace import state

__all__ = ["noted", "take_back"]

#: how many Cells are remembered outside of compiled programs
_KEPT = 4


class _Run:
    """One run: its Cell and arguments, and ``(Parameter, value before, value after)`` of its writes."""

    __slots__ = ("args", "cell", "writes")

    def __init__(self, cell: Any, args: Sequence[Any], journal: state.Journal) -> None:
        self.cell = cell
        self.args = [_seen(x) for x in args]
        self.writes = [(p, before, _seen(p)) for p, before in journal.before.values()]


class _Local(threading.local):
    def __init__(self) -> None:
        self.runs: dict[int, _Run] = {}


_local = _Local()


def _seen(x: Any) -> Any:
    """``x`` as it is now, if it is a tensor."""
    return as_it_is(state.read(x)) if isinstance(x, Tensor) else x


def _is_same(x: Any, recorded: Any) -> bool:
    if isinstance(x, Tensor) and isinstance(recorded, Tensor):
        return identity(state.read(x)) == identity(recorded)
    return x is recorded


def _runs() -> dict[int, _Run]:
    scope = innermost()
    if scope is None:
        return _local.runs
    if scope.runs is None:
        scope.runs = {}
    return scope.runs


@contextmanager
def noted(cell: Any, args: Sequence[Any]) -> Iterator[None]:
    """While ``cell`` runs on ``args``."""
    with state.journal() as journal:
        yield
    runs = _runs()
    runs.pop(id(cell), None)
    if journal.before:
        runs[id(cell)] = _Run(cell, args, journal)
        if runs is _local.runs and len(runs) > _KEPT:
            runs.pop(next(iter(runs)))


def take_back(cell: Any, args: Sequence[Any]) -> None:
    """Undo the writes of the latest run of ``cell``, if it was on ``args`` and nothing changed since."""
    run = _runs().pop(id(cell), None)
    if run is None or run.cell is not cell or len(run.args) != len(args):
        return
    if not all(map(_is_same, args, run.args)) or not all(_is_same(p, after) for p, _, after in run.writes):
        return
    for parameter, before, _ in run.writes:
        state.write(parameter, before)
