"""Messages between the server and a worker: eight bytes of length, then as many bytes.

The worker is the hostile side: the server bounds how large a message may be, and how long it may
take to come, to its last byte.
"""

import select
import socket
import struct
from collections.abc import Callable

_HEAD = struct.Struct("!Q")
_POLL_MS = 50
_PART = 1 << 20


class Garbled(Exception):
    """The other side does not keep to the form."""


class Frames:
    """One end of a connection. `check` is called all the while something is waited for, and ends
    the waiting by raising."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(connected, select.POLLIN)
        self._writable.register(connected, select.POLLOUT)

    def send(self, data: bytes, check: Callable[[], None] = lambda: None) -> None:
        """Errors OSError (nobody listens), check's."""
        for part in (_HEAD.pack(len(data)), data):
            left = memoryview(part)
            while left:
                check()
                if self._writable.poll(_POLL_MS):
                    try:
                        left = left[self._socket.send(left[:_PART]) :]
                    except BlockingIOError:
                        continue

    def receive(self, limit: int, check: Callable[[], None] = lambda: None) -> bytes:
        """Errors EOFError, OSError, Garbled if it is larger than limit, check's."""
        (size,) = _HEAD.unpack(self._exactly(_HEAD.size, check))
        if size > limit:
            raise Garbled("too large")
        return self._exactly(size, check)

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, size: int, check: Callable[[], None]) -> bytes:
        # Grows with what comes: the size is what the other side says.
        data = bytearray()
        while len(data) < size:
            check()
            if not self._readable.poll(_POLL_MS):
                continue
            try:
                part = self._socket.recv(min(_PART, size - len(data)))
            except BlockingIOError:
                continue
            if not part:
                raise EOFError
            data += part
        return bytes(data)
