"""The server's side of the fork server: starts it, asks it for children, and starts another one if it dies."""

from __future__ import annotations

import array
import asyncio
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import IO, NamedTuple

import msgspec

from ordito.server.processes.calls import LONGEST, ChildEnded, Kill, Request

_LOG = logging.getLogger(__name__)

LONGEST_LINE = 4096
"""Bytes of what a child says that become one line of the log."""

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""The variables that children get, besides those of proxies and those that the settings list."""

PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class Died(Exception):
    """The fork server ended before its child did."""


class GivenToChildren(NamedTuple):
    """What children get of the server, besides descriptors."""

    variables: Mapping[str, str]

    umask: int = -1
    """That of whoever started the server: what operations make is as readable as from a command. -1: the server's."""


class ForkLink:
    """The connection to a fork server."""

    def __init__(self, inherited: GivenToChildren, before: tuple[str, ...] = ()) -> None:
        """``before`` are the words of a command that runs the fork server, as in a sandbox."""
        self._inherited = inherited
        self._before = before
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._number = 0

    @property
    def is_alive(self) -> bool:
        """Whether the fork server runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the fork server."""
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        mine.setblocking(False)
        command = (*self._before, sys.executable, "-m", "ordito.server.processes.fork_server", str(its.fileno()))
        self._process = subprocess.Popen(
            command,
            pass_fds=(its.fileno(),),
            env=dict(self._inherited.variables),
            umask=self._inherited.umask,
            stdin=subprocess.DEVNULL,
            # Operations could read and write what the server's own descriptors lead to: its log, and links in it.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            start_new_session=True,
        )
        its.close()
        assert self._process.stderr is not None
        threading.Thread(target=_pass_on, args=(self._process.stderr,), daemon=True).start()
        self._channel = mine
        asyncio.get_running_loop().add_reader(mine, self._hear, mine)

    async def stop(self, patience: float, *, leaves: bool) -> None:
        """Let no child begin any more, and end the fork server with its queries, after ``patience`` seconds by force.
        With ``leaves`` there are runners: they go on, and it ends after them."""
        if self._channel is None or self._process is None:
            return
        process = self._process
        for number in tuple(self._waiting):
            self.kill(number)
        self._leave(self._channel)
        if leaves:
            return
        try:
            await asyncio.wait_for(asyncio.to_thread(process.wait), patience)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await asyncio.to_thread(process.wait)

    def close(self) -> None:
        """Let no child begin any more: the fork server ends after its last one."""
        if self._channel is not None:
            self._leave(self._channel)

    def next_number(self) -> int:
        """A number for a child that is to be asked for."""
        self._number += 1
        return self._number

    def ask(self, request: Request, handles: tuple[int, ...]) -> asyncio.Future[int]:
        """Ask for a child, which gets these descriptors; the future has its exit code once it has ended, or ``Died``.
        Raises ``Died``."""
        if not self.is_alive or self._channel is None:
            self.start()
        assert self._channel is not None
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[request.number] = ended
        # Whoever does not wait for it any more has left it.
        ended.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            _send(self._channel, msgspec.json.encode(request), handles)
        except OSError:
            self.forget(request.number)
            self._leave(self._channel)
            raise Died from None
        return ended

    def kill(self, number: int) -> None:
        """End a child that answers a query."""
        if self._channel is not None:
            with contextlib.suppress(OSError):
                _send(self._channel, msgspec.json.encode(Kill(number)), ())

    def forget(self, number: int) -> None:
        """Nobody waits for a child any more."""
        self._waiting.pop(number, None)

    def _hear(self, channel: socket.socket) -> None:
        try:
            message = channel.recv(LONGEST)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if not message:
            self._leave(channel)
            return
        ended = msgspec.json.decode(message, type=ChildEnded)
        waiting = self._waiting.get(ended.number)
        if waiting is not None and not waiting.done():
            waiting.set_result(ended.status)

    def _leave(self, channel: socket.socket) -> None:
        """Nothing more comes from a fork server."""
        if self._channel is not channel:
            return
        self._channel = None
        asyncio.get_running_loop().remove_reader(channel)
        channel.close()
        if self._process is not None:
            self._process.poll()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Died())


def _pass_on(said: IO[bytes]) -> None:
    """Write what a fork server and its children say of faults into the log, marked as theirs."""
    with said:
        while line := said.readline(LONGEST_LINE):
            text = line.rstrip(b"\n").decode(errors="replace")
            _LOG.error("a process: %s", "".join(one if one.isprintable() else "?" for one in text))


def bare_environment(environment: Mapping[str, str], listed: tuple[str, ...] = ()) -> dict[str, str]:
    """The variables that children get of those of the server."""
    names = {*PASSED_ON, *PROXIES, *listed}
    return {name: value for name, value in environment.items() if name in names}


def memory_file(name: str, content: bytes) -> int:
    """A file in memory, to be read from its beginning."""
    handle = os.memfd_create(name, os.MFD_CLOEXEC)
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _send(channel: socket.socket, message: bytes, handles: tuple[int, ...]) -> None:
    more = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", handles))] if handles else []
    channel.sendmsg([message], more)
