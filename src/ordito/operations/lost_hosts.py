"""Hosts that were found to be out of reach: what healing does about what ran on them."""

from __future__ import annotations

import msgspec

from ordito.instances.hosting import chain
from ordito.instances.records import Instance, Snapshot, StatusReason
from ordito.instances.status import ERROR
from ordito.work.plan import Action, Step
from ordito.work.workflows import workflow_of


class LostHosts:
    """Says of instances whether their host is lost, where a job heals: then nothing on it is taken down, since nobody
    gets there, and nothing of it is taken for sound. Other workflows try all the same."""

    def __init__(self, snapshot: Snapshot, workflow: str) -> None:
        self._snapshot = snapshot
        self._heals = workflow_of(workflow).heals

    def host_of(self, record: Instance) -> str:
        """The lost Compute on which an instance is, however deep; "" for none."""
        hosts = chain(self._snapshot, record.host) if self._heals else ()
        return next((host.id for host in hosts if is_lost(host)), "")

    def spares(self, step: Step, record: Instance) -> str:
        """The lost Compute because of which a step cannot be carried out, "" for none: it would run there, or a
        provider would have to go there."""
        if not self._heals:
            return ""
        if step.action is Action.DELEGATE:
            return self.host_of(record)
        host = self._snapshot.instances.get(step.runs_on)
        return host.id if host is not None and is_lost(host) else ""


def is_lost(record: Instance) -> bool:
    """Whether an instance was found to be a host that cannot be reached."""
    return record.local == ERROR and record.status_reason is StatusReason.UNREACHABLE


def noted(record: Instance, *, reached: bool) -> Instance:
    """The record of a Compute of which it was found out whether it can be reached."""
    if not reached:
        return msgspec.structs.replace(record, status_reason=StatusReason.UNREACHABLE, with_host=False)
    if record.status_reason is not StatusReason.UNREACHABLE:
        return record
    return msgspec.structs.replace(record, status_reason=StatusReason.NONE)
