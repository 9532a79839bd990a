"""The connection of one process to a store, which outlives that of the network: what is asked waits for the store."""

from __future__ import annotations

import contextlib
import math
import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg

from ordito.ensemble.errors import EnsembleError

T = TypeVar("T")

Connection = psycopg.Connection[tuple[Any, ...]]

PAUSES = (0.05, 5.0)
"""Seconds between the first two attempts to reach the store, and most between two: a thousand processes that have lost
it do not come back at one moment."""

SETTINGS = {
    "application_name": "ordito",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}

LET_GO = """
SET idle_in_transaction_session_timeout = '60s'; SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5
"""
"""For the server's side: what a machine has locked that is gone, or frozen in the middle of a transaction, is free
again after a minute, and not after the hours of the operating system."""

STANDBY = "25006"
AWAY = ("08", "53", "57P", STANDBY, "40001", "40P01")
"""How the codes of errors begin that pass by themselves: connection, room, shutdown, a standby that is no primary yet,
transactions that were in each other's way."""


class StoreConnection:
    """Keeps one connection to a store. Not for several threads at one time."""

    def __init__(self, address: str, patience: float = math.inf, *, was_reached: bool = False) -> None:
        """``patience`` is for how many seconds a store that is away is waited for, once it was reached: by this
        connection, or by another one of this process before."""
        self._address = address
        self._patience = patience
        self._open: Connection | None = None
        self._was_reached = was_reached

    def ask(self, doing: str, work: Callable[[Connection], T], answered: Callable[[Connection], T | None]) -> T:
        """What ``work`` gives. Where the store was away before it had answered, ``answered`` finds out on the next
        connection whether the work was done all the same: what it would have given, or None to do it again.

        Raises ``EnsembleError`` "cannot <doing> the store" for what does not pass by waiting.
        """
        give_up, pause, is_in_doubt = time.monotonic() + self._patience, PAUSES[0], False
        while True:
            try:
                db = self.connected()
                if is_in_doubt and (found := answered(db)) is not None:
                    return found
                return work(db)
            except psycopg.Error as error:
                # What another attempt of this very process has written meanwhile is found by `answered`.
                is_twice = is_in_doubt and isinstance(error, psycopg.errors.UniqueViolation)
                self._drop_if_useless(error)
                if not (self._was_reached and (is_twice or self._is_away(error)) and time.monotonic() < give_up):
                    raise explained(doing, error) from error
                is_in_doubt = True
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, PAUSES[1])

    def connected(self) -> Connection:
        """The connection, made if there is none. Raises ``psycopg.Error``."""
        if self._open is None:
            self._open = psycopg.connect(self._address, autocommit=True, **SETTINGS)  # type: ignore[arg-type]
            self._open.execute(LET_GO)
            self._was_reached = True
        return self._open

    def close(self) -> None:
        """Close it."""
        found, self._open = self._open, None
        if found is not None:
            with contextlib.suppress(psycopg.Error):
                found.close()

    def _is_away(self, error: psycopg.Error) -> bool:
        if error.sqlstate is None:
            # The connection has ended, or could not be made.
            return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return error.sqlstate.startswith(AWAY)

    def _drop_if_useless(self, error: psycopg.Error) -> None:
        """Close a connection that is broken, or leads to what is no primary any more."""
        if self._open is not None and (self._open.closed or error.sqlstate == STANDBY):
            self.close()


def explained(doing: str, error: psycopg.Error) -> EnsembleError:
    """An error of PostgreSQL as one of ours: "cannot <doing> the store"."""
    said = (error.diag.message_primary or str(error)).strip().splitlines()
    hint = "see whether PostgreSQL runs and can be reached from here, then try again; nothing is lost"
    if error.sqlstate is None and "password" in str(error):
        hint = "give the password in the file that PGPASSFILE names, or the whole address by --store-file FILE"
    elif error.sqlstate is None and any(word in str(error) for word in ("SSL", "certificate")):
        hint = "its certificate is checked: name that of its authority by sslrootcert=FILE in the address"
    if error.sqlstate is not None and not error.sqlstate.startswith(AWAY):
        hint = "see `ordito store status`, and the log of PostgreSQL"
    return EnsembleError(f"cannot {doing} the store: {said[0] if said else type(error).__name__}", hint)
