"""A session of Bash, as a reader has it: one command after the other, in a directory and a home of its own."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import msgspec

INIT = Path(__file__).with_name("session_init.py")
SHELL = ("bash", "--noprofile", "--norc")
LONGEST = 120.0
NOTICE = re.compile(r"^bash: +\d+ (Killed|Terminated|Hangup|Interrupt|Done|Exit \d+)\b")


class Ended(Exception):
    """The shell is gone, or a command does not end."""


class Result(msgspec.Struct, frozen=True):
    """How a command ended, and all that it printed, on both of its streams."""

    code: int
    lines: tuple[str, ...]


class Session:
    """A shell that runs until the ``with`` ends; ``left`` are then the processes that it left behind.

    ``folder`` is its own; what is run begins in its ``work``.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str], work: Path | None = None) -> None:
        self.folder = folder
        self.left: tuple[str, ...] = ()
        self._work = work or folder / "work"
        self._work.mkdir(parents=True, exist_ok=True)
        self._code = 0
        self._command = folder / "command"
        self._status = folder / "status"
        self._environment = dict(environment)

    def __enter__(self) -> Session:
        os.mkfifo(self._status)
        # Opened for both, so that it never ends.
        self._told = os.open(self._status, os.O_RDWR | os.O_NONBLOCK)
        with (self.folder / "shell.log").open("w") as log:
            self._process = subprocess.Popen(
                [getattr(sys, "_base_executable", sys.executable), "-I", "-S", INIT, self.folder / "left", *SHELL],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._work,
                env=self._environment,
                start_new_session=True,
                text=True,
            )
        # As in a terminal: what is put into the background is a job, which can be interrupted.
        self._write("set -m\n")
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
            told = self.folder / "left"
            self.left = tuple(told.read_text().splitlines()) if told.exists() else ()
        except subprocess.TimeoutExpired:
            # Asked so, it ends all that it has begun.
            self._process.terminate()
            self._process.wait()
            self.left = ("the last command",)
        os.close(self._told)

    def run(self, command: str) -> Result:
        """Run a command as if it were typed. Raises ``Ended``."""
        output = self.folder / "output"
        self._command.write_text(command + "\n")
        # What `$?` is shall be what the command before it ended with.
        self._write(f'(exit {self._code}); . {self._command} </dev/null >{output} 2>&1; echo "$?" >{self._status}\n')
        self._code = self._wait(output)
        text = output.read_text(encoding="utf-8", errors="replace")
        text = re.sub(rf"^{re.escape(str(self._command))}: line \d+: ", "bash: ", text, flags=re.MULTILINE)
        return Result(self._code, tuple(line for line in text.splitlines() if not NOTICE.match(line)))

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def _wait(self, output: Path) -> int:
        shell = os.pidfd_open(self._process.pid)
        try:
            ready, _, _ = select.select([self._told, shell], [], [], LONGEST)
        finally:
            os.close(shell)
        if self._told in ready:
            return int(os.read(self._told, 64))
        raise Ended("it ended the shell" if ready else f"it does not end; what it has printed:\n{output.read_text()}")
