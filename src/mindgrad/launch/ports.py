"""Reserved ports stay free for a worker until it listens on them.

jax's coordinator listens in a worker, on a port that its launcher must know before. The launcher binds a
socket to it that never listens; gRPC shares ports (SO_REUSEPORT), so the worker can listen there, and nobody
else gets the port meanwhile.
"""

from __future__ import annotations

import socket

__all__ = ["Reserved"]


class Reserved:
    """A port that is kept free until :meth:`close`.

    Args:
        host (str): the address of this machine on which a worker will listen.
        port (int): the port; 0 for any.

    Raises:
        OSError: If the port is in use, or the address is not one of this machine.
    """

    def __init__(self, host: str, port: int) -> None:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        if port:
            # two programs that share ports would share this one too: it must be free altogether
            with socket.socket(family, socket.SOCK_STREAM) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind((host, port))
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            if hasattr(socket, "SO_REUSEPORT"):
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            self._socket.bind((host, port))
        except BaseException:
            self._socket.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        if not hasattr(socket, "SO_REUSEPORT"):
            self._socket.close()

    def close(self) -> None:
        """Let go of the port."""
        self._socket.close()
