"""One node or one instance with all that is known of it: ``ordito.describe/1``, the result of ``ordito describe``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET, UnsetType

from ordito.app.describe import MOST_EVENTS, Dependency, DescribeRequest, InstanceDescription, Operated, describe
from ordito.base.change_ids import time_of
from ordito.base.sensitive import shown
from ordito.ensemble.job_history import TaskLine
from ordito.instances.records import note_of
from ordito.results.answer import Asked, Result, UseCase
from ordito.work.plan import KeptCount

if TYPE_CHECKING:
    from ordito.app.describe import NodeDescription

FORMAT = "ordito.describe/1"


class DescribedInstance(Result, frozen=True, kw_only=True):
    """An instance."""

    format: str
    kind: str
    instance: str
    node: str
    type: str
    host: str
    """The id of the instance that hosts it."""

    place: str
    """The host that it is or runs on, as its provider calls it; "" for this machine."""

    index: int
    state: str
    local: str
    """The operational status of the instance alone."""

    effective: str
    """Its operational status with what it depends on."""

    optional: bool
    note: str
    status_reason: str
    with_host: bool
    created: str
    last_config_change: str
    last_state_change: str
    properties: Mapping[str, object]
    attributes: Mapping[str, object]
    requirements: tuple[Dependency, ...]
    operations: tuple[Operated, ...]
    events: tuple[TaskLine, ...]
    """The last operations, with when they began."""

    next: tuple[str, ...]
    """Commands that make sense, without `ordito`."""

    purposes: tuple[str, ...] = ()
    """What each of these commands does."""

    is_away: bool | UnsetType = UNSET
    """True if it keeps data and was found to be absent."""

    times: Mapping[str, str] | UnsetType = UNSET
    """When its changes began, by changeId, where neither the id nor an operation says it."""

    def began(self, change: str) -> str:
        """When a change began, in UTC."""
        known = {operated.change: operated.at for operated in self.operations}
        return (self.times or {}).get(change) or known.get(change) or time_of(change)

    @property
    def decisive(self) -> tuple[Dependency, ...]:
        """The dependencies that make its effective status worse than its own."""
        if self.effective == self.local:
            return ()
        return tuple(d for d in self.requirements if d.contribution == self.effective)


class InstanceOfNode(msgspec.Struct, frozen=True):
    """An instance of a node that is described."""

    state: str
    local: str
    effective: str
    place: str | UnsetType = UNSET
    """The host that it is or runs on, as its provider calls it."""


class DescribedNode(Result, frozen=True, kw_only=True):
    """A node template."""

    format: str
    kind: str
    node: str
    type: str
    declared: str
    """Its place in the template."""

    description: str
    status: str
    """The effective status of all its instances together."""

    wanted: int | None
    """How many instances are wanted, None if that is not known."""

    kept: KeptCount | None
    """The number that scaling has set, if it has."""

    optional: bool
    protected: bool
    orphaned: bool
    """Whether it is no longer in the service."""

    requirements: Mapping[str, str]
    operations: Mapping[str, str]
    metadata: Mapping[str, str]
    instances: Mapping[str, InstanceOfNode]
    events: tuple[TaskLine, ...]
    next: tuple[str, ...]
    """Commands that make sense, without `ordito`."""

    purposes: tuple[str, ...] = ()
    """What each of these commands does."""


DescriptionData = DescribedInstance | DescribedNode


def instance_data(found: InstanceDescription) -> DescribedInstance:
    """A description of an instance."""
    i = found.instance
    return DescribedInstance(
        format=FORMAT,
        kind="instance",
        instance=i.id,
        node=i.node,
        type=found.type,
        host=i.host,
        place=found.place,
        index=i.index,
        state=i.state,
        local=i.local,
        effective=found.effective,
        optional=found.optional,
        note=note_of(i),
        status_reason=str(i.status_reason),
        with_host=i.with_host,
        created=i.created,
        last_config_change=i.last_config_change,
        last_state_change=i.last_state_change,
        properties=_shown(found.properties),
        attributes=_shown(found.attributes),
        requirements=found.dependencies,
        operations=found.operated,
        events=found.events,
        next=tuple(" ".join(step.words) for step in found.next),
        purposes=tuple(step.purpose for step in found.next),
        is_away=found.is_away or UNSET,
        times=_untold_times(found) or UNSET,
    )


def _untold_times(found: InstanceDescription) -> dict[str, str]:
    """When the changes of an instance began of which nothing else says it."""
    record, operations = found.instance, {operated.change for operated in found.operated}
    changes = (record.created, record.last_config_change, record.last_state_change)
    untold = {change: found.times[change] for change in changes if change in found.times and change not in operations}
    return {change: at for change, at in untold.items() if at != time_of(change)}


def node_data(found: NodeDescription) -> DescribedNode:
    """A description of a node."""
    return DescribedNode(
        format=FORMAT,
        kind="node",
        node=found.name,
        type=found.type,
        declared=found.declared,
        description=found.description,
        status=found.status,
        wanted=found.wanted,
        kept=found.kept,
        optional=found.optional,
        protected=found.protected,
        orphaned=found.lost,
        requirements=found.requirements,
        operations=found.operations,
        metadata=found.metadata,
        instances={
            one.instance.id: InstanceOfNode(one.instance.state, one.instance.local, one.effective, one.place or UNSET)
            for one in found.instances
        },
        events=found.events,
        next=tuple(" ".join(step.words) for step in found.next),
        purposes=tuple(step.purpose for step in found.next),
    )


def _shown(values: Mapping[str, object]) -> Mapping[str, object]:
    """Values without sensitive ones."""
    found = shown(values)
    assert isinstance(found, Mapping)
    return found


class DescribeAsked(Asked, frozen=True):
    """About one node or instance."""

    name: str
    """Its name; ``node:NAME`` and ``instance:ID`` say which is meant."""

    events: Annotated[int, msgspec.Meta(ge=0, le=100)] = MOST_EVENTS
    """How many of the last operations are told."""


def _describe(directory: str, asked: DescribeAsked) -> DescribedInstance | DescribedNode:
    found = describe(DescribeRequest(directory, asked.name, asked.events))
    return instance_data(found) if isinstance(found, InstanceDescription) else node_data(found)


DESCRIBE = UseCase("describe", DescribeAsked, (DescribedInstance, DescribedNode), _describe)
