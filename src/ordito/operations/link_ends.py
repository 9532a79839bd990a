"""Operations of pairs: what their ends change in the records of links and of the instances that are the sources."""

from __future__ import annotations

from collections.abc import Container, Mapping

import msgspec

from ordito.instances.lifecycle import LINKS, TAKES_BACK, UNDONE_BY_START, UNDONE_BY_STOP, UNLINKS
from ordito.instances.records import Applied, Delta, Instance, Link, Snapshot
from ordito.instances.states import CONFIGURED, CREATED, ERROR, STARTED
from ordito.instances.status import DEGRADED, UNKNOWN, local_after
from ordito.instances.status import ERROR as BROKEN
from ordito.operations.called import PlanCalls
from ordito.operations.happenings import NEVER_STARTED, Happenings, remembered, touched, with_failures
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


# What an instance that was started again, or a pair that was linked again, leaves to be undone, whatever undid it
# before.


def linked_again(operation: str, applied: Mapping[str, Applied]) -> Mapping[str, Applied]:
    """What counts as carried out of a pair after an operation was at work on it: with one that links it nothing undoes
    it any more. Its ends need not have been started for that, and what undoes it may stand at its other side."""
    return _without(applied, UNLINKS) if operation in LINKS and _is_of(applied, UNLINKS) else applied


def to_be_undone_again(snapshot: Snapshot, instance: str, delta: Delta, relationships: Container[str]) -> Delta:
    """A change by which an instance was started, without that it was stopped, and that its pairs were undone when it,
    or its other end, was: whether or not an operation does all that anew, the next stop undoes it. A pair whose other
    end is not started stays undone until that is, and one of none of the ``relationships`` there are for good."""
    records = delta.instances
    if any(_is_of(record.applied, UNDONE_BY_START) for record in records if record.id == instance):
        records = tuple(
            msgspec.structs.replace(record, applied=_without(record.applied, UNDONE_BY_START))
            if record.id == instance
            else record
            for record in records
        )
    changed = {link.id: link for link in delta.links}
    for name in snapshot.links_of(instance):
        link = changed.get(name) or snapshot.links[name]
        other = snapshot.instances[link.target if link.source == instance else link.source]
        if other.state == STARTED and link.relationship in relationships and _is_of(link.applied, UNLINKS):
            changed[name] = msgspec.structs.replace(link, applied=_without(link.applied, UNLINKS))
    if records is delta.instances and not changed:
        return delta
    return msgspec.structs.replace(delta, instances=records, links=tuple(changed.values()))


def _is_of(applied: Mapping[str, Applied], operations: frozenset[str]) -> bool:
    return not operations.isdisjoint([key.rpartition(".")[2] for key in applied])


def _without(applied: Mapping[str, Applied], operations: frozenset[str]) -> Mapping[str, Applied]:
    return {key: one for key, one in applied.items() if key.rpartition(".")[2] not in operations}
