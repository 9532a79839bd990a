"""The fork server of a worker, both ends: a process that has imported everything, and forks a runner when it is asked.

It has one thread and no connection to anything, and ends with its worker. The worker knows its runners by descriptors
that the fork server hands over, so it notices the end of each even when the fork server is gone.
"""

from __future__ import annotations

import array
import gc
import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from ordito.cluster.worker_runner import (
    LONGEST,
    Cancel,
    Ended,
    LaunchLimit,
    Ping,
    Pong,
    RunItem,
    RunnerTask,
    Suspend,
    run_delivery,
)
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal_database import Fenced

PING = 30.0
"""Seconds between two pings of a runner."""

SILENCE = 300.0
"""A runner that has answered no ping for so many seconds is ended."""

_NEWS: msgspec.json.Decoder[Pong | Ended] = msgspec.json.Decoder(Pong | Ended)


class Runner:
    """A runner, as its worker sees it."""

    def __init__(self, process: int, channel: socket.socket) -> None:
        """``process`` is a descriptor of the process."""
        self._process = process
        self._channel = channel
        self._lock = threading.Lock()

    def tell(self, said: RunnerTask | Ping | Cancel | Suspend) -> None:
        """Say something to it, if it is still there."""
        with self._lock, suppress(OSError):
            self._channel.send(msgspec.json.encode(said))

    def kill(self) -> None:
        """End it; what it has started goes on."""
        with self._lock, suppress(OSError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def wait(self, ping: float = PING, silence: float = SILENCE) -> str:
        """Wait until it has ended: what became of its delivery, "" where it could not say so."""
        poll = select.poll()
        poll.register(self._process, select.POLLIN)
        poll.register(self._channel, select.POLLIN)
        said, heard = "", time.monotonic()
        while True:
            ready = {handle for handle, _ in poll.poll(ping * 1_000)}
            if self._channel.fileno() in ready:
                heard = time.monotonic()
                news = self._hear()
                if isinstance(news, Ended):
                    said = news.how
                if news is None:
                    poll.unregister(self._channel)
            elif self._process in ready:
                self._close()
                return said
            if not ready:
                if time.monotonic() - heard >= silence:
                    self.kill()
                self.tell(Ping())

    def _hear(self) -> Pong | Ended | None:
        try:
            message = self._channel.recv(LONGEST)
        except OSError:
            return None
        return _NEWS.decode(message) if message else None

    def _close(self) -> None:
        with self._lock:
            os.close(self._process)
            self._process = -1
            self._channel.close()


class Forks:
    """The worker's end: starts the fork server, and another one if it has ended."""

    def __init__(self, entry: str, inherited: tuple[int, ...], limit: int, variables: Mapping[str, str]) -> None:
        """``entry`` names what carries out items (``RunItem``), "module:function". Runners inherit the descriptors
        ``inherited``, and that of their ``LaunchLimit``."""
        self._entry = entry
        self._inherited = inherited
        self._limit = limit
        self._variables = dict(variables)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def start(self, task: RunnerTask) -> Runner:
        """Start a runner. Raises ``EnsembleError`` where none can be started."""
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with self._lock:
                process = self._forked(its)
                if process is None:
                    # The fork server was ended by somebody: the next one does it.
                    process = self._forked(its)
        finally:
            its.close()
        if process is None:
            mine.close()
            raise EnsembleError(
                "cannot start a process for an item", "see the log of the worker, and whether the machine has memory"
            )
        found = Runner(process, mine)
        found.tell(task)
        return found

    def close(self) -> None:
        """End the fork server; runners that are there go on."""
        with self._lock:
            self._end()

    def _forked(self, its: socket.socket) -> int | None:
        if self._channel is None:
            self._begin()
        assert self._channel is not None
        try:
            socket.send_fds(self._channel, [b"f"], [its.fileno()])
            message, handles, _, _ = socket.recv_fds(self._channel, 1, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            message, handles = b"", []
        if not handles:
            if not message:
                self._end()
            return None
        return handles[0]

    def _begin(self) -> None:
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = [sys.executable, "-m", "ordito.cluster.worker_forks", str(its.fileno()), str(self._limit), self._entry]
        self._process = subprocess.Popen(
            words,
            pass_fds=(its.fileno(), self._limit, *self._inherited),
            env=self._variables,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        its.close()
        self._channel = mine

    def _end(self) -> None:
        channel, self._channel = self._channel, None
        process, self._process = self._process, None
        if channel is not None:
            channel.close()
        if process is not None:
            process.wait()


def main(handle: int, limit: int, entry: str) -> None:
    """Fork a runner for each socket that comes, until there is no worker any more."""
    # Who ends the worker with Ctrl-C means the worker, which tells its runners.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nobody asks for the ends of runners here: the worker sees them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    channel = socket.socket(fileno=handle)
    module, _, name = entry.partition(":")
    run_item: RunItem = getattr(importlib.import_module(module), name)
    gc.collect()
    gc.freeze()
    while True:
        try:
            message, handles, _, _ = socket.recv_fds(channel, 1, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return
        if not message:
            return
        _fork(channel, array.array("i", handles)[0], limit, run_item)


def _fork(channel: socket.socket, handle: int, limit: int, run_item: RunItem) -> None:
    try:
        process = os.fork()
    except OSError:
        os.close(handle)
        channel.send(b"n")
        return
    if not process:
        _be_runner(channel, handle, limit, run_item)
    os.close(handle)
    try:
        # It waits for its task, which the worker sends once it has this.
        descriptor = os.pidfd_open(process)
    except OSError:
        channel.send(b"n")
        return
    with suppress(OSError):
        socket.send_fds(channel, [b"y"], [descriptor])
    os.close(descriptor)


def _be_runner(channel: socket.socket, handle: int, limit: int, run_item: RunItem) -> None:
    code = 1
    try:
        channel.close()
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        run_delivery(socket.socket(fileno=handle), LaunchLimit(limit), run_item)
        code = 0
    except Fenced as error:
        sys.stderr.write(f"{error.message}\n")
    except Exception:  # noqa: BLE001  the border of this process: another one tries again
        sys.stderr.write(traceback.format_exc())
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
