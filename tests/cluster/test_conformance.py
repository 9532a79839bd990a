"""Whatever database a journal has, files and records are the same, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ordito.ensemble import backing
from ordito.ensemble import journal as journals
from ordito.ensemble.codec import encode
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.layout import Layout
from ordito.ensemble.rebuilding import open_rebuilding, write_rebuilt
from ordito.ensemble.replay import rebuild
from ordito.ensemble.store import open_ensemble, read_ensemble
from tests.engine.fakes import FakeExecutor, World, make_plan
from tests.ensemble.jobs import NOW, carry_out, deploy, effective, files
from tests.support.real.stores import StoredJournals

PLAN = make_plan(
    7, [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (2, 5)], no_ops=[3], delegated=[6], hosts={1: "h_1", 4: "h_1"}
)


class Killed(BaseException):
    """Stands for the death of the process."""


def two_jobs(root: Path) -> None:
    deploy(root, PLAN, FakeExecutor(World(PLAN), ["s4"], prints={"s0": [b"hello\n"]}))
    deploy(root, PLAN, now=NOW + 100)


def cut_and_resumed(root: Path) -> None:
    """Killed after each second turn, until it ends."""
    commit = EnsembleJournal.commit
    turns = 0

    def dying(journal: EnsembleJournal) -> None:
        nonlocal turns
        commit(journal)
        turns += 1
        if turns % 2 == 0:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EnsembleJournal, "commit", dying)
        for _ in range(20):
            try:
                with open_ensemble(root, command="deploy") as ensemble:
                    carry_out(ensemble, PLAN, FakeExecutor(World(PLAN), ["s2"]))
                    ensemble.close_job(effective)
                break
            except Killed:
                continue
    assert turns > 4


def behind(root: Path) -> None:
    """With the rows of what exists written every third record."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journals, "MOST_BEHIND", 3)
        two_jobs(root)


def replayed(root: Path) -> None:
    """The files written again from the records of jobs."""
    two_jobs(root)
    layout = Layout(root)
    with open_rebuilding(layout) as found:
        write_rebuilt(found, rebuild(layout), {})


def edited(root: Path) -> None:
    """The files changed beside the journal, as by a merge."""
    two_jobs(root)
    manifest = root / "ensemble.yaml"
    manifest.write_text(manifest.read_text().replace("created", "started", 1))
    deploy(root, PLAN, now=NOW + 200)


@pytest.mark.parametrize("story", [two_jobs, cut_and_resumed, behind, replayed, edited])
def test_files_are_the_same(
    tmp_path: Path,
    stored_journals: StoredJournals,
    monkeypatch: pytest.MonkeyPatch,
    story: Callable[[Path], None],
) -> None:
    # One after the other in one place, which the files of jobs may name.
    root = tmp_path / "shop"
    found = []
    for database in ("sqlite", "postgresql"):
        if database == "postgresql":
            root.rename(tmp_path / "before")
            monkeypatch.setattr(backing, "open_journal", stored_journals.open)
            monkeypatch.setattr(backing, "read_journal", stored_journals.read)
        story(root)
        with read_ensemble(root) as ensemble:
            state = (ensemble.snapshot.instances, ensemble.snapshot.links, ensemble.snapshot.attributes)
            order = list(ensemble.snapshot.instances)
        found.append((files(root), state, order))
    stored_journals.shut()
    assert found[0] == found[1]
    assert any(name.startswith("jobs/") for name in found[0][0])


def test_records_are_the_same(tmp_path: Path, stored_journals: StoredJournals) -> None:
    """Of a job that is open, and what it keeps of before."""
    found = []
    for number, opened in enumerate((journals.open_journal, stored_journals.open)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backing, "open_journal", opened)
            root = tmp_path / str(number)
            deploy(root, PLAN)
            with open_ensemble(root, command="deploy") as ensemble:
                carry_out(ensemble, PLAN, FakeExecutor(World(PLAN), ["s4"]), now=NOW + 100)
                journal = ensemble.journal
                frame = journal.frame()
                assert frame is not None
                records = [encode(record) for record in journal.records()]
                found.append(
                    (records, encode(frame[:2]), frame[2], journal.plan(), journal.previous(), journal.steps())
                )
    stored_journals.shut()
    assert found[0] == found[1]
    assert len(found[0][0]) > 10


def test_many_rows(tmp_path: Path, stored_journals: StoredJournals) -> None:
    """More than are sent at once."""
    plan = make_plan(12_000, [], no_ops=range(12_000))
    layout = Layout(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backing, "open_journal", stored_journals.open)
        patch.setattr(backing, "read_journal", stored_journals.read)
        deploy(tmp_path, plan)
        with read_ensemble(layout.root) as ensemble:
            assert len(ensemble.snapshot.instances) == 12_000
            assert next(iter(ensemble.snapshot.instances)) == "node_1"
        stored_journals.shut()
