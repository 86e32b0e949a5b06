"""The engine of collectives is connected when a session of several processes begins.

From then on eager collectives run over all processes, programs with collectives are compared before they
first run (``communication.agreement``), and each process draws random numbers of its own, while initialisers,
which draw from NumPy's generator, give all processes the same.
"""

from __future__ import annotations

from mindgrad.backend import eager_collectives, process_mesh
from mindgrad.backend.eager_collectives import run_collective
from mindgrad.common.seed import use_rank
from mindgrad.communication.agreement import Agreement
from mindgrad.communication.store import Store
from mindgrad.rows.collectives import set_runner

__all__ = ["connect", "disconnect"]


def connect(store: Store) -> None:
    """Let collectives run over the processes of ``store``."""
    _forget()
    set_runner(run_collective)
    process_mesh.set_agreement(Agreement(store))
    use_rank(store.rank)


def disconnect() -> None:
    """Let this process be alone again."""
    _forget()
    set_runner(None)
    process_mesh.set_agreement(None)
    use_rank(0)


def _forget() -> None:
    process_mesh.forget()
    eager_collectives.forget()
