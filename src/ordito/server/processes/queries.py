"""The server's side of the fork server: starts it, asks it, and starts another one if it dies."""

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
from collections.abc import Mapping

import msgspec

from ordito.server.problems import ApiProblem
from ordito.server.processes.calls import FAULT, LONGEST, REFUSAL, RESULT, Ended, Kill, Query, Trouble

_LOG = logging.getLogger(__name__)

CHUNK = 1 << 20
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""The variables that children get, besides those of proxies and those that the settings list."""

PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class QueryLimits(msgspec.Struct, frozen=True):
    """What queries may use: how many at a time, seconds, bytes of address space, and seconds to wait for a place."""

    parallel: int
    seconds: float = 30.0
    memory: int = 4 << 30
    patience: float = 10.0
    reads: tuple[str, ...] = ()
    """What every query may read besides what it is about: files and folders."""

    variables: tuple[str, ...] = ()
    """The environment variables that documents may read."""

    hosts: tuple[str, ...] = ()
    """The hosts from which files may be fetched."""


class Died(Exception):
    """The fork server ended before the answer was whole."""


class Queries:
    """Asks questions in processes of their own."""

    def __init__(self, limits: QueryLimits, variables: Mapping[str, str]) -> None:
        self._limits = limits
        self._variables = variables
        self._places = asyncio.Semaphore(limits.parallel)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._number = 0
        self.busy = 0
        """How many queries run."""

    @property
    def is_alive(self) -> bool:
        """Whether the fork server runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the fork server."""
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        mine.setblocking(False)
        command = (sys.executable, "-m", "ordito.server.processes.fork_server", str(its.fileno()))
        self._process = subprocess.Popen(
            command,
            pass_fds=(its.fileno(),),
            env=dict(self._variables),
            stdin=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        its.close()
        self._channel = mine
        asyncio.get_running_loop().add_reader(mine, self._hear, mine)

    async def stop(self, patience: float) -> None:
        """Let no query begin any more, and end the fork server, after ``patience`` seconds by force."""
        if self._channel is not None and self._process is not None:
            self._leave(self._channel)
            process = self._process
            try:
                await asyncio.wait_for(asyncio.to_thread(process.wait), patience)
            except TimeoutError:
                os.killpg(process.pid, signal.SIGKILL)
                await asyncio.to_thread(process.wait)

    async def ask(self, look: str, directory: str, parameters: bytes, reads: tuple[str, ...] | None = None) -> bytes:
        """The JSON of a result. ``reads`` is what the query may read, None for all that is in the directory. Raises
        ``ApiProblem``."""
        places = (*((directory,) if reads is None else reads), *self._limits.reads)
        try:
            await asyncio.wait_for(self._places.acquire(), self._limits.patience)
        except TimeoutError:
            raise ApiProblem(
                "busy", f"no process was free within {self._limits.patience:g} s", "ask again in a while", again_in=5
            ) from None
        self.busy += 1
        try:
            try:
                return await self._ask(look, directory, parameters, places)
            except Died:
                return await self._ask(look, directory, parameters, places)
        except Died:
            _LOG.error("the fork server died twice while it answered %s", look)
            raise ApiProblem("internal", "the processes that answer end before they have answered") from None
        finally:
            self.busy -= 1
            self._places.release()

    async def _ask(self, look: str, directory: str, parameters: bytes, places: tuple[str, ...]) -> bytes:
        if not self.is_alive or self._channel is None:
            self.start()
        assert self._channel is not None
        self._number += 1
        number, loop = self._number, asyncio.get_running_loop()
        ended: asyncio.Future[int] = loop.create_future()
        self._waiting[number] = ended
        given = os.memfd_create("query", os.MFD_CLOEXEC)
        os.write(given, parameters)
        os.lseek(given, 0, os.SEEK_SET)
        reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(writing, True)
        limits = self._limits
        allowed = (limits.seconds, limits.memory, places, limits.variables, limits.hosts)
        query = Query(number, look, directory, *allowed)
        try:
            _send(self._channel, msgspec.json.encode(query), (given, writing))
        except OSError:
            os.close(reading)
            self._forget(number)
            self._leave(self._channel)
            raise Died from None
        finally:
            os.close(given)
            os.close(writing)
        try:
            found = await _all_of(reading)
            status = await ended
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):
                _send(self._channel, msgspec.json.encode(Kill(number)), ())
            raise
        finally:
            self._forget(number)
        return _read(found, status, look, self._limits)

    def _forget(self, number: int) -> None:
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
        ended = msgspec.json.decode(message, type=Ended)
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


def bare_environment(environment: Mapping[str, str], listed: tuple[str, ...] = ()) -> dict[str, str]:
    """The variables that children get of those of the server."""
    names = {*PASSED_ON, *PROXIES, *listed}
    return {name: value for name, value in environment.items() if name in names}


def _send(channel: socket.socket, message: bytes, handles: tuple[int, ...]) -> None:
    more = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", handles))] if handles else []
    channel.sendmsg([message], more)


async def _all_of(handle: int) -> bytes:
    """All that is written into a pipe, which is closed."""
    loop, pieces = asyncio.get_running_loop(), []
    done: asyncio.Future[None] = loop.create_future()

    def take() -> None:
        try:
            piece = os.read(handle, CHUNK)
        except BlockingIOError:
            return
        pieces.append(piece)
        if not piece and not done.done():
            done.set_result(None)

    loop.add_reader(handle, take)
    try:
        await done
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    return b"".join(pieces)


def _read(found: bytes, status: int, look: str, limits: QueryLimits) -> bytes:
    """The result in what a query process has written. Raises ``ApiProblem``."""
    kind, body = found[:1], found[1:]
    if kind == RESULT and not status:
        return body
    if kind == REFUSAL:
        trouble = msgspec.json.decode(body, type=Trouble)
        raise ApiProblem.of(trouble.failure, trouble.diagnostics)
    if kind == FAULT:
        _LOG.error("a fault while answering %s:\n%s", look, body.decode("utf-8", "replace"))
        raise ApiProblem("internal", "a fault of Ordito itself; the log of the server has its details")
    if status == -signal.SIGALRM:
        raise ApiProblem("too-costly", f"answering this takes more than {limits.seconds:g} s", "ask for less at once")
    _LOG.error("the process that answered %s ended with status %d", look, status)
    raise ApiProblem("internal", "the process that was to answer has died; the log of the server says more")
