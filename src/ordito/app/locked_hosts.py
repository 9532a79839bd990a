"""Hosts of the inventory that are there and let nobody in."""

from __future__ import annotations

from ordito.app.job.report import JobReport
from ordito.instances.records import Snapshot
from ordito.work.invocation import Ending
from ordito.work.plan import DELEGATE
from ordito.work.providing import Verb
from ordito.work.targets import HOST

POOL = "pool"


def locked_hosts(report: JobReport, snapshot: Snapshot) -> tuple[str, ...]:
    """The hosts of the pool that a job was to look at and that let nobody in, by their names in the inventory: one that
    is away has answered by that."""
    looked = f"{DELEGATE}.{Verb.LOOK}"
    failed = [f for f in report.failures if f.operation == looked and f.outcome.ending is Ending.UNREACHABLE]
    hosts = (snapshot.attributes.get(f.instance, {}).get(HOST) for f in failed)
    found = (host for host in hosts if isinstance(host, dict) and host.get("provider") == POOL)
    return tuple(dict.fromkeys(str(host.get("id", "")) for host in found))
