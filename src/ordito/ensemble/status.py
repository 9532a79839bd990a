"""The status of an ensemble without its instances: what was deployed last, with what values, and the result."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

import msgspec

from ordito.base.change_ids import last_reserved
from ordito.ensemble.layout import Layout
from ordito.instances.outline import Outline
from ordito.instances.records import Snapshot
from ordito.model.choices import Choices
from ordito.work.forms import form_after, is_same
from ordito.work.plan import KeptCount, Plan
from ordito.work.records import (
    NOT_ROLLED_BACK,
    ROLLED_BACK,
    Form,
    GivenService,
    GivenValue,
    JobClosingRecord,
    JobHeader,
    LeftBehind,
    form_of,
)
from ordito.work.workflows import workflow_of

replace = msgspec.structs.replace

WELL = frozenset({"ok", "degraded"})
"""The statuses of jobs that succeeded."""


class LastJob(msgspec.Struct, frozen=True, omit_defaults=True):
    """The job that ran last: its id, its workflow, and how it ended."""

    id: str
    workflow: str
    status: str


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """The machine part of `ensemble.yaml` without the instances."""

    service: str = ""
    """The digest of the pinned service."""
    main: str = ""
    """Its entry definitions file."""
    revision: int = 0
    """The number of successful deployments and removals."""
    last_job: LastJob | None = None
    last_change: str = ""
    """The highest changeId that any job has reserved."""
    inputs: dict[str, object] = {}
    """The topology inputs with which it was deployed."""
    outputs: dict[str, object] = {}
    """The outputs of the topology."""
    counts: dict[str, int] = {}
    """The wanted number of instances of each node."""
    given: dict[str, GivenValue] = {}
    """Inputs that commands have given, which later commands use, too."""
    choices: Choices = Choices()
    """What was chosen where the service leaves a choice."""
    left: dict[str, LeftBehind] = {}
    """Nodes that the template has lost and whose instances may exist, by the digest of their pinned service."""
    environment: str = ""
    """The name of the deployed environment, "" for none."""
    kept: dict[str, KeptCount] = {}
    """The numbers among ``counts`` that scaling has set."""
    hosts: str = ""
    """The inventory that a command has given, relative to the ensemble, "" for none."""
    ensemble: str = ""
    """The id of the deployment, by which its resources elsewhere are recognised: a random text from its first job, ""
    before that."""
    named: GivenService | None = None
    """The service that a command has given instead of the one in the user's part."""
    form: str = ""
    """The id of the deployed version, which is that of the job that has deployed it."""
    base: str = ""
    """The id of the deployed version of the last complete revision, "" where there is none since everything was
    removed."""
    removed: bool = False
    """Whether the last of those jobs has removed all that it had to remove, so that only kept instances exist."""
    forms: dict[str, Form] = {}
    """Other deployed versions by their ids: ``base``, and earlier ones that instances still have."""


ID_BYTES = 6


def new_id() -> str:
    """A unique id for a deployment, short enough for the names of containers and of resources in clouds."""
    return os.urandom(ID_BYTES).hex()


def status_after(
    before: Status,
    header: JobHeader,
    plan: Plan,
    closing: JobClosingRecord,
    in_use: frozenset[str] = frozenset(),
    *,
    exists: bool = True,
) -> Status:
    """The status once a job is closed; ``in_use`` are the earlier versions that instances have then, and ``exists``
    says whether there are instances."""
    rolled_back = closing.rollback == ROLLED_BACK
    deployed = ""
    if workflow_of(header.workflow).revises:
        deployed = form_after(header, closing.rollback, is_untouched=closing.is_untouched)
    shapes = deployed == header.id and not rolled_back
    stays = rolled_back or (bool(deployed) and not shapes)
    # What adjusts and was taken back, if not completely, is not wanted: what is left of it is one too many.
    counts = workflow_of(header.workflow).applies and not (stays or (closing.rollback and not shapes))
    found = Status(
        service=header.service if shapes else before.service,
        main=header.main if shapes else before.main,
        revision=before.revision,
        last_job=LastJob(header.id, header.workflow, closing.status),
        last_change=max(before.last_change, last_reserved(header.id, header.ticks)),
        inputs=header.inputs if shapes else before.inputs,
        outputs=before.outputs if stays else closing.outputs,
        counts={**before.counts, **plan.counts.wanted} if counts else before.counts,
        given=header.given if shapes else before.given,
        choices=header.choices if shapes else before.choices,
        named=header.named if shapes else before.named,
        left=header.left if shapes else before.left,
        environment=header.environment if shapes else before.environment,
        hosts=_hosts(before, header, shapes=shapes),
        kept=_kept(plan.counts.kept, header.id) if counts and plan.counts.kept is not None else before.kept,
        ensemble=header.ensemble or before.ensemble,
        form=before.form,
        base=before.base,
        removed=before.removed and not shapes and closing.rollback != NOT_ROLLED_BACK,
    )
    if shapes:
        found = _deployed(found, header, plan, is_well=closing.status in WELL, exists=exists)
    elif deployed and deployed == header.base != before.form:
        found = _gone_back(found, header)
    if deployed and not shapes and closing.rollback == NOT_ROLLED_BACK:
        found = replace(found, left=_joined(found.left, _made(plan, header)))
    return replace(found, forms=_forms(before, found, header, in_use))


def _deployed(status: Status, header: JobHeader, plan: Plan, *, is_well: bool, exists: bool) -> Status:
    """The status with the form that a job has deployed; a revision, where it is complete."""
    if workflow_of(header.workflow).removes:
        # It removes what there is, and leaves what is wanted as it was.
        if plan.summary.is_part and exists:
            # What is deployed is what it was: the next deployment makes again what is gone.
            return replace(status, form=header.current or header.id, base=header.base)
        base = "" if is_well or not exists else header.base
        return replace(
            status,
            form=header.current or header.id,
            base=base,
            removed=is_well and exists,
            revision=status.revision + is_well,
        )
    if plan.summary.is_part:
        return replace(status, form=header.id, base=header.base)
    base_form = header.forms.get(header.base)
    undoes = any(done.job <= header.base for done in plan.undone)
    is_base = base_form is not None and is_same(base_form, header.form) and not undoes
    if is_well and workflow_of(header.workflow).goes_back and is_base:
        # What was begun since the last revision is taken back: that one is what is deployed again.
        return replace(status, form=header.base, base=header.base)
    if is_well:
        return replace(status, form=header.id, base=header.id, revision=status.revision + 1)
    return replace(status, form=header.id, base=header.base)


def _gone_back(status: Status, header: JobHeader) -> Status:
    """The status with the base of a job that was rolled back, where something else was current when it began."""
    base = header.forms.get(header.base)
    if base is None:
        return status
    left = _joined(header.left, status.left)
    return with_form(replace(status, left=left, form=header.base, base=header.base), base)


def with_form(status: Status, form: Form | None) -> Status:
    """The status with this version as the deployed one; unchanged where ``form`` is None."""
    if form is None:
        return status
    return replace(
        status,
        service=form.service,
        main=form.main,
        inputs=form.inputs,
        choices=form.choices,
        given=form.given,
        named=form.named,
        environment=form.environment,
    )


def _forms(before: Status, after: Status, header: JobHeader, in_use: frozenset[str]) -> dict[str, Form]:
    """The forms that are to be remembered besides the one that is deployed: those in which instances are, and the one
    to which a rollback leads."""
    needed = {*in_use, after.base} - {after.form, ""}
    if not needed:
        return {}
    known = {**before.forms, **header.forms, header.id: header.form}
    if current := current_form(before):
        known[current] = deployed_form(before)
    return {name: known[name] for name in sorted(needed) if name in known}


def status_during(before: Status, header: JobHeader) -> Status:
    """The status while a job that deploys is not closed: the deployed version is that of the job."""
    return replace(
        before,
        service=header.service,
        main=header.main,
        inputs=header.inputs,
        given=header.given,
        choices=header.choices,
        named=header.named,
        left=header.left,
        environment=header.environment,
        form=header.id,
        base=header.base,
        removed=False,
        forms={**known_forms(before), **header.forms},
    )


def current_form(status: Status) -> str:
    """The id of the version that was deployed last, "" for none. In a status that a former release of Ordito has
    written, without such ids, it is the id of the last job."""
    if status.form or not status.service:
        return status.form
    return status.last_job.id if status.last_job is not None else ""


def deployed_form(status: Status) -> Form:
    """The version that was deployed last."""
    return form_of(status, status.revision if status.base and status.base == status.form else 0)


def is_complete(status: Status) -> bool:
    """Whether the last deployment was complete, as far as is known."""
    return not status.service or status.form == status.base


def stable_form(status: Status, snapshot: Snapshot) -> str:
    """The id of the last version that was deployed completely, "" where none was since everything was removed."""
    if status.form or not status.revision or status.last_job is None or status.last_job.status not in WELL:
        return status.base
    # Written by a version that knew of no forms.
    exists = any(record.exists and record.created for record in snapshot.instances.values())
    return current_form(status) if exists else ""


def known_forms(status: Status) -> dict[str, Form]:
    """All deployed versions in the status by their ids, with the last one."""
    current = current_form(status)
    return {**status.forms, current: deployed_form(status)} if current else dict(status.forms)


def _made(plan: Plan, header: JobHeader) -> dict[str, LeftBehind]:
    """What a job has made that was not taken back completely: of that something may still be there."""
    nodes = tuple(sorted({record.node for record in plan.records.new}))
    return {header.service: LeftBehind(nodes, header.main, header.inputs, header.form.choices)} if nodes else {}


def _joined(one: Mapping[str, LeftBehind], other: Mapping[str, LeftBehind]) -> dict[str, LeftBehind]:
    """What was left behind by either."""
    found = {**other, **one}
    for digest in one.keys() & other.keys():
        nodes = tuple(sorted({*one[digest].nodes, *other[digest].nodes}))
        found[digest] = replace(one[digest], nodes=nodes)
    return found


def _hosts(before: Status, header: JobHeader, *, shapes: bool) -> str:
    """The inventory to remember. A job in another environment, which does not deploy it, says nothing of this one."""
    if not shapes and header.environment != before.environment:
        return before.hosts
    return header.hosts if header.hosts_given else ""


def _kept(counts: Mapping[str, KeptCount], job: str) -> dict[str, KeptCount]:
    """The numbers that are to be kept, with the job where it has set them itself."""
    return {node: kept if kept.job else replace(kept, job=job) for node, kept in counts.items()}


# The outline of the service that a job is about, kept in `.ordito/`. It only saves time: whoever finds none, or that
# of another job, makes it from the pinned service.

FORMAT = "ordito.outline/2"


class _KeptOutline(msgspec.Struct, frozen=True):
    format: str
    job: str
    outline: Outline


def keep_outline(layout: Layout, job: str, outline: Outline) -> None:
    """Store the outline of a job's service. A failure is ignored: the outline only saves time."""
    new = layout.outline.with_suffix(".new")
    with contextlib.suppress(OSError):
        new.write_bytes(msgspec.msgpack.encode(_KeptOutline(FORMAT, job, outline)))
        new.replace(layout.outline)


def kept_outline(layout: Layout, job: str) -> Outline | None:
    """The outline that was stored for a job, None where there is none."""
    try:
        kept = msgspec.msgpack.decode(layout.outline.read_bytes(), type=_KeptOutline)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return kept.outline if kept.format == FORMAT and kept.job == job else None
