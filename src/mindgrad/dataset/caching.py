"""Caches of rows are accepted and not used: a cache changes no result."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["DatasetCache"]


class DatasetCache:
    """A cache that ``cache=`` of sources and of ``map`` accepts; every pass computes its rows anew.

    Args:
        session_id (int): the number of a session of MindSpore's cache server.
        size (int, optional): its size in MiB; 0 for no limit. Default: ``0``.
        spilling (bool, optional): whether rows that do not fit go to the disk. Default: ``False``.
        hostname (str, optional): the host of the server. Default: ``None``.
        port (int, optional): its port. Default: ``None``.
        num_connections (int, optional): the number of connections. Default: ``None``.
        prefetch_size (int, optional): how many rows are read ahead. Default: ``None``.

    >>> from mindgrad import dataset as ds
    >>> cache = ds.DatasetCache(session_id=1)
    >>> print(*[int(x) for x, in ds.NumpySlicesDataset([3]).map(abs, cache=cache)])
    3
    """

    def __init__(
        self,
        session_id: int,
        size: int = 0,
        spilling: bool = False,
        hostname: str | None = None,
        port: int | None = None,
        num_connections: int | None = None,
        prefetch_size: int | None = None,
    ) -> None:
        self.session_id, self.size, self.spilling = session_id, size, spilling
        self.hostname, self.port = hostname, port
        self.num_connections, self.prefetch_size = num_connections, prefetch_size

    def get_stat(self) -> NoReturn:
        """Refused: there is no cache server.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            "there is no cache server, and so no statistics of it; keep rows in memory with "
            "NumpySlicesDataset."
        )

    def get_cache(self) -> Any:
        """The cache itself."""
        return self
