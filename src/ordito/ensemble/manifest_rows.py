"""The format of the machine part of `ensemble.yaml`: its rows, made from a snapshot and turned into one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeVar

import msgspec

from ordito.ensemble.codec import encode
from ordito.ensemble.former_rows import reason_of_note
from ordito.ensemble.status import LastJob, Status
from ordito.ensemble.vault import sealed
from ordito.instances.records import Applied, Data, Delta, Instance, Link, Snapshot, StatusReason, number_of
from ordito.instances.states import INITIAL
from ordito.model.choices import Choices
from ordito.work.plan import KeptCount
from ordito.work.records import Form, GivenService, GivenValue, LeftBehind

FORMAT_NAME = "ordito.status/"
FORMAT = f"{FORMAT_NAME}4"
FORMATS = frozenset({f"{FORMAT_NAME}2", f"{FORMAT_NAME}3", FORMAT})
"""The formats that can be read: the second has no deployed versions, and the third has notes instead of reasons."""

V = TypeVar("V")

NO_CHOICES = Choices()

Outputs = dict[str, dict[str, Data]]
"""Outputs by operation."""


class _ManifestRow(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """One mapping of the file: its keys in this order, those that say nothing left out."""


OperationalStatus = Literal["unknown", "pending", "ok", "degraded", "error", "absent"]


class ReadyState(_ManifestRow, frozen=True, omit_defaults=False):
    """The three states of an instance, which are always written."""

    local: OperationalStatus
    effective: OperationalStatus
    state: str


class AppliedRow(_ManifestRow, frozen=True):
    """An operation that was carried out."""

    change_id: str
    digest: str = ""


class LinkRow(_ManifestRow, frozen=True):
    """A pair, below its source instance."""

    relationship: str
    target: str
    source: str = ""
    state: str = INITIAL
    applied: dict[str, AppliedRow] = {}
    failed: dict[str, str] = {}
    told: dict[str, str] = {}
    attributes: dict[str, Data] = {}
    outputs: Outputs = {}


class InstanceRow(_ManifestRow, frozen=True):
    """An instance with all that is recorded of it. Files of the third format have a ``note`` instead of a reason: it is
    read, and no longer written."""

    template: str
    index: int
    ready_state: ReadyState
    host: str = ""
    created: str = ""
    last_config_change: str = ""
    last_state_change: str = ""
    status_reason: StatusReason = StatusReason.NONE
    with_host: bool = False
    note: str = ""
    form: str = ""
    drift: dict[str, str] = {}
    before_failure: dict[str, str] = {}
    applied: dict[str, AppliedRow] = {}
    failed: dict[str, str] = {}
    attributes: dict[str, Data] = {}
    outputs: Outputs = {}
    relationships: dict[str, LinkRow] = {}


class EndRow(_ManifestRow, frozen=True):
    """The values that belong to one end of a relationship and not to a pair."""

    attributes: dict[str, Data] = {}
    outputs: Outputs = {}


class LastJobRow(_ManifestRow, frozen=True):
    """The job that ran last."""

    change_id: str
    workflow: str
    status: str


class StatusRow(_ManifestRow, frozen=True):
    """The whole of `status:`. ``records`` is the number of instances that it holds, with deleted ones. ``parts`` names
    the files that hold the instances of a large ensemble, each with the SHA-256 of its content; ``highest`` has the
    highest numbers of instances that no longer exist."""

    format: str = ""
    service: str = ""
    main: str = ""
    ensemble: str = ""
    environment: str = ""
    hosts: str = ""
    revision: int = 0
    last_job: LastJobRow | None = None
    last_change: str = ""
    inputs: dict[str, Data] = {}
    given: dict[str, GivenValue] = {}
    named: GivenService | None = None
    choices: Choices = NO_CHOICES
    outputs: dict[str, Data] = {}
    counts: dict[str, int] = {}
    kept_counts: dict[str, KeptCount] = {}
    left: dict[str, LeftBehind] = {}
    form: str = ""
    base: str = ""
    removed: bool = False
    forms: dict[str, Form] = {}
    records: int = 0
    highest: dict[str, int] = {}
    instances: dict[str, InstanceRow] = {}
    relationships: dict[str, LinkRow] = {}
    relationship_ends: dict[str, EndRow] = {}
    parts: dict[str, str] = {}


# ------------------------------------------------------------------------------------------------- from a snapshot


def status_row(snapshot: Snapshot, status: Status) -> StatusRow:
    """The machine part without its instances and parts, its entries sorted by name."""
    known = snapshot.instances
    orphans = (link for link in snapshot.links.values() if link.source not in known)
    entities = {*snapshot.attributes, *snapshot.outputs} - known.keys() - snapshot.links.keys()
    job = status.last_job
    return StatusRow(
        format=FORMAT,
        service=status.service,
        main=status.main,
        ensemble=status.ensemble,
        environment=status.environment,
        hosts=status.hosts,
        revision=status.revision,
        last_job=LastJobRow(job.id, job.workflow, job.status) if job else None,
        last_change=status.last_change,
        inputs=status.inputs,
        given=status.given,
        named=status.named,
        # What says nothing is left out only where it is this very value.
        choices=NO_CHOICES if status.choices == NO_CHOICES else status.choices,
        left=status.left,
        form=status.form,
        base=status.base,
        removed=status.removed,
        forms=_sorted(status.forms),
        outputs=status.outputs,
        counts=_sorted(status.counts),
        kept_counts=_sorted(status.kept),
        records=len(snapshot.instances),
        highest=_sorted(_numbers_beyond(snapshot)),
        relationships={link.id: _link_row(link, snapshot) for link in sorted(orphans, key=lambda link: link.id)},
        relationship_ends={
            name: EndRow(_sorted(snapshot.attributes.get(name, {})), _outputs(snapshot, name))
            for name in sorted(entities)
            if snapshot.attributes.get(name) or snapshot.outputs.get(name)
        },
    )


STATUS_KEYS = {
    "service": "service",
    "main": "main",
    "ensemble": "ensemble",
    "environment": "environment",
    "hosts": "hosts",
    "revision": "revision",
    "last_change": "lastChange",
    "inputs": "inputs",
    "given": "given",
    "named": "named",
    "choices": "choices",
    "outputs": "outputs",
    "counts": "counts",
    "kept": "keptCounts",
    "left": "left",
    "form": "form",
    "base": "base",
    "removed": "removed",
    "forms": "forms",
}
"""The values that belong to no instance: by their name in a status, their key in the file."""


def changed_status(before: Status, after: Status) -> dict[str, object]:
    """The values of the file that a job has changed, by its keys, each as a whole, without the last job.

    The order of entries counts, since the file keeps it.
    """
    found = ((key, getattr(before, name), getattr(after, name)) for name, key in STATUS_KEYS.items())
    return {key: msgspec.to_builtins(now, enc_hook=sealed) for key, then, now in found if encode(then) != encode(now)}


def instance_rows(snapshot: Snapshot, effective: Mapping[str, str]) -> Iterable[tuple[str, InstanceRow]]:
    """Every instance, by node and number; ``effective`` gives effective statuses, where it has none the local one
    counts."""
    attributes, outputs = snapshot.attributes, snapshot.outputs
    for instance in sorted(snapshot.instances.values(), key=lambda i: (i.node, number_of(i.id))):
        name, local = instance.id, instance.local
        yield (
            name,
            InstanceRow(
                template=instance.node,
                index=instance.index,
                ready_state=ReadyState(local, effective.get(name, local), instance.state),  # type: ignore[arg-type]
                host=instance.host,
                created=instance.created,
                last_config_change=instance.last_config_change,
                last_state_change=instance.last_state_change,
                status_reason=instance.status_reason,
                with_host=instance.with_host,
                form=instance.form,
                drift=_sorted(instance.drift) if instance.drift else {},
                before_failure=_sorted(instance.before_failure) if instance.before_failure else {},
                applied=_applied_rows(instance.applied),
                failed=_sorted(instance.failed) if instance.failed else {},
                attributes=_sorted(attributes[name]) if name in attributes else {},
                outputs=_outputs(snapshot, name) if name in outputs else {},
                relationships=_links_from(name, snapshot),
            ),
        )


def _links_from(instance: str, snapshot: Snapshot) -> dict[str, LinkRow]:
    """The recorded links whose source an instance is."""
    names = snapshot.links_of(instance)
    if not names:
        return {}
    return {n: _link_row(snapshot.links[n], snapshot) for n in sorted(names) if snapshot.links[n].source == instance}


def _link_row(link: Link, snapshot: Snapshot) -> LinkRow:
    return LinkRow(
        relationship=link.relationship,
        target=link.target,
        # Said only where the row does not stand below its source.
        source="" if link.source in snapshot.instances else link.source,
        # A default is left out only where it is this very object.
        state=INITIAL if link.state == INITIAL else link.state,
        applied=_applied_rows(link.applied),
        failed=_sorted(link.failed),
        told=_sorted(link.told) if link.told else {},
        attributes=_sorted(snapshot.attributes.get(link.id, {})),
        outputs=_outputs(snapshot, link.id),
    )


def _applied_rows(applied: Mapping[str, Applied]) -> dict[str, AppliedRow]:
    return {name: AppliedRow(row.change, row.digest) for name, row in sorted(applied.items())} if applied else {}


def _outputs(snapshot: Snapshot, entity: str) -> Outputs:
    found = snapshot.outputs.get(entity, {})
    return {operation: dict(found[operation]) for operation in sorted(found)}


def _numbers_beyond(snapshot: Snapshot) -> dict[str, int]:
    """The highest number ever used, for nodes of which no instance bears it."""
    present: dict[str, int] = {}
    for instance in snapshot.instances.values():
        present[instance.node] = max(number_of(instance.id), present.get(instance.node, 0))
    return {node: number for node, number in snapshot.highest.items() if number > present.get(node, 0)}


def _sorted(values: Mapping[str, V]) -> dict[str, V]:
    return {name: values[name] for name in sorted(values)}


# --------------------------------------------------------------------------------------------------- to a snapshot


def with_reason(row: InstanceRow) -> InstanceRow:
    """The row with a reason instead of its note, as it is written today."""
    reason, with_host = reason_of_note(row.note)
    return msgspec.structs.replace(row, status_reason=reason, with_host=with_host, note="")


def snapshot_of(row: StatusRow, instances: Mapping[str, InstanceRow]) -> Snapshot:
    """The snapshot from which these rows were written."""
    snapshot = Snapshot()
    links: dict[str, LinkRow] = dict(row.relationships)
    sources = {name: link.source for name, link in links.items()}
    for owner, instance in instances.items():
        links.update(instance.relationships)
        sources.update(dict.fromkeys(instance.relationships, owner))
    entities: list[tuple[str, InstanceRow | LinkRow | EndRow]] = []
    entities.extend(instances.items())
    entities.extend(links.items())
    entities.extend(row.relationship_ends.items())
    snapshot.apply(
        Delta(
            instances=tuple(_instance(name, found) for name, found in instances.items()),
            links=tuple(_link(name, sources[name], found) for name, found in links.items()),
            attributes={name: found.attributes for name, found in entities if found.attributes},
            outputs={name: found.outputs for name, found in entities if found.outputs},
        )
    )
    for node, number in row.highest.items():
        snapshot.highest[node] = max(number, snapshot.highest.get(node, 0))
    return snapshot


def status_of(row: StatusRow) -> Status:
    """The status from which this row was written."""
    job = row.last_job
    return Status(
        service=row.service,
        main=row.main,
        ensemble=row.ensemble,
        environment=row.environment,
        hosts=row.hosts,
        revision=row.revision,
        last_job=LastJob(job.change_id, job.workflow, job.status) if job else None,
        last_change=row.last_change,
        inputs=row.inputs,
        given=row.given,
        named=row.named,
        choices=row.choices,
        outputs=row.outputs,
        counts=row.counts,
        kept=row.kept_counts,
        left=row.left,
        form=row.form,
        base=row.base,
        removed=row.removed,
        forms=row.forms,
    )


def _instance(name: str, row: InstanceRow) -> Instance:
    return Instance(
        id=name,
        node=row.template,
        index=row.index,
        host=row.host,
        state=row.ready_state.state,
        local=row.ready_state.local,
        created=row.created,
        applied=_applied(row.applied),
        failed=row.failed,
        last_config_change=row.last_config_change,
        last_state_change=row.last_state_change,
        status_reason=row.status_reason,
        with_host=row.with_host,
        form=row.form,
        drift=row.drift,
        before_failure=row.before_failure,
    )


def _link(name: str, source: str, row: LinkRow) -> Link:
    return Link(
        id=name,
        relationship=row.relationship,
        source=source,
        target=row.target,
        state=row.state,
        applied=_applied(row.applied),
        failed=row.failed,
        told=row.told,
    )


def _applied(rows: Mapping[str, AppliedRow]) -> dict[str, Applied]:
    return {name: Applied(row.change_id, row.digest) for name, row in rows.items()}
