"""Notices: notifications that came from outside, with what they change, and events that have only a name (§3.6.19)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta
from ordito.model.operation import Interface, Notification, Operation
from ordito.model.service import Relationship, Service
from ordito.work.outputs import notified, sensitive_outputs
from ordito.work.places import ExecutionPlace
from ordito.work.plan import Step


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that was told from outside about an instance, or about a pair of instances.

    ``entity`` is the id of the instance or pair; ``node`` the instance's node template, "" for a pair, whose
    ``relationship`` is named by its key, with the ids of its two ends. ``interface`` is the symbolic name of the
    interface whose notification ``name`` is, "" for an event that is no notification. ``values`` are those of the
    notification's outputs, as they came; some may be sensitive. ``at`` is when it came, in seconds since the epoch.
    ``depth`` counts how many triggers have led to it, one after the other: 0 where it came from outside.
    """

    entity: str
    name: str
    at: float
    node: str = ""
    relationship: str = ""
    source: str = ""
    target: str = ""
    interface: str = ""
    values: Mapping[str, object] = {}
    depth: int = 0

    @property
    def event(self) -> str:
        """``interface.notification``, or the name alone."""
        return f"{self.interface}.{self.name}" if self.interface else self.name

    @property
    def instances(self) -> tuple[str, ...]:
        """The instances that it is about: one, or the two ends of a pair."""
        return (self.entity,) if self.node else (self.source, self.target)


class NotHeard(Exception):
    """A notice means nothing, or nothing any more; the text says why."""


def interfaces_of(service: Service, notice: Notice) -> Mapping[str, Interface]:
    """The interfaces of what a notice is about. Raises ``NotHeard`` if the service does not have it."""
    if notice.node:
        node = service.nodes.get(notice.node)
        if node is None:
            raise NotHeard(f'the service has no node "{notice.node}" any more')
        return node.interfaces
    return _relationship(service, notice).interfaces


def notification_of(service: Service, notice: Notice) -> Notification:
    """What the service declares about the notification. Raises ``NotHeard`` if it has none of that name."""
    interface = interfaces_of(service, notice).get(notice.interface)
    found = interface.notifications.get(notice.name) if interface is not None else None
    if found is None:
        raise NotHeard(f"{notice.node or notice.relationship} has no notification {notice.event} any more")
    return found


def changes_of(evaluator: Evaluator, notice: Notice) -> Delta:
    """What a notice changes: the attributes that the notification's outputs are mapped to (R-3.6.19-2). A missing
    output leaves its attributes as they are. Raises ``NotHeard`` if what it is about does not exist, and ``WrongValue``
    for a value that does not fit its attribute."""
    service, snapshot = evaluator.service, evaluator.snapshot
    for name in notice.instances:
        instance = snapshot.instances.get(name)
        if instance is None or not instance.exists:
            raise NotHeard(f"{name} is not there any more")
    if not notice.interface:
        return Delta()
    found = notification_of(service, notice)
    unknown = [name for name in notice.values if name not in found.outputs]
    if unknown:
        raise NotHeard(f'notification {notice.event} has no output "{unknown[0]}" any more')
    place, step = _place(service, notice, found)
    return Delta(attributes=notified(evaluator, place, step, notice.values))


def hidden(evaluator: Evaluator, notice: Notice) -> Notice:
    """The same notice, with the values marked sensitive that are mapped to something sensitive. Raises ``NotHeard``."""
    if not notice.values:
        return notice
    service = evaluator.service
    names = sensitive_outputs(evaluator, *_place(service, notice, notification_of(service, notice)))
    values = {name: Sensitive(value) if name in names else value for name, value in notice.values.items()}
    return msgspec.structs.replace(notice, values=values)


def _place(service: Service, notice: Notice, found: Notification) -> tuple[ExecutionPlace, Step]:
    """Where a notification is received. What writes outputs of operations writes its outputs: it is a call without
    inputs."""
    as_operation = Operation(found.interface, found.name, outputs=found.outputs)
    if notice.node:
        place = ExecutionPlace(as_operation, notice.node, notice.entity)
    else:
        relationship = _relationship(service, notice)
        place = ExecutionPlace(as_operation, relationship.source, notice.source, relationship, "source", notice.target)
    return place, Step(notice.event, instance=notice.instances[0], link="" if notice.node else notice.entity)


def _relationship(service: Service, notice: Notice) -> Relationship:
    for node in service.nodes.values():
        for relationship in node.requirements:
            if relationship.key == notice.relationship:
                return relationship
    raise NotHeard(f'the service has no relationship "{notice.relationship}" any more')
