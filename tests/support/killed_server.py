"""A server that is killed, or its processes are, before or after its N-th change of the database once a file is there.

`python -m tests.support.killed_server N before|after WHOM FILE ARGUMENTS`, with the arguments of the server; WHOM is
one of those below. A runner is killed at the N-th change that it makes of a journal. Then the file goes away.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from ordito.server import main as server
from ordito.server.database.database import Database
from ordito.server.processes.link import ForkLink, GivenToChildren
from tests.support.serving import children_of

SERVER, FORK_SERVER, ALL, RUNNER = WHOM = ("server", "fork server", "all", "runner")


def install(number: int, moment: str, whom: str, begin: Path) -> None:
    """Let the database kill them at its N-th change from then on."""
    write = Database.write_now
    left = [number]

    def counting(database: Database, change: Callable[[Connection], Any]) -> Any:
        left[0] -= begin.exists()
        is_now = left[0] <= 0 and begin.exists()
        if is_now and moment == "before":
            kill(whom, begin)
        found = write(database, change)
        if is_now and moment == "after":
            kill(whom, begin)
        return found

    setattr(Database, "write_now", counting)  # noqa: B010


def kill(whom: str, begin: Path) -> None:
    """Kill them, once."""
    begin.unlink(missing_ok=True)
    fork_servers = children_of(os.getpid()) if whom != SERVER else []
    runners = [one for parent in fork_servers for one in children_of(parent)] if whom == ALL else []
    for victim in (*runners, *fork_servers):
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    if whom != FORK_SERVER:
        os.kill(os.getpid(), signal.SIGKILL)


def install_in_runners(number: str, moment: str, begin: str) -> None:
    """Let runners be killed by the program that becomes the fork server."""
    program = (sys.executable, str(Path(__file__).with_name("killed_runner.py")), number, moment, begin)

    def linked(inherited: GivenToChildren) -> ForkLink:
        return ForkLink(inherited, program)

    setattr(server, "ForkLink", linked)  # noqa: B010


if __name__ == "__main__":
    count, when, who, file, *arguments = sys.argv[1:]
    if who == RUNNER:
        install_in_runners(count, when, file)
    else:
        install(int(count), when, who, Path(file))
    raise SystemExit(server.main(arguments))
