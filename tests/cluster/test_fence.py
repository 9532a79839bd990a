"""Workers that are killed and stopped while they write: whoever comes late writes nothing, and nothing is missing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ordito.cluster.connecting import StoreConnection
from ordito.cluster.leases import WorkerLease, take
from ordito.cluster.postgres import PostgresDatabase
from ordito.cluster.store import Store
from ordito.ensemble.journal_database import BEGIN_JOB
from tests.support.real.stores import worker
from tests.support.thorough import examples

CHILD = """
import sys, time
from ordito.cluster.connecting import StoreConnection
from ordito.cluster.leases import WorkerLease, WorkerRow, take
from ordito.cluster.postgres import PostgresDatabase
from ordito.ensemble.journal_database import Fenced

address, name = sys.argv[1:]
lease = WorkerLease(address, WorkerRow(id=name, name=name, machine="m", boot="1"), lease=1.0)
link, epoch = StoreConnection(address), 0
while True:
    lease.renew()
    epoch = take(link, "e1", name, ended=epoch)
    if not epoch:
        time.sleep(0.05)
        continue
    database = PostgresDatabase(address, "e1", epoch)
    with database.reading():
        ((number,),) = database.rows("SELECT coalesce(max(number) + 1, 0) FROM record")
    print(name, "took", epoch, flush=True)
    try:
        while True:
            database.append("A", number, [b"1", b"2", b"3"])
            number += 3
            lease.renew()
    except Fenced:
        print(name, "fenced", epoch, flush=True)
    database.shut()
"""


class Workers:
    """Worker processes, and what they say."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._read, self._write = os.pipe()
        self._said = os.fdopen(self._read)
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._names = iter(range(1_000))
        self.holder = ("", 0)
        self.fenced: set[tuple[str, int]] = set()

    def start(self) -> None:
        name = f"worker-{next(self._names)}"
        command = [sys.executable, "-c", CHILD, self._address, name]
        self.running[name] = subprocess.Popen(command, stdout=self._write, cwd=Path(__file__).parents[2])

    def hear(self) -> None:
        """The next that one of them says."""
        name, what, epoch = self._said.readline().split()
        if what == "took":
            self.holder = (name, int(epoch))
        else:
            self.fenced.add((name, int(epoch)))

    def end(self, name: str) -> None:
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def end_all(self) -> None:
        for name in list(self.running):
            self.end(name)

    def close(self) -> None:
        self.end_all()
        os.close(self._write)
        self._said.close()


@pytest.fixture
def workers(store: Store) -> Iterator[Workers]:
    """Three of them, for an ensemble with an open job."""
    store.add_ensemble("e1", "shops", "shop")
    with closing(StoreConnection(store.address)) as link:
        lease = WorkerLease(store.address, worker("first"))
        database = PostgresDatabase(store.address, "e1", take(link, "e1", lease.worker.id))
        database.write("begin", [(BEGIN_JOB, [("A", b"h", b"p")])])
        database.shut()
        lease.leave()
        lease.close()
    found = Workers(store.address)
    try:
        for _ in range(3):
            found.start()
        yield found
    finally:
        found.close()


def test_nothing_is_written_by_who_was_overtaken(store: Store, workers: Workers) -> None:
    workers.hear()
    for number in range(examples(6)):
        name, epoch = workers.holder
        if number % 2:
            workers.end(name)
            workers.start()
        else:
            workers.running[name].send_signal(signal.SIGSTOP)
        while workers.holder[1] == epoch:
            workers.hear()
        if name in workers.running:
            workers.running[name].send_signal(signal.SIGCONT)
            while (name, epoch) not in workers.fenced:
                workers.hear()
    workers.end_all()
    with store.connection() as db:
        rows = db.execute("SELECT number, epoch FROM ordito.record ORDER BY number").fetchall()
        tenures = db.execute("SELECT epoch, ended IS NULL FROM ordito.tenure ORDER BY epoch").fetchall()
    assert [number for number, _ in rows] == list(range(len(rows)))
    epochs = [epoch for _, epoch in rows]
    assert epochs == sorted(epochs)
    assert len(set(epochs)) > 1
    assert [epoch for epoch, _ in tenures] == list(range(1, len(tenures) + 1))
    assert [is_open for _, is_open in tenures] == [False] * (len(tenures) - 1) + [True]
