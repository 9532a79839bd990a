"""A server that kills itself before or after its N-th change of the database.

`python -m tests.support.killed_server N before|after ARGUMENTS`, with the arguments of the server.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from ordito.server.database.database import Database
from ordito.server.main import main


def install(number: int, moment: str) -> None:
    """Let the database kill this process at its N-th change from now on."""
    write = Database.write_now
    left = [number]

    def counting(database: Database, change: Callable[[Connection], Any]) -> Any:
        left[0] -= 1
        if not left[0] and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        found = write(database, change)
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(Database, "write_now", counting)  # noqa: B010


if __name__ == "__main__":
    install(int(sys.argv[1]), sys.argv[2])
    raise SystemExit(main(sys.argv[3:]))
