"""Items of a store, carried out by `ordito worker`: whatever becomes of it, the job ends, and does nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from ordito.app.work_items import AskedRequest, PlanItem
from ordito.cluster.items import NewItem, add_item
from ordito.cluster.store import Store
from ordito.results.item_outcome import ItemOutcome
from ordito.work.records import AskedBy
from tests.acceptance.busy import Busy
from tests.acceptance.program import LOGGING, completed_twice, environment, log_lines, ordito, overlaps
from tests.cluster.working import NAME, Stored
from tests.support.serving import until

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  two.Node:
    derived_from: tosca.nodes.Root
    requirements:
      - peer: { capability: tosca.capabilities.Node, node: two.Node, occurrences: [ 0, 1 ] }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations: { create: do.sh, start: do.sh }
topology_template:
  node_templates:
    first: { type: two.Node }
    second: { type: two.Node, requirements: [ { peer: first } ] }
"""

GATED = "second_1.Standard.create"
"""The operation that waits until the gate is there."""

SCRIPT = f"""\
if [ $ORDITO_STEP = {GATED} ]; then until [ -e "$HOME/gate" ]; do sleep 0.05; done; fi
"""

STEPS = ["first_1.Standard.create", "first_1.Standard.start", GATED, "second_1.Standard.start"]

LEASE = "2s"


class Shop:
    """A service of two nodes, and its ensemble in a store, which is empty at first."""

    def __init__(self, store: Store, home: Path) -> None:
        folder = home / "two"
        folder.mkdir()
        self.project = Busy(home, folder / "service.yaml", "continue")
        self.project.service.write_text(SERVICE)
        (folder / "do.sh").write_text(f"#!/bin/bash\nset -eu\n{LOGGING.format(log=self.project.log)}\n{SCRIPT}")
        self.stored = Stored(self.project, store)
        self.ensemble = "e1"
        store.add_ensemble(self.ensemble, *NAME.split("/"))

    def add(self, item: str, **fields: object) -> None:
        """Let it be deployed."""
        asked = AskedRequest("deploy", {"service": str(self.project.service), **fields})
        request = msgspec.json.encode(PlanItem("", asked, AskedBy("ann")))
        with self.stored.store.connection() as db:
            assert add_item(db, NewItem(id=item, ensemble=self.ensemble, kind="plan", request=request))

    def rows(self, query: str) -> Sequence[tuple[object, ...]]:
        with self.stored.store.connection() as db:
            return db.execute(query.encode()).fetchall()

    def wait_until_gated(self) -> int:
        """Wait until the gated operation runs: its process."""
        begun = until(self._gated, bool)
        return begun[-1]

    def _gated(self) -> list[int]:
        return [int(pid) for kind, _, step, pid in log_lines(self.project.log) if (kind, step) == ("begin", GATED)]

    def open(self) -> None:
        (self.project.home / "gate").touch()

    def ended(self, item: str) -> tuple[object, ItemOutcome]:
        """Wait for the end of an item: its job and its outcome."""
        query = f"SELECT job, outcome FROM ordito.item WHERE id = '{item}' AND state = 'done'"
        job, body = until(lambda: self.rows(query), bool)[0]
        assert isinstance(body, bytes)
        return job, msgspec.json.decode(body, type=ItemOutcome)

    def check_once(self) -> None:
        assert completed_twice(self.project.log) == []
        assert overlaps(self.project.log) == []
        assert sorted(step for kind, _, step, _ in log_lines(self.project.log) if kind == "end") == STEPS


class CommandWorker:
    """A worker, started as people start one."""

    def __init__(self, shop: Shop, name: str) -> None:
        home = shop.project.home
        words = ["worker", "--store-file", str(shop.stored.address_file), "--home", str(home / name)]
        words += ["--name", name, "--lease", LEASE, "--poll", "0.1s"]
        self._log = home / f"{name}.log"
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ordito", *words], env=environment(home), cwd=home, stdout=log, stderr=log
            )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def drain(self) -> None:
        self.process.terminate()
        assert self.process.wait(60) == 0

    def log(self) -> str:
        return self._log.read_text()


Started = Callable[[str], CommandWorker]


@pytest.fixture
def shop(store: Store, tmp_path: Path) -> Shop:
    return Shop(store, tmp_path)


@pytest.fixture
def started(shop: Shop) -> Iterator[Started]:
    """Starts workers, which end with the test."""
    workers: list[CommandWorker] = []

    def start(name: str) -> CommandWorker:
        workers.append(CommandWorker(shop, name))
        return workers[-1]

    yield start
    for worker in workers:
        worker.kill()


@pytest.mark.parametrize("successor", ["one", "other"])
def test_a_worker_is_killed_and_another_ends_its_job(shop: Shop, started: Started, successor: str) -> None:
    """One in the same home finds the operation that still runs; one elsewhere comes after a machine that is off."""
    shop.add("i1")
    killed = started("one")
    operation = shop.wait_until_gated()
    killed.kill()
    if successor == "other":
        os.kill(operation, signal.SIGKILL)
    worker = started(successor)
    if successor == "one":
        until(worker.log, lambda text: "takes items" in text)
    shop.open()
    job, outcome = shop.ended("i1")
    assert outcome.trouble is None, worker.log()
    assert (outcome.job, outcome.status) == (job, "ok")
    assert shop.rows("SELECT count(*) FROM ordito.job") == [(1,)]
    assert shop.rows("SELECT holder, item, job FROM ordito.ensemble") == [(None, "", "")]
    shop.check_once()
    worker.drain()
    assert "Traceback" not in worker.log()
    shown = shop.stored.run("jobs", "list", place="two")
    assert str(job) in shown.out, shown.both


def test_a_job_is_cancelled_by_its_item(shop: Shop, started: Started) -> None:
    shop.add("i1")
    started("one")
    shop.wait_until_gated()
    asked = ordito(shop.project.home, "queue", "cancel", "i1", "--now", "--store-file", shop.stored.address_file)
    assert asked.code == 0, asked.both
    _, outcome = shop.ended("i1")
    assert outcome.status == "cancelled"


def test_a_drained_worker_leaves_its_job_to_another(shop: Shop, started: Started) -> None:
    shop.add("i1")
    first = started("one")
    operation = shop.wait_until_gated()
    first.process.terminate()
    shop.open()
    assert first.process.wait(60) == 0
    assert operation
    second = started("other")
    job, outcome = shop.ended("i1")
    assert outcome.trouble is None, second.log()
    assert (outcome.job, outcome.status) == (job, "ok")
    assert shop.rows("SELECT count(*) FROM ordito.job") == [(1,)]
    shop.check_once()


def test_what_cannot_be_done_is_the_outcome(shop: Shop, started: Started) -> None:
    """And the next item of the ensemble is carried out."""
    shop.open()
    shop.add("i1", service=str(shop.project.home / "nothing.yaml"))
    worker = started("one")
    job, outcome = shop.ended("i1")
    assert (job, outcome.status) == ("", "refused"), worker.log()
    assert "nothing.yaml" in str(outcome.trouble)
    shop.add("i2")
    _, outcome = shop.ended("i2")
    assert outcome.status == "ok"


def test_a_command_leaves_its_job_to_the_workers(shop: Shop, started: Started) -> None:
    """And another one waits for the end, with its exit code."""
    shop.open()
    left = shop.stored.run(*shop.stored.deploying(), "--detach", "-o", "json")
    assert left.code == 0, left.both
    item = json.loads(left.out)["item"]
    started("one")
    file = shop.stored.address_file
    followed = ordito(shop.project.home, "queue", "follow", item, "--store-file", file, "-o", "json")
    assert followed.code == 0, followed.both
    assert json.loads(followed.out)["status"] == "ok"
    shop.check_once()
    unknown = ordito(shop.project.home, "queue", "follow", "i0", "--store-file", file)
    assert unknown.code == 3, unknown.both
    (shop.project.service.parent / "do.sh").write_text("#!/bin/bash\nexit 9\n")
    more = SERVICE.replace("    first:", "    third: { type: two.Node }\n    first:")
    shop.project.service.write_text(more)
    left = shop.stored.run(*shop.stored.deploying(), "--detach", "-o", "json", place="two")
    assert left.code == 0, left.both
    followed = ordito(shop.project.home, "queue", "follow", json.loads(left.out)["item"], "--store-file", file)
    assert followed.code == 1, followed.both
    assert "third_1" in followed.both


def test_an_item_whose_job_has_ended_begins_no_other(shop: Shop, started: Started) -> None:
    """As where a runner was killed between the end of its job and that of the item."""
    shop.open()
    shop.add("i1")
    started("one")
    job, _ = shop.ended("i1")
    shop.rows("UPDATE ordito.item SET state = 'waiting', job = '', outcome = NULL WHERE id = 'i1' RETURNING 1")
    again, outcome = shop.ended("i1")
    assert (again, outcome.status, outcome.job) == (job, "ok", job)
    shop.check_once()
    file = shop.stored.address_file
    followed = ordito(shop.project.home, "queue", "follow", "i1", "--store-file", file, "-o", "json")
    assert followed.code == 0, followed.both
    assert json.loads(followed.out)["job"] == job
