"""Jobs of ensembles in a store: as in a directory, and carried on elsewhere whatever becomes of their process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Set
from contextlib import closing
from pathlib import Path

import pytest

from ordito.cluster.connecting import StoreConnection
from ordito.cluster.leases import WorkerLease, holder, release, take
from ordito.cluster.store import Store
from tests.acceptance.busy import comparable, make_busy
from tests.acceptance.program import completed_twice, environment, files_of, ordito, overlaps
from tests.acceptance.test_crash_everywhere import CODES, KILL_AT_RECORD, assert_replays
from tests.cluster.working import NAME, Stored, as_in_a_directory
from tests.support.real.stores import worker
from tests.support.thorough import THOROUGH
from tests.support.told_events import assert_told

RECORDS = range(120) if THOROUGH else (0, 9, 40)

KILL_AT_CLOSE = """
import os, signal
from ordito.ensemble import journal
def finish(self, status, digest, whole=journal.EnsembleJournal.finish):
    if {after}:
        whole(self, status, digest)
    os.kill(os.getpid(), signal.SIGKILL)
journal.EnsembleJournal.finish = finish
"""

STOP_AT_TURN = """
import os, signal
from ordito.cluster import postgres
turns = [0]
def be_sure(self, whole=postgres.PostgresDatabase._be_sure):
    turns[0] += 1
    if turns[0] == {number}:
        os.kill(os.getpid(), signal.SIGSTOP)
    return whole(self)
postgres.PostgresDatabase._be_sure = be_sure
"""
"""Stops after a turn was committed, and before anything is started by it."""


class Calm:
    """How the job ends in a directory."""

    def __init__(self, home: Path) -> None:
        busy = make_busy(home, "continue")
        assert busy.deploy().code == CODES["continue"]
        self.end = as_in_a_directory(comparable(busy))
        self.files = {name.partition("/")[0] for name in files_of(busy.ensemble)}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    return Calm(tmp_path_factory.mktemp("calm"))


@pytest.fixture
def stored(tmp_path: Path, store: Store) -> Stored:
    return Stored(make_busy(tmp_path, "continue"), store)


def assert_ends_as(stored: Stored, calm: Calm, doubtful: Set[str] = frozenset()) -> None:
    """All files are as those of a directory, and tell the same. Only operations that were ``doubtful`` ran twice."""
    busy = stored.busy
    exported = stored.export()
    assert overlaps(busy.log) == []
    assert {line.split()[-1] for line in completed_twice(busy.log)} <= doubtful
    assert as_in_a_directory(comparable(busy)) == calm.end
    assert {name.partition("/")[0] for name in files_of(exported)} == calm.files
    assert_replays(busy)
    assert_told(exported)


def test_a_job_leaves_what_it_leaves_in_a_directory(stored: Stored, calm: Calm) -> None:
    deployed = stored.run(*stored.deploying())
    assert deployed.code == CODES["continue"], deployed.both
    shown = stored.run("status", place="other")
    assert shown.code == 0, shown.both
    assert "store_1" in shown.out
    assert_ends_as(stored, calm)
    listed = ordito(stored.busy.home, "store", "status", "--store-file", stored.address_file)
    assert [line.split()[:2] for line in listed.out.splitlines()[2:]] == [[NAME, "failed"]]


@pytest.mark.parametrize("place", ["one", "other"])
@pytest.mark.parametrize("number", RECORDS)
def test_killed_at_a_record_it_is_resumed(stored: Stored, calm: Calm, number: int, place: str) -> None:
    """Where it was killed, though its lease has not ended; and on another machine, once it has."""
    killed = stored.run(*stored.deploying(), code=KILL_AT_RECORD.format(number=number))
    assert killed.code in (-signal.SIGKILL, CODES["continue"]), killed.both
    doubtful: Set[str] = frozenset()
    if killed.code == -signal.SIGKILL:
        if place == "other":
            doubtful = stored.in_doubt()
            held = stored.run("jobs", "resume", place=place)
            assert held.code == 5, held.both
            assert "is held by" in held.err
            stored.forget_holders()
        resumed = stored.run("jobs", "resume", place=place)
        assert resumed.code == CODES["continue"], resumed.both
        assert "Traceback" not in resumed.both
    assert_ends_as(stored, calm, doubtful)


@pytest.mark.parametrize("after", [False, True])
def test_killed_while_it_is_closed(stored: Stored, calm: Calm, after: bool) -> None:
    killed = stored.run(*stored.deploying(), code=KILL_AT_CLOSE.format(after=after))
    assert killed.code == -signal.SIGKILL
    resumed = stored.run("jobs", "resume", place="two")
    assert ("Nothing to resume" in resumed.both) is after, resumed.both
    assert_ends_as(stored, calm)


@pytest.mark.parametrize("number", [3, 5])
def test_who_wakes_up_after_it_was_succeeded_starts_nothing(stored: Stored, calm: Calm, number: int) -> None:
    with stored.start(*stored.deploying(), code=STOP_AT_TURN.format(number=number)) as paused:
        while "T" not in stopped(paused.pid):
            assert paused.poll() is None
        stored.forget_holders()
        doubtful = stored.in_doubt()
        resumed = stored.run("jobs", "resume", place="other")
        assert resumed.code == CODES["continue"], resumed.both
        os.kill(paused.pid, signal.SIGCONT)
        _, err = paused.communicate(timeout=60)
        assert paused.wait() == 5, err
        assert "was taken over by another worker" in err
        assert "Traceback" not in err
    assert_ends_as(stored, calm, doubtful)


def stopped(pid: int) -> str:
    """The state of a process."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_what_a_job_told_and_printed_is_seen_elsewhere_while_it_is_open(stored: Stored) -> None:
    script = stored.busy.service.with_name("do.sh")
    script.write_text(script.read_text() + "echo this is $name\n")
    killed = stored.run(*stored.deploying(), code=KILL_AT_CLOSE.format(after=False))
    assert killed.code == -signal.SIGKILL
    events = stored.run("jobs", "events", "--json", place="other")
    assert '"type":"step.succeeded"' in events.out.replace(" ", ""), events.both
    assert "this is store_1" in stored.run("jobs", "logs", place="other").out
    stored.forget_holders()
    assert stored.run("jobs", "resume", place="other").code == CODES["continue"]
    assert "this is store_1" in stored.run("jobs", "logs", place="third").out
    with stored.store.connection() as db:
        assert db.execute("SELECT count(*) FROM ordito.event").fetchone() == (0,)
    assert_told(stored.export())


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_runner_carries_on_for_its_worker(stored: Stored, calm: Calm, is_lost: bool) -> None:
    """In a process of its own, in the epoch in which the worker holds the ensemble; or it starts nothing, where the
    worker was declared lost and somebody else has the ensemble."""
    killed = stored.run(*stored.deploying(), code=KILL_AT_RECORD.format(number=9))
    assert killed.code == -signal.SIGKILL
    stored.forget_holders()
    doubtful = stored.in_doubt()
    home = stored.busy.home / "worker"
    lease = WorkerLease(stored.store.address, worker("one"), lease=600.0)
    with closing(lease), closing(StoreConnection(stored.store.address)) as link:
        with stored.store.connection() as db:
            (ensemble,) = db.execute("SELECT id FROM ordito.ensemble").fetchone() or ("",)
        epoch = take(link, ensemble, lease.worker.id)
        words = [stored.store.address, NAME, lease.worker.id, str(epoch), str(home), *(["lost"] if is_lost else [])]
        done = subprocess.run(
            [sys.executable, "-c", RUNNER, *words],
            env=environment(stored.busy.home),
            cwd=stored.busy.home,
            capture_output=True,
            text=True,
            check=False,
        )
        if is_lost:
            assert (done.returncode, done.stdout) == (77, ""), done.stderr
            doubtful |= stored.in_doubt()
            stored.forget_holders()
            assert stored.run("jobs", "resume", place="other").code == CODES["continue"]
        else:
            assert (done.returncode, done.stdout) == (0, "failed\n"), done.stderr
            found = holder(link, ensemble)
            assert found is not None
            assert (found.worker, found.epoch) == (lease.worker.id, epoch)
            assert release(link, ensemble, lease.worker.id, epoch, "done")
    assert_ends_as(stored, calm, doubtful)


RUNNER = """
import os, sys
from pathlib import Path
from ordito.app.stores import prepared
from ordito.app.unattended import carry_out
from ordito.app.work_items import ResumeItem
from ordito.cluster.holding import ForkedWorker
from ordito.cluster.keys import PoolKey
from ordito.cluster.leases import declare_lost
from ordito.cluster.connecting import StoreConnection
from ordito.cluster.store import Store
from ordito.cluster.stored import StoredEnsemble, stored_name

address, name, worker, epoch, home, *lost = sys.argv[1:]
turns = []
def may_launch():
    turns.append(1)
    if not lost or len(turns) != 4:
        return True
    link = StoreConnection(address)
    declare_lost(link, worker)
    with Store(address).connection() as db:
        db.execute("UPDATE ordito.ensemble SET epoch = epoch + 1, holder = NULL")
    return False
forked = ForkedWorker(worker, int(epoch), may_launch)
stored = StoredEnsemble(Store(address), stored_name(name), forked, PoolKey(""), lambda _: os._exit(77))
print(carry_out(ResumeItem(prepared(stored, Path(home))), lambda _: None).status)

"""


def test_jobs_follow_each_other_at_several_places(stored: Stored) -> None:
    assert stored.run(*stored.deploying()).code == CODES["continue"]
    logs = stored.run("jobs", "logs", place="two")
    assert logs.code == 0, logs.both
    removed = stored.run("undeploy", "--yes", place="two")
    assert removed.code == 0, removed.both
    assert stored.busy.things() == []
    listed = stored.run("jobs", "list", place="one")
    assert [word for word in ("undeploy", "deploy") if word in listed.out] == ["undeploy", "deploy"]
    assert stored.run("jobs", "resume", place="three").code == 0
