"""What a scaling that did not end well has left to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordito.ensemble.job_history import RecordedJob
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning.options import Goal, Scaling
from ordito.work.invocation import Ending

REMOVING = frozenset({"stop", "delete", "undeploy"})
"""Operations of instances that leave."""

WELL = frozenset({"no-op", Ending.SUCCEEDED})


def rest_of(job: str, record: RecordedJob, service: Service, snapshot: Snapshot, counts: Mapping[str, int]) -> Scaling:
    """What is left of a job: nodes that have not got their wanted numbers (``counts``), of which those instances leave
    that it has not removed; and the instances that it has begun to make. Raises ``EnsembleError``."""
    goals = tuple(
        Goal(node, counts[node])
        for node in service.nodes
        if node in counts and len(snapshot.ids_of(node)) != counts[node]
    )
    begun = begun_since(job, service, snapshot)
    left = (name for name in _not_removed(record) if name in snapshot.instances and snapshot.instances[name].exists)
    return Scaling(goals, frozenset(left) - frozenset(begun), begun)


def begun_since(job: str, service: Service, snapshot: Snapshot) -> tuple[str, ...]:
    """The instances that a job, or a later one, has begun to make or was to make, by id."""
    here = (i for node in service.nodes for i in snapshot.of_node(node))
    return tuple(i.id for i in here if i.created >= job or not (i.created or i.is_unmanaged))


def _not_removed(record: RecordedJob) -> Iterator[str]:
    """The instances of which a step of their removal has failed or was not run."""
    failed = (
        change.step or f"{change.target}.{change.operation}"
        for change in record.changes()
        if change.operation and change.outcome not in WELL
    )
    for step in (*failed, *record.file.skipped):
        instance, _, operation = step.partition(".")
        if operation.count(".") == 1 and operation.rpartition(".")[2] in REMOVING:
            yield instance
