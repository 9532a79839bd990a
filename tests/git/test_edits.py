"""What is changed by hand in the records is kept in git by the same rules as what a job does."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import run
from tests.cli.program import LIMIT, Run, until
from tests.git.repository import Repository, make_repository
from tests.git.test_commit import DEPLOY, merging
from tests.git.test_commit_crash import KILL, PARTS, killed
from tests.git.test_shared_lock import clones, locks, shared, start

__all__ = ["clones", "run", "shared"]

FORGET = ("state", "rm", "thing_1", "--yes", "-e", "live")


def test_an_edit_is_committed_and_says_so(run: Run, service: Repository, ensemble: Repository) -> None:
    assert run(*DEPLOY).code == 0
    done = run(*FORGET)
    assert done.code == 0, done.err
    assert ensemble.messages == ["state rm mini: ok", "deploy mini: ok"]
    assert f"Committed: {ensemble.head[:12]} (this ensemble)" in done.err
    assert ensemble.changes == []


def test_an_edit_that_is_not_committed_says_why(run: Run, service: Repository, ensemble: Repository) -> None:
    assert run(*DEPLOY).code == 0
    merging(ensemble)
    head = ensemble.head
    done = run(*FORGET, "-o", "json")
    assert done.code == 0, done.err
    assert "not committed: a merge is under way" in done.err.replace(f"in {ensemble.top} ", "")
    data = json.loads(done.out)
    assert data["commit"] == ""
    assert "a merge is under way" in data["not_committed"][0]
    assert ensemble.head == head


def test_an_edit_may_be_kept_out_of_git(run: Run, service: Repository, ensemble: Repository) -> None:
    assert run(*DEPLOY).code == 0
    assert run(*FORGET, "--commit", "never").code == 0
    assert ensemble.messages == ["deploy mini: ok"]


def test_an_edit_that_must_be_committed_and_cannot_is_refused(run: Run, tmp_path: Path, service: Repository) -> None:
    """Before anything is written."""
    make_repository(tmp_path / "live")
    assert run(*DEPLOY, "--commit", "never").code == 0
    (tmp_path / "live" / ".git").rename(tmp_path / "gone")
    before = (tmp_path / "live" / "ensemble.yaml").read_bytes()
    refused = run(*FORGET, "--commit", "always")
    assert refused.code == 3
    assert "is in no git repository" in refused.err
    assert (tmp_path / "live" / "ensemble.yaml").read_bytes() == before
    assert run("jobs", "list", "-e", "live", "-o", "json").out.count('"state rm"') == 0


def test_an_edit_reaches_other_clones_with_the_lock(
    run: Run, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    first, _ = clones
    refused = run("state", "rm", "thing_1", "--yes", "-e", "first", "--commit", "never")
    assert refused.code == 3
    assert "share a lock" in refused.err
    assert run("state", "rm", "thing_1", "--yes", "-e", "first").code == 0
    assert shared.git("rev-parse", "main").strip() == first.head
    assert locks(shared) == []


def test_an_edit_that_other_clones_do_not_get_says_so(
    run: Run, tmp_path: Path, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    first, _ = clones
    first.hook("pre-commit", "exit 1")
    done = run("state", "rm", "thing_1", "--yes", "-e", "first")
    assert done.code == 0
    assert "not committed: git does not commit" in done.err
    assert "is kept, since the job is not in git" in done.err
    assert len(locks(shared)) == 1


def test_a_job_that_is_closed_by_hand_may_be_kept_out_of_git(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository
) -> None:
    assert run(*DEPLOY).code == 0
    killed(tmp_path, KILL.format(part=PARTS[0]), *DEPLOY, "-i", "count=2")
    closed = run("jobs", "cancel", "-e", "live", "--commit", "never")
    assert closed.code == 0, closed.err
    assert ensemble.messages == ["deploy mini: ok"]
    assert ensemble.changes


def spoilt(ensemble: Repository) -> None:
    """Somebody changes a status by hand."""
    path = ensemble.top / "ensemble.yaml"
    text = path.read_text()
    assert "local: ok" in text
    path.write_text(text.replace("local: ok", "local: error"))
    ensemble.commit("by hand")


def test_what_the_records_have_mended_is_committed(run: Run, service: Repository, ensemble: Repository) -> None:
    assert run(*DEPLOY).code == 0
    spoilt(ensemble)
    assert run("jobs", "replay", "--write", "--commit", "never", "-e", "live").code == 0
    assert ensemble.messages[0] == "by hand"
    spoilt_again = ensemble.changes
    assert spoilt_again == [" M ensemble.yaml"]
    done = run("jobs", "replay", "--write", "-e", "live", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["commit"] == ensemble.head
    assert ensemble.messages[0] == "jobs replay live: ok"
    assert ensemble.changes == []


def test_what_the_records_have_mended_reaches_other_clones_with_the_lock(
    run: Run, tmp_path: Path, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    first, _ = clones
    (tmp_path / "hold").touch()
    process = start(tmp_path, "deploy", "-e", "second", "--yes", "-i", "count=2")
    until((tmp_path / "began").exists)
    refused = run("jobs", "replay", "--write", "-e", "first")
    assert refused.code == 5, refused.err
    (tmp_path / "hold").unlink()
    process.communicate(timeout=LIMIT)
    first.git("pull", "--quiet")
    spoilt(first)
    assert run("jobs", "replay", "--write", "-e", "first", "--commit", "never").code == 3
    assert run("jobs", "replay", "--write", "-e", "first").code == 0
    assert shared.git("rev-parse", "main").strip() == first.head
    assert first.messages[0] == "jobs replay first: ok"
    assert locks(shared) == []
