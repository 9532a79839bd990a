"""A session of Bash, as a reader has it: one command after the other, in a directory and a home of its own."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import msgspec

from tests.docs.session_init import PATIENCE, below, command_of
from tests.support.forked import adopter, run_into

INIT = Path(__file__).with_name("session_init.py")
SHELL = ("bash", "--noprofile", "--norc")
LONGEST = 120.0
# What a shell does something about; a "#" that does not begin a word is none of these, and hard to tell.
SPECIAL = re.compile(r"[$`\\|&;<>(){}*?\[\]!~\n]|\S#")
NOTICE = re.compile(r"^bash: +\d+ (Killed|Terminated|Hangup|Interrupt|Done|Exit \d+)\b")


class Ended(Exception):
    """The shell is gone, or a command does not end."""


class Result(msgspec.Struct, frozen=True):
    """How a command ended, and all that it printed, on both of its streams."""

    code: int
    lines: tuple[str, ...]


def plain_words(command: str) -> list[str] | None:
    """The words of a command that is nothing but the program with words, in which a shell finds nothing to do."""
    if not command.startswith("ordito ") or SPECIAL.search(command):
        return None
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return None


def end_left() -> tuple[str, ...]:
    """End what forked commands have left behind, once it has had the time to end by itself; gives what it was."""
    until = time.monotonic() + PATIENCE
    while (found := below(adopter())) and time.monotonic() < until:
        time.sleep(0.02)
    left = tuple(f"{one} {command_of(one)}" for one in found)
    while found:
        for one in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.01)
        found = below(adopter())
    return left


class Session:
    """A shell that runs until the ``with`` ends; ``left`` are then the processes that it left behind.

    ``folder`` is its own; what is run begins in its ``work``. With ``forks`` a command that is nothing but the program
    with plain words is not started by the shell, but forked from a process that has imported the program, with the
    directory and the variables that the shell has then: it does the same in a tenth of the time.
    """

    def __init__(
        self, folder: Path, environment: Mapping[str, str], work: Path | None = None, *, forks: bool = False
    ) -> None:
        self.folder = folder
        self.left: tuple[str, ...] = ()
        self._work = work or folder / "work"
        self._work.mkdir(parents=True, exist_ok=True)
        self._code = 0
        self._command = folder / "command"
        self._status = folder / "status"
        self._environment = dict(environment)
        self._forks = forks
        self._shell: dict[str, str] | None = None

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
        if self._forks:
            self.left += end_left()

    def export(self, variables: Mapping[str, str]) -> None:
        """Set variables of the shell; an empty one counts as none."""
        self._shell = None
        self._write("".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items()))

    @property
    def directory(self) -> Path:
        """Where the shell is."""
        return Path(self._variables()["PWD"])

    def run(self, command: str) -> Result:
        """Run a command as if it were typed. Raises ``Ended``."""
        output = self.folder / "output"
        if self._forks and (words := plain_words(command)):
            return self._fork(words, output)
        self._shell = None
        self._command.write_text(command + "\n")
        # What `$?` is shall be what the command before it ended with.
        self._write(f'(exit {self._code}); . {self._command} </dev/null >{output} 2>&1; echo "$?" >{self._status}\n')
        self._code = self._wait(output)
        text = output.read_text(encoding="utf-8", errors="replace")
        text = re.sub(rf"^{re.escape(str(self._command))}: line \d+: ", "bash: ", text, flags=re.MULTILINE)
        return Result(self._code, tuple(line for line in text.splitlines() if not NOTICE.match(line)))

    def _variables(self) -> Mapping[str, str]:
        if self._shell is None:
            held = self.folder / "variables"
            self._write(f"export PWD; env -0 >{held}; echo 0 >{self._status}\n")
            self._wait(held)
            pairs = (pair.partition("=") for pair in held.read_text().split("\0") if pair)
            self._shell = {name: value for name, _, value in pairs if name != "_"}
        return self._shell

    def _fork(self, words: list[str], output: Path) -> Result:
        shell = self._variables()
        try:
            self._code = run_into(output, Path(shell["PWD"]), shell, words[1:], LONGEST)
        except subprocess.TimeoutExpired:
            raise Ended(f"it does not end; what it has printed:\n{output.read_text()}") from None
        return Result(self._code, tuple(output.read_text(encoding="utf-8", errors="replace").splitlines()))

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
