"""Rows that convolutions, transforms, lookups, systems and attention keep apart (``row_problems``)."""

from __future__ import annotations

from task import Goal, Task

GRAPH = "mindgrad:graph"


def of_rows(name: str, title: str, *forms: str, at_most: float = 1.0) -> Task:
    """A task against jax's forms."""
    peers = tuple(f"jax:{form}" for form in forms)
    return Task(
        f"rows-{name}", title, peers[0], (GRAPH, *peers), (Goal(GRAPH, at_most, peers),), tolerance=1e-2
    )


_WAVES = "gradient in all weights of the Klein-Gordon equation's residual"
TASKS = (
    of_rows("fno", f"{_WAVES}, Fourier neural operator", "jvp of jvp"),
    of_rows("graph", "gradient in all weights of an error of forces, graph of 8,000 edges", "nested grad"),
    of_rows("systems", "second derivatives through 2,000 systems of four", "jvp of jvp", "nested grad"),
    of_rows("conv", f"{_WAVES}, four convolutions", "jvp of jvp"),
    of_rows(
        "attention", "the Laplacian in 24 coordinates of two layers of self-attention, 64 samples",
        "loop of jvp of grad", "trace of hessian", "jvp of jvp",
    ),
)  # fmt: skip
