"""A server that kills itself before or after its N-th change of the database once a file is there.

`python -m tests.support.killed_server N before|after FILE ARGUMENTS`, with the arguments of the server.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from ordito.server.database.database import Database
from ordito.server.main import main


def install(number: int, moment: str, begin: Path) -> None:
    """Let the database kill this process at its N-th change from then on."""
    write = Database.write_now
    left = [number]

    def counting(database: Database, change: Callable[[Connection], Any]) -> Any:
        left[0] -= begin.exists()
        if left[0] <= 0 and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        found = write(database, change)
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(Database, "write_now", counting)  # noqa: B010


if __name__ == "__main__":
    install(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
    raise SystemExit(main(sys.argv[4:]))
