"""Processes of the program that cost little to start: they are forked from one that has imported it.

Each is a process of its own, as any other: with its own files, directory and environment, and it can be killed.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

SERVER = Path(__file__).with_name("fork_server.py")
ADOPTS = "adopts"
SERVES = "serves"
SOURCES = Path(__file__).parents[2] / "src"
IMPATIENT = """\
from functools import partial
import ordito.executors.local as registry
registry.LocalExecutor = partial(registry.LocalExecutor, settling=0.2)
"""
"""Python that runs first where operations that hang are found running after a crash: they are ended soon."""


class Running:
    """A process that was forked, to be handled like a ``subprocess.Popen[str]``."""

    def __init__(self, told: IO[bytes], stdout: IO[str], stderr: IO[str]) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.returncode: int | None = None
        self._told = told
        self.pid = int(told.readline())

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stderr.close()
        self.wait()

    def poll(self) -> int | None:
        """How it ended, if it has."""
        if self.returncode is None and _is_ready(self._told, 0):
            self._read()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; gives its exit code, or the signal that ended it, negative."""
        if self.returncode is None and not _is_ready(self._told, timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        self._read()
        assert self.returncode is not None, "the server of this process has ended"
        return self.returncode

    def _read(self) -> None:
        if self.returncode is None and (line := self._told.readline()):
            self.returncode = int(line)
            self._told.close()

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            # It may end before what is told of its end is here to be read.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it the hard way."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it printed that was not read yet, when it has ended."""
        texts = ["", ""]

        def read(which: int, stream: IO[str]) -> None:
            texts[which] = stream.read()
            stream.close()

        readers = [
            threading.Thread(target=read, args=each, daemon=True) for each in enumerate((self.stdout, self.stderr))
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        self.wait()
        return texts[0], texts[1]


def _is_ready(file: IO[bytes], seconds: float | None) -> bool:
    """Whether something can be read within so many seconds, without an end for None; whatever the number of the
    descriptor is, which ``select`` takes only below 1,024."""
    asked = select.poll()
    asked.register(file, select.POLLIN)
    return bool(asked.poll(None if seconds is None else seconds * 1_000))


@cache
def _server(*options: str) -> tuple[socket.socket, int]:
    """The way to the server of this process that has these options, and that server's process id."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        server = subprocess.Popen(
            [sys.executable, str(SERVER), str(theirs.fileno()), *options],
            pass_fds=[theirs.fileno()],
            cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "PYTHONPATH": str(SOURCES)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def stop() -> None:
        ours.close()
        server.wait()

    atexit.register(stop)
    return ours, server.pid


def _pipe_of(text: bytes) -> int:
    """The end of a pipe from which a text can be read."""
    read, write = os.pipe()
    os.write(write, text)
    os.close(write)
    return read


def start(
    cwd: Path, environment: Mapping[str, str], arguments: Sequence[str], code: str = "", *, given: bytes | None = None
) -> Running:
    """Start ``ordito`` and leave it running; ``code`` is Python that runs first in the same process. ``given`` is what
    it reads from its standard input, which is a pipe then, of at most 64 KiB."""
    request = {"cwd": str(cwd), "environment": dict(environment), "arguments": list(arguments), "code": code}
    pairs = [os.pipe() for _ in range(3)]
    source = os.open(os.devnull, os.O_RDONLY) if given is None else _pipe_of(given)
    out, err, told = (read for read, _ in pairs)
    files = [source, *(write for _, write in pairs)]
    try:
        socket.send_fds(_server()[0], [json.dumps(request).encode()], files)
    finally:
        for file in files:
            os.close(file)
    return Running(
        os.fdopen(told, "rb", buffering=0),
        os.fdopen(out, encoding="utf-8", newline=""),
        os.fdopen(err, encoding="utf-8"),
    )


def serve(errors: IO[bytes], arguments: Sequence[str]) -> Running:
    """Start ``python -m ordito.server`` with the environment of this process, and leave it running; what it says of its
    work goes to a file."""
    request = {"cwd": str(Path.cwd()), "environment": dict(os.environ), "arguments": list(arguments), "code": ""}
    source = os.open(os.devnull, os.O_RDONLY)
    (out, write), (told, tell) = os.pipe(), os.pipe()
    try:
        files = [source, write, errors.fileno(), tell]
        socket.send_fds(_server(SERVES)[0], [json.dumps(request).encode()], files)
    finally:
        for file in (source, write, tell):
            os.close(file)
    return Running(os.fdopen(told, "rb", buffering=0), os.fdopen(out, encoding="utf-8", newline=""), io.StringIO())


def adopter() -> int:
    """The process id of the server behind ``run_into``: what its commands leave behind is below it."""
    return _server(ADOPTS)[1]


def run_into(output: Path, cwd: Path, environment: Mapping[str, str], arguments: Sequence[str], longest: float) -> int:
    """Run ``ordito`` as a shell does in the foreground, with both its streams in one file; gives its exit code, or 128
    and the signal that ended it. Raises ``subprocess.TimeoutExpired``, and ends it, after ``longest`` seconds."""
    request = {"cwd": str(cwd), "environment": dict(environment), "arguments": list(arguments), "code": ""}
    told, tell = os.pipe()
    into = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        socket.send_fds(_server(ADOPTS)[0], [json.dumps(request).encode()], [nothing, into, into, tell])
    finally:
        for file in (tell, into, nothing):
            os.close(file)
    with os.fdopen(told, "rb", buffering=0) as reader:
        process = int(reader.readline())
        if not _is_ready(reader, longest):
            os.kill(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(f"process {process}", longest)
        code = int(reader.readline())
    return code if code >= 0 else 128 - code
