"""What people see of workers and queues, and what they ask of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.cluster.items import NewItem, add_item
from ordito.cluster.leases import WorkerLease, WorkerRow
from ordito.cluster.store import Store
from tests.support.real.postgres import PASSWORD
from tests.support.real.workers import ROOT, TestWorker
from tests.support.serving import until


@pytest.fixture(autouse=True)
def password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The password is where PostgreSQL's own programs look for it."""
    file = tmp_path / "passwords"
    file.write_text(f"*:*:*:*:{PASSWORD}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))


def address(store: Store) -> str:
    return store.address.replace(f":{PASSWORD}@", "@")


def ordito(*words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "ordito", *words], capture_output=True, text=True, check=False)
    assert PASSWORD not in done.stdout + done.stderr
    return done


def asked(store: Store, *words: str) -> Any:
    done = ordito(*words, "--store", address(store), "--output", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def lease(store: Store) -> Iterator[WorkerLease]:
    row = WorkerRow(id="w1", name="one", machine="m", boot="1", pool="eu", slots=3, version="1.0")
    found = WorkerLease(store.address, row, lease=600.0)
    yield found
    found.close()


def test_workers_are_listed_drained_lost_and_forgotten(store: Store, lease: WorkerLease) -> None:
    (found,) = asked(store, "workers", "list")["workers"]
    assert 0 < found.pop("lease") <= 600
    assert found == {
        "id": "w1",
        "name": "one",
        "pool": "eu",
        "state": "ready",
        "slots": 3,
        "busy": 0,
        "version": "1.0",
    }
    assert asked(store, "workers", "drain", "one")["done"] == "draining"
    refused = ordito("workers", "forget", "one", "--store", address(store))
    assert refused.returncode != 0
    assert "has not ended" in refused.stderr
    assert asked(store, "workers", "lost", "one")["done"] == "lost"
    assert [one["state"] for one in asked(store, "workers", "list")["workers"]] == ["lost"]
    with store.connection() as db:
        db.execute("UPDATE ordito.worker SET cleared = true")
    assert asked(store, "workers", "forget", "one")["done"] == "forgotten"
    assert asked(store, "workers", "list")["workers"] == []
    assert "there is no worker one" in ordito("workers", "drain", "one", "--store", address(store)).stderr


def test_what_waits_is_listed_and_held(store: Store, lease: WorkerLease) -> None:
    with store.connection() as db:
        for n, (pool, klass) in enumerate([("eu", "normal"), ("eu", "normal"), ("us", "urgent")]):
            store.add_ensemble(f"e{n}", "p", f"e{n}")
            item = NewItem(id=f"i{n}", ensemble=f"e{n}", kind="apply", request=b"", klass=klass, pool=pool)
            assert add_item(db, item)
        db.execute("UPDATE ordito.item SET state = 'attention' WHERE id = 'i1'")
    assert asked(store, "queue", "hold", "eu")["done"] == "held"
    found = asked(store, "queue", "list")
    assert found["stuck"] == [{"item": "i1", "ensemble": "e1", "pool": "eu"}]
    rows = [
        (one["pool"], one["class"], one["waiting"], one["queued"], one["attention"], one["held"], one["workers"])
        for one in found["queues"]
    ]
    assert rows == [("eu", "normal", 1, 0, 1, True, True), ("us", "urgent", 1, 0, 0, False, False)]
    shown = ordito("queue", "list", "--store", address(store)).stdout
    assert "no worker" in shown
    assert "item i1 of ensemble e1 needs attention" in shown
    assert asked(store, "queue", "release", "eu")["done"] == "released"
    assert [one["held"] for one in asked(store, "queue", "list")["queues"]] == [False, False]


def test_a_worker_ends_when_it_is_asked_to_drain(store: Store, tmp_path: Path) -> None:
    with TestWorker(store.address, tmp_path / "one", lease=600.0) as worker:
        until(lambda: asked(store, "workers", "list")["workers"], bool)
        asked(store, "workers", "drain", "one")
        assert worker.process is not None
        assert worker.process.wait(60) == 0
        assert [one["state"] for one in asked(store, "workers", "list")["workers"]] == ["ended"]


def test_a_password_in_the_command_line_is_refused(store: Store) -> None:
    done = ordito("workers", "list", "--store", store.address)
    assert done.returncode != 0
    assert "PGPASSFILE" in done.stderr


def test_a_worker_is_started_by_the_command(store: Store, tmp_path: Path) -> None:
    """And begins anew under another id when it is declared lost."""
    words = ["worker", "--store", address(store), "--home", str(tmp_path / "home")]
    words += ["--pool", "eu", "--name", "one", "--lease", "2s", "--poll", "0.1s"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "ordito", *words], cwd=ROOT, stdout=log, stderr=log)
    try:
        assert until(lambda: asked(store, "workers", "list")["workers"], bool)[0]["name"] == "one"
        asked(store, "workers", "lost", "one")
        states = until(
            lambda: [one["state"] for one in asked(store, "workers", "list")["workers"]], lambda found: "ready" in found
        )
        assert sorted(states) == ["lost", "ready"]
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert "begins anew" in (tmp_path / "log").read_text()
