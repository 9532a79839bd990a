"""The journal cannot be written any more, at any of its writes: what has ended well until then, or ends then, does not
run again when the job is resumed, neither here nor on hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.busy import make_busy
from tests.acceptance.on_hosts import Hosted
from tests.acceptance.test_adverse_world import disk, mount
from tests.acceptance.test_crash_everywhere import CODES, Calm, assert_ends_alike
from tests.acceptance.test_crash_on_hosts import assert_true, given, members, service
from tests.support.real.hosts import SshHost
from tests.support.thorough import THOROUGH

__all__ = ["members", "service"]

MODE = "continue"
NO_ROOM = """
import contextlib, pathlib, sqlite3, time
from ordito.engine import workers
from ordito.ensemble import sqlite
count = [0]
def writing(db, path, doing, whole=sqlite.writing):
    if doing == "write to":
        count[0] += 1
    if count[0] <= {number} or doing not in ("write to", "close the job in"):
        return whole(db, path, doing)
    {meanwhile}
    return full(path, doing)
@contextlib.contextmanager
def full(path, doing):
    with sqlite.journal_explained(doing, path):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error
    yield
def at_work(job):
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if job in (folder / "environ").read_bytes() and not (folder / "cmdline").read_bytes().startswith(b"sleep"):
                return True
    return False
def let_all_end(db):
    workers.LAST_WAIT = 0
    job = b"ORDITO_JOB=" + db.execute("SELECT id FROM job").fetchone()[0].encode()
    until = time.monotonic() + 60
    while at_work(job) and time.monotonic() < until:
        pass
sqlite.writing = writing
"""
"""From a number of writes of the journal on there is no room for another."""

MEANWHILE = {"at work": "pass", "ended": "let_all_end(db)"}
"""What becomes of what runs when it happens: it is at work then, or it ends before anybody looks again, and is given no
time after that."""

WRITES = range(30) if THOROUGH else (2, 7, 12)
WRITES_ON_HOSTS = range(30) if THOROUGH else (3, 8)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    """An undisturbed run."""
    return Calm(tmp_path_factory.mktemp("calm"), (MODE,))


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("number", WRITES)
def test_no_room_for_a_record(tmp_path: Path, calm: Calm, number: int, meanwhile: str) -> None:
    busy = make_busy(tmp_path / "busy", MODE)
    failed = busy.deploy(code=NO_ROOM.format(number=number, meanwhile=MEANWHILE[meanwhile]))
    if "no space left" not in failed.both and failed.code == CODES[MODE]:
        pytest.skip("the job has fewer turns than that")
    assert "no space left" in failed.both, failed.both
    assert "jobs resume" in failed.both
    assert "Traceback" not in failed.both
    assert_ends_alike(busy, calm)


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("number", WRITES_ON_HOSTS)
def test_no_room_for_a_record_of_hosts(service: Hosted, members: list[SshHost], number: int, meanwhile: str) -> None:
    code = NO_ROOM.format(number=number, meanwhile=MEANWHILE[meanwhile])
    failed = service.run_words(given(service, "deploy"), code=code)
    if failed.code == 0:
        pytest.skip("the job has fewer turns than that")
    assert "no space left" in failed.both, failed.both
    resumed = service.run("jobs", "resume")
    assert resumed.code == 0, resumed.both
    assert_true(service, members)


@pytest.mark.parametrize("kilobytes", [160, 224, 288, 352] if THOROUGH else [224])
def test_a_full_disk_here_and_room_on_hosts(service: Hosted, members: list[SshHost], kilobytes: int) -> None:
    with disk(service.ensemble, f"size={kilobytes}k"):
        failed = service.run_words(given(service, "deploy"))
        assert "Traceback" not in failed.both
        assert failed.code == 0 or "no space left" in failed.both.lower(), failed.both
        assert not mount("-o", "remount,size=64m", str(service.ensemble))
        resumed = service.run("jobs", "resume")
        if "Nothing to resume" in resumed.both or "is not an ensemble" in resumed.both:
            resumed = service.run_words(given(service, "deploy"))
        assert resumed.code == 0, resumed.both
        assert_true(service, members)
