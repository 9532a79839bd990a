"""Items of a store, carried out by `ordito worker`: whatever becomes of it, the job ends, and does nothing twice."""

from __future__ import annotations

import json
import os
import shutil
import signal

import pytest

from tests.acceptance.program import ordito
from tests.cluster.shop import SERVICE, Shop, Started
from tests.support.serving import until

CANARY = "canary-in-a-store"


@pytest.mark.parametrize("successor", ["one", "other"])
def test_a_worker_is_killed_and_another_ends_its_job(shop: Shop, started: Started, successor: str) -> None:
    """One in the same home finds the operation that still runs; one elsewhere comes after a machine that is off."""
    shop.add("i1")
    killed = started("one")
    operation = shop.wait_until_gated()
    killed.kill()
    if successor == "other":
        os.kill(operation, signal.SIGKILL)
        shop.workers_lost("one")
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


def test_a_job_is_cancelled_from_another_machine(shop: Shop, started: Started) -> None:
    """As one that runs here: whoever carries it out is asked."""
    shop.add("i1")
    started("one")
    shop.wait_until_gated()
    asked = shop.stored.run("jobs", "cancel", "--now", place="two")
    assert asked.code == 0, asked.both
    _, outcome = shop.ended("i1")
    assert outcome.status == "cancelled"


def test_a_worker_needs_no_files_of_who_asks(shop: Shop, started: Started) -> None:
    """The service is in the store with the item, and what is sensitive is sealed with the key of the workers."""
    shop.open()
    shop.ask_for_a_token()
    made = ordito(shop.project.home, "store", "init", "--store-file", shop.stored.address_file, "--key", shop.key)
    assert made.code == 0, made.both
    words = [*shop.stored.deploying(), "-i", f"token={CANARY}", "--detach", "-o", "json"]
    refused = shop.stored.run(*words)
    assert refused.code == 3, refused.both
    assert "--key FILE" in refused.both
    left = shop.stored.run(*words, "--key", str(shop.key))
    assert left.code == 0, left.both
    item = json.loads(left.out)["item"]
    shutil.rmtree(shop.project.service.parent)
    started("one")
    _, outcome = shop.ended(item)
    assert (outcome.status, outcome.trouble) == ("ok", None)
    shop.check_once()
    assert (shop.project.home / "token").read_text() == CANARY
    ((request, body),) = shop.rows("SELECT request, outcome FROM ordito.item")
    for row in (request, body):
        assert isinstance(row, bytes)
        assert CANARY.encode() not in row
