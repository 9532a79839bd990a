"""Planning `jobs retry`: what a failed or cancelled job has left undone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import msgspec

from ordito.app.data_at_stake import may_be_lost, risked
from ordito.app.errors import Refused
from ordito.app.inputs.user_part import read_user_part
from ordito.app.job.jobs import WELL as ENDED_WELL
from ordito.app.job.jobs import find_job, step_of, steps_of, unknown_step
from ordito.app.place import Place
from ordito.app.proposal import PlanningContext, Proposal, ProposedInputs, ProposedJob, Risks
from ordito.app.proposals.description import changing
from ordito.app.proposals.making import make_plan, pinned_source
from ordito.app.proposals.part import with_part
from ordito.app.proposals.rollback import going_back, refuse_unknown_undo
from ordito.app.proposals.scale_rest import rest_of
from ordito.app.requests import PartOptions, RetryRequest, command_of
from ordito.app.services.files import artifact_files, definition_files
from ordito.app.services.pinned import read_pinned
from ordito.app.services.read import ReadService, read_service
from ordito.app.services.workflows import overriding
from ordito.base.allowable import EVERY
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.options import from_record, recorded
from ordito.ensemble.done_hooks import done_since
from ordito.ensemble.job_history import JobLine, RecordedJob, job_lines, read_job
from ordito.ensemble.pins import LIFECYCLE, measure, pinned_files
from ordito.ensemble.revisions import TO
from ordito.ensemble.status import deployed_form, is_complete
from ordito.model.circumstances import Circumstances
from ordito.model.service import Service
from ordito.planning.options import DataLoss, PlanOptions, WrittenWorkflow
from ordito.source.remote import Network
from ordito.work.hooks import DoneHook
from ordito.work.options import ChangeOptions, HookOptions
from ordito.work.plan import Action, Plan
from ordito.work.records import Form
from ordito.work.workflow_progress import LEFT_OUT, Carried
from ordito.work.workflows import NAMED, Workflow, is_written, workflow_of

WELL = "ok"
Choose = Callable[[Service, PlanOptions], PlanOptions]


def propose(request: RetryRequest, known: PlanningContext) -> Proposal:
    """The rest of the job: the plan of its workflow from the present state, with the service and the inputs that it
    had.

    Raises ``Refused``, ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``.
    """
    with paused_collector():
        return _proposed(request, known)


def _proposed(request: RetryRequest, known: PlanningContext) -> Proposal:
    place = known.place
    job = find_job(place, request.job or _latest(place), None)
    record = read_job(place.layout, job)
    if record is None:
        raise Refused("no-record", f"the record of job {job} is missing", "restore the directory jobs from git")
    workflow = _checked(place, job, record)
    # What it deployed need not be what is deployed: it may have been taken back, or have changed nothing.
    form = record.file.form or deployed_form(known.status)
    read = read_pinned(place, form)
    if workflow.describes:
        _check_unchanged(known, job, form)
    changes = from_record(ChangeOptions, _told(record))
    losing = (*changes.may_lose, *request.may_lose)
    made = make_plan(known, workflow.name, read, form.inputs, choose=_rest(known, read, workflow, job, record, losing))
    if workflow.goes_back:
        refuse_unknown_undo(made.plan, _done(known, record))
    risks = Risks()
    if workflow.forms:
        allowed = may_be_lost(losing, made.whole.service, known.snapshot)
        risks = risked(made.plan, known.snapshot, named=changes.replaced, allowed=allowed)
    plan = _with_done(made.plan, request.by_hand, job, record) if request.by_hand else made.plan
    return Proposal(
        workflow=workflow.name,
        plan=plan,
        snapshot=known.snapshot,
        source=pinned_source(form, read, made),
        inputs=ProposedInputs(form.inputs, given=form.given),
        job=ProposedJob(
            retries=job,
            told={**_told(record), **recorded(ChangeOptions(may_lose=tuple(dict.fromkeys(losing))))},
            completes=plan.is_empty and not plan.summary.is_part and workflow.forms and not is_complete(known.status),
            on_failure="rollback" if workflow.scales and made.plan.records.new else "continue",
        ),
        risks=risks,
    )


def _rest(
    known: PlanningContext,
    read: ReadService,
    workflow: Workflow,
    job: str,
    record: RecordedJob,
    losing: Collection[str],
) -> Choose:
    """The options for planning: those of the job, and the part of the service that it was about; ``losing`` names
    instances whose data may be lost."""
    if workflow.describes or workflow.removes:
        changes = from_record(ChangeOptions, _told(record))
        hooks = from_record(HookOptions, _told(record))
        part = from_record(PartOptions, _told(record))

        def rest(service: Service, options: PlanOptions) -> PlanOptions:
            found = rest_of_workflow(known.place, record, service, options)
            if workflow.describes:
                found = changing(found, changes, workflow.prunes, hooks.which, strict=hooks.strict)
                found = dataclasses.replace(found, data_loss=DataLoss(may_be_lost(losing, service, known.snapshot)))
            return with_part(found, part, service, known.snapshot)

        return rest
    if workflow.goes_back:
        return going_back(_done(known, record), from_record(ChangeOptions, _told(record)))
    if workflow.scales:
        began = _first(known.place, job, record)
        scaling = rest_of(known.place, began, record, read.service, known.snapshot, known.status.counts)
        return lambda _, options: dataclasses.replace(options, scaling=scaling)
    return lambda service, options: rest_of_workflow(known.place, record, service, options)


def _done(known: PlanningContext, record: RecordedJob) -> tuple[DoneHook, ...]:
    """The lifecycle steps that a rollback must undo."""
    return done_since(known.place.layout, str(_told(record).get(TO, "")))


def _told(record: RecordedJob) -> Mapping[str, object]:
    said = record.head.options.get("told")
    return said if isinstance(said, dict) else {}


def _first(place: Place, job: str, record: RecordedJob) -> str:
    """The first job in a chain of retries; the job itself if it is no retry. Raises ``EnsembleError``."""
    first, current = job, record
    while current.head.retries:
        first = current.head.retries
        found = read_job(place.layout, first)
        if found is None:
            break
        current = found
    return first


def _latest(place: Place) -> str:
    """The latest job that may have left something undone: the latest one that can be retried, if it has failed; else
    the latest job after it that has failed, else that one itself; "" for none."""
    lines = list(job_lines(place.layout))
    found = max((line for line in lines if _continues(line.workflow)), key=_id, default=None)
    if found is not None and found.outcome != WELL:
        return found.id
    since = found.id if found is not None else ""
    others = (line for line in lines if line.id > since and line.outcome != WELL)
    latest = max(others, key=_id, default=found)
    return latest.id if latest is not None else ""


def _id(line: JobLine) -> str:
    return line.id


def _checked(place: Place, job: str, record: RecordedJob) -> Workflow:
    """The workflow of a job that may have left something undone. Raises ``Refused`` for other jobs."""
    workflow, ended = record.head.workflow, record.head.status
    if ended == "ok":
        raise Refused(
            "job-succeeded",
            f"job {job} succeeded: it has left nothing undone",
            next_words=("jobs", "show", job),
            purpose="see what it did",
        )
    words = command_of(_told(record)) if not record.head.cause else ()
    if workflow_of(workflow).scales and record.head.rollback:
        raise Refused(
            "not-retried",
            f"job {job} was a scale-out, and it was rolled back: nothing of it is left",
            "give the same command again",
            next_words=words or ("jobs", "show", job),
            purpose="do the same again" if words else "see what it did",
        )
    if not _continues(workflow):
        raise Refused(
            "not-retried",
            f"job {job} is a {workflow}, which cannot continue where it stopped",
            f"its event has been handled; send it again: {record.head.cause}"
            if record.head.cause
            else "give the same command again",
            next_words=words or ("jobs", "show", job),
            purpose="do the same again" if words else "see what it did",
        )
    counting = (w for w in job_lines(place.layout) if workflow_of(w.workflow).applies or w.workflow == workflow)
    later = max(counting, key=lambda line: line.id, default=None)
    if later is not None and later.id > job:
        goes_on = _continues(later.workflow)
        raise Refused(
            "later-job",
            f"job {later.id} ({later.workflow}) ran after job {job}, so what {job} left undone is outdated",
            next_words=("jobs", "retry", later.id) if goes_on else ("plan",),
            purpose="do what the later one has left undone" if goes_on else "see what deploying would do now",
        )
    return workflow_of(workflow)


def _continues(workflow: str) -> bool:
    return workflow_of(workflow).continues or is_written(workflow)


def _check_unchanged(known: PlanningContext, job: str, form: Form) -> None:
    """Raise ``Refused`` if the service is not that of the job any more: the plan would not fit the files."""
    place = known.place
    user = read_user_part(place.layout, place.manifest, Diagnostics()).with_given(form.named)
    if not user.service:
        return
    diagnostics = Diagnostics()
    circumstances = Circumstances(inputs=form.inputs, choices=form.choices, final=True, allowed=EVERY)
    try:
        read = read_service(user.service_path(place.layout, place.shown), diagnostics, Network.REFUSED, circumstances)
        package = read.package
        files = (definition_files(read), artifact_files(read))
        measured = measure(place.layout, package.tree, package.opener, *files)
        pinned = {f.place: f.digest for f in pinned_files(place.layout, form.service)}
        # Lifecycle steps, with what they need, may have come with the command that began the job.
        unchanged = measured.digest == form.service or _own(measured.contents).items() <= pinned.items()
    except InvalidDocument as invalid:
        # What was fetched for the job is not fetched again to look at it, nor is a catalogue found that its command
        # named: its pin has both.
        elsewhere = {"not-fetched", "fetch-failed", "unknown-block"}
        unchanged = any(d.code in elsewhere for d in invalid.diagnostics)
    if not unchanged:
        raise Refused(
            "changed",
            f"the files of the service have changed since job {job}",
            "to deploy the present files, give its command again; to do what that job has left undone, restore them",
            next_words=("plan",),
            purpose="see what deploying would do now",
        )


def _own(contents: Mapping[str, str]) -> dict[str, str]:
    """The files of a service itself, without files of its lifecycle steps from elsewhere."""
    return {place: digest for place, digest in contents.items() if LIFECYCLE not in place.split("/")}


def _with_done(plan: Plan, wanted: str, job: str, record: RecordedJob) -> Plan:
    """The plan with one of its steps counted as done."""
    left = {step.id: index for index, step in enumerate(plan.steps) if step.action is not Action.JOIN}
    index = left.get(wanted)
    if index is None and wanted in steps_of(record):
        raise Refused(
            "step-done",
            f"step {wanted} of job {job} is not among what is left to do",
            f"left are: {', '.join(list(left)[:5])}{' ...' if len(left) > 5 else ''}" if left else "nothing is left",
            next_words=("jobs", "show", job),
            purpose="see how it ended",
        )
    if index is None:
        raise unknown_step(job, wanted, left.keys())
    steps = list(plan.steps)
    steps[index] = msgspec.structs.replace(steps[index], by_hand=True)
    return msgspec.structs.replace(plan, steps=tuple(steps))


# What a workflow of the template has left undone, when a job of it did not end well.
#
# Its plan is made once more, with the inputs that it had; what ended well in that job, and in those that it carried
# on with, counts as carried out. A step whose failure was handled is begun again: what is there for its failure has
# put back what it had done.


def rest_of_workflow(place: Place, record: RecordedJob, service: Service, options: PlanOptions) -> PlanOptions:
    """The options for planning the rest of a job whose workflow is one of the template. Raises ``EnsembleError``."""
    workflow = record.head.workflow
    found = overriding(service, workflow)
    if found is None and not is_written(workflow):
        return options
    written = found.name if found is not None else workflow.removeprefix(NAMED)
    return replace(options, written=WrittenWorkflow(written, record.head.arguments, _carried(place, record)))


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
            if change.outcome in ENDED_WELL:
                done.add(step)
            elif current.head.handled:
                anew.add(step)
        current = read_job(place.layout, current.head.retries) if current.head.retries else None
    return Carried(frozenset(done), frozenset(left_out), frozenset(anew - done))
