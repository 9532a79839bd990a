"""The files of plans: what is large is not in the database."""

from __future__ import annotations

from pathlib import Path

import msgspec
from sqlalchemy import Connection, delete, insert, select

from ordito.ensemble.errors import explained
from ordito.ensemble.files import read, write_whole
from ordito.server.database.database import Database
from ordito.server.database.tables import PLAN_FILES, PLANS
from ordito.server.processes.making import MadePlanData
from ordito.server.processes.plan_rows import EACH, RowsIndex
from ordito.source.new_files import open_regular

SHOWN, SAVED, REPORT = "json", "plan", "report"
"""The plan as ``ordito plan -o json`` shows it; as ``ordito plan --out`` saves it; how its job ended."""

DRAWN, ROWS, INDEX = "drawn", "rows", "index"
"""What its picture is made of; the rows of its lists, one a line, and where they are (``PlanRows``)."""

NOTHING = b"null"

PREFIX = "pl_"
"""How the ids of plans begin."""


class PlanFiles:
    """The folder of a server in which they lie."""

    def __init__(self, folder: Path, database: Database | None = None) -> None:
        """Where several servers share the database, each keeps the files of all there, and copies here."""
        self._folder = folder
        self._shared = database if database is not None and database.is_shared else None

    def keep(self, plan: str, made: MadePlanData) -> None:
        """Write a plan that was made; it is on the disk when this returns. Raises ``EnsembleError``."""
        self._write(plan, SHOWN, bytes(made.shown))
        if bytes(made.drawn) != NOTHING:
            self._write(plan, DRAWN, bytes(made.drawn))
        if made.saved:
            self._write(plan, SAVED, made.saved)

    def keep_report(self, plan: str, report: bytes) -> None:
        """Write how the job of a plan ended. Raises ``EnsembleError``."""
        self._write(plan, REPORT, report)

    def read(self, plan: str, kind: str) -> bytes | None:
        """The content of a file; None where it is not there. Raises ``EnsembleError``."""
        return self._read(plan, kind)

    def _read(self, plan: str, kind: str) -> bytes | None:
        found = read(self._path(plan, kind))
        if found is not None or self._shared is None:
            return found
        mine = (PLAN_FILES.c.plan == plan) & (PLAN_FILES.c.kind == kind)
        kept = self._shared.read_now(lambda c: c.execute(select(PLAN_FILES.c.body).where(mine)).scalar())
        if kept is not None:
            self._write_here(plan, kind, kept)
        return kept

    def keep_rows(self, plan: str, found: bytes) -> None:
        """Write the rows of a plan, as ``PlanRows`` gives them. Raises ``EnsembleError``."""
        index, _, rows = found.partition(b"\n")
        self._write(plan, ROWS, rows)
        self._write(plan, INDEX, index)

    def rows(self, plan: str, name: str, begin: int, limit: int) -> tuple[tuple[msgspec.Raw, ...], int] | None:
        """Some rows of one of its lists, and how many that has; None where they are not kept yet. Raises
        ``EnsembleError``."""
        kept = self._read(plan, INDEX)
        if kept is None or self._read(plan, ROWS) is None:
            return None
        index = msgspec.json.decode(kept, type=dict[str, RowsIndex])[name]
        end = min(begin + limit, index.count)
        if begin >= end:
            return (), index.count
        first, last = index.at[begin // EACH], index.at[min(-(-end // EACH), len(index.at) - 1)]
        with explained("read", self._path(plan, ROWS)), open_regular(self._path(plan, ROWS)) as file:
            file.seek(first)
            lines = file.read(last - first).splitlines()
        skipped = begin % EACH
        return tuple(map(msgspec.Raw, lines[skipped : skipped + end - begin])), index.count

    def forget(self, plan: str) -> None:
        """Remove all files of a plan."""
        for kind in (SHOWN, SAVED, REPORT, DRAWN, ROWS, INDEX):
            self._path(plan, kind).unlink(missing_ok=True)
        if self._shared is not None:
            self._shared.write_now(lambda c: c.execute(delete(PLAN_FILES).where(PLAN_FILES.c.plan == plan)))

    def forget_others(self, connection: Connection) -> None:
        """Remove the files of plans that are not known: those of ensembles that were removed by a server that was
        killed then, or by an earlier version."""
        if not self._folder.is_dir():
            return
        known = set(connection.execute(select(PLANS.c.id)).scalars())
        for path in self._folder.glob(f"{PREFIX}*.*"):
            if path.name.partition(".")[0] not in known:
                path.unlink(missing_ok=True)

    def _write(self, plan: str, kind: str, content: bytes) -> None:
        self._write_here(plan, kind, content)
        if self._shared is None:
            return

        def keep(connection: Connection) -> None:
            mine = (PLAN_FILES.c.plan == plan) & (PLAN_FILES.c.kind == kind)
            connection.execute(delete(PLAN_FILES).where(mine))
            if plan_is_known(connection, plan):
                connection.execute(insert(PLAN_FILES).values(plan=plan, kind=kind, body=content))

        self._shared.write_now(keep)

    def _write_here(self, plan: str, kind: str, content: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._path(plan, kind), [content])

    def _path(self, plan: str, kind: str) -> Path:
        return self._folder / f"{plan}.{kind}"


def plan_is_known(connection: Connection, plan: str) -> bool:
    """Whether there is such a plan: it may have been removed meanwhile."""
    return connection.execute(select(PLANS.c.id).where(PLANS.c.id == plan)).first() is not None
