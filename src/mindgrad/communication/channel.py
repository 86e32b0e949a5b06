"""Authenticated TCP channel between two processes that share a secret.

    →  16 random bytes        ←  16 random bytes          session key = HMAC-SHA256(secret, both)
    →  length, tag, content   ←  length, tag, content     tag = HMAC-SHA256(key, direction, number, content)

The tag of a message proves that the sender has the secret, and that no message was changed, repeated, or left
out. Messages are not encrypted. A message consists of a JSON header and byte strings. The receiver never
unpickles them.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

__all__ = ["Channel", "address_of", "connected"]

_NONCE, _TAG = 16, 32
#: maximum size in bytes of the first message, and of each later message. The limit for the first message is
#: small, because the sender has not yet proved that it has the secret of the job
_MOST_AT_FIRST, _MOST = 2**16, 2**30
#: TCP keepalive: after 5 idle seconds, send 3 probes at intervals of 3 seconds. A machine is considered lost
#: if it does not respond for 5 + 3 · 3 = 14 seconds
_PROBES = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 3, "TCP_KEEPCNT": 3}
_PREFIX = struct.Struct("!QI")


def address_of(text: str) -> tuple[str, int]:
    """Split ``"host:port"`` or ``"[IPv6]:port"`` into the host and the port.

    Raises:
        ValueError: If ``text`` has neither form.

    >>> address_of("localhost:1234"), address_of("[::1]:80")
    (('localhost', 1234), ('::1', 80))
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"an address must be host:port, with a port of at most 65535, but got {text!r}.")
    return host.removeprefix("[").removesuffix("]"), int(port)


def connected(address: str, secret: bytes, timeout: float) -> Channel:
    """Connect to the process that listens at ``address``.

    Raises:
        OSError: If no process listens at ``address``, or no process with this secret answers within
            ``timeout`` seconds.
    """
    return Channel(socket.create_connection(address_of(address), timeout), secret, False, timeout)


class Channel:
    """One end of a connection.

    Args:
        connection: connected socket. The channel closes it.
        secret (bytes): secret that both ends share.
        is_server (bool): whether this end has accepted the connection.
        timeout (float): maximum number of seconds for the exchange of random bytes.

    Raises:
        OSError: If the other end does not answer in time.
    """

    def __init__(self, connection: socket.socket, secret: bytes, is_server: bool, timeout: float) -> None:
        self._socket = connection
        self._sent = self._received = 0
        self._own, self._other = (b"s", b"c") if is_server else (b"c", b"s")
        try:
            connection.settimeout(timeout)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in _PROBES.items():
                if hasattr(socket, option):
                    connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
            nonce = os.urandom(_NONCE)
            connection.sendall(nonce)
            other = self._read(_NONCE)
        except BaseException:
            connection.close()
            raise
        nonces = nonce + other if is_server else other + nonce
        self._key = hmac.digest(secret, nonces, hashlib.sha256)

    def send(self, header: Any, contents: Sequence[bytes] = ()) -> None:
        """Send a header that JSON can represent, and byte strings.

        Raises:
            OSError: If the connection is broken.
        """
        text = json.dumps([header, [len(content) for content in contents]]).encode()
        message = b"".join([text, *contents])
        tag = self._tagged(self._own, self._sent, len(text), message)
        self._sent += 1
        self._socket.sendall(_PREFIX.pack(len(message), len(text)) + tag)
        self._socket.sendall(message)

    def receive(self, timeout: float | None) -> tuple[Any, list[bytes]]:
        """Receive the next message, and return its header and byte strings.

        Raises:
            TimeoutError: If no message arrives within ``timeout`` seconds. The channel is unusable
                afterwards.
            OSError: If the connection is broken, or the sender of the message does not have the secret.
        """
        self._socket.settimeout(timeout)
        size, of_text = _PREFIX.unpack(self._read(_PREFIX.size))
        if size > (_MOST if self._received else _MOST_AT_FIRST) or of_text > size:
            raise ConnectionError("a message exceeds the maximum length")
        tag = self._read(_TAG)
        message = self._read(size)
        if not hmac.compare_digest(tag, self._tagged(self._other, self._received, of_text, message)):
            raise ConnectionError("a message comes from a process with a different secret")
        self._received += 1
        header, sizes = json.loads(message[:of_text])
        contents, start = [], of_text
        for length in sizes:
            contents.append(message[start : start + length])
            start += length
        return header, contents

    def close(self) -> None:
        """Close the connection; a concurrent ``receive`` raises ``OSError``."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _tagged(self, direction: bytes, number: int, of_text: int, message: bytes) -> bytes:
        content = direction + struct.pack("!QI", number, of_text) + message
        return hmac.digest(self._key, content, hashlib.sha256)

    def _read(self, size: int) -> bytes:
        content = bytearray()
        while len(content) < size:
            part = self._socket.recv(min(size - len(content), 2**20))
            if not part:
                raise ConnectionError("the other end has closed the connection")
            content += part
        return bytes(content)
