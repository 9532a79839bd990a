"""Three workers, and a job of one of them that is cut after any record: its process, the worker or both are killed, or
are stopped for longer than the lease. The job ends as one that nothing has happened to, and no operation completes
twice, or runs beside itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ordito.app.work_items import AskedRequest, PlanItem
from ordito.cluster.items import NewItem, add_item
from ordito.cluster.store import Store
from ordito.work.options import JobOptions
from ordito.work.records import AskedBy
from tests.acceptance.busy import Busy, comparable, make_busy
from tests.acceptance.program import completed_twice, environment, overlaps
from tests.acceptance.test_crash_everywhere import CODES, assert_replays
from tests.cluster.working import NAME, Stored, as_in_a_directory
from tests.support.real.crashing import ENTRY, HOW, HOWS, MARK, NUMBER
from tests.support.serving import until
from tests.support.thorough import THOROUGH

ROOT = Path(__file__).parents[2]
RECORDS = range(0, 96, 4) if THOROUGH else (9,)
LEASE = 2.0

WORKER = """
import json, os, signal, sys
from pathlib import Path
from ordito.cluster.dbos import DbosDispatch
from ordito.cluster.worker import Worker, WorkerSettings, to_stderr

given = json.loads(os.environ["WORKER"])
settings = WorkerSettings(**{**given, "home": Path(given["home"])}, least_disk=0, variables=dict(os.environ))
worker = Worker(settings, DbosDispatch(settings.address, poll=0.1), to_stderr)
worker.drain_on(signal.SIGTERM)
worker.run()
"""


class Workers:
    """Three workers with homes of their own."""

    def __init__(self, stored: Stored, number: int, how: str) -> None:
        self._stored = stored
        home = stored.busy.home
        self.mark = home / "crashed"
        self._variables = {
            **environment(home),
            NUMBER: str(number),
            HOW: how,
            MARK: str(self.mark),
            "PYTHONPATH": str(ROOT),
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("one", "two", "three"):
            self.start(name)

    def start(self, name: str) -> None:
        home = self._stored.busy.home
        settings = {"address": self._stored.store.address, "home": str(home / name), "name": name, "entry": ENTRY}
        variables = {**self._variables, "WORKER": json.dumps({**settings, "lease": LEASE, "slots": 1})}
        with (home / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-c", WORKER], env=variables, cwd=ROOT, stdout=log, stderr=log
            )

    def crashed(self) -> tuple[str, int]:
        """The name of the worker to which it has happened, and the process that carried the job out."""
        worker, runner = (int(word) for word in self.mark.read_text().split())
        (name,) = (name for name, process in self.processes.items() if process.pid == worker)
        return name, runner

    def end(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()

    def logs(self) -> str:
        return "\n".join((self._stored.busy.home / f"{name}.log").read_text() for name in self.processes)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> object:
    """How the job ends in a directory."""
    busy = make_busy(tmp_path_factory.mktemp("calm"), "continue")
    assert busy.deploy().code == CODES["continue"]
    return end_of(busy)


def end_of(busy: Busy) -> object:
    """What is left, whoever has asked for the job."""
    found = as_in_a_directory(comparable(busy))
    assert isinstance(found, dict)
    for job in found["jobs"]:
        job["job"] = {name: value for name, value in job["job"].items() if name not in ("by", "origin")}
    return found


@pytest.fixture(params=[(number, how) for number in RECORDS for how in HOWS], ids=lambda one: f"{one[1]}-{one[0]}")
def cut(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> Iterator[tuple[Stored, Workers, str]]:
    number, how = request.param
    stored = Stored(make_busy(tmp_path, "continue"), store)
    store.add_ensemble("e1", *NAME.split("/"))
    workers = Workers(stored, number, how)
    yield stored, workers, how
    workers.end()


def test_a_job_that_is_cut_ends_as_any_other(cut: tuple[Stored, Workers, str], calm: object) -> None:
    stored, workers, how = cut
    asked = AskedRequest("deploy", {"service": str(stored.busy.service)})
    item = PlanItem("", asked, AskedBy("ann"), JobOptions(on_failure="continue"))
    with stored.store.connection() as db:
        assert add_item(db, NewItem(id="i1", ensemble="e1", kind="plan", request=msgspec.json.encode(item)))
    state = "SELECT i.state, e.epoch FROM ordito.item i, ordito.ensemble e WHERE i.id = 'i1'"

    def look() -> tuple[object, ...]:
        with stored.store.connection() as db:
            return db.execute(state).fetchone() or ()

    until(lambda: workers.mark.exists() or look()[0] == "done", bool)
    if workers.mark.exists():
        until(workers.mark.read_text, lambda text: text.endswith("\n"))
        name, runner = workers.crashed()
        if how == "paused":
            until(look, lambda found: found[0] == "done" or int(str(found[1])) > 1)
            for process in (runner, workers.processes[name].pid):
                os.kill(process, signal.SIGCONT)
        elif how != "runner":
            workers.processes[name].wait()
            workers.start(name)
    until(look, lambda found: found[0] == "done")
    busy = stored.busy
    stored.export()
    assert overlaps(busy.log) == []
    assert completed_twice(busy.log) == []
    assert end_of(busy) == calm
    assert_replays(busy)
    assert "Traceback" not in workers.logs()
