"""The change of one entity in the record of a job: how to compute it, and how to apply it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import UNSET, UnsetType

from ordito.ensemble.former_rows import reason_of_note
from ordito.instances.records import Applied, Data, Delta, Instance, Link, StatusReason

Entity = Instance | Link | None
"""The record of an instance or a link, None where there is none."""


class AppliedChange(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """An operation that now counts as carried out; empty for one that no longer does."""

    change_id: str = ""
    digest: str = ""


NAMES = {
    "node": "template",
    "last_config_change": "lastConfigChange",
    "last_state_change": "lastStateChange",
    "before_failure": "beforeFailure",
    "status_reason": "statusReason",
    "with_host": "withHost",
}


class EntityChange(
    msgspec.Struct,
    frozen=True,
    rename=lambda name: NAMES.get(name, name),
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """The change of an instance, a link or an end of a relationship: only the values that differ from before.

    ``unlinked`` says that the record of a link or an end was removed, ``forgotten`` the same of an instance; an
    instance that is ``unlinked`` is replaced: the other fields are its whole new record. In ``applied``, ``failed``,
    ``told`` and ``before_failure`` an empty entry says that the operation no longer counts, in ``drift`` that the value
    is again what it was; attributes and outputs are those that were set. ``note`` held the reason of a status in the
    third format: it is read, and no longer written.
    """

    unlinked: bool = False
    forgotten: bool = False
    node: str | UnsetType = UNSET
    index: int | UnsetType = UNSET
    relationship: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    target: str | UnsetType = UNSET
    host: str | UnsetType = UNSET
    state: str | UnsetType = UNSET
    local: str | UnsetType = UNSET
    created: str | UnsetType = UNSET
    status_reason: StatusReason | UnsetType = UNSET
    with_host: bool | UnsetType = UNSET
    note: str | UnsetType = UNSET
    form: str | UnsetType = UNSET
    last_config_change: str | UnsetType = UNSET
    last_state_change: str | UnsetType = UNSET
    applied: dict[str, AppliedChange] = {}
    failed: dict[str, str] = {}
    told: dict[str, str] = {}
    drift: dict[str, str] = {}
    before_failure: dict[str, str] = {}
    attributes: Mapping[str, Data] = {}
    outputs: Mapping[str, Mapping[str, Data]] = {}


_OF_INSTANCE = (
    *("node", "index", "host", "state", "local", "created", "status_reason", "with_host", "form"),
    *("last_config_change", "last_state_change"),
)
_OF_LINK = ("relationship", "source", "target", "state")
_NO_INSTANCE = Instance("", "", -1, state="", local="")
_NO_LINK = Link("", "", "", "", state="")


def difference(before: Entity, now: Instance | Link) -> dict[str, object]:
    """The fields of the ``EntityChange`` from one record of an entity to another; empty where they are equal."""
    changed: dict[str, object] = {}
    if isinstance(now, Instance):
        known: Instance | Link = before if isinstance(before, Instance) else _NO_INSTANCE
        _of_instance(known, now, changed)  # type: ignore[arg-type]
    else:
        link = known = before if isinstance(before, Link) else _NO_LINK
        changed.update((name, getattr(now, name)) for name in _OF_LINK if getattr(now, name) != getattr(known, name))
        if now.told != link.told:
            changed["told"] = _texts(link.told, now.told)
    if now.applied != known.applied:
        changed["applied"] = _applied(known.applied, now.applied)
    if now.failed != known.failed:
        changed["failed"] = _texts(known.failed, now.failed)
    return changed


def _texts(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    gone = {operation: "" for operation in before if operation not in now}
    return gone | {operation: text for operation, text in now.items() if before.get(operation) != text}


def _of_instance(before: Instance, now: Instance, changed: dict[str, object]) -> None:
    """Written out, since it is done for every step: as a loop over the fields it takes four times as long."""
    if now.state != before.state:
        changed["state"] = now.state
    if now.local != before.local:
        changed["local"] = now.local
    if now.last_config_change != before.last_config_change:
        changed["last_config_change"] = now.last_config_change
    if now.last_state_change != before.last_state_change:
        changed["last_state_change"] = now.last_state_change
    if now.created != before.created:
        changed["created"] = now.created
    if now.form != before.form:
        changed["form"] = now.form
    if now.drift != before.drift:
        changed["drift"] = _texts(before.drift, now.drift)
    if now.before_failure != before.before_failure:
        changed["before_failure"] = _texts(before.before_failure, now.before_failure)
    _of_place(before, now, changed)


def _of_place(before: Instance, now: Instance, changed: dict[str, object]) -> None:
    """What mostly stays as it was when the instance began."""
    if now.status_reason is not before.status_reason:
        changed["status_reason"] = now.status_reason
    if now.with_host is not before.with_host:
        changed["with_host"] = now.with_host
    if now.host != before.host:
        changed["host"] = now.host
    if now.index != before.index:
        changed["index"] = now.index
    if now.node != before.node:
        changed["node"] = now.node


def _applied(before: Mapping[str, Applied], now: Mapping[str, Applied]) -> dict[str, AppliedChange]:
    changed = {operation: AppliedChange() for operation in before if operation not in now}
    for operation, applied in now.items():
        if before.get(operation) != applied:
            changed[operation] = AppliedChange(applied.change, applied.digest)
    return changed


# ------------------------------------------------------------------------------------------------ and back again


class NoSuchEntity(Exception):
    """A change refers to an instance or a link that is not recorded."""


def delta_of(changes: Mapping[str, EntityChange], known: Callable[[str], Entity]) -> Delta:
    """The delta that applies changes; ``known`` gives the records of entities before it.

    Raises ``NoSuchEntity``.
    """
    instances: list[Instance] = []
    links: list[Link] = []
    for name, change in changes.items():
        change = change if change.note is UNSET else _with_reason(change, change.note)
        found = None if change.forgotten else _changed(name, change, None if change.unlinked else known(name))
        if isinstance(found, Instance):
            instances.append(found)
        elif found is not None:
            links.append(found)
    return Delta(
        instances=tuple(instances),
        links=tuple(links),
        unlinked=tuple(name for name, change in changes.items() if change.unlinked),
        attributes={name: change.attributes for name, change in changes.items() if change.attributes},
        outputs={name: change.outputs for name, change in changes.items() if change.outputs},
        forgotten=tuple(name for name, change in changes.items() if change.forgotten),
    )


def _with_reason(change: EntityChange, note: str) -> EntityChange:
    reason, with_host = reason_of_note(note)
    return msgspec.structs.replace(change, status_reason=reason, with_host=with_host, note=UNSET)


def _changed(name: str, change: EntityChange, before: Entity) -> Entity:
    """An entity as it is after a change; None where that says nothing about its record."""
    if before is None:
        if change.node is not UNSET:
            before = msgspec.structs.replace(_NO_INSTANCE, id=name)
        elif change.relationship is not UNSET:
            before = msgspec.structs.replace(_NO_LINK, id=name)
    fields = _OF_INSTANCE if isinstance(before, Instance) else _OF_LINK
    changed = {field: value for field in fields if (value := getattr(change, field)) is not UNSET}
    if not (changed or change.applied or change.failed or change.told or change.drift or change.before_failure):
        return None
    if before is None:
        raise NoSuchEntity(name)
    applied = dict(before.applied)
    for operation, row in change.applied.items():
        applied.pop(operation, None)
        if row.change_id or row.digest:
            applied[operation] = Applied(row.change_id, row.digest)
    failed = _with_texts(before.failed, change.failed)
    if isinstance(before, Link) and change.told:
        changed["told"] = _with_texts(before.told, change.told)
    if isinstance(before, Instance):
        changed["drift"] = _with_texts(before.drift, change.drift)
        changed["before_failure"] = _with_texts(before.before_failure, change.before_failure)
    return msgspec.structs.replace(before, **changed, applied=applied, failed=failed)


def _with_texts(before: Mapping[str, str], change: Mapping[str, str]) -> dict[str, str]:
    found = dict(before)
    for operation, text in change.items():
        found.pop(operation, None)
        if text:
            found[operation] = text
    return found
