"""``DatasetCache``, which is accepted without effect."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["DatasetCache"]


class DatasetCache:
    """MindSpore's cache of samples, which has no effect in mindgrad.

    Sources and ``map`` accept it as the argument ``cache``. Each pass over the dataset computes all samples
    again.

    Args:
        session_id (int): identifier of a session of MindSpore's cache server.
        size (int, optional): maximum size of the cache in MiB. 0: no limit. Default: ``0``.
        spilling (bool, optional): whether to write samples that do not fit to the disk. Default: ``False``.
        hostname (str, optional): host name of the cache server. Default: ``None``.
        port (int, optional): port of the cache server. Default: ``None``.
        num_connections (int, optional): number of connections to the cache server. Default: ``None``.
        prefetch_size (int, optional): number of samples to read ahead. Default: ``None``.

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
        """Not supported, because there is no cache server.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            "'get_stat' is not supported, because mindgrad has no cache server. To keep samples in "
            "memory, use NumpySlicesDataset."
        )

    def get_cache(self) -> Any:
        """Return the cache itself."""
        return self
