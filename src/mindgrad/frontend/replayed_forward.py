"""Undo the state updates of a forward run before the gradient of the same call.

    loss = net(x)                          a run of net
    gradients = grad(net, weights)(x)      the same run, differentiated

Programs for MindSpore contain both lines, and MindSpore runs the net once. Therefore running means are
updated once, and random numbers are drawn once. In mindgrad, the gradient runs the net again. To change the
state only once, too, mindgrad first undoes the state updates of the first run.

This applies to Cells on which ``set_grad()`` was called, as in training steps, and only if the arguments and
the updated state are the same as at the end of the first run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindgrad.core.ir.scope import as_it_is, identity, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references

__all__ = ["noted", "take_back"]

#: largest number of Cells whose latest run is recorded, outside compiled functions
_KEPT = 4


class _Run:
    """One run: its Cell, its arguments, and ``(Parameter, before, after)`` per write."""

    __slots__ = ("args", "cell", "writes")

    def __init__(self, cell: Any, args: Sequence[Any], journal: references.Journal) -> None:
        self.cell = cell
        self.args = [_seen(x) for x in args]
        self.writes = [(p, before, _seen(p)) for p, before in journal.before.values()]


class _Local(threading.local):
    def __init__(self) -> None:
        self.runs: dict[int, _Run] = {}


_local = _Local()


def _seen(x: Any) -> Any:
    """Return the present value of ``x`` if it is a tensor, and else ``x`` itself."""
    return as_it_is(references.read(x)) if isinstance(x, Tensor) else x


def _is_same(x: Any, recorded: Any) -> bool:
    if isinstance(x, Tensor) and isinstance(recorded, Tensor):
        return identity(references.read(x)) == identity(recorded)
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
    """Record the writes of a run of ``cell`` on ``args``."""
    with references.journal() as journal:
        yield
    runs = _runs()
    runs.pop(id(cell), None)
    if journal.before:
        runs[id(cell)] = _Run(cell, args, journal)
        if runs is _local.runs and len(runs) > _KEPT:
            runs.pop(next(iter(runs)))


def take_back(cell: Any, args: Sequence[Any]) -> None:
    """Undo the writes of the latest run of ``cell`` on ``args`` if nothing changed."""
    run = _runs().pop(id(cell), None)
    if run is None or run.cell is not cell or len(run.args) != len(args):
        return
    if not all(map(_is_same, args, run.args)) or not all(_is_same(p, after) for p, _, after in run.writes):
        return
    for parameter, before, _ in run.writes:
        references.write(parameter, before)
