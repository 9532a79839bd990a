"""Whatever became of the journal's file: what is wrong is said, what is lost, and nothing else is harmed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ordito.ensemble import journal as journals
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.store import open_ensemble, read_ensemble
from ordito.source.new_files import fresh_name
from tests.engine.fakes import FakeExecutor, World, make_plan
from tests.ensemble.jobs import carry_out, deploy, files

PLAN = make_plan(3, [(0, 1), (1, 2)])


def nothing(path: Path) -> None:
    path.unlink()


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database at all, but it is long enough to look like one" * 100)


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE photos (name TEXT)")
    db.close()


def older(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 1")
    db.close()


def newer(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


DAMAGE: list[tuple[Callable[[Path], None], str, str]] = [
    (fifo, "FIFO", "move it away"),
    (folder, "a folder", "move it away"),
    (garbage, "not a database", "move it away"),
    (foreign, "of another program", "move it away"),
    (older, "older version", "move the journal away"),
    (newer, "newer version", "install"),
]


@pytest.mark.parametrize(("damage", "said", "hint"), DAMAGE, ids=[d[0].__name__ for d in DAMAGE])
def test_what_is_no_journal_is_named(tmp_path: Path, damage: Callable[[Path], None], said: str, hint: str) -> None:
    deploy(tmp_path, PLAN)
    before = files(tmp_path)
    path = Layout(tmp_path).journal
    damage(path)
    for opening in (partial(open_ensemble, command="deploy"), read_ensemble):
        with pytest.raises(EnsembleError) as error:
            opening(tmp_path)
        assert str(path) in error.value.message
        assert said in error.value.message
        assert hint in error.value.hint
    assert files(tmp_path) == before
    path.rename(path.with_name("away"))
    with open_ensemble(tmp_path, command="deploy") as ensemble:
        assert len(ensemble.snapshot.instances) == 3
        assert ensemble.status.revision == 1


@pytest.mark.parametrize("damage", [nothing, garbage])
def test_a_lost_job_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None]) -> None:
    """A journal that holds the job no more is not taken for one that never held it."""

    class Killed(BaseException):
        pass

    def dying(journal: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(journals.EnsembleJournal, "commit", dying)
        with pytest.raises(Killed):
            deploy(tmp_path, PLAN)
    layout = Layout(tmp_path)
    damage(layout.journal)
    if damage is garbage:
        with pytest.raises(EnsembleError, match="not a database"):
            read_ensemble(tmp_path)
        layout.journal.unlink()
    for name in ("-wal", "-shm"):
        layout.journal.with_name(layout.journal.name + name).unlink(missing_ok=True)
    with pytest.raises(EnsembleError, match="has lost job A") as error:
        open_ensemble(tmp_path, command="deploy")
    assert "jobs logs A" in error.value.hint
    (layout.private / "begun").unlink()
    deploy(tmp_path, PLAN)
    assert not (layout.private / "begun").exists()


def test_a_journal_without_its_last_turns_still_says_what_it_has(tmp_path: Path) -> None:
    """Torn in the middle of what was not yet moved into the database: whole turns count, and the job goes on."""
    with open_ensemble(tmp_path, command="deploy") as ensemble:
        carry_out(ensemble, PLAN)
        wal = Path(f"{ensemble.layout.journal}-wal")
        kept = wal.read_bytes()
        base = ensemble.layout.journal.read_bytes()
    layout = Layout(tmp_path)
    layout.journal.write_bytes(base)
    wal.write_bytes(kept[: len(kept) - 1_500])
    with open_ensemble(tmp_path, command="resume") as ensemble:
        assert ensemble.unfinished is not None
        done = World(PLAN)
        carry_out(ensemble, PLAN, FakeExecutor(done))
        ensemble.close_job(lambda snapshot: {i: r.local for i, r in snapshot.instances.items()})
    with read_ensemble(tmp_path) as found:
        assert {i.local for i in found.snapshot.instances.values()} == {"ok"}


def test_a_row_that_means_nothing_is_named(tmp_path: Path) -> None:
    deploy(tmp_path, PLAN)
    with sqlite3.connect(Layout(tmp_path).journal) as db:
        db.execute("UPDATE instance SET body = x'c1c1' WHERE id = 'node_2'")
    db.close()
    with pytest.raises(EnsembleError, match="damaged") as error:
        read_ensemble(tmp_path)
    assert "ensemble.yaml" in error.value.hint


def test_what_killed_processes_left_is_swept(tmp_path: Path) -> None:
    """By who holds the lock, and nothing that somebody else has named so."""
    deploy(tmp_path, PLAN)
    layout = Layout(tmp_path)
    (layout.jobs / "A6BKKQCN0000").mkdir()
    (layout.status).mkdir()
    left = [
        fresh_name(layout.manifest),
        fresh_name(layout.jobs_tsv),
        fresh_name(layout.jobs / "A6BKKQCN0000.yaml"),
        fresh_name(layout.jobs / "A6BKKQCN0000" / "0001.yaml"),
        fresh_name(layout.status / "web.yaml"),
    ]
    theirs = [tmp_path / ".notes.0123456789abcdef.new", tmp_path / ".ensemble.yaml.new", layout.jobs / "mine.new"]
    for path in [*left, *theirs]:
        path.write_bytes(b"half")
    with read_ensemble(tmp_path):
        assert all(path.exists() for path in left)
    with open_ensemble(tmp_path, command="deploy"):
        pass
    assert [path for path in left if path.exists()] == []
    assert all(path.exists() for path in theirs)
