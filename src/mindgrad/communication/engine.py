"""The engine of collectives is connected when a session of several processes begins.

From then on eager collectives run over all processes, programs with collectives are compared before they
first run (``communication.agreement``) and their calls while they run (``communication.call_order``). Each
process draws random numbers of its own, while initializers, which draw from NumPy's generator, give all
processes the same.
"""

from __future__ import annotations

import numpy as np

from mindgrad.backend.eager_collectives import forget_programs, run_collective
from mindgrad.backend.process_mesh import forget_mesh, set_agreement
from mindgrad.communication.agreement import Agreement
from mindgrad.communication.call_order import CallOrder
from mindgrad.communication.store import Store
from mindgrad.rows.collectives import all_reduce, set_runner
from mindgrad.trace.state import use_stream

__all__ = ["connect", "disconnect"]


def connect(store: Store, order: CallOrder) -> None:
    """Let collectives run over the processes of ``store``, whose calls ``order`` notes.

    jax's runtime, and the connections for messages between any two processes, start when all processes start
    theirs: by a collective now, as the first one of the program may be of two of them only.
    """
    _forget()
    set_runner(run_collective)
    run_collective(all_reduce, np.zeros(1, np.float32), {"ranks": tuple(range(store.size))})
    set_agreement(Agreement(store, order))
    use_stream(store.rank)


def disconnect() -> None:
    """Let this process be alone again."""
    _forget()
    set_runner(None)
    set_agreement(None)
    use_stream(0)


def _forget() -> None:
    forget_mesh()
    forget_programs()
