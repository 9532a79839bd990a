"""Workers of tests, each a process with a home of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.serving import children_of

ENTRY = "tests.support.real.small_items:run"
ROOT = Path(__file__).parents[3]


class TestWorker:
    """A worker that carries out small items."""

    __test__ = False

    def __init__(self, address: str, home: Path, *, lease: float, slots: int = 2) -> None:
        self.address = address
        self.home = home
        self._lease = lease
        self._slots = slots
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    @property
    def name(self) -> str:
        return self.home.name

    def start(self) -> None:
        """Start it, or start it again."""
        self.home.mkdir(exist_ok=True)
        words = [self.address, str(self.home), str(self._lease), str(self._slots)]
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.real.workers", *words], stdout=log, stderr=log, cwd=ROOT
            )

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def fork_servers(self) -> list[int]:
        return children_of(self.pid)

    def runners(self) -> list[int]:
        return [runner for server in self.fork_servers() for runner in children_of(server)]

    def kill(self) -> None:
        """End it as a crash does."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()

    def send(self, number: signal.Signals, *, with_runners: bool = False) -> None:
        """Send a signal to it, and to its runners before."""
        for process in (*(self.runners() if with_runners else ()), self.pid):
            os.kill(process, number)

    def log(self) -> str:
        return (self.home / "log").read_text()


def _main(address: str, home: str, lease: str, slots: str) -> None:
    from ordito.cluster.dbos import DbosDispatch
    from ordito.cluster.worker import Worker, WorkerSettings, to_stderr

    folder = Path(home)
    settings = WorkerSettings(
        address=address,
        home=folder,
        entry=ENTRY,
        name=folder.name,
        pool="eu",
        slots=int(slots),
        lease=float(lease),
        # Files of tests may be kept in memory.
        least_disk=0,
        variables=dict(os.environ),
    )
    worker = Worker(settings, DbosDispatch(address, poll=0.1), to_stderr)
    worker.drain_on(signal.SIGTERM)
    worker.run()


if __name__ == "__main__":
    _main(*sys.argv[1:])
