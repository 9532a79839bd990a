"""Operations of pairs: what their ends change in the records of links and of the instances that are the sources."""

from __future__ import annotations

import msgspec

from ordito.instances.lifecycle import TAKES_BACK, UNDONE_BY_STOP
from ordito.instances.records import Delta, Instance, Link, Snapshot
from ordito.instances.states import CONFIGURED, CREATED, ERROR, STARTED
from ordito.instances.status import DEGRADED, UNKNOWN, local_after
from ordito.instances.status import ERROR as BROKEN
from ordito.operations.called import PlanCalls
from ordito.operations.change_marks import NEVER_STARTED, touched
from ordito.operations.happenings import Happenings, remembered, with_failures
from ordito.operations.links_anew import linked_again
from ordito.work.invocation import Outcome
from ordito.work.plan import OperationCall, Step


class LinkEnds:
    """The ends of the operations of pairs of one job."""

    def __init__(self, snapshot: Snapshot, called: PlanCalls, happenings: Happenings, job: str) -> None:
        self._snapshot = snapshot
        self._called = called
        self._happenings = happenings
        self._job = job

    def ended(self, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool) -> Delta:
        """A link's operation counts for the link and for its source; it never touches the target's record."""
        links: tuple[Link, ...] = ()
        source = self._snapshot.instances[self._called.source(step, call)]
        happened = self._happenings.happened(step, call, outcome, source, applies=applies)
        if applies and outcome.ending not in NEVER_STARTED:
            link = self._snapshot.links.get(step.link) or self._called.new_link(step)
            applied, failed = remembered(link, call, outcome, change)
            applied = linked_again(call.operation, applied)
            links = (msgspec.structs.replace(link, applied=applied, failed=failed),)
            if outcome.succeeded and self._is_made_good(source, step, call):
                happened = self._happenings.chain_ended(source, step, call)
        local = local_after(source.local, happened)
        # What belongs to a pair and comes before the source has started is part of its making.
        fails = not outcome.succeeded and not step.tolerant and source.state in (CREATED, CONFIGURED)
        state = ERROR if fails and outcome.ending not in NEVER_STARTED else source.state
        if outcome.succeeded and step.closes and state == ERROR:
            # It came up long ago, and what had failed since, as a stop that nothing takes back, is made good.
            state = STARTED
        record = msgspec.structs.replace(source, local=local, state=state)
        key, succeeded = f"{step.link}/{call.name}", outcome.succeeded
        record = with_failures(source, record, key, happened, succeeded=succeeded, applies=applies)
        record = touched(record, outcome, change, self._job, applies=applies)
        return Delta(instances=() if record == source else (record,), links=links)

    def _is_made_good(self, source: Instance, step: Step, call: OperationCall) -> bool:
        """Whether the end of a pair's operation makes good what had failed of the pair, so that its source, which is
        up, is as it should be again."""
        link = self._snapshot.links.get(step.link)
        if link is None or not link.failed or source.state != STARTED:
            return False
        if source.local == DEGRADED:
            return call.name in link.failed
        back = {call.operation, *TAKES_BACK.get(call.operation, ())}
        others = (self._snapshot.links[name] for name in self._snapshot.links_of(source.id) if name != link.id)
        return (
            source.local in {BROKEN, UNKNOWN}
            and not source.failed
            and all(key.rpartition(".")[2] in back for key in link.failed)
            and not any(other.failed and other.source == source.id for other in others)
        )

    def stopped(self, step: Step, call: OperationCall, outcome: Outcome, *, applies: bool) -> tuple[Link, ...]:
        """The links of an instance that was stopped: they do not count as made any more, whether or not an operation
        undoes them, so that they are made again when it is started."""
        if call.side or not applies or outcome.ending in NEVER_STARTED:
            return ()
        found: list[Link] = []
        for name in self._snapshot.links_of(step.instance):
            link = self._snapshot.links[name]
            applied = {key: one for key, one in link.applied.items() if key.rpartition(".")[2] not in UNDONE_BY_STOP}
            if len(applied) < len(link.applied):
                found.append(msgspec.structs.replace(link, applied=applied))
        return tuple(found)
