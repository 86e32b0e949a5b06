"""Reservation of a port until a worker listens on it.

The coordinator of JAX listens in a worker, but its launcher must choose the port before. The launcher binds a
socket to the port and never listens on it, so that other programs do not get the port. The worker can still
listen on it, because gRPC shares ports (SO_REUSEPORT).
"""

from __future__ import annotations

import socket

__all__ = ["Reserved"]


class Reserved:
    """A port that is reserved until :meth:`close`.

    Args:
        host (str): address of this machine on which a worker will listen.
        port (int): port to reserve; 0 for any free port.

    Raises:
        OSError: If the port is in use, or the address is not one of this machine.
    """

    def __init__(self, host: str, port: int) -> None:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        if port:
            # Bind without SO_REUSEPORT first: it fails if another program already shares this port.
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
        """Release the port."""
        self._socket.close()
