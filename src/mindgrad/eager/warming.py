"""Warming of structures decides which deferred calls are compiled, when, and which stay cold.

    cold  →  recorded  →  confirmed by equal calls  →  compiled in the background, if it pays  →  hot

A structure is what calls made in the same way have in common (``structure``); a tier (``tier``) has a few.
What is here serves every deferred call: that of one gradient function or Cell (``tiers``), and that of a
plain function around them (``regions``).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from mindgrad.eager.eviction import keep, used
from mindgrad.eager.segments import compile_request, compile_structure
from mindgrad.eager.structure import Structure
from mindgrad.eager.tier import Tier
from mindgrad.execution.background import submit
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.tensor import Tensor

__all__ = ["compare", "consider", "ended", "error_line", "has_taken", "pays"]

#: structures that are known for one kind of call
_STRUCTURES = 8


class _Thread(threading.local):
    #: what all cold calls of the thread have taken
    seconds = 0.0


_thread = _Thread()


def has_taken(tier: Tier, seconds: float) -> None:
    """Note that a cold call has taken ``seconds``."""
    tier.seconds += seconds
    _thread.seconds += seconds
    if seconds < tier.best:
        tier.best = seconds


def ended(
    tier: Tier, structure: Structure, predicted: Structure | None, line: tuple[str, int] | None, at_once: bool
) -> None:
    """Decide what becomes of a deferred call's structure.

    Args:
        tier: the kind of call.
        structure: what the call did, ``predicted`` itself if that was right.
        predicted: what it was expected to do, ``None`` if it was recorded only.
        line: file and line where it went another way than predicted.
        at_once: whether it is compiled now if it pays, rather than in the background.
    """
    if structure is not predicted:
        _learn(tier, structure, line, predicted is not None)
    elif structure.obstacle:
        tier.moves("cold", structure.obstacle, is_final=True)
    elif not structure.is_queued:
        consider(tier, structure, at_once)
    elif structure.program is not None:
        used(structure)
        if structure.requests:
            _consider_requests(structure, at_once)


def _learn(tier: Tier, structure: Structure, line: tuple[str, int] | None, has_diverged: bool) -> None:
    """Remember what a call did that was not predicted."""
    if has_diverged:
        tier.divergences += 1
        tier.diverged_at = line
    if structure.obstacle:
        tier.moves("cold", structure.obstacle, is_final=True)
        return
    known = next((s for s in tier.structures if s.is_same(structure)), structure)
    tier.structures = [known, *[s for s in tier.structures if s is not known]][:_STRUCTURES]
    if tier.divergences >= HOST.divergences and not any(s.confirmed for s in tier.structures):
        where = "" if line is None else f", the last time at line {line[1]} of {line[0]}"
        tier.varies = True
        tier.moves("cold", f"each call does something else{where}", is_final=True)


def pays(tier: Tier) -> bool:
    """Whether the calls have taken so long that compiling pays; it says so then."""
    if tier.seconds < HOST.compiling_seconds:
        return False
    if "jax" not in sys.modules and _thread.seconds < HOST.importing_seconds:
        return False
    tier.moves("warm", f"{tier.calls} calls took {tier.seconds:.2g} s: compiling in the background")
    return True


def consider(tier: Tier, structure: Structure, at_once: bool) -> None:
    """Have ``structure`` compiled if it pays."""
    if structure.is_queued or structure.program is not None or not structure.confirmed:
        return
    if at_once:
        structure.is_queued = True
        _compile(tier, structure)
        return
    if pays(tier):
        structure.is_queued = True
        submit(_compile, tier, structure)


def _compile(tier: Tier, structure: Structure) -> None:
    version = structure.version
    start = time.perf_counter()
    try:
        program = compile_structure(structure)
    except Exception as error:
        structure.obstacle = f"it cannot be compiled: {error_line(error)}"
        tier.moves("cold", structure.obstacle, is_final=True)
        return
    if structure.version == version:
        structure.program = program
        if structure.version != version:  # another thread was quicker than the assignment
            structure.changed()
            return
        keep(structure, program)
        seconds = time.perf_counter() - start
        tier.moves("hot", f"{len(structure)} operators are one program, compiled in {seconds:.2g} s")


def _consider_requests(structure: Structure, at_once: bool) -> None:
    """Have programs made for values that are asked for inside of recordings, again and again."""
    for number, count in list(structure.requests.items()):
        if count == HOST.requested_calls:
            structure.requests[number] = HOST.requested_calls + 1
            if at_once:
                _compile_request(structure, number)
            else:
                submit(_compile_request, structure, number)


def _compile_request(structure: Structure, number: int) -> None:
    version = structure.version
    with suppress(Exception):  # it is computed operator by operator, then
        segment = compile_request(structure, number)
        if structure.version == version:
            structure.requests[number] = segment


def compare(tier: Tier, tensors: Sequence[Tensor], start: float) -> None:
    """Compare a hot call, begun at ``start``, with cold ones that took little time."""
    if tier.best >= HOST.compared_seconds or len(tier.compared) >= HOST.compared_calls:
        return
    for tensor in tensors:
        wait = getattr(tensor._array, "block_until_ready", None)
        if wait is not None:
            wait()
    tier.compared.append(time.perf_counter() - start)
    if len(tier.compared) == HOST.compared_calls and min(tier.compared) > HOST.slower_part * tier.best:
        cold, hot = tier.best * 1e6, min(tier.compared) * 1e6
        tier.moves("cold", f"a call takes {cold:.0f} µs with NumPy, {hot:.0f} µs as a program", is_final=True)


def error_line(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
