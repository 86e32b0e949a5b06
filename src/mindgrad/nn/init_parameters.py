"""``no_init_parameters``, a context manager accepted for compatibility."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = ["no_init_parameters"]


@contextlib.contextmanager
def no_init_parameters() -> Iterator[None]:
    """Do nothing: a context manager, accepted for compatibility.

    In MindSpore, Parameters that are created in the block are not initialized. mindgrad initializes them.

    Returns:
        Iterator: a context manager, which returns ``None`` on entry.

    >>> from mindgrad import nn
    >>> with nn.no_init_parameters():
    ...     net = nn.Dense(2, 3)
    >>> net.weight.shape
    (3, 2)

    See Also:
        :class:`mindgrad.nn.Cell`, :func:`mindgrad.load_param_into_net`
    """
    yield
