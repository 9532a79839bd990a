"""What the version before has written is read, and gone on with: its notes in plain words were data then.

`data/former/ensemble` has the files of an ensemble; `ended.sql` is the journal that belongs to them, `interrupted.sql`
the same with a healing that was killed, which has removed `web_1` and begun to make it again.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.cli.program import DATA, Run

NOTES = {
    "data_1": "found to be absent",
    "server_2": "cannot be reached",
    "server_3": "scaled in",
    "spare_1": "adopted",
    "spare_2": "rolled back",
    "spare_3": "removed with its host",
    "spare_4": "it could not be found out how it is",
    "spare_5": "rolled back, removed with its host",
    "spare_6": "removed, to be created again, removed with its host",
    "web_3": "scaled in",
}


@pytest.fixture
def former(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ensemble, beside its service."""
    ensemble = shutil.copytree(DATA / "former" / "ensemble", tmp_path / "ensemble")
    (service,) = (ensemble / "artifacts").iterdir()
    shutil.copytree(service, tmp_path / "service", ignore=shutil.ignore_patterns(".pinned"))
    monkeypatch.chdir(ensemble)
    return ensemble


def journal(folder: Path, name: str) -> None:
    """Put a journal beside the files."""
    (folder / ".ordito").mkdir()
    db = sqlite3.connect(folder / ".ordito" / "journal.db")
    db.executescript((DATA / "former" / f"{name}.sql").read_text())
    db.close()


def notes(run: Run) -> dict[str, str]:
    found = run("status", "--all", "-o", "json").json["instances"]
    return {name: row["note"] for name, row in found.items() if "note" in row}


@pytest.mark.parametrize("name", ["", "ended", "interrupted"])
def test_notes_of_before_are_shown_as_they_were(run: Run, former: Path, name: str) -> None:
    """From the files alone, from the journal, and from the records of a job that is unfinished."""
    if name:
        journal(former, name)
    assert notes(run) == NOTES
    assert "server_2 started error cannot be reached" in " ".join(run("status").out.split())
    assert "  note             scaled in\n" in run("describe", "web_3").out


def test_records_of_before_give_what_the_files_say(run: Run, former: Path) -> None:
    done = run("jobs", "replay")
    assert (done.code, done.out) == (0, "The records of 4 jobs give exactly what ensemble.yaml says.\n")


@pytest.mark.parametrize("name", ["", "ended"])
def test_what_is_decided_by_them_is_decided_as_before(run: Run, former: Path, name: str) -> None:
    """What was found to be absent or is to be made again is wanted, what was scaled in is not, and no number is used
    twice."""
    if name:
        journal(former, name)
    plan = run("plan", "deploy", "-o", "json").json
    changes = {c["instance"]: (c["symbol"], c["reason"]) for c in plan["changes"]}
    assert changes == {
        "server_2": ("~", "it is error: continued, after delegate.deploy"),
        "data_1": ("+", "found to be absent"),
        **{f"spare_{n}": ("+", "6 wanted (instance_count)") for n in (2, 3, 5, 6)},
        "spare_4": ("?", "it is unknown: replaced, if it is not ok after being stopped and started"),
    }
    grown = run("plan", "scale", "server=3", "-o", "json").json
    assert {"server_4", "web_4"} <= {c["instance"] for c in grown["changes"]}
    shown = run("status").out
    assert ("spare_6" in shown, "spare_5" in shown) == (True, False)


def test_an_unfinished_job_of_before_is_resumed(run: Run, former: Path) -> None:
    journal(former, "interrupted")
    resumed = run("jobs", "resume")
    assert resumed.code == 0, resumed.err
    assert notes(run) == NOTES
    assert run("jobs", "replay").out == "The records of 5 jobs give exactly what ensemble.yaml says.\n"
    written, record = (former / "ensemble.yaml").read_text(), max((former / "jobs").iterdir()).read_text()
    assert ("note:" in written, "statusReason: unanswered" in written) == (False, True)
    assert ("note" in record, "statusReason: replaced" in record) == (False, True)


def test_a_plan_that_was_saved_before_is_shown_and_carried_out(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(DATA / "tiny", tmp_path / "service")
    shutil.copy(DATA / "former" / "first.plan", tmp_path)
    monkeypatch.chdir(tmp_path)
    saved, made = (run("-e", "e", "plan", *words) for words in (["first.plan"], ["service", "-i", "log=ran.log"]))
    assert saved.out == made.out
    done = run("-e", "e", "deploy", "first.plan", "--yes")
    assert done.code == 0, done.err
    assert run("-e", "e", "status", "--detailed-exitcode").code == 0
