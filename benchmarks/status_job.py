"""One part of what the status of many instances costs, measured from inside: ``status_job.py PART FOLDER COUNT``.

``write`` makes a snapshot of so many instances, not measured, and writes the files of the ensemble; ``files`` reads
them, as the first command in a fresh clone does; ``rows`` reads the same from the journal, as every other one does.
Prints the CPU seconds.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import read_state, write_manifest, write_user_part
from ordito.ensemble.status import Status
from ordito.ensemble.store import open_ensemble, read_ensemble
from ordito.instances.records import Applied, Delta, Instance, Snapshot

OPERATIONS = ("Standard.create", "Standard.configure", "Standard.start")
OF_ONE_NODE = 100
"""So many instances has each node."""


def many(count: int) -> Snapshot:
    """Instances as a deployment leaves them: three operations carried out, two attributes, and half of them a host."""
    snapshot = Snapshot()
    change, digest = "A6BKKQCN0001", "5b" * 32
    applied = {operation: Applied(change, digest) for operation in OPERATIONS}
    for n in range(count):
        node, place = f"node_{n // OF_ONE_NODE}", n % OF_ONE_NODE
        host = f"node_{n // OF_ONE_NODE - 1}_{place + 1}" if n // OF_ONE_NODE % 2 else ""
        name = f"{node}_{place + 1}"
        instance = Instance(name, node, place, host, "started", "ok", change, applied, {}, change, change)
        attributes = {instance.id: {"address": f"10.0.{n // 256 % 256}.{n % 256}", "port": 1024 + n % 60_000}}
        snapshot.apply(Delta(instances=(instance,), attributes=attributes))
    return snapshot


def main(part: str, folder: str, count: int) -> float:
    """The CPU seconds of one part."""
    layout = Layout(Path(folder))
    if part == "write":
        snapshot = many(count)
        gc.freeze()
        write_user_part(layout, b"apiVersion: ordito/v1\n")
        began = time.process_time()
        write_manifest(layout, snapshot, Status(), dict.fromkeys(snapshot.instances, "ok"))
    elif part == "files":
        began = time.process_time()
        snapshot, _ = read_state(layout)
    else:
        with open_ensemble(folder, command="bench"):
            pass
        began = time.process_time()
        with read_ensemble(folder) as ensemble:
            snapshot = ensemble.snapshot
    taken = time.process_time() - began
    assert len(snapshot.instances) == count
    return taken


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
