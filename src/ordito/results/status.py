"""What exists, and what was deployed before: the results of ``ordito status`` and ``ordito revisions``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from ordito.app.job.jobs import INTERRUPTED, OpenJob
from ordito.app.revisions import IncompleteRevision, RevisionLine, RevisionList, list_revisions
from ordito.app.status import Damage, InstanceStatus, StatusRequest, StatusResult, made_by, status
from ordito.base.sensitive import shown
from ordito.ensemble.status import LastJob
from ordito.instances.records import MISSED, note_of
from ordito.instances.status import ABSENT, OK
from ordito.results.answer import Asked, ResultData, UseCase
from ordito.work.plan import KeptCount
from ordito.work.records import AskedBy


class OpenJobData(msgspec.Struct, frozen=True):
    """A job whose end is not recorded: it runs, or was interrupted."""

    job: str
    workflow: str
    began: float
    """When it began, in seconds since the epoch."""

    done: int
    """How many of its steps have ended."""

    steps: int
    """How many steps it has."""

    holder: str
    """The command that runs it, "" for none."""

    rolling_back: bool
    """Whether it has failed and is being rolled back."""

    outcome: str
    """``running`` or ``interrupted``."""

    by: str | UnsetType = UNSET
    """Who asked for it through a server."""

    origin: str | UnsetType = UNSET
    """The plan of a server that it carries out."""

    approved_by: tuple[str, ...] | UnsetType = UNSET
    """Who approved that plan."""


class UnfinishedJobData(OpenJobData, ResultData, frozen=True, tag="ordito.jobs-show/1"):
    """The result of ``ordito jobs show`` for a job that has not ended."""


class InstanceData(msgspec.Struct, frozen=True, omit_defaults=True):
    """One instance in ``ordito.status/1``; its id is its key there."""

    node: str
    type: str = ""
    """The type of its node, "" where the service does not have the node any more."""

    state: str = ""
    """The TOSCA node state."""

    local: str = ""
    """The operational status of the instance alone."""

    effective: str = ""
    """Its operational status with what it depends on."""

    host: str = ""
    """The id of the instance that hosts it."""

    attributes: Mapping[str, object] = {}
    failed: Mapping[str, str] = {}
    """The operations that failed last, each with the change that failed."""

    orphaned: bool = False
    """Whether its node is no longer in the service."""

    optional: bool = False
    """Whether others can work without it."""

    drift: bool = False
    """Whether it was found to differ from how it was created."""

    note: str = ""
    """What else there is to say, for people."""

    status_reason: str = ""
    """Why it has its status (``StatusReason``)."""

    with_host: bool = False
    """Whether it was removed together with its host."""

    form: str = ""
    """The earlier deployed version that it still has."""

    before_failure: tuple[str, ...] = ()
    """Further operations whose failure has made its status unknown or an error."""

    @property
    def exists(self) -> bool:
        """Whether it exists."""
        return self.local != ABSENT

    @property
    def counts(self) -> bool:
        """Whether it exists or is missing: an instance of a node that the service no longer has is not."""
        return self.exists or (self.status_reason in MISSED and not self.orphaned)

    @property
    def made_by(self) -> tuple[str, str]:
        """The provider that has made it, and its name there; empty texts if they are not known."""
        return made_by(self.attributes)


class StatusData(ResultData, frozen=True, kw_only=True, tag="ordito.status/1"):
    """What exists, with the status of each instance."""

    service: str
    """The name of the deployed service, "" for none."""

    environment: str
    status: str
    """The effective status of the whole service."""

    revision: int
    attempt: IncompleteRevision | None
    """The incomplete attempt after the last revision, if any."""

    last_job: LastJob | None
    job: OpenJobData | None
    """The job that runs or was interrupted, if any; then the rest is what its journal says."""

    instances: dict[str, InstanceData]
    """By id, in the order of their creation."""

    outputs: Mapping[str, object]
    waiting_notices: int
    """How many notices wait to be handled."""

    failed_steps: tuple[str, ...] | UnsetType = UNSET
    """The failed steps of the last job, if that was a workflow of the template."""

    damage: Damage | UnsetType = UNSET
    """The damage of the files of the ensemble."""

    kept_counts: dict[str, KeptCount]
    """The numbers of instances that scaling has set, by node."""

    half_removed: bool | UnsetType = UNSET
    """True if everything was to be removed, and something still exists because that has failed."""

    caveat: str | UnsetType = UNSET
    """Why the statuses do not include what the instances depend on."""

    @property
    def is_well(self) -> bool:
        """Whether every instance is ok, and nothing waits to be completed. A running job does not count."""
        is_cut = self.job is not None and self.job.outcome == INTERRUPTED
        unfinished = is_cut or self.attempt is not None or self.half_removed is True
        return not unfinished and all(i.effective == OK for i in self.instances.values() if i.counts)


def status_data(found: StatusResult) -> StatusData:
    """The status of an ensemble."""
    outputs = shown(found.status.outputs)
    assert isinstance(outputs, Mapping)
    return StatusData(
        service=found.service,
        environment=found.status.environment,
        status=found.effective,
        revision=found.status.revision,
        attempt=found.attempt,
        last_job=found.status.last_job,
        job=open_job_data(found.job) if found.job else None,
        instances={one.instance.id: _instance_data(one) for one in found.instances},
        outputs=outputs,
        waiting_notices=found.waiting,
        failed_steps=found.failed or UNSET,
        damage=found.damage or UNSET,
        kept_counts=found.status.kept,
        half_removed=found.is_half_removed or UNSET,
        caveat=found.caveat or UNSET,
    )


def open_job_data(job: OpenJob) -> OpenJobData:
    """A job whose end is not recorded."""
    return _with_asked(msgspec.convert(job, OpenJobData, from_attributes=True), job.asked)


def unfinished_job_data(job: OpenJob) -> UnfinishedJobData:
    """The same as a result of its own."""
    return _with_asked(msgspec.convert(job, UnfinishedJobData, from_attributes=True), job.asked)


_Open = TypeVar("_Open", OpenJobData, UnfinishedJobData)


def _with_asked(found: _Open, asked: AskedBy) -> _Open:
    if not asked.by:
        return found
    approved = asked.approved or UNSET
    return msgspec.structs.replace(found, by=asked.by, origin=asked.origin or UNSET, approved_by=approved)


def _instance_data(found: InstanceStatus) -> InstanceData:
    instance = found.instance
    attributes = shown(found.attributes) if found.attributes else {}
    assert isinstance(attributes, Mapping)
    reason, failed = instance.status_reason, instance.before_failure
    # By their places, since there are very many: in the order of the fields.
    return InstanceData(
        instance.node,
        found.type,
        instance.state,
        instance.local,
        found.effective,
        instance.host,
        attributes,
        instance.failed,
        found.orphaned,
        found.optional,
        found.drifted,
        note_of(instance) if reason or instance.with_host else "",
        str(reason) if reason else "",
        instance.with_host,
        found.form,
        tuple(name for name in failed if name not in instance.failed) if failed else (),
    )


# What was deployed before.


class RevisionsData(ResultData, frozen=True, tag="ordito.revisions/1"):
    """The revisions, the newest first."""

    revisions: tuple[RevisionLine, ...]
    is_partial: bool
    """Whether something was begun after the current revision and not completed."""

    partial: str
    """The job that has begun it."""

    repairs: bool
    """Whether that job was to deploy the current revision again."""

    back: int
    """The revision to which `rollback` leads then, 0 for none."""


def revisions_data(found: RevisionList) -> RevisionsData:
    """The revisions."""
    return RevisionsData(found.revisions, found.is_partial, found.partial, found.repairs, found.back)


class StatusAsked(Asked, frozen=True):
    """About the status."""

    all: bool = False
    """Whether deleted instances are told of too."""

    outputs: bool = True
    """Whether the outputs of the service are told."""


def _status(directory: str, asked: StatusAsked) -> StatusData:
    found = status_data(status(StatusRequest(directory, asked.all)))
    return found if asked.outputs else msgspec.structs.replace(found, outputs={})


def _revisions(directory: str, _: Asked) -> RevisionsData:
    return revisions_data(list_revisions(directory))


STATUS = UseCase("status", StatusAsked, (StatusData,), _status)
REVISIONS = UseCase("revisions", Asked, (RevisionsData,), _revisions)
