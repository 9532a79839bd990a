"""A fork server whose runner is killed before or after its N-th change of a journal, once, while a file is there.

`python killed_runner.py N before|after FILE COMMAND`; the last word of the command is the socket of the fork server.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ordito.ensemble import sqlite
from ordito.server.processes.fork_server import main


def install(number: int, moment: str, begin: Path) -> None:
    """Let the journal kill its process at its N-th change."""
    writing = sqlite.writing
    left = [number]

    def kill() -> None:
        begin.unlink()
        os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def counting(*given: Any) -> Iterator[Any]:
        # Runners lead a session of their own, and count each for itself.
        left[0] -= os.getsid(0) == os.getpid()
        is_now = left[0] == 0 and begin.exists()
        if is_now and moment == "before":
            kill()
        with writing(*given) as db:
            yield db
        if is_now:
            kill()

    setattr(sqlite, "writing", counting)  # noqa: B010


if __name__ == "__main__":
    install(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
    main(int(sys.argv[-1]))
