"""Clones of an ensemble that share a lock in their common repository."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import pytest

from tests.cli.program import LIMIT, Run, environment, until
from tests.git.repository import Repository, clone, make_repository, settings_of_git, write_service
from tests.support import forked
from tests.support.forked import Running
from tests.support.yaml_files import read_yaml

ENVIRONMENT = "  environments:\n    production: { lock: git }\n"


def locks(shared: Repository) -> list[str]:
    """The locks in a repository."""
    return shared.git("for-each-ref", "--format=%(refname)", "refs/ordito").split()


def start(home: Path, *arguments: str) -> Running:
    """Start a command and leave it running."""
    (home / "began").unlink(missing_ok=True)
    return forked.start(home, environment(**settings_of_git(home)), arguments)


def instances(tree: Repository) -> list[str]:
    """What the ensemble's file says that exists."""
    return sorted(read_yaml((tree.top / "ensemble.yaml").read_text())["status"]["instances"])


@pytest.fixture
def shared(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "shared", bare=True)


@pytest.fixture
def clones(run: Run, tmp_path: Path, shared: Repository) -> tuple[Repository, Repository]:
    """Two clones that share a lock; one instance is deployed."""
    first = clone(shared.top, tmp_path / "first")
    write_service(first)
    assert run("deploy", "-e", "first", "--yes").code == 0
    path = first.top / "ensemble.yaml"
    text = path.read_text().replace("  service: service.yaml\n", f"  service: service.yaml\n{ENVIRONMENT}")
    assert ENVIRONMENT in text
    path.write_text(text)
    first.commit("share it")
    first.git("push", "--quiet", "-u", "origin", "main")
    return first, clone(shared.top, tmp_path / "second")


@pytest.fixture
def killed(
    tmp_path: Path, shared: Repository, clones: tuple[Repository, Repository]
) -> tuple[Repository, Repository, int]:
    """The first clone was killed while it deployed a second instance; its process had this number."""
    (tmp_path / "hold").touch()
    process = start(tmp_path, "deploy", "-e", "first", "--yes", "-i", "count=2")
    until((tmp_path / "began").exists)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=LIMIT)
    (tmp_path / "hold").unlink()
    return *clones, process.pid


def test_a_job_gives_the_state_to_the_other_clones_before_the_lock(
    run: Run, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    first, second = clones
    done = run("deploy", "-e", "first", "--yes", "-i", "count=2")
    assert done.code == 0, done.err
    assert locks(shared) == []
    assert shared.git("rev-parse", "main").strip() == first.head
    behind = run("deploy", "-e", "second", "--yes", "-i", "count=3")
    assert behind.code == 3
    assert "this clone does not have all that is in origin/main" in behind.err
    assert "git pull" in behind.err
    assert locks(shared) == []
    second.git("pull", "--quiet")
    assert run("deploy", "-e", "second", "--yes", "-i", "count=3").code == 0
    assert instances(second) == ["thing_1", "thing_2", "thing_3"]


def test_a_command_that_does_nothing_gives_the_lock_back_and_pushes_nothing(
    run: Run, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    before = shared.git("rev-parse", "main")
    clones[0].git("commit", "--quiet", "--allow-empty", "-m", "not for others yet")
    assert run("deploy", "-e", "first", "--yes").code == 0
    assert run("deploy", "-e", "first", "-i", "count=2").code == 64
    assert run("deploy", "-e", "first", "--yes", "-i", "count=x").code == 3
    assert locks(shared) == []
    assert shared.git("rev-parse", "main") == before


def test_of_two_clones_at_once_one_is_told_who_works(
    run: Run, tmp_path: Path, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    """Exit code 5, with user, machine, process, command, job and since when; taking the lock away is refused."""
    (tmp_path / "hold").touch()
    process = start(tmp_path, "deploy", "-e", "first", "--yes", "-i", "count=2")
    until((tmp_path / "began").exists)
    refused = run("deploy", "-e", "second", "--yes", "-i", "count=3")
    assert refused.code == 5
    who = (
        rf"locked in origin by \S+ on {socket.gethostname()}, process {process.pid} \(deploy\), job A\w{{7}}0000, since"
    )
    assert re.search(who, refused.err), refused.err
    assert str(clones[0].top) in refused.err
    kept = run("jobs", "unlock", "--remote", "-e", "second", "--yes")
    assert kept.code == 5
    assert f"process {process.pid}" in kept.err

    waiting = start(tmp_path, "deploy", "-e", "second", "--yes", "-i", "count=3", "--wait-lock", str(LIMIT))
    (tmp_path / "hold").unlink()
    process.communicate(timeout=LIMIT)
    assert process.returncode == 0
    _, err = waiting.communicate(timeout=LIMIT)
    assert waiting.returncode == 3
    assert "git pull" in err
    assert locks(shared) == []


def test_of_two_clones_that_begin_at_the_same_moment_one_works(
    tmp_path: Path, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    processes = [
        start(tmp_path, "deploy", "-e", name, "--yes", "-i", f"count={count}")
        for name, count in (("first", 2), ("second", 3))
    ]
    told = [process.communicate(timeout=LIMIT)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert 0 in codes, told
    loser = codes[1 - codes.index(0)]
    assert loser in {3, 5}, told
    assert locks(shared) == []
    assert shared.git("rev-parse", "main").strip() == clones[codes.index(0)].head


def test_the_first_deployment_of_an_ensemble_fills_an_empty_remote(
    run: Run, tmp_path: Path, shared: Repository
) -> None:
    tree = make_repository(tmp_path / "new")
    tree.git("remote", "add", "origin", shared.top)
    write_service(tree)
    tree.write("ensemble.yaml", f"spec:\n  service: service.yaml\n{ENVIRONMENT}")
    done = run("deploy", "-e", "new", "--yes")
    assert done.code == 0, done.err
    assert locks(shared) == []
    assert shared.git("rev-parse", "main").strip() == tree.head
    assert tree.changes == []


def test_the_lock_of_a_killed_clone_is_told_taken_away_and_its_job_is_not_lost(
    run: Run, tmp_path: Path, shared: Repository, killed: tuple[Repository, Repository, int]
) -> None:
    first, _, pid = killed
    refused = run("deploy", "-e", "second", "--yes", "-i", "count=3")
    assert refused.code == 5
    assert f"process {pid} (deploy)" in refused.err
    assert "ordito -e second jobs unlock --remote" in refused.err
    asked = run("jobs", "unlock", "--remote", "-e", "second")
    assert asked.code == 64
    assert len(locks(shared)) == 1
    done = run("jobs", "unlock", "--remote", "-e", "second", "--yes")
    assert done.code == 0
    assert f"process {pid}" in done.err
    assert f"resume it in {first.top} on {socket.gethostname()}" in done.err
    assert locks(shared) == []
    assert run("deploy", "-e", "second", "--yes", "-i", "count=3").code == 0

    unfinished = run("deploy", "-e", "first", "--yes")
    assert unfinished.code == 5
    assert "jobs resume" in unfinished.err
    resumed = run("jobs", "resume", "-e", "first")
    assert resumed.code == 0
    assert "is not pushed to origin/main, and the lock there is kept" in resumed.err
    assert "git pull --no-rebase" in resumed.err
    assert len(locks(shared)) == 1
    assert run("deploy", "-e", "second", "--yes", "-i", "count=4").code == 5
    assert first.changes == []
    assert len(list((first.top / "jobs").glob("*.yaml"))) == 2


def test_the_killed_clone_itself_takes_its_lock_over(
    run: Run, shared: Repository, killed: tuple[Repository, Repository, int]
) -> None:
    _, second, _ = killed
    own = run("jobs", "unlock", "--remote", "-e", "first", "--yes")
    assert own.code == 3
    assert "ordito -e first jobs resume" in own.err
    resumed = run("jobs", "resume", "-e", "first")
    assert resumed.code == 0, resumed.err
    assert locks(shared) == []
    second.git("pull", "--quiet")
    assert instances(second) == ["thing_1", "thing_2"]


def test_a_state_that_was_pulled_while_a_job_waited_is_told(
    run: Run, shared: Repository, killed: tuple[Repository, Repository, int]
) -> None:
    first, _, _ = killed
    assert run("jobs", "unlock", "--remote", "-e", "second", "--yes").code == 0
    assert run("deploy", "-e", "second", "--yes", "-i", "count=3").code == 0
    before = shared.git("rev-parse", "main")
    first.git("pull", "--quiet")
    resumed = run("jobs", "resume", "-e", "first")
    assert resumed.code == 0
    assert "ensemble.yaml was changed while this job waited" in resumed.err
    assert "jobs replay --write" in resumed.err
    assert shared.git("rev-parse", "main") == before
    assert len(locks(shared)) == 1


def test_what_could_not_be_pushed_is_pushed_by_the_next_command(
    run: Run, tmp_path: Path, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    first, _ = clones
    shared.hook("update", 'case "$1" in refs/heads/*) echo closed for today >&2; exit 1;; esac')
    done = run("deploy", "-e", "first", "--yes", "-i", "count=2")
    assert done.code == 0
    assert "is not pushed to origin/main" in done.err
    assert len(locks(shared)) == 1
    assert run("deploy", "-e", "second", "--yes", "-i", "count=3").code == 5
    (shared.top / "hooks" / "update").unlink()
    assert run("deploy", "-e", "first", "--yes").code == 0
    assert locks(shared) == []
    assert shared.git("rev-parse", "main").strip() == first.head


def test_a_job_that_cannot_be_committed_keeps_the_lock(
    run: Run, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    first, _ = clones
    first.hook("pre-commit", "exit 1")
    done = run("deploy", "-e", "first", "--yes", "-i", "count=2")
    assert done.code == 0
    assert "the lock in origin is kept, since the job is not in git" in done.err
    again = run("deploy", "-e", "first", "--yes")
    assert again.code == 3
    assert len(locks(shared)) == 1
    (first.top / ".git/hooks/pre-commit").unlink()
    first.commit("by hand")
    assert run("deploy", "-e", "first", "--yes").code == 0
    assert locks(shared) == []


def test_a_shared_ensemble_is_always_committed(
    run: Run, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    first, _ = clones
    refused = run("deploy", "-e", "first", "--yes", "-i", "count=2", "--commit", "never")
    assert refused.code == 3
    first.write("mine.txt", "mine")
    first.git("add", "mine.txt")
    staged = run("deploy", "-e", "first", "--yes", "-i", "count=2")
    assert staged.code == 3
    assert "mine.txt" in staged.err
    assert locks(shared) == []
    assert instances(first) == ["thing_1"]


def test_without_a_remote_or_when_it_cannot_be_reached_nothing_is_done(
    run: Run, tmp_path: Path, shared: Repository, clones: tuple[Repository, Repository]
) -> None:
    first, _ = clones
    shared.top.rename(tmp_path / "away")
    gone = run("deploy", "-e", "first", "--yes", "-i", "count=2")
    assert gone.code == 3
    assert "the lock in origin cannot be read or changed" in gone.err
    first.git("remote", "remove", "origin")
    alone = run("deploy", "-e", "first", "--yes", "-i", "count=2")
    assert alone.code == 3
    assert "git remote add origin URL" in alone.err
    assert instances(first) == ["thing_1"]
    assert run("status", "-e", "first").code == 0


def test_unlocking_says_where_there_is_nothing_to_unlock(
    run: Run, clones: tuple[Repository, Repository], ensemble: Repository
) -> None:
    assert "nobody holds the lock" in run("jobs", "unlock", "--remote", "-e", "second").err
    assert run("jobs", "unlock", "-e", "second").code == 64
    write_service(ensemble)
    assert run("deploy", "-e", "live", "--yes").code == 0
    alone = run("jobs", "unlock", "--remote", "-e", "live")
    assert alone.code == 3
    assert "lock: git" in alone.err


def test_the_lock_must_be_asked_for_where_it_is_looked_for(run: Run, ensemble: Repository) -> None:
    write_service(ensemble)
    ensemble.write("shared.yaml", "lock: git\n")
    ensemble.write("ensemble.yaml", "spec:\n  service: service.yaml\n  +shared.yaml:\n")
    refused = run("deploy", "-e", "live", "--yes")
    assert refused.code == 3
    assert '"lock: git" must stand in live/ensemble.yaml itself' in refused.err
