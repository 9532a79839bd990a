"""What a failed scaling has left undone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ordito.app.place import Place
from ordito.ensemble.job_history import RecordedJob, job_lines
from ordito.instances.lifecycle import REMOVES, STOPS
from ordito.instances.records import Instance, Snapshot
from ordito.instances.states import STARTED
from ordito.instances.status import OPERATIONAL
from ordito.model.hosting import chain
from ordito.model.service import Service
from ordito.planning.options import Goal, Scaling
from ordito.work.invocation import Ending
from ordito.work.workflows import SCALE

WELL = frozenset({"no-op", Ending.SUCCEEDED})


def rest_of(
    place: Place, job: str, record: RecordedJob, service: Service, snapshot: Snapshot, counts: Mapping[str, int]
) -> Scaling:
    """The rest of a job: nodes that do not have their wanted numbers (``counts``), with the instances that it was to
    remove; the instances that it has begun to create; and other instances with pairs that were not linked or unlinked.
    Raises ``EnsembleError``."""
    goals = tuple(
        Goal(node, counts[node])
        for node in service.nodes
        if node in counts and len(snapshot.ids_of(node)) != counts[node]
    )
    begun = begun_since(job, service, snapshot)
    left = (name for name in _not_removed(record) if name in snapshot.instances and snapshot.instances[name].exists)
    return Scaling(goals, frozenset(left) - frozenset(begun), begun, unsettled(place, service, snapshot))


def begun_since(job: str, service: Service, snapshot: Snapshot) -> tuple[str, ...]:
    """The ids of instances that a job, or a later one, has begun to create or was to create."""
    here = (i for node in service.nodes for i in snapshot.of_node(node))
    return tuple(i.id for i in here if i.created >= job or not (i.created or i.is_unmanaged))


def unsettled(place: Place, service: Service, snapshot: Snapshot) -> tuple[str, ...]:
    """The ids of the instances that are up, but not ok or of unknown status, and whose last change was the linking of a
    pair by a scaling. Raises ``EnsembleError``."""
    found = [i for node in service.nodes for i in snapshot.of_node(node) if _is_unsettled(i)]
    if not found:
        return ()
    jobs = sorted((line.id, line.workflow) for line in job_lines(place.layout))
    ids = [job for job, _ in jobs]

    def workflow_of(change: str) -> str:
        # The id of a change follows that of its job, and comes before that of the next.
        number = bisect_right(ids, change) - 1
        return jobs[number][1] if number >= 0 else ""

    return tuple(i.id for i in found if workflow_of(i.last_config_change) == SCALE)


def linked_with(goals: Iterable[Goal], names: Sequence[str], service: Service, snapshot: Snapshot) -> tuple[str, ...]:
    """Those of the named instances that require a scaled node, or something that it contains."""
    scaled = {goal.node for goal in goals}

    def is_scaled(name: str) -> bool:
        return any(node.name in scaled for node in chain(service.nodes, name))

    required = {
        n: [r.target for r in service.nodes[n].requirements] for n in {snapshot.instances[i].node for i in names}
    }
    return tuple(i for i in names if any(map(is_scaled, required[snapshot.instances[i].node])))


def _is_unsettled(record: Instance) -> bool:
    """Whether the last operation on an instance has left it up but not well; findings of checks do not count."""
    is_last = bool(record.last_config_change) and record.last_state_change <= record.last_config_change
    return record.state == STARTED and record.local not in OPERATIONAL and is_last


def _not_removed(record: RecordedJob) -> Iterator[str]:
    """The instances whose removal has a step that failed or was not run."""
    failed = (
        change.step or f"{change.target}.{change.operation}"
        for change in record.changes()
        if change.operation and change.outcome not in WELL
    )
    for step in (*failed, *record.file.skipped):
        instance, _, operation = step.partition(".")
        if operation.count(".") == 1 and operation.rpartition(".")[2] in STOPS | REMOVES:
            yield instance
