"""Client and server of the store, through which processes exchange values.

The store also reports which processes have ended. The server's board (``communication.board``) is in the
launcher or in process 0. Each request is one message to the server and one reply over an authenticated
channel (``communication.channel``). Values are bytes.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any

from mindgrad.communication.board import FAILED, Board, Ended, News
from mindgrad.communication.channel import Channel, address_of, connected

__all__ = ["Store", "StoreServer"]

#: number of seconds that a client waits for a reply in addition to the timeout of its request
_SLACK = 10.0
#: maximum duration in seconds of the authentication of a new connection
_BEGINNING = 10.0
#: number of seconds between two attempts to connect to a store that does not listen yet
_PAUSE = 0.1


class StoreServer:
    """Serves a board to other processes.

    Args:
        board (Board): board to serve.
        host (str): address to listen on.
        port (int): port to listen on, or 0 for any free port.
        secret (bytes): shared secret, with which clients prove that they belong to the job.

    Raises:
        OSError: If the port is in use, or the address does not belong to this machine.
    """

    def __init__(self, board: Board, host: str, port: int, secret: bytes) -> None:
        self.board = board
        self._secret = secret
        self._channels: set[Channel] = set()
        self._listener = _listening(host, port)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, name="mindgrad-store", daemon=True).start()

    def close(self) -> None:
        """Stop the server. Clients that wait for a reply get an error."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for channel in list(self._channels):
            channel.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # the server was closed
            threading.Thread(
                target=self._serve, args=(connection,), name="mindgrad-store", daemon=True
            ).start()

    def _serve(self, connection: socket.socket) -> None:
        ranks: tuple[int, ...] = ()
        attempt, name, machine = 0, "", -1
        try:
            channel = Channel(connection, self._secret, True, _BEGINNING)
        except OSError:
            return
        self._channels.add(channel)
        try:
            (hello, attempt, members, name, machine), _ = channel.receive(_BEGINNING)
            channel.send(["welcome"])
            ranks = tuple(members) if hello == "hello" else ()
            while True:
                request, contents = channel.receive(None)
                channel.send(*self._answer(request, contents, attempt))
        except (OSError, ValueError, TypeError, KeyError):
            pass  # ignore a client that has ended, or that is not a process of this job
        finally:
            self._channels.discard(channel)
            channel.close()
            self._note_end(ranks, attempt, name)
            if name:
                self.board.lose(machine)

    def _note_end(self, ranks: Sequence[int], attempt: int, name: str) -> None:
        if attempt not in (self.board.attempt, -1):
            return
        for rank in ranks:
            reason = f"is on {name}, which does not answer" if name else "has ended without a message"
            if rank not in {end.rank for end in self.board.news(-1, 0.0).ended}:
                self.board.leave(rank, FAILED, reason, 1)

    def _answer(self, request: Any, contents: list[bytes], attempt: int) -> tuple[Any, list[bytes]]:
        board, (name, *arguments) = self.board, request
        if attempt not in (board.attempt, -1):
            return ["error", "the job was restarted in the meantime."], []
        try:
            if name == "set":
                board.set(arguments[0], contents[0])
                return ["done"], []
            if name == "claim":
                return ["done"], [board.claim(arguments[0], contents[0])]
            if name == "get":
                return ["done"], [board.get(*arguments)]
            if name == "exchange":
                key, rank, ranks, timeout = arguments
                return ["done"], board.exchange(key, rank, contents[0], ranks, timeout)
            if name == "leave":
                board.leave(*arguments)
                return ["done"], []
            if name == "news":
                return ["done", *board.news(*arguments)], []
            if name == "stopped":
                board.stopped(*arguments)
                return ["done"], []
        except RuntimeError as error:
            return ["error", str(error)], []
        raise ValueError(name)


class Store:
    """Client of the board of a job. Several threads may use it at the same time.

    Args:
        address (str): ``host:port`` of the server.
        secret (bytes): secret that the client and the server share.
        rank (int): rank of this process.
        size (int): number of processes.
        attempt (int, optional): number of times that the job was restarted, or -1 for a launcher, which
            outlives attempts. Default: ``0``.
        timeout (float, optional): maximum number of seconds to wait until the store can be reached. Default:
            ``30.0``.

    Raises:
        ConnectionError: If the store cannot be reached within ``timeout`` seconds.
    """

    def __init__(
        self, address: str, secret: bytes, rank: int, size: int, attempt: int = 0, timeout: float = 30.0
    ) -> None:
        self.address, self.rank, self.size, self.attempt = address, rank, size, attempt
        self._secret = secret
        self._rounds: dict[str, int] = {}
        self._timeout = timeout
        self._lifeline: Channel | None = None
        self._is_closed = False
        self._idle: list[Channel] = [self._opened()]

    def hold(self, ranks: Sequence[int], name: str = "", machine: int = -1) -> None:
        """Open a connection that the server watches.

        If the connection breaks, the server records ``ranks`` as failed, except ranks that have already
        ended.

        Args:
            ranks (list or tuple of int): rank of this process or, for a launcher, the ranks of all processes
                on its machine.
            name, machine: name of the machine for messages, and number of the machine.
        """
        self._lifeline = self._opened(ranks, name, machine)

    def set(self, key: str, value: bytes) -> None:
        """Store ``value`` for ``key``, and replace an older value."""
        self._request(["set", key], [value], 0.0)

    def claim(self, key: str, value: bytes) -> bytes:
        """Store ``value`` for ``key`` unless the key has a value; return the key's value."""
        return self._request(["claim", key], [value], 0.0)[1][0]

    def get(self, key: str, timeout: float) -> bytes:
        """Wait until ``key`` has a value, and return the value.

        Raises:
            RuntimeError: If ``key`` has no value after ``timeout`` seconds, or a process fails during this
                time.
        """
        return self._request(["get", key, timeout], [], timeout)[1][0]

    def exchange(self, key: str, value: bytes, ranks: Sequence[int], timeout: float) -> list[bytes]:
        """Exchange values with other processes.

        Wait until each process in ``ranks`` has called this method, and return their values in the order of
        ``ranks``.

        Raises:
            RuntimeError: If a process in ``ranks`` has not called this method after ``timeout`` seconds, or
                has ended. The message names the process.
        """
        round_number = self._rounds[key] = self._rounds.get(key, -1) + 1
        name = f"{key} ({round_number})" if round_number else key
        request = ["exchange", name, self.rank, list(ranks), timeout]
        return self._request(request, [value], timeout)[1]

    def leave(self, rank: int, kind: str, reason: str, status: int = 0) -> None:
        """Record that a process has ended (:meth:`Board.leave`)."""
        self._request(["leave", rank, kind, reason, status], [], 0.0)

    def news(self, count: int, timeout: float) -> News:
        """Wait until the state of the job changes, and return it (:meth:`Board.news`)."""
        (_, ended, failure, attempt), _ = self._request(["news", count, timeout], [], timeout)
        return News([Ended(*end) for end in ended], None if failure is None else Ended(*failure), attempt)

    def stopped(self, machine: int) -> None:
        """Record that all processes of the machine ``machine`` have ended."""
        self._request(["stopped", machine], [], 0.0)

    def close(self) -> None:
        """Close the connections. A connection that is in use is closed after its reply."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()
        if self._lifeline is not None:
            self._lifeline.close()

    def _request(
        self, request: list[Any], contents: Sequence[bytes], timeout: float
    ) -> tuple[Any, list[bytes]]:
        try:
            channel = self._idle.pop() if self._idle else self._opened()
        except IndexError:
            channel = self._opened()
        try:
            channel.send(request, contents)
            header, results = channel.receive(timeout + _SLACK)
        except BaseException as error:
            channel.close()  # a later request would read the late reply as its own
            if isinstance(error, OSError):
                raise ConnectionError(f"the store at {self.address} does not answer: {error}") from error
            raise
        self._idle.append(channel)
        if self._is_closed:
            self.close()
        if header[0] == "error":
            raise RuntimeError(header[1])
        return header, results

    def _opened(self, ranks: Sequence[int] = (), name: str = "", machine: int = -1) -> Channel:
        latest = time.monotonic() + self._timeout
        while True:
            try:
                channel = connected(self.address, self._secret, _BEGINNING)
                try:
                    channel.send(["hello", self.attempt, list(ranks), name, machine])
                    channel.receive(_BEGINNING)
                except BaseException:
                    channel.close()
                    raise
                return channel
            except OSError as error:
                if time.monotonic() > latest:
                    text = (
                        f"the store at {self.address} cannot be reached: {error}. Is it the address of the "
                    )
                    raise ConnectionError(
                        f"{text}first machine, and do all machines have the same MINDGRAD_STORE_KEY?"
                    ) from error
            time.sleep(_PAUSE)


def _listening(host: str, port: int) -> socket.socket:
    address_of(f"{host}:{port}")
    family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0][0]
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener
