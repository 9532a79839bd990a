"""The fork server: imports what answers need once, and forks a child for each query and each runner.

It has one thread, opens no ensemble, and lives as long as its socket and its last child. Each child is known by a
descriptor of the system, so that no signal ever hits another process that got the same number.
"""

from __future__ import annotations

import array
import contextlib
import gc
import os
import selectors
import signal
import socket
import sys

import msgspec

from ordito.server.processes.calls import LONGEST, ChildEnded, Kill, Query, Request, Run
from ordito.server.processes.query import answer
from ordito.server.processes.runner import run

DESCRIPTORS = 2
SANDBOX_PAUSE = 10.0
"""Seconds between two looks, in a sandbox, at processes that nobody waits for."""

_REQUEST: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)


def main(handle: int) -> None:
    """Serve the requests that come over a socket."""
    # Who stops the server with Ctrl-C means the server, which tells its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_all()
    gc.collect()
    gc.freeze()
    _ForkServer(socket.socket(fileno=handle)).run()


def _import_all() -> None:
    """Import what most looks need, once for all children."""
    import ordito.app.services.in_use
    import ordito.app.unattended
    import ordito.instances.outlining  # noqa: F401


class _ForkServer:
    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, tuple[int, int]] = {}
        """By number, the process and its descriptor."""

        self._pause = SANDBOX_PAUSE if os.getpid() == 1 else None
        self._queries: set[int] = set()
        """Those of them that answer queries: only these are ever killed."""

    def run(self) -> None:
        self._selector.register(self._channel, selectors.EVENT_READ, 0)
        is_open = True
        while is_open or self._children:
            for key, _ in self._selector.select(self._pause):
                if key.data:
                    self._bury(key.data)
                elif not self._take():
                    is_open = False
                    self._selector.unregister(self._channel)
            self._reap_strangers()

    def _reap_strangers(self) -> None:
        """The first process of a sandbox is the parent of all whose own has ended: let these go once they have ended
        too."""
        if self._pause is None:
            return
        own = {process for process, _ in self._children.values()}
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) and found.si_pid not in own:
                os.waitpid(found.si_pid, 0)

    def _take(self) -> bool:
        """Take one request; False when there will be no more."""
        room = socket.CMSG_SPACE(DESCRIPTORS * array.array("i").itemsize)
        try:
            message, more, _, _ = self._channel.recvmsg(LONGEST, room, socket.MSG_CMSG_CLOEXEC)
        except ConnectionError:
            return False
        handles = array.array("i")
        for level, kind, data in more:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
        if not message:
            return False
        request = _REQUEST.decode(message)
        if isinstance(request, Kill):
            self._kill(request.number)
        else:
            self._fork(request, handles[0], handles[1])
        return True

    def _fork(self, request: Query | Run, given: int, out: int) -> None:
        try:
            process = os.fork()
        except OSError:
            # No process can be had now: whoever asks is told, and the others go on.
            os.close(given)
            os.close(out)
            self._tell(ChildEnded(request.number, 1))
            return
        if not process:
            self._be_child(request, given, out)
        os.close(given)
        os.close(out)
        descriptor = os.pidfd_open(process)
        self._children[request.number] = process, descriptor
        if isinstance(request, Query):
            self._queries.add(request.number)
        self._selector.register(descriptor, selectors.EVENT_READ, request.number)

    def _be_child(self, request: Query | Run, given: int, out: int) -> None:
        """Answer or carry out, and end: nothing of the fork server is done in the child."""
        code = 1
        try:
            self._channel.close()
            for _, descriptor in self._children.values():
                os.close(descriptor)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if isinstance(request, Query):
                answer(request, given, out)
            else:
                run(given, out)
            code = 0
        finally:
            os._exit(code)

    def _kill(self, number: int) -> None:
        if number in self._queries:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._children[number][1], signal.SIGKILL)

    def _bury(self, number: int) -> None:
        process, descriptor = self._children.pop(number)
        self._queries.discard(number)
        self._selector.unregister(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(process, 0)
        code = os.waitstatus_to_exitcode(status)
        self._tell(ChildEnded(number, code))

    def _tell(self, ended: ChildEnded) -> None:
        with contextlib.suppress(OSError):
            self._channel.send(msgspec.json.encode(ended))


if __name__ == "__main__":
    main(int(sys.argv[1]))
