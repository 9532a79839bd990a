"""Plan a workflow, ask, and carry it out: what all commands that begin a job do."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.ensemble_checks import edited, no_ensemble, refuse_unfinished
from ordito.app.errors import Declined, Refused
from ordito.app.job.git_keeping import refuse_uncommittable
from ordito.app.job.report import JobReport
from ordito.app.job.run import run_new
from ordito.app.place import Place, place_of
from ordito.app.plugins import plugins_of
from ordito.app.proposal import PlanningContext, Proposal, Proposer, known_of, pins_in_use, propose, takes_changed_files
from ordito.app.requests import HealRequest, Request
from ordito.app.services.pinned import pin_service
from ordito.ensemble.manifest import write_user_part
from ordito.ensemble.pins import accept_changes
from ordito.ensemble.status import Status
from ordito.ensemble.store import EDITED_CURE, Ensemble, open_ensemble
from ordito.instances.records import Snapshot
from ordito.planning.lossy_steps import with_lossy_replace
from ordito.work.options import JobOptions
from ordito.work.plan import Change
from ordito.work.records import NOBODY, AskedBy

ROLLBACK = "rollback"


class WorkflowRequest(msgspec.Struct, frozen=True):
    """A request, with its ensemble, and the options of its job."""

    directory: str
    """The ensemble's directory."""
    wanted: Request
    """The request."""
    options: JobOptions = JobOptions()
    """The options of the job."""
    wait_lock: float = 0.0
    """How many seconds to wait for another command that works on the ensemble."""
    environment: str | None = None
    """The environment that the command names, None if it names none."""
    hosts: str | None = None
    """The inventory that the command names, None if it names none."""
    asked: AskedBy = NOBODY
    """Who asks through a server, and by which plan."""


class AlreadyBegun(Exception):
    """The plan of a server has a job already: no other one begins."""

    def __init__(self, job: str) -> None:
        super().__init__(job)
        self.job = job


class WorkflowResult(msgspec.Struct, frozen=True):
    """The result."""

    proposal: Proposal | None
    """None if nothing was ever deployed."""

    before: Status
    """What was deployed before."""

    report: JobReport | None = None
    """None if there was nothing to do; then nothing was written."""

    kept: tuple[Change, ...] = ()
    """Where there is no proposal here: the instances that stay although everything else is removed."""

    @property
    def ignored(self) -> tuple[str, ...]:
        """The names of given inputs that are not remembered, because nothing was done."""
        given = self.proposal.inputs.given if self.proposal is not None and self.report is None else {}
        return tuple(name for name, value in given.items() if self.before.given.get(name) != value)


def run_workflow(
    request: WorkflowRequest, conversation: Conversation, plan_it: Proposer | None = None
) -> WorkflowResult:
    """Plan, ask, and carry out. ``plan_it`` replaces the function that plans such requests.

    Raises ``InvalidDocument``, ``PlanRefused``, ``Refused``, ``Locked``, ``JobUnfinished``, ``EnsembleError``,
    ``AlreadyBegun`` and ``Declined``; then no operation has run.
    """
    place = place_of(request.directory)
    refuse_uncommittable(place.layout, request.options)
    if not place.layout.exists:
        return _run_new(place, request, conversation, plan_it)
    with _opened(request) as ensemble:
        _refuse_second(ensemble, request)
        refuse_unfinished(ensemble)
        if ensemble.is_edited:
            conversation.warn(f"{edited(ensemble)} ({EDITED_CURE})")
        known = known_of(place, ensemble.snapshot, ensemble.status, request.environment, request.hosts)
        if known.spec.is_own(known.status, request.hosts):
            # Also for a command that finds nothing to do: what is recorded as given out is given to nobody else.
            plugins_of(place.layout, known.spec.inventory).remember(known.status.ensemble, known.snapshot)
        proposal = _propose(request, known, conversation, plan_it)
        return _carry_out(ensemble, known, proposal, request, conversation)


def _run_new(
    place: Place, request: WorkflowRequest, conversation: Conversation, plan_it: Proposer | None
) -> WorkflowResult:
    """Run in a new directory: nothing is written, not even the lock file, before the plan is approved."""
    if not request.wanted.makes_ensemble:
        raise no_ensemble(place.name)
    known = known_of(place, Snapshot(), Status(), request.environment, request.hosts)
    proposal = _propose(request, known, conversation, plan_it)
    if proposal is None or proposal.is_empty:
        return WorkflowResult(proposal, known.status)
    with _opened(request) as ensemble:
        _refuse_second(ensemble, request)
        if place.layout.manifest.exists() or ensemble.snapshot.instances or ensemble.unfinished:
            raise Refused(
                "changed",
                f"{place.shown} has become an ensemble meanwhile",
                next_words=("status",),
                purpose="look at it",
            )
        return _carry_out(ensemble, known, proposal, request, conversation)


def _refuse_second(ensemble: Ensemble, request: WorkflowRequest) -> None:
    """Raise ``AlreadyBegun`` where the plan of the request has a job, whether or not that has ended."""
    if request.asked.origin and (job := ensemble.journal.job_of(request.asked.origin)):
        raise AlreadyBegun(job)


def _opened(request: WorkflowRequest) -> Ensemble:
    return open_ensemble(request.directory, command=request.wanted.workflow, wait_lock=request.wait_lock)


def _propose(
    request: WorkflowRequest, known: PlanningContext, conversation: Conversation, plan_it: Proposer | None
) -> Proposal | None:
    """A proposal that is approved, or empty."""
    proposal = propose(request.wanted, known, plan_it)
    if proposal is None:
        return None
    if request.options.on_failure == ROLLBACK:
        proposal = msgspec.structs.replace(proposal, plan=with_lossy_replace(proposal.plan))
    proposal = proposal.with_setting(on_host=request.options.host_concurrency)
    conversation.found(proposal.diagnostics)
    if proposal.is_empty:
        return proposal
    # What operations will find in their environment must be there before anybody is asked.
    variables = known.spec.variables(proposal.service)
    if not conversation.approve(proposal):
        raise Declined
    return proposal.with_setting(variables=variables)


def _carry_out(
    ensemble: Ensemble,
    known: PlanningContext,
    proposal: Proposal | None,
    request: WorkflowRequest,
    conversation: Conversation,
) -> WorkflowResult:
    if proposal is None or proposal.is_empty:
        return WorkflowResult(proposal, known.status)
    layout = known.place.layout
    if takes_changed_files(request.wanted):
        # For who resumes the job, too.
        for digest in pins_in_use(known.status):
            accept_changes(layout, digest)
    if proposal.source.pinned is None:
        pinned = pin_service(layout, proposal.source.read, proposal.source.measured, proposal.source.files)
        proposal = msgspec.structs.replace(proposal, source=msgspec.structs.replace(proposal.source, pinned=pinned))
    if proposal.source.user_part is not None:
        write_user_part(layout, proposal.source.user_part)
    report = run_new(ensemble, proposal, request.options, conversation, asked=request.asked)
    if report.workflow == HealRequest.WORKFLOW:
        # Other workflows need nothing of how this one plans.
        from ordito.app.proposals.heal import healed_report

        report = msgspec.structs.replace(report, healed=healed_report(proposal, report.job))
    return WorkflowResult(proposal, known.status, report)
