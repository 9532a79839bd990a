"""Ensembles that move from a directory into a store, and out of it again, whole."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
from psycopg.types.numeric import Int8

from ordito.base.change_ids import time_of
from ordito.cluster.connecting import Connection, StoreConnection
from ordito.cluster.keys import PoolKey
from ordito.cluster.postgres import execute
from ordito.cluster.store import Store
from ordito.cluster.stored import READING, StoredName
from ordito.cluster.working_copy import KeptJob, WorkingCopy, forget_notes
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import read
from ordito.ensemble.git.sharing import asks_for_lock
from ordito.ensemble.journal import replaced_by, written
from ordito.ensemble.journal_database import Statement
from ordito.ensemble.layout import Layout
from ordito.ensemble.store import Ensemble, open_ensemble

KEEP_JOBS = (
    b"INSERT INTO ordito.job (ensemble, id, header, plan, state, began, ended, record, summary)"
    b" SELECT %(ensemble)s, u.id, '', '', 'closed', u.began, NULL, u.record, u.summary"
    b" FROM unnest(%(ids)s::text[], %(began)s::timestamptz[], %(records)s::text[], %(lines)s::text[])"
    b" AS u(id, began, record, summary)"
)


class Moved(msgspec.Struct, frozen=True):
    """What was moved."""

    jobs: int
    files: int


def import_ensemble(store: Store, name: StoredName, directory: str, key: PoolKey) -> Moved:
    """Put the ensemble of a directory, which stays as it is, into a store, completely or not at all. Raises ``Locked``
    and ``EnsembleError``."""
    store.check()
    if store.ensemble_id(name.project, name.name):
        raise EnsembleError(f"there is an ensemble {name} in {store}", "choose another name")
    layout = Layout(Path(directory))
    if not layout.exists:
        raise EnsembleError(f"{directory} is no ensemble: there is no {layout.manifest.name}", "name its directory")
    with (
        open_ensemble(directory, command="store import") as ensemble,
        closing(StoreConnection(store.address, READING)) as link,
    ):
        if ensemble.unfinished is not None:
            raise EnsembleError(
                f"job {ensemble.unfinished.header.id} of {directory} is unfinished",
                f"end it first: `ordito jobs resume`, in {directory}",
            )
        if asks_for_lock(layout):
            raise EnsembleError(
                f"{layout.manifest} says `lock: git`, and an ensemble of a store shares nothing by git",
                "take that line out, then import it",
            )
        return _put(store, name, ensemble, link, key)


def _put(store: Store, name: StoredName, ensemble: Ensemble, link: StoreConnection, key: PoolKey) -> Moved:
    identity, layout = secrets.token_hex(8), ensemble.layout
    copy = WorkingCopy(layout, link, identity, key)
    present = copy.present()
    jobs = layout.job_ids()
    lines = _lines_by_job(layout, jobs)
    kept = [KeptJob(job, copy.keep_record(job, present), lines.get(job, "")) for job in jobs]
    statements: list[Statement] = [
        *copy.published(present, ensemble.status),
        *replaced_by(ensemble.snapshot),
        *written(ensemble.status, ensemble.journal.files_digest()),
    ]
    held = {"ensemble": identity, "epoch": Int8(1)}

    def work(db: Connection) -> bool:
        with db.transaction():
            done = db.execute(
                "INSERT INTO ordito.ensemble (id, project, name, epoch) VALUES (%s, %s, %s, 1) ON CONFLICT DO NOTHING",
                (identity, name.project, name.name),
            )
            if not done.rowcount:
                raise EnsembleError(f"there is an ensemble {name} in {store}", "choose another name")
            execute(db, held, statements)
            db.execute(KEEP_JOBS, _columns(identity, kept))
        return True

    def answered(db: Connection) -> bool | None:
        found = db.execute("SELECT 1 FROM ordito.ensemble WHERE id = %s", (identity,)).fetchone()
        return None if found is None else True

    link.ask("import an ensemble into", work, answered)
    return Moved(len(jobs), len(present))


def _columns(identity: str, kept: Sequence[KeptJob]) -> dict[str, object]:
    return {
        "ensemble": identity,
        "ids": [job.id for job in kept],
        "began": [time_of(job.id) for job in kept],
        "records": [job.record for job in kept],
        "lines": [job.lines for job in kept],
    }


def _lines_by_job(layout: Layout, jobs: Sequence[str]) -> dict[str, str]:
    """The lines of `jobs.tsv` by the job that they tell of. Raises ``EnsembleError``."""
    content = read(layout.jobs_tsv) or b""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        job = _job_of_line(line)
        if job not in jobs or not line.endswith(b"\n"):
            raise EnsembleError(
                f"{layout.jobs_tsv}:{number}: this line belongs to no job that has a record",
                "`ordito jobs replay --write` writes the file again from the records",
            )
        found.setdefault(job, []).append(line.decode())
    return {job: "".join(some) for job, some in found.items()}


def _job_of_line(line: bytes) -> str:
    change, kind, parent, *_ = [*line.decode("utf-8", "replace").split("\t"), "", "", ""]
    return change if kind == "job" else parent


def export_ensemble(store: Store, name: StoredName, directory: str, key: PoolKey) -> Moved:
    """Write the files of an ensemble of a store into a new or empty directory, which becomes an ensemble by itself; the
    store keeps its own. Raises ``EnsembleError``."""
    store.check()
    identity = store.ensemble_id(name.project, name.name)
    if not identity:
        raise EnsembleError(f"there is no ensemble {name} in {store}", "`ordito store status` lists them")
    place = Path(directory)
    with explained("read", place):
        if place.exists() and any(place.iterdir()):
            raise EnsembleError(f"{directory} is not empty", "name a new directory")
    with closing(StoreConnection(store.address, READING)) as link:
        _refuse_open_job(link, identity, name)
        layout = Layout(place)
        copy = WorkingCopy(layout, link, identity, key)
        files = copy.fetch()
        forget_notes(layout)
        if key.is_missing(layout):
            raise EnsembleError(
                f"{name} has secrets, and its key is sealed with that of the workers", "name it with --key FILE"
            )
        return Moved(len(layout.job_ids()), files)


def _refuse_open_job(link: StoreConnection, identity: str, name: StoredName) -> None:
    def work(db: Connection) -> str:
        found = db.execute("SELECT job FROM ordito.ensemble WHERE id = %s", (identity,)).fetchone()
        return "" if found is None else str(found[0])

    if job := link.ask("read", work, lambda _: None):
        raise EnsembleError(f"job {job} of {name} is unfinished", f"end it first: `ordito -e {name} jobs resume`")
