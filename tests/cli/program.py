"""Running the command: as a process of its own, or inside the test where that is all the same and much faster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import forked

DATA = Path(__file__).parent.parent / "data"
LIMIT = 60.0


@dataclass(frozen=True)
class Finished:
    """A finished command: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its result."""
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The objects of its stream."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Finished]


def environment(**more: str) -> dict[str, str]:
    """An environment that says little: no colour wishes, UTF-8."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "PYTHONPATH") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "PYTHONWARNINGS": "error", **more}


def command(*arguments: str | Path) -> list[str]:
    """The command line of a process."""
    return [sys.executable, "-m", "ordito", *map(str, arguments)]


def process(cwd: Path, *arguments: str | Path) -> Finished:
    """Run a process of its own to its end."""
    running = start(cwd, *arguments)
    out, err = running.communicate(LIMIT)
    return Finished(running.wait(), out, err)


def start(cwd: Path, *arguments: str | Path) -> forked.Running:
    """Start a process of its own and leave it running."""
    return forked.start(cwd, environment(), [str(argument) for argument in arguments])


def fresh_process(cwd: Path, *arguments: str | Path, **more: str) -> Finished:
    """Run a process to its end that the interpreter has started again, where that makes a difference."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def fresh_start(cwd: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """Start a process in the same way and leave it running."""
    return subprocess.Popen(
        command(*arguments),
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(happened: Callable[[], bool]) -> None:
    """Look until something has happened."""
    deadline = time.monotonic() + LIMIT
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
