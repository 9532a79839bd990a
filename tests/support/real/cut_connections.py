"""A way to a server on loopback that can be cut at a chosen moment."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class CutConnections:
    """Hands connections on to a port. ``lose_request`` and ``lose_answer`` cut one in the next exchange: before the
    server has got the request, or after it has answered and before the client hears it."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.lose_request = False
        self.lose_answer = False
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._open:
            _end(end)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._to))
                self._open += [client, server]
                threading.Thread(target=self._hand_on, args=(client, server, "lose_request"), daemon=True).start()
                threading.Thread(target=self._hand_on, args=(server, client, "lose_answer"), daemon=True).start()

    def _hand_on(self, here: socket.socket, there: socket.socket, lost: str) -> None:
        with contextlib.suppress(OSError):
            while data := here.recv(65_536):
                if getattr(self, lost):
                    setattr(self, lost, False)
                    break
                there.sendall(data)
        _end(here)
        _end(there)


def _end(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
