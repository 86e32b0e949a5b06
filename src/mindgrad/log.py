"""Logging under MindSpore's names: ``from mindspore import log as logger``.

Messages are sent to the logger ``mindgrad`` of Python's ``logging``, which prints them to standard error. The
environment variable ``GLOG_v`` sets the lowest level that is printed: 0 (debug), 1 (info), 2 (warning, the
default), 3 (error), or 4 (critical). The variable is read at the first message. In a distributed job, every
process logs, and its lines begin with the rank and the number of restarts.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from mindgrad._base.job_rank import prefix
from mindgrad._base.missing import explain_package as _explain_package

__all__ = ["critical", "debug", "error", "get_level", "get_log_config", "info", "set_level", "warning"]

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
_FORMAT = "[%(levelname)s] %(rank)s%(asctime)s %(pathname)s:%(lineno)d %(message)s"


def _asked() -> int:
    number = os.environ.get("GLOG_v", "2")  # noqa: SIM112 MindSpore's name
    return int(number) if number in ("0", "1", "2", "3", "4") else 2


class _Lines(logging.Formatter):
    """A formatter that adds the rank of this process, unless a launcher adds it."""

    def format(self, record: logging.LogRecord) -> str:
        record.rank = prefix()
        return super().format(record)


class _StandardError(logging.StreamHandler):
    """A handler for standard error, which is created with the first message."""


def _logger() -> logging.Logger:
    logger = logging.getLogger("mindgrad")
    if not any(isinstance(handler, _StandardError) for handler in logger.handlers):
        handler = _StandardError()
        handler.setFormatter(_Lines(_FORMAT))
        logger.addHandler(handler)
        logger.setLevel(_LEVELS[_asked()])
        logger.propagate = False
    return logger


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log ``msg % args`` at the level *debug*, for developers.

    >>> from mindgrad import log
    >>> log.debug("step %d", 3)
    """
    _logger().debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log ``msg % args`` at the level *info*.

    >>> from mindgrad import log
    >>> log.info("step %d", 3)
    """
    _logger().info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log ``msg % args`` as a warning, which is printed unless ``GLOG_v`` is 3 or 4."""
    _logger().warning(msg, *args, stacklevel=2, **kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log ``msg % args`` as an error, without raising an exception."""
    _logger().error(msg, *args, stacklevel=2, **kwargs)


def critical(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log ``msg % args`` as a critical error, without raising an exception."""
    _logger().critical(msg, *args, stacklevel=2, **kwargs)


def get_level() -> str:
    """Return the lowest level of messages that are printed, as a string of one digit.

    >>> from mindgrad import log
    >>> log.get_level() in "01234"
    True
    """
    return str(_LEVELS.index(_logger().level)) if _logger().level in _LEVELS else str(_asked())


def set_level(level: int | str) -> None:
    """Set the lowest level of messages that are printed.

    Args:
        level (int or str): lowest level of messages that are printed: a number from 0 (debug) to 4
            (critical), a level of Python's ``logging`` such as ``logging.INFO``, or the name of a level.

    Raises:
        ValueError: If ``level`` is not a valid level or name of a level.

    >>> from mindgrad import log
    >>> before = log.get_level()
    >>> log.set_level("ERROR")
    >>> log.get_level()
    '3'
    >>> log.set_level(int(before))
    """
    named = logging.getLevelNamesMapping().get(level.upper()) if isinstance(level, str) else level
    if isinstance(named, int) and 0 <= named < len(_LEVELS):
        named = _LEVELS[named]
    if named not in _LEVELS:
        raise ValueError(
            f"For 'set_level', the 'level' must be an int from 0 to 4 or the name of a level, but got "
            f"{level!r}."
        )
    _logger().setLevel(named)


def get_log_config() -> dict[str, str]:
    """Return a dict of the current settings of logging.

    >>> from mindgrad import log
    >>> sorted(log.get_log_config())
    ['GLOG_v']
    """
    return {"GLOG_v": get_level()}


_explain_package(__name__)
