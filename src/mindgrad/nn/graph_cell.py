"""``GraphCell``, a MindSpore class that mindgrad does not support."""

from __future__ import annotations

from typing import Any

from mindgrad.nn.cell import Cell

__all__ = ["GraphCell"]


class GraphCell(Cell):
    """Not supported: MindSpore's Cell that runs a program from a MindIR file.

    Args:
        *args, **kwargs (Any): not used.

    Raises:
        NotImplementedError: If a GraphCell is created. The message names the alternative.

    >>> from mindgrad import nn
    >>> nn.GraphCell("net.mindir")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    NotImplementedError: 'GraphCell' runs MindIR, a program compiled by MindSpore, ...

    See Also:
        :class:`mindgrad.nn.Cell`, :func:`mindgrad.load_checkpoint`, :func:`mindgrad.load_param_into_net`
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "'GraphCell' runs MindIR, a program compiled by MindSpore, which mindgrad cannot run. Write the "
            "network as a Cell and load its Parameters: "
            "load_param_into_net(net, load_checkpoint('net.ckpt'))."
        )
