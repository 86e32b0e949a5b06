"""Summaries for MindInsight, which this package does not write: asking for them is refused at once.

The operators of summaries (``ops.ScalarSummary``) record nothing in MindSpore either unless one of these is
open, so they are accepted and do nothing.
"""

from __future__ import annotations

from typing import Any

from mindgrad.train.callback.base import Callback

__all__ = ["SummaryCollector", "SummaryLandscape", "SummaryRecord"]


def _refuse(name: str) -> None:
    raise NotImplementedError(
        f"'{name}' writes files for MindInsight, which mindgrad does not. Use train.History or a Callback of "
        f"your own that keeps or logs what you need."
    )


class SummaryCollector(Callback):
    """MindSpore's collector of summaries for MindInsight; not supported.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("SummaryCollector")


class SummaryLandscape:
    """MindSpore's collector of loss landscapes for MindInsight; not supported.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("SummaryLandscape")


class SummaryRecord:
    """MindSpore's writer of summaries for MindInsight; not supported.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("SummaryRecord")
