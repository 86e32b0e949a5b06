"""Connect collective operators to the other processes of a job.

After :func:`connect`, eager collectives run over all processes of the job. The ranks compare compiled
functions with collectives before the first call (``communication.agreement``), and compare their calls while
they run (``communication.call_order``). Each process draws different random numbers. However, initializers,
which use NumPy's generator, return equal values on all processes.
"""

from __future__ import annotations

import numpy as np

from mindgrad.communication.agreement import Agreement
from mindgrad.communication.call_order import CallOrder
from mindgrad.communication.store import Store
from mindgrad.distributed.collectives import all_reduce, set_runner
from mindgrad.distributed.eager_collectives import forget_programs, run_collective
from mindgrad.distributed.process_mesh import forget_mesh, set_agreement
from mindgrad.frontend.state import use_stream

__all__ = ["connect", "disconnect"]


def connect(store: Store, order: CallOrder) -> None:
    """Run collectives over the processes of ``store``, and record calls in ``order``.

    JAX opens the connections between pairs of processes at the first collective, in which all processes must
    take part. The first collective of a user's code may involve only two processes. Therefore, this function
    first runs a collective over all processes.
    """
    _forget()
    set_runner(run_collective)
    run_collective(all_reduce, np.zeros(1, np.float32), {"ranks": tuple(range(store.size))})
    set_agreement(Agreement(store, order))
    use_stream(store.rank)


def disconnect() -> None:
    """Undo :func:`connect`, so that later collectives run in this process only."""
    _forget()
    set_runner(None)
    set_agreement(None)
    use_stream(0)


def _forget() -> None:
    forget_mesh()
    forget_programs()
