"""What is left of an instance that was removed: its record, and nothing of its links and of what it still hosted."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ordito.instances.hosting import contained
from ordito.instances.records import Delta, Instance, Snapshot, StatusReason, end_id
from ordito.instances.states import DELETED
from ordito.instances.status import ABSENT
from ordito.model.service import Service
from ordito.operations.happenings import marked
from ordito.work.plan import Step
from ordito.work.workflows import workflow_of


class Removal:
    """Removes instances from the records, in a job of a workflow."""

    def __init__(self, service: Service, snapshot: Snapshot, workflow: str, job: str) -> None:
        self._service = service
        self._snapshot = snapshot
        self._removes_all = workflow_of(workflow).removes
        self._job = job

    def deleted(self, step: Step, change: str, *, applies: bool) -> Delta:
        """What changes when a step has removed an instance. ``applies`` says that it counts as deployed."""
        reason = StatusReason.NONE
        if self._snapshot.instances[step.instance].created >= self._job:
            reason = StatusReason.ROLLED_BACK
        elif step.anew:
            reason = StatusReason.REPLACED
        elif applies and not self._removes_all and not step.counts:
            reason = StatusReason.SCALED_IN
        first, *hosted = (self._snapshot.instances[name] for name in contained(self._snapshot, step.instance))
        gone = [self._gone(first, change, reason, applies=applies)]
        gone += [self._gone(record, change, reason, with_host=True, applies=applies) for record in hosted]
        unlinked: dict[str, None] = {}
        for record in gone:
            unlinked.update(dict.fromkeys(self.left_of(record, again=step.anew)))
        return Delta(instances=tuple(gone), unlinked=tuple(unlinked))

    def left_of(self, record: Instance, *, again: bool) -> Iterable[str]:
        """What is recorded that goes with an instance: its links, and its ends of relationships. Where it is made
        again, a link stays of which an operation has failed at a source that goes on: it is made good with the link."""
        links = ((name, self._snapshot.links[name]) for name in self._snapshot.links_of(record.id))
        yield from (name for name, link in links if not (again and link.failed and link.source != record.id))
        yield from self._ends(record)

    def _gone(
        self, record: Instance, change: str, reason: StatusReason, *, with_host: bool = False, applies: bool
    ) -> Instance:
        none: dict[str, str] = {}
        gone = msgspec.structs.replace(
            record,
            state=DELETED,
            local=ABSENT,
            applied={},
            failed=none,
            status_reason=reason,
            with_host=with_host,
            form="",
        )
        if gone.drift or gone.before_failure:
            gone = msgspec.structs.replace(gone, drift=none, before_failure=none)
        return gone if change == self._job else marked(gone, change, applies=applies, modified=True)

    def _ends(self, record: Instance) -> Iterable[str]:
        """Under which ids what belongs to the instance's end of its relationships is recorded, where it is."""
        template = self._service.nodes.get(record.node)
        ends = [end_id(r.key, record.id, "source") for r in template.requirements] if template else []
        ends += [end_id(r.key, record.id, "target") for r in self._service.incoming.get(record.node, ())]
        return (e for e in ends if e in self._snapshot.attributes or e in self._snapshot.outputs)
