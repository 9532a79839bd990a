"""What a workflow of the template has left undone, when a job of it did not end well.

Its plan is made once more, with the inputs that it had; what ended well in that job, and in those that it carried on
with, counts as carried out. A step whose failure was handled is begun anew: what is there for its failure has put back
what it had done.
"""

from __future__ import annotations

from dataclasses import replace

from ordito.app.job.jobs import WELL, step_of
from ordito.app.place import Place
from ordito.app.services.workflows import overriding
from ordito.ensemble.job_history import RecordedJob, read_job
from ordito.model.service import Service
from ordito.planning.options import PlanOptions
from ordito.work.workflow_progress import LEFT_OUT, Carried
from ordito.work.workflows import NAMED, is_written


def rest_of_workflow(place: Place, record: RecordedJob, service: Service, options: PlanOptions) -> PlanOptions:
    """What planning is told of the rest of a job, where its workflow is one of the template. Raises
    ``EnsembleError``."""
    workflow = record.head.workflow
    found = overriding(service, workflow)
    if found is None and not is_written(workflow):
        return options
    written = found.name if found is not None else workflow.removeprefix(NAMED)
    return replace(options, written=written, given=record.head.arguments, carried=_carried(place, record))


def _carried(place: Place, record: RecordedJob) -> Carried:
    done: set[str] = set()
    left_out: set[str] = set()
    anew: set[str] = set()
    current: RecordedJob | None = record
    while current is not None:
        for change in current.changes():
            step = step_of(change)
            if not change.operation:
                continue
            if change.summary.startswith(LEFT_OUT):
                left_out.add(step)
            if change.outcome in WELL:
                done.add(step)
            elif current.head.handled:
                anew.add(step)
        current = read_job(place.layout, current.head.retries) if current.head.retries else None
    return Carried(frozenset(done), frozenset(left_out), frozenset(anew - done))
