"""The option ``save_graphs``: each compiled program as text and as a figure."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.settings import options
from mindgrad.inspect.draw import Drawing

__all__ = ["save"]

_numbers = itertools.count()


def save(name: str, graph: Graph, parameters: Sequence[Any]) -> None:
    """Write ``graph`` to the folder of the option ``save_graphs_path``.

    The default of the option is the current folder. The files are ``000_name.txt`` and, if Matplotlib is
    installed, ``000_name.svg``.

    Args:
        name (str): name of the compiled function.
        graph (Graph): program of the function.
        parameters (list or tuple): Parameters that the function reads, which are the last inputs of the
            program.
    """
    folder = Path(options.get("save_graphs_path") or os.curdir)
    folder.mkdir(parents=True, exist_ok=True)
    count = len(graph.inputs) - len(parameters)
    names = [*[f"input_{k}" for k in range(count)], *[p.name for p in parameters]]
    stem = f"{next(_numbers):03d}_{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_') or 'function'}"
    (folder / f"{stem}.txt").write_text(graph.text(names) + "\n", encoding="utf-8")
    if find_spec("matplotlib") is not None:
        Drawing(name, graph, names).save(folder / f"{stem}.svg")
