"""MindInsight's summary classes, which warn once and write nothing.

The summary operators (``ops.ScalarSummary``) do not warn, because they have no effect in MindSpore either
unless a ``SummaryRecord`` is open.
"""

from __future__ import annotations

from typing import Any, Self

from mindgrad._base.checks import one_of
from mindgrad.core.base.location import warn_user
from mindgrad.train.callback.base import Callback

__all__ = ["SummaryCollector", "SummaryLandscape", "SummaryRecord"]

#: names of the classes that have already warned in this process
_warned: set[str] = set()


def _warn_once(name: str) -> None:
    if name not in _warned:
        _warned.add(name)
        warn_user(
            f"'{name}' does nothing: it would write files for MindInsight, which mindgrad does not support. "
            "To record values, use train.History or a custom Callback."
        )


class SummaryCollector(Callback):
    """Accepted for compatibility, without effect: MindSpore's summaries.

    The first object of this class in a process warns that no files are written.

    Args:
        *args (Any): accepted for compatibility.
        **kwargs (Any): accepted for compatibility.

    >>> import warnings
    >>> from mindgrad.train import SummaryCollector
    >>> with warnings.catch_warnings(action="ignore"):
    ...     collector = SummaryCollector("./summary_dir", collect_freq=10)

    See Also:
        :class:`mindgrad.History`, :class:`mindgrad.SummaryRecord`
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn_once("SummaryCollector")


class SummaryLandscape:
    """Not supported: MindSpore's collector of loss landscapes for MindInsight.

    Args:
        *args, **kwargs (Any): not used.

    Raises:
        NotImplementedError: If a SummaryLandscape is created.

    >>> from mindgrad.train import SummaryLandscape
    >>> SummaryLandscape("./summary_dir")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    NotImplementedError: 'SummaryLandscape' computes loss landscapes for MindInsight, ...

    See Also:
        :class:`mindgrad.History`, :class:`mindgrad.SummaryCollector`
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "'SummaryLandscape' computes loss landscapes for MindInsight, which mindgrad does not support. "
            "Evaluate the loss on a grid of parameter values instead."
        )


class SummaryRecord:
    """Accepted for compatibility, without effect: MindSpore's writer of summaries.

    The first object of this class in a process warns that no files are written.

    Args:
        log_dir (str): folder of the summaries in MindSpore. It is not created.
        *args (Any): accepted for compatibility.
        **kwargs (Any): accepted for compatibility.

    >>> import warnings
    >>> from mindgrad.train.summary import SummaryRecord
    >>> with warnings.catch_warnings(action="ignore"), SummaryRecord("./summary_dir") as record:
    ...     record.add_value("scalar", "loss", 1.0)
    ...     print(record.record(1))
    True

    See Also:
        :class:`mindgrad.History`, :class:`mindgrad.SummaryCollector`
    """

    def __init__(self, log_dir: str, *args: Any, **kwargs: Any) -> None:
        self._log_dir = log_dir
        self._mode = "train"
        _warn_once("SummaryRecord")

    @property
    def log_dir(self) -> str:
        """The folder that was passed to the constructor."""
        return self._log_dir

    def set_mode(self, mode: str) -> None:
        """Accept the mode of the run, without effect.

        Args:
            mode (str): mode of the run, ``"train"`` or ``"eval"``.

        Raises:
            ValueError: If ``mode`` is neither ``"train"`` nor ``"eval"``.
        """
        one_of(mode, ("train", "eval"), "set_mode", "mode")
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Accept a value without storing it."""

    def record(self, step: int, train_network: Any = None, plugin_filter: Any = None) -> bool:
        """Return ``True``; nothing is written."""
        return True

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
