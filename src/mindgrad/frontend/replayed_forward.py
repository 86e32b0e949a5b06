"""Undo the state updates of a forward run before the gradient of the same call.

    loss = net(x)                          runs net, and updates the running means of batch normalization
    gradients = grad(net, weights)(x)      must not update them a second time

Programs for MindSpore contain both lines, and MindSpore runs the net once. In mindgrad, the second line runs
the net again. Therefore, mindgrad first undoes the state updates of the first line: running means, and states
of random number generators. As a result, both lines together update the state once, as in MindSpore.

Updates are undone only for Cells on which ``set_grad()`` was called, as in training steps. The arguments and
the updated state must be the same as at the end of the first run.
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

#: maximum number of Cells for which the updates of the latest run are recorded. If there are more Cells, the
#: oldest record is dropped, and a gradient can no longer undo the updates in this record
_KEPT = 4


class _Run:
    """A forward run of a Cell, and the Parameters that the run has written.

    ``writes`` contains one tuple ``(Parameter, value before the run, value after the run)`` for each of these
    Parameters.
    """

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
    """Return a tensor with the present value of ``x``.

    Later assignments to ``x`` do not change the result. If ``x`` is not a tensor, return ``x``.
    """
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
    """A context for ``cell(*args)`` that records the Parameters written by this call."""
    with references.journal() as journal:
        yield
    runs = _runs()
    runs.pop(id(cell), None)
    if journal.before:
        runs[id(cell)] = _Run(cell, args, journal)
        if runs is _local.runs and len(runs) > _KEPT:
            runs.pop(next(iter(runs)))


def take_back(cell: Any, args: Sequence[Any]) -> None:
    """Undo the Parameter updates of the latest run of ``cell``.

    Nothing is undone if ``args`` or the Parameters differ from the arguments and the final values of this
    run.
    """
    run = _runs().pop(id(cell), None)
    if run is None or run.cell is not cell or len(run.args) != len(args):
        return
    if not all(map(_is_same, args, run.args)) or not all(_is_same(p, after) for p, _, after in run.writes):
        return
    for parameter, before, _ in run.writes:
        references.write(parameter, before)
