"""Beginning a job, and resuming one: its header has everything that it needs to know."""

from __future__ import annotations

import socket
from collections.abc import Callable

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import Refused
from ordito.app.inputs.inventory import inventory_again, read_inventory
from ordito.app.job.git_keeping import refuse_uncommittable, shared_options, with_inventory
from ordito.app.job.report import JobReport
from ordito.app.job.running import NO_LIMITS, CancelLimits, JobSubject, RunningJob
from ordito.app.place import Place, place_of
from ordito.app.proposal import Proposal
from ordito.app.services.earlier_forms import EarlierForms
from ordito.app.services.left_behind import whole_service
from ordito.app.services.pinned import PinnedService, read_pinned
from ordito.base.change_ids import ChangeIds
from ordito.base.clock import SystemClock
from ordito.ensemble.git.keeper import JobFiles
from ordito.ensemble.job_rows import UnfinishedJob
from ordito.ensemble.owner import current_user
from ordito.ensemble.status import current_form, known_forms, new_id, stable_form
from ordito.ensemble.store import Ensemble, open_ensemble
from ordito.ensemble.vault import Vault
from ordito.work.options import USUAL, JobOptions
from ordito.work.records import NOBODY, AskedBy, JobHeader, JobSources, StepFinishedRecord, StepStartedRecord
from ordito.work.workflows import workflow_of

StepRecord = StepStartedRecord | StepFinishedRecord

ROLLBACK = "rollback"


def run_new(
    ensemble: Ensemble,
    proposal: Proposal,
    options: JobOptions,
    conversation: Conversation,
    begins: Callable[[str], None] = lambda _: None,
    asked: AskedBy = NOBODY,
) -> JobReport:
    """Carry out a proposal that is not empty and whose service is pinned; ``begins`` is called with the job's id before
    anything is written, ``asked`` says who asked through a server. Raises ``Refused`` and ``EnsembleError``."""
    pinned = proposal.source.pinned
    if pinned is None:
        raise ValueError("the proposal's service is not pinned")
    options = _options(options, proposal, is_shared=ensemble.is_shared)
    sources = with_inventory(pinned.sources, proposal.setting.inventory)
    refuse_uncommittable(ensemble.layout, options, JobFiles(pinned.digest, sources))
    # Digests of sensitive values are kept from here on, and so must be their key.
    Vault(ensemble.layout).keep()
    now = SystemClock().now()
    change_ids = ensemble.change_ids(now, _most_tasks(proposal, options))
    header = _header(ensemble, proposal, pinned, options, sources, change_ids, now)
    header = msgspec.structs.replace(header, asked=asked)
    forms = EarlierForms(place_of(str(ensemble.layout.root)), header.forms, known=proposal.source.earlier)
    subject = JobSubject(proposal.source.read, proposal.source.whole, pinned.root, forms)
    job = RunningJob(
        ensemble, header, proposal.plan, subject, CancelLimits(options.timeout), proposal.setting.inventory
    )
    begins(header.id)
    ensemble.name_job(header.id)
    return job.run(change_ids, conversation, None)


def _options(options: JobOptions, proposal: Proposal, *, is_shared: bool) -> JobOptions:
    """The options of a job: those of the command, with the defaults of the workflow. Raises ``Refused``."""
    if options.on_failure == USUAL:
        options = msgspec.structs.replace(options, on_failure=proposal.job.on_failure)
    if proposal.job.told:
        options = msgspec.structs.replace(options, told=proposal.job.told)
    if options.on_failure == ROLLBACK and not proposal.can_be_taken_back:
        raise Refused(
            "no-way-back",
            f"what {proposal.workflow} does cannot be rolled back",
            "give --on-failure abort, or continue",
        )
    return shared_options(options) if is_shared else options


def _most_tasks(proposal: Proposal, options: JobOptions) -> int:
    """The most ids of tasks that a job can need: those of its plan, and those of a possible rollback."""
    tasks = len(proposal.plan.steps)
    if options.on_failure != ROLLBACK and all(hook.on_failure != ROLLBACK for hook in proposal.plan.hooks):
        return tasks
    # Two for an instance at most that the job has taken one step for: stop and delete. To make one again that it
    # has removed in two takes many more.
    return tasks * (12 if workflow_of(proposal.workflow).describes else 3)


def _header(
    ensemble: Ensemble,
    proposal: Proposal,
    pinned: PinnedService,
    options: JobOptions,
    sources: JobSources,
    change_ids: ChangeIds,
    now: float,
) -> JobHeader:
    """The header of a job, with everything that it takes to resume the job from its journal alone."""
    status, inventory = ensemble.status, proposal.setting.inventory
    return JobHeader(
        id=change_ids.job,
        workflow=proposal.workflow,
        service=pinned.digest,
        main=pinned.main,
        began=now,
        inputs=proposal.inputs.values,
        options=options,
        machine=socket.gethostname(),
        user=current_user(),
        ticks=change_ids.ticks,
        given=proposal.inputs.given,
        named=proposal.source.named,
        choices=proposal.service.choices,
        environment=proposal.setting.environment,
        variables=proposal.setting.variables,
        left=proposal.source.whole.left,
        sources=sources,
        retries=proposal.job.retries,
        cause=proposal.job.cause,
        hosts=inventory.file.seen,
        hosts_given=inventory.file.given,
        ensemble=status.ensemble or new_id(),
        forms=known_forms(status),
        current=current_form(status),
        base=stable_form(status, ensemble.snapshot),
    )


def run_rest(
    ensemble: Ensemble,
    place: Place,
    unfinished: UnfinishedJob,
    conversation: Conversation,
    limits: CancelLimits = NO_LIMITS,
    *,
    commit: str = "",
) -> JobReport:
    """Resume an interrupted job; ``commit`` overrides its own setting for committing. Raises ``EnsembleError``, and
    ``InvalidDocument`` if its pinned service was changed."""
    # What the job will be written into must be readable before anything more is done that has to be written down.
    ensemble.have_files_changed()
    header = unfinished.header
    read = read_pinned(place, header.form)
    used = [record.change for record in unfinished.records if isinstance(record, StepRecord) and record.change]
    change_ids = ChangeIds(header.id, header.ticks, used=used)
    whole = whole_service(place, read.service, header.left, read.package.root)
    subject = JobSubject(read, whole, read.package.root, EarlierForms(place, header.forms))
    inventory = read_inventory(place, inventory_again(place, header.hosts), header.environment)
    job = RunningJob(ensemble, header, unfinished.plan, subject, limits, inventory)
    return job.run(change_ids, conversation, unfinished.records, commit=commit)


# Carry on with a job that was interrupted.


class ResumeRequest(msgspec.Struct, frozen=True):
    """The ensemble whose job is resumed; ``wait_lock`` is how many seconds to wait for another command, ``commit``
    overrides the job's own setting for committing."""

    directory: str
    wait_lock: float = 0.0
    commit: str = ""


class ResumeResult(msgspec.Struct, frozen=True):
    """The result; ``report`` is None if no job was interrupted."""

    report: JobReport | None = None


def resume(request: ResumeRequest, conversation: Conversation) -> ResumeResult:
    """Resume the job under the same id: completed steps do not run again.

    Raises ``Refused``, ``Locked``, ``EnsembleError``, and ``InvalidDocument`` where the pinned service was changed.
    """
    place = place_of(request.directory)
    if not place.layout.private.exists() and not place.layout.exists:
        raise no_ensemble(place.name)
    with open_ensemble(request.directory, command="jobs resume", wait_lock=request.wait_lock) as ensemble:
        if ensemble.unfinished is None:
            return ResumeResult()
        return ResumeResult(run_rest(ensemble, place, ensemble.unfinished, conversation, commit=request.commit))
