"""Killed at any moment while clones share a lock: none begins with an old state, and nothing stays locked for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.git.repository import Repository
from tests.git.test_commit_crash import killed
from tests.git.test_shared_lock import clones, instances, locks, shared

__all__ = ["clones", "shared"]

KILL = """
import os, signal
from ordito.ensemble.git import shared_lock
from ordito.ensemble.git.shared_lock import SharedLock
def dying(part, before):
    def wrapper(*arguments, **options):
        if not before:
            part(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    return wrapper
{part} = dying({part}, {before})
from ordito.cli.main import main
main()
"""
MOMENTS = [
    ("shared_lock._note", True),
    ("SharedLock._push", True),
    ("SharedLock._push", False),
    ("SharedLock.check_current", True),
    ("SharedLock.name_job", True),
    ("SharedLock.name_job", False),
    ("SharedLock.publish", True),
    ("SharedLock._push_state", True),
    ("SharedLock._push_state", False),
]


@pytest.mark.parametrize(("part", "before"), MOMENTS)
def test_a_clone_that_was_killed_goes_on_and_the_others_wait_for_it(
    run: Run, tmp_path: Path, shared: Repository, clones: tuple[Repository, Repository], part: str, before: bool
) -> None:
    first, second = clones
    killed(tmp_path, KILL.format(part=part, before=before), "deploy", "-e", "first", "--yes", "-i", "count=2")
    is_locked = bool(locks(shared))
    other = run("deploy", "-e", "second", "--yes", "-i", "count=1")
    assert other.code == (5 if is_locked else 0 if instances(first) == ["thing_1"] else 3), other.err

    assert run("jobs", "resume", "-e", "first").code == 0
    done = run("deploy", "-e", "first", "--yes", "-i", "count=2")
    assert done.code == 0, done.err
    assert locks(shared) == []
    assert shared.git("rev-parse", "main").strip() == first.head
    assert first.changes == []
    second.git("pull", "--quiet")
    assert instances(second) == ["thing_1", "thing_2"]
