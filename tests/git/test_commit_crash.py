"""Killed between the files and the commits of a job: what is missing is committed when the job is resumed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import LIMIT, Finished, Run, environment
from tests.git.repository import SERVICE, Repository, settings_of_git
from tests.git.test_commit import DEPLOY, record_of
from tests.support import forked

KILL = """
import os, signal
from ordito.ensemble import close
from ordito.ensemble.git import keeper
from ordito.base.git_process import Git
from ordito.ensemble.journal import EnsembleJournal
def dying(part):
    def wrapper(*arguments, **options):
        part(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    return wrapper
{part} = dying({part})
from ordito.cli.main import main
main()
"""
PARTS = (
    "keeper.GitKeeper.keep_sources",
    "close.write_job_record",
    "close.write_manifest",
    "keeper.GitKeeper.keep_ensemble",
    "EnsembleJournal.finish",
)
KILL_GIT_TOO = """
import os, signal
from ordito.base import git_process as process
def dying(started, limit):
    if "commit" in started.args:
        os.kill(os.getpid(), signal.SIGKILL)
    return awaited(started, limit)
awaited, process._awaited = process._awaited, dying
from ordito.cli.main import main
main()
"""


def killed(tmp_path: Path, code: str, *arguments: str) -> Finished:
    process = forked.start(tmp_path, environment(**settings_of_git(tmp_path)), arguments, code)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == -9, err
    return Finished(-9, out, err)


@pytest.mark.parametrize("part", PARTS)
def test_a_job_that_was_killed_while_it_was_closed_is_committed_once(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository, part: str
) -> None:
    assert run(*DEPLOY).code == 0
    service.write("service.yaml", SERVICE + "# changed\n")
    killed(tmp_path, KILL.format(part=part), *DEPLOY, "-i", "count=2", "--message", "two of them")
    resumed = run("jobs", "resume", "-e", "live")
    assert resumed.code == 0, resumed.err
    assert ensemble.changes == []
    assert service.changes == []
    assert ensemble.messages == ["two of them", "deploy mini: ok"]
    assert service.messages == ["two of them", "the service"]
    assert record_of(ensemble)["commits"] == {"../mini": service.head}
    assert "notCommitted" not in record_of(ensemble)


def test_a_commit_that_goes_on_alone_is_waited_for(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository
) -> None:
    """The program is killed while git commits; a hook that waits keeps git at it until the job is resumed."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    ensemble.hook("pre-commit", f"read line <'{gate}'")
    killed(tmp_path, KILL_GIT_TOO, *DEPLOY)
    process = subprocess.Popen(
        [sys.executable, "-m", "ordito", "jobs", "resume", "-e", "live"],
        cwd=tmp_path,
        env=environment(**settings_of_git(tmp_path)),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    gate.write_text("go\n")
    ensemble.hook("pre-commit", "exit 0")
    assert process.communicate(timeout=LIMIT)[1] is not None
    assert process.returncode == 0
    assert ensemble.messages == ["deploy mini: ok"]
    assert ensemble.changes == []
